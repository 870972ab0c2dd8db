"""How sure a reading is: by its kind, and by the words of the statement that it leaves unread.

The figures are shares of right answers among labelled statements of TabFact and questions of
WikiTableQuestions
(readings of that kind, with so many words unread), rounded; no statement, question or word of theirs is kept.
"""

from __future__ import annotations

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.counting import is_before_things
from chameleon.modules.offline.lexical.english import (
    LEAST,
    LESS,
    LOST,
    MORE,
    MOST,
    NEGATIONS,
    PLAIN_VERBS,
    ROW_NOUNS,
    SMALL,
    STEERING,
    VERBS,
    WHOLE,
)
from chameleon.modules.offline.lexical.fields import fields_of
from chameleon.modules.offline.lexical.links import Linked
from chameleon.modules.offline.lexical.reading import CLAIMS, Reading
from chameleon.modules.offline.lexical.words import key_of

_RIGHT = {
    "fact": 0.95,
    "comparison": 0.95,
    "fact within bounds": 0.8,
    "difference": 0.92,
    "outnumbering": 0.8,
    "superlative": 0.91,
    "facts": 0.88,
    "only": 0.87,
    "same": 0.85,
    "count different": 0.8,
    "count": 0.8,
    "none": 0.8,
    "count of names": 0.75,
    "count of one": 0.4,
    "count of things": 0.68,
    "average": 0.75,
    "all": 0.7,
    "fact denied": 0.65,
    "sum": 0.6,
    "count all": 0.45,
    "rivals": 0.78,
    "lookup": 0.87,
    "figure": 0.9,
    "apart": 0.7,
    "extreme": 0.8,
    "neighbour": 0.85,
    "end": 0.78,
    "how many": 0.75,
    "most frequent": 0.72,
    "how many in all": 0.7,
    "lookup, several": 0.62,
    "lookup loosely": 0.6,
    "end loosely": 0.6,
    "extreme figure": 0.72,
    "how many different": 0.5,
    "figures": 0.3,
    "average figure": 0.5,
    "total": 0.55,
    "extreme loosely": 0.45,
    "how many of one": 0.4,
    "how many, repeated": 0.45,
    "lookup loosely, several": 0.4,
    "lookup, none": 0.1,
    "lookup loosely, none": 0.1,
}
_UNREAD_WORD = 0.93
_UNREAD_OF = {
    "count of names": 0.6,
    "most frequent": 0.65,
    "how many in all": 0.6,
    "how many": 0.78,
    "extreme figure": 0.65,
}
_UNREAD_STEERING = {"facts": 0.95, "superlative": 0.9, "fact": 0.75}
_TOGETHER = word_set("total sum combined together altogether average mean")
_TURNING = (
    MOST | LEAST | MORE | LESS | WHOLE | NEGATIONS | _TOGETHER | {"than"}
)  # with one of these the opposite is as likely
_UNREAD_TURNING = 0.55
_UNREAD_THINGS = 0.7
_UNREAD_LOSS = 0.7
_BARE = 0.6
_OTHER_STEERING = 0.72
_ASKED_STEERING = 0.6


def sureness(reading: Reading, linked: Linked) -> float:
    """How often such readings were right: less with every word that is left unread."""
    strange, steering = unread(reading, linked)
    claims = reading.questions[0].ask in CLAIMS
    other = _OTHER_STEERING if claims else _ASKED_STEERING
    turning = sum(word in _TURNING for word in steering) if reading.kind == "fact" else 0
    steered: float = _UNREAD_STEERING.get(reading.kind, other) ** (len(steering) - turning)
    steered *= _UNREAD_TURNING**turning
    if reading.kind.startswith("fact"):
        things = (m for m in linked.mentions if is_before_things(linked, m) and m.end not in reading.used)
        steered *= _UNREAD_THINGS ** len(list(things))
        steered *= _BARE if not strange and _says_a_bare_number(linked) else 1
        lost = (m for m in linked.mentions if m.kind == "number" and linked.text(m.start - 1) in LOST)
        steered *= _UNREAD_LOSS ** sum(m.start - 1 not in reading.used for m in lost)
    sure: float = _RIGHT[reading.kind] * _UNREAD_OF.get(reading.kind, _UNREAD_WORD) ** len(strange) * steered
    return round(sure, 3)


def _says_a_bare_number(linked: Linked) -> bool:
    """Whether all that is said is a number, which columns of several kinds might hold: "rex is 4"."""
    last = linked.mentions[-1]
    after = [token for token in linked.tokens[last.end :] if not token.is_mark]
    bare = last.kind == "number" and linked.text(last.start - 1) in VERBS and not after
    figures = [field for field in fields_of(linked.table) if field.datatype == "number" and field.pure]
    return bare and not linked.columns and len(figures) > 1


def unread(reading: Reading, linked: Linked) -> tuple[list[str], list[str]]:
    """The words that the reading leaves unread: plain ones that might matter, and those that steer."""
    caption = set(key_of(linked.table.caption))
    left = [t for n, t in enumerate(linked.tokens) if n not in reading.used and not t.is_mark]
    joining = {linked.tokens[n] for n in range(len(linked.tokens)) if _joins(linked, n)}
    steering = [t.text for t in left if t.text in STEERING and t not in joining]
    known = SMALL | PLAIN_VERBS | ROW_NOUNS
    strange = [
        t.text for t in left if t.text not in STEERING and t.text not in known and t.form not in caption
    ]
    return strange, steering


def _joins(linked: Linked, place: int) -> bool:
    """Whether "against" only stands before a name, as "with" would."""
    following = {mention.start for mention in linked.mentions}
    return linked.text(place) == "against" and bool(following & {place + 1, place + 2})
