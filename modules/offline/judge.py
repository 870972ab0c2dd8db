"""Judging: the cheapest form is the answer, unless another of like cost gives another; else it declines.

A form costs more if it answers with something else than was asked for, or with what is seldom right: nothing
or one that was counted, a part of the cells that say a word, the same twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from chameleon.errors import Declined
from chameleon.modules.offline.algebra import Count, Fold, Form, Is, Result, Unfit, Where
from chameleon.modules.offline.links import Links
from chameleon.modules.offline.sheet import Sheet, SheetColumn, is_headless
from chameleon.modules.offline.templates import forms_of
from chameleon.modules.offline.wording import said
from chameleon.modules.offline.words import ENGLISH, Token, folded

NEAR = 0.25  # a reading that costs so much more than the cheapest is no rival of it
DOUBT = 5  # a cost of half of one is right nine times of ten, on the questions that it was read off
_MOST = 1.05
_AMISS = 0.6  # what it costs to answer with another column than was asked for, or to count none or a part
_ONE = 0.45  # what it costs to count one: few ask how many where there is one
_LONGEST, _MOST_TOKENS, _MOST_NAMED = 10_000, 120, 8
_LEADS = frozenset(("ordinal", "first", "last", "most", "superlative", "number", "distinct"))
_PASSED = frozenset(("the", "is", "was", "are", "were", "a", "an", "only"))
_PERCENT = re.compile(r"\d ?(?:%|per ?cent)|\bin (?:%|per ?cent)", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"'“])")


@dataclass(frozen=True)
class Answer:
    """What a question comes to: the result, the form that gave it, and how sure that is, from 0 to 1."""

    result: Result
    form: Form
    confidence: float
    sheet: Sheet


def answer(question: str, sheet: Sheet) -> Answer:
    """Answer a question over a sheet. Raises `Declined` where no reading, or no single one, accounts for it.

    The last sentence with a question mark asks; those before it may only say what the rows are.
    """
    if len(question) > _LONGEST:
        raise Declined(f"the question has more than {_LONGEST:,} characters")
    if tuple(map(folded, sheet.table.header)) == ("stem", "leaf"):
        raise Declined("stem-and-leaf plots are not read")
    if is_headless(sheet.table):
        hint = "Give it a first row with the names of the columns."
        raise Declined("the header of the table looks like one of its rows", hint=hint)
    parts = [part for part in _SENTENCE.split(question.strip()) if part.strip()] or [""]
    last = max((place for place, part in enumerate(parts) if part.endswith("?")), default=len(parts) - 1)
    lead, asked = ENGLISH.tokens(" ".join(parts[:last])), ENGLISH.tokens(parts[last])
    if len(lead) + len(asked) > _MOST_TOKENS:
        raise Declined(f"the question has more than {_MOST_TOKENS} words")
    if lead and Links(lead, sheet).name_cells():
        raise Declined("a sentence before the question names rows", hint="Ask for them in one sentence.")
    links = Links(asked, sheet, lead)
    forms = forms_of(sheet, links.tokens, links.readings)
    if not forms:
        raise _not_understood(asked, links, sheet)
    wanted = Wanted.of(links)
    forms = [(price + _AMISS * (not wanted.fits(form, sheet)), form) for price, form in forms]
    found = _judged(sheet, sorted(forms, key=lambda pair: pair[0]))
    if _PERCENT.search(question):
        columns = [sheet.columns[index] for index in found.form.columns]
        for column in filter(lambda each: each.is_fraction, columns):
            what = f"whether {column.sample[0]} of {column.plain} is a percentage is not told"
            raise Declined(what, hint="Write its cells with %, or ask for the figure as it stands.")
    return found


@dataclass(frozen=True)
class Wanted:
    """What the words after "which", or "what is the", ask for: columns, or else a sort of thing."""

    word: str = ""
    columns: frozenset[int] = frozenset()
    sort: frozenset[str] = frozenset()

    @classmethod
    def of(cls, links: Links) -> Wanted:
        """Read what is asked for off the words after the question word."""
        asks = (item for items in links.by_start.values() for item in items if item.kind == "ask")
        ask = min(asks, key=lambda item: (item.start, -item.end), default=None)
        if ask is None or ask.value == "who":
            return cls()
        if ask.value in ("when", "where"):
            return cls(sort=frozenset(("time" if ask.value == "when" else "place",)))
        word, place = links.tokens[ask.start].low, ask.end
        while place < len(links.tokens):
            items = links.by_start[place]
            kinds = {item.kind for item in items}
            named = [item for item in items if item.kind == "column" and not item.cost]
            named = [] if "fold" in kinds else named
            if named := [item for item in named if not links.sheet.columns[item.value].is_running]:
                end = max(item.end for item in named)
                is_owner = end < len(links.tokens) and links.tokens[end].low in ("'s", "'")
                columns = () if is_owner else (item.value for item in named if item.end == end)
                return cls(word, frozenset(columns))
            if things := [item.value for item in items if item.kind == "thing"]:
                return cls(word, sort=frozenset().union(*things) & {"time", "place", "person"})
            passed = [item.end for item in items if item.kind in _LEADS]
            passed += [place + 1] if links.tokens[place].low in _PASSED else []
            if not passed:
                break
            place = max(passed)
        return cls(word)

    def fits(self, form: Form, sheet: Sheet) -> bool:
        """Tell whether a form answers with what is asked for; with no column at all, it does."""
        one = (getattr(form, name, None) for name in ("column", "by"))
        told = {*getattr(form, "wanted", ()), *one} - {None}
        if self.columns and told:
            return bool(self.columns & told)
        if self.word == "which" and isinstance(form, Fold) and form.how in ("max", "min"):
            return False  # which one has the most, not how much that is
        fitting = (self._is_of_sort(sheet.columns[index], sheet) for index in told)
        return not (self.sort and told) or any(fitting)

    def _is_of_sort(self, column: SheetColumn, sheet: Sheet) -> bool:
        named = {sort for stem in column.stems for sort in ENGLISH.things.get(stem, ())}
        dated = sum(_YEAR.search(cell) is not None for cell in column.sample)
        if "time" in self.sort and (column.kind in ("date", "time") or 2 * dated > len(column.sample)):
            return True
        return bool(named & self.sort) or (column is sheet.key and not named and self.sort != {"time"})


def _not_understood(asked: list[Token], links: Links, sheet: Sheet) -> Declined:
    """Say why no reading was found: another language, words without a meaning here, or the kind."""
    words = [token for token in asked if token.number is None]
    known = [token for token in words if token.low in ENGLISH.filler or (token.low,) in ENGLISH.phrases]
    unknown = links.unknown
    if len(words) > 2 and len(unknown) * 2 > len(words) and len(known) * 4 < len(words):
        return Declined(
            f"the question does not seem to be in {ENGLISH.name}, the language that is read without a model"
        )
    if not unknown:
        return Declined("this kind of question is not understood", hint=_how_to_ask(sheet))
    rest = [token for token in asked if token.text not in unknown]
    forms = forms_of(sheet, rest, Links(rest, sheet).readings)
    hint = f"Without them it would be read as: {said(forms[0][1], sheet)}." if forms else _how_to_ask(sheet)
    return Declined(f"these words were not understood: {', '.join(dict.fromkeys(unknown))}", hint=hint)


def _how_to_ask(sheet: Sheet) -> str:
    """Name the columns that a question may ask for."""
    names = [column.plain for column in sheet.columns if column.plain]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    named = f"Ask for what the table has: {', '.join(name[:40] for name in names[:_MOST_NAMED])}{more}"
    return f"{named}{_example(sheet)}."


def _example(sheet: Sheet) -> str:
    """Return a question that this table answers, as ', as in "Which City has the highest Visitors?"'."""
    if not sheet.amounts:
        return ""
    amount, key = sheet.amounts[-1], sheet.key
    question = f"Which {key.plain} has" if key is not None else "What is"
    question = f"{question} the highest {amount.plain}?"
    tokens = ENGLISH.tokens(question)
    return f', as in "{question}"' if forms_of(sheet, tokens, Links(tokens, sheet).readings) else ""


def _judged(sheet: Sheet, forms: list[tuple[float, Form]]) -> Answer:
    first: tuple[float, Form, Result] | None = None
    why: Unfit | None = None
    least = forms[0][0]
    for price, form in forms[:40]:
        if first is not None and price > first[0] + NEAR:
            break
        try:
            result = form.run(sheet)
        except Unfit as unfit:
            why = why or (None if unfit.moot else unfit)
            if unfit.empty and price <= least + 0.02:
                raise Declined(str(unfit), hint=f"It was read as: {said(form, sheet)}.") from None
            continue
        cost = price + _doubt(form, result, sheet)
        if first is None:
            if why is not None and cost > least + (NEAR if why.empty else 0.12):
                raise Declined(str(why))
            first = cost, form, result
        elif set(result.values) != set(first[2].values):
            both = f"{said(first[1], sheet)}, or {said(form, sheet)}"
            raise Declined(f"it may mean two things: {both}", hint="Ask with more of the words of one.")
    if first is None:
        raise Declined(str(why or "this kind of question is not understood"), hint=_how_to_ask(sheet))
    cost, form, result = first
    for index in form.columns:
        column = sheet.columns[index]
        copies = [each for each in sheet.columns if (each.original, each.kind) == (column.original, "number")]
        if column.kind == "number" and len(copies) > 1:
            raise Declined(f'it may mean two columns: "{copies[0].plain}" and "{copies[1].plain}"')
    if cost > _MOST:
        hint = f"It would be read as: {said(form, sheet)}."
        raise Declined("too little of the question is accounted for", hint=hint)
    return Answer(result, form, max(0.0, 1 - cost / DOUBT), sheet)


def _doubt(form: Form, result: Result, sheet: Sheet) -> float:
    """What an answer costs by being what it is: a count of nothing, of one, of a part, of the same twice."""
    of = getattr(form, "of", None)
    if not isinstance(form, Count | Fold) or not isinstance(of, Where) or not of.conditions:
        return 0.0
    few = {0: _AMISS, 1: _ONE}.get(int(result.number or 0), 0.0) if isinstance(form, Count) else 0.0
    telling = [each.cells for each in sheet.columns if each.kind in ("text", "date") or each.is_running]
    rows = of.rows(sheet)
    different = {tuple(cells[row] for cells in telling) for row in rows}
    is_twice = isinstance(form, Fold) and len(different) < len(rows)
    is_part = len(Where(tuple(_widened(each, sheet) for each in of.conditions)).rows(sheet)) != len(rows)
    return few + _AMISS * (is_part + (is_twice and bool(telling)))


def _widened(condition: Any, sheet: Sheet) -> Any:
    """Return a test of texts that takes cells as well which say more beside these texts."""
    if not isinstance(condition, Is):
        return condition
    said = re.compile("|".join(rf"\b{re.escape(text)}\b" for text in condition.texts if text) or "(?!)")
    held = (text for text in sheet.columns[condition.column].places if said.search(text))
    return replace(condition, texts=condition.texts.union(held))
