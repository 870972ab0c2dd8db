"""What a question about a report asks for, by its words: a change, a share, an average and the like.

No more is read than these forms; all else is declined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chameleon.modules.reports.evidence import years_asked, years_in
from chameleon.modules.reports.percent import asks_percent
from chameleon.modules.reports.refusals import CHANGE

Kind = Literal[
    "growth", "change", "share", "ratio", "difference", "greater", "average", "total", "largest", "smallest"
]
Direction = Literal["up", "down", ""]

_LONGEST = 600  # characters: longer questions are none of these forms
_SPAN = (
    r"(?:(?:from|between|for|in|of|during|over|at|through|to|as of|ended|ending|and|or|since|the|both|years?|"
    r"fiscal|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?<!\d)(?:[12]?\d|3[01])(?!\d)|,|-|\s)+(?:(?:19|20)\d\d))+"
)
_YEARS = re.compile(rf"(?:\b|(?<!\w)){_SPAN}")
_US = r"(?:us |u\.s\. )?"
_UNIT = re.compile(
    rf"[,(]?\s*\b(?:in|as)\s+{_US}(?:millions?|billions?|thousands?|dollars?)(?: of {_US}dollars)?\b\s*\)?"
)
_SPELL = re.compile(
    r"\b(?:for|over|during|in) the (?:past |last )?(?:two|three|four|five|2|3|4|5)[- ]years?(?: period)?s?\b"
)
"""How long a time is: so many years as the table has."""
_DUE = re.compile(
    r"(?:that )?(?:be |will be |is |are |was |were )?(?:due|payable|expiring|maturing|mature|expire|paid)"
    r"(?: in| for)?(?: fiscal| the)?(?: years?)?(?P<after> after)? (?P<year>(?:19|20)\d\d)"
)
_IS = r"(?:is|was|were|are|represents?|represented)"
_WHAT = rf"\b(?:what|how much) {_IS} (?:the )?"
_CAME = r"will be|came|comes|consists?|consisted|comprised?"
_TIED = r"due to|related to|attributable to|applicable to|represented by|from"
_JOINED = (
    rf"(?:{_TIED}|attributed to|composed of|made up of|comprised of|of|associated with|for|allocated to|by)"
)
_SUM = r"total sum|combined total|total|sum|combined|cumulative"
_MOVE = r"(?:change|increase|decrease|growth|decline|difference)"
_MORE = r"(?:greater|higher|larger|bigger|more|less|lower|smaller|fewer)"
_PART = r"(?:percent|percentage|portion|share|proportion|fraction|%|percentual)"


@dataclass(frozen=True)
class Asked:
    """What is asked: its kind, the things that it is about (the whole last), and the years in their order.

    Of two things that are compared, the years are theirs, "" for none.
    """

    kind: Kind
    things: tuple[str, ...]
    years: tuple[str, ...]
    spell: int = 0
    """How many years the question says it is about, where it says no more."""
    direction: Direction = ""
    """Which way the question says that a figure went, where it says so."""


_Make = Callable[[str, re.Match[str], tuple[str, ...]], Asked | None]


def asked(question: str) -> Asked | None:
    """What a question asks for; None where it has none of the known forms."""
    text = " ".join(question.lower().replace("\\n", " ").split()).rstrip(" ?.")
    text = " ".join(_UNIT.sub(" ", text.replace("’", "'").replace(" 2019s ", "'s ")).split())
    if len(text) > _LONGEST:
        return None
    years = tuple(sorted(years_asked(text)))
    for pattern, make in _FORMS:
        if found := pattern.search(text):
            return make(text, found, years)
    return None


def _plain(text: str) -> str:
    """A thing without the years and units that belong to the question."""
    bare = _YEARS.sub(" ", _SPELL.sub(" ", f" {text} "))
    return re.sub(
        r"\s*\b(?:compared|from|in|over|the|during|for)$", "", " ".join(bare.split()).strip(" ,.'\\")
    )


_SEVERAL = re.compile(
    r"\b(?:average|mean|largest|highest|greatest|biggest|maximum|smallest|lowest|least|minimum|cumulative)\b"
)
_YEARLY = re.compile(
    r"\b(?:annual|annually|yearly|per (?:year|annum)|(?:each|every|a) year|year[- ]\w+[- ]year)\b"
)
_UP = re.compile(r"\b(?:increased?|rise|rose|grew|grow)\b")
_DOWN = re.compile(r"\b(?:decreased?|declined?|reduction|drop|dropped|fell|fall)\b")


def _moved(kind: Kind) -> _Make:
    def make(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
        said = years_in(text)
        thing, around = found["thing"], text[: found.start("thing")] + text[found.end("thing") :]
        if len(said) == 1 and _of_one_year(text):
            (year,) = said
            between = (str(int(year) - 1), year)
        elif len(said) == 2 and not (kind == "growth" and "percentage point" in text):
            between = (min(said), max(said))
        else:
            return None
        by_year = int(between[1]) - int(between[0]) > 1 and (
            _YEARLY.search(around)
            or re.search(r"\bper (?:year|annum)\b|\b(?:each|every|a) year\b|\bannually\b", thing)
        )
        share = kind == "change" and asks_percent(text) and "point" not in text
        if _SEVERAL.search(around) or by_year or share or _backwards(text):
            return None
        return Asked(kind, (_plain(thing),), between, direction=_direction(around))

    return make


def _backwards(text: str) -> bool:
    """Whether a change is asked for from a later year to an earlier one."""
    spans = re.findall(
        r"\bfrom (?:\w+ )?((?:19|20)\d\d) (?:to|until|through) (?:\w+ )?((?:19|20)\d\d)\b", text
    )
    return any(first > last for first, last in spans)


def _direction(text: str) -> Direction:
    up, down = bool(_UP.search(text)), bool(_DOWN.search(text))
    return "" if up == down else "up" if up else "down"


def _of_one_year(text: str) -> bool:
    """Whether a change is that of a single year: "in 2012", "during 2012", "for 2012"."""
    return bool(re.search(r"\b(?:in|during|for)(?: fiscal)?(?: the)?(?: year)? (?:19|20)\d\d", text))


def _part_of(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
    part, whole = found["part"], _plain(found["whole"])
    if due := _DUE.fullmatch(part):
        return Asked("share", (f"after {due['year']}" if due["after"] else due["year"], whole), ())
    if re.search(CHANGE, part) or re.search(r"\b(?:after|before|within|next|not)\b", text):
        return None
    return Asked("share", (_plain(part), whole), years)


def _stated_part(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
    """The part without the question's own words: "what was royalty income as a percentage of income"."""
    part = re.sub(rf"^(?:.*?\b)?what {_IS} (?:the )?", "", found["part"])
    return Asked("share", (_plain(part), _plain(found["whole"])), years)


def _ratio(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
    return Asked("ratio", (_plain(found["part"]), _plain(found["whole"])), years)


_LESS = re.compile(r"\b(?:less|lower|smaller|below|fewer)\b")


def _difference(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
    """Of two things, or of one thing in two years."""
    one, other = found["one"], found["other"]
    if re.search(r"\band\b", f"{_plain(one)} {_plain(other)}") or _SEVERAL.search(text):
        return None
    if len(years_in(text)) == 2 and (not _plain(other) or not _plain(one) or _plain(one) == _plain(other)):
        thing = _plain(one) or re.sub(r"^(?:in|of|for) (?:the )?", "", _plain(other))
        said = sorted(years_in(text))
        return Asked("change", (thing,), (said[0], said[1]))
    return _two("difference", one, other, years_in(text))


def _greater(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
    """Whether one thing is more than another, or than itself in another year."""
    middle = found.groupdict().get("middle") or ""
    one, other = f"{found['one']} {middle}", found["other"]
    if _SEVERAL.search(text):
        return None
    asked = _two("greater", one, other if _plain(other) else f"{_plain(one)} {other}", years_in(text))
    less = "than" in found.groupdict() and _LESS.search(found["than"])
    return replace(asked, direction="down") if asked and less else asked


def _two(kind: Kind, one: str, other: str, years: set[str]) -> Asked | None:
    """Two things, each of its own year, or both of the only year."""
    said = [years_in(one), years_in(other)]
    if any(len(each) > 1 for each in said) or len(years) > 2:
        return None
    both = next(iter(years)) if len(years) == 1 else ""
    first, second = (next(iter(each), both) for each in said)
    if len(years) == 2 and not (first and second):
        return None
    return Asked(kind, (_plain(one), _plain(other)), (first, second))


def _difference_or(change: _Make) -> _Make:
    """A difference, or the change of one thing whose name has "and"."""

    def make(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
        if "difference between" not in text and len(years_in(text)) != 1 and years:
            whole = re.search(r"\bdifference in (?:the )?(?P<thing>.+)$", text)
            return change(text, whole, years) if whole else None
        return _difference(text, found, years)

    return make


def _over(kind: Kind) -> _Make:
    def make(text: str, found: re.Match[str], years: tuple[str, ...]) -> Asked | None:
        if re.search(r"\bbetween\b", text) and len(years) == 2 and int(years[1]) - int(years[0]) > 1:
            return None  # with or without the years between them
        return Asked(kind, (_plain(found["thing"]),), years, _spell(text))

    return make


def _spell(text: str) -> int:
    found = re.search(r"\b(two|three|four|five|[2-5])[- ]years?\b", text)
    return {"two": 2, "three": 3, "four": 4, "five": 5}.get(found[1], 0) or int(found[1]) if found else 0


def _forms() -> Sequence[tuple[re.Pattern[str], _Make]]:
    rest, the = r"(?P<thing>.+)$", r"(?:the )?"
    in_of = rf"(?:observed |expected )?(?:in|of|for|on) {the}"
    growth, change = _moved("growth"), _moved("change")
    moved = r"(?:changed?|increased?|decreased?|grew|grow|declined?)"
    written: Sequence[tuple[str, _Make]] = (
        (rf"\b(?:percent|percentage|percentual|%) (?:of )?{the}{CHANGE} {in_of}{rest}", growth),
        (rf"\b(?:growth rate|rate of (?:growth|increase|change)) {in_of}{rest}", growth),
        (rf"\b(?:by )?what percent(?:age)? did {the}(?P<thing>.+?) {CHANGE}\b", growth),
        (rf"^{the}(?P<thing>.+?) {moved} by what percent(?:age)?(?! point)", growth),
        (rf"(?P<part>.+?) as a (?:percent|percentage|portion|share|%) of {the}(?P<whole>.+)$", _stated_part),
        (rf"\b{_PART} of {the}(?P<whole>.+?) (?:{_IS}|{_CAME}) (?:{_JOINED} )*{the}(?P<part>.+)$", _part_of),
        (rf"\b{_PART} of {the}(?P<whole>.+?) (?:{_TIED}) {the}(?P<part>.+)$", _part_of),
        (rf"\bwhat {_PART} {_IS} {the}(?P<part>.+?) of {the}(?P<whole>.+)$", _part_of),
        (rf"\bratio of {the}(?P<part>.+?) to {the}(?P<whole>.+)$", _ratio),
        (rf"\b{_PART} of {the}(?P<part>.+?) to {the}(?P<whole>.+)$", _part_of),
        (
            rf"^(?:in \d{{4}},? )?(?:was|were|is|are) {the}(?P<one>.+?) (?P<than>{_MORE})(?P<middle>.*?) "
            rf"than (?:in |for |that of )?{the}(?P<other>.+)$",
            _greater,
        ),
        (rf"^(?:in \d{{4}},? )?(?:do|does|did) {the}(?P<one>.+?) exceed {the}(?P<other>.+)$", _greater),
        (rf"\bdifference (?:between|in) {the}(?P<one>.+?) and {the}(?P<other>.+)$", _difference_or(change)),
        (rf"\bhow much (?:did|has|have) {the}(?P<thing>.+?) {moved}\b", change),
        (rf"\b(?:net )?{_MOVE} (?:in|of) {the}{rest}", change),
        (
            rf"(?<!weighted )(?<!weighted-)\b(?:average|mean) (?:of )?{the}(?:annual )?{rest}",
            _over("average"),
        ),
        (
            rf"\b(?:highest|greatest|largest|maximum) (?:amount of |value of |annual )?{the}{rest}",
            _over("largest"),
        ),
        (rf"\b(?:lowest|smallest|minimum) (?:amount of |value of |annual )?{the}{rest}", _over("smallest")),
        (rf"{_WHAT}(?:{_SUM})(?: amount| value)?(?: of)? {the}{rest}", _over("total")),
    )
    return [(re.compile(pattern), make) for pattern, make in written]


_FORMS = _forms()
