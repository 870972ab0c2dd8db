"""What keeps a question from being read, of whatever kind: it asks nothing, or twice, or leaves open what."""

from __future__ import annotations

from itertools import pairwise

from chameleon.modules.offline.conditions import Bound
from chameleon.modules.offline.question import Question
from chameleon.modules.offline.rows import Dates, Either, Filled, Is

_LATEST_ASK = 4  # words before a question word: "in the South, which"


class Unclear(Question):
    """A question, and why it is not read."""

    @property
    def is_unclear(self) -> bool:
        """Whether it is not read, whatever it asks for."""
        is_unread = self.has("unread", "unknown") or self.asks == "why"
        is_open = self._asks_twice() or self._denies_a_date() or any(map(self._may_be_dated, self.bounds))
        return is_unread or self._states() or self._asks_of_verb() or is_open

    @property
    def clashes(self) -> bool:
        """Whether a cell is to be two things at once."""
        columns = [each.condition.column for each in self.bounds if isinstance(each.condition, Is | Dates)]
        return len(set(columns)) < len(columns)

    def _asks_twice(self) -> bool:
        """Whether another question follows: "and what did they order"."""
        return any((one.kind, two.kind) == ("and", "ask") for one, two in pairwise(self.frame.items))

    def _denies_a_date(self) -> bool:
        """Whether a date follows what is denied: not shipped in May, but later, or not at all."""
        denied = (each for each in self.bounds if getattr(each.condition, "negated", False))
        return any(self.frame.kind(max(each.taken) + 1) in ("dates", "date") for each in denied)

    def _follows(self, place: int) -> bool:
        """Whether a word for rows, or a column, stands right behind an item: open orders."""
        items = self.frame.items
        return self.frame.kind(place + 1) in ("noun", "column") and items[place + 1].start == items[place].end

    def _states(self) -> bool:
        """Whether it is a statement: it has a verb, and asks nothing."""
        words, verb = self.sheet.words, ("whether", "whether")
        tokens = [token for token in self.frame.tokens if token.low not in "?#"]
        asking = (item for item in self.frame.items if item.kind in ("ask", "how", "count", "whether"))
        asking = (item for item in asking if item.value != "number")  # of a statement, too
        ask = next(asking, None)
        if ask is not None and ask.kind == "ask":
            ends = len(tokens) > 1 and verb in words.phrases.get((tokens[-1].low,), ())  # what does Ann have
            return ask.start > _LATEST_ASK or (ends and self.word_is_bare)  # the venue where they played
        has_verb = self.has("verb") or any(verb in words.phrases.get((token.low,), ()) for token in tokens)
        return has_verb and ask is None and bool(tokens) and tokens[0].low not in words.request

    def _may_be_dated(self, bound: Bound) -> bool:
        """Whether other rows have a date of what a cell says: shipped, and delivered since."""
        items, condition = self.frame.items, bound.condition
        cells = [place for place in bound.taken if items[place].kind == "cell"]
        words = [self.frame.tokens[items[p].start : items[p].end] for p in cells if not self._follows(p)]
        stems = {word[0].stem for word in words if len(word) == 1}
        used = {each for other in self.bounds if other is not bound for each in other.condition.columns}
        dated = [c for c in self.sheet.columns if c.kind == "date" and stems.intersection(c.stems)]
        parts = condition.parts if isinstance(condition, Either) else (condition,)
        rows = set[int]().union(*(part.rows(self.sheet) for part in parts if isinstance(part, Is)))
        return any(rows != Filled(each.index).rows(self.sheet) for each in dated if each.index not in used)

    def _asks_of_verb(self) -> bool:
        """Whether "who" does what a cell says, as in "who approved it", which no column tells."""
        ask, items = self.one("ask"), self.frame.items
        place = next((p for p, each in enumerate(items) if p and items[p - 1] is ask), None)
        if self.asks != "who" or place is None or items[place].kind != "cell" or self._follows(place):
            return False
        before, word = self.frame.tokens[items[place].start - 1 : items[place].start + 1]
        return word.text.islower() and before.low not in self.sheet.words.data["passive"].split()
