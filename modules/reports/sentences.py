"""Sentences that tell figures of one thing for several years, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chameleon.modules.reports.context import Context
from chameleon.modules.reports.figures import Dated, Figure
from chameleon.modules.reports.naming import content
from chameleon.modules.reports.periods import months_in, without_days

_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Za-z])|\n\s*\n")
_REPEATED = re.compile(r"\(\s*-?[\d.,]+\s*%?\s*\)")
_SCALE = r"(?: (?P<scale>thousand|million|billion)s?\b)?"
_FIGURE = re.compile(
    r"(?<![\w.,-])(?P<sign>[$€£] ?|(?:eur|usd|gbp|nok|sek|dkk) )?(?P<digits>\d(?:[\d,]*\d)?(?:\.\d+)?|\.\d+)"
    rf"(?P<percent> ?%| percent\b)?(?![\w,.]*\d){_SCALE}"
    r"(?P<noun> (?!(?:in|for|and|at|of|as|on|during|compared|respectively|was|were|is|are)\b)[a-z]+)?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_YEAR = re.compile(r"(?<=[a-z]) ?, (?=(?:19|20)\d\d\b)")
_SUBJECT = (
    r"(?:our|the company's|the company 's|we had|we recorded|we incurred|the company recorded|"
    r"the company incurred)? ?(?:the )?(?P<subject>[^@#;:]{2,140}?)"
)
_IS = (
    r"(?:(?:was|were|is|are|of|totall?ed|totall?ing|aggregated|amounted to|approximated|had|employed|paid) )"
)
_ABOUT = r"(?:(?:approximately|about|a total of) )?"
_WHEN = (
    r"(?:in|for|at|during|as of|as at|of|on)"
    r"(?: (?:the|fiscal|years?|ended|ending|end|of|in|at|and))*"
)
_LIST = "{0}(?: ?,? ?(?:and )?{1}{0})*"
_FIGURES, _YEARS = _LIST.format("#", _ABOUT), _LIST.format("@", f"(?:{_WHEN} )?")
_TAIL = r"(?: ?,? ?respectively)? ?\.?"
_PAIR = rf"{_ABOUT}# ?,? ?{_WHEN} @"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_SUBJECT} {_IS}{_ABOUT}{_FIGURES} ?,? ?{_WHEN} {_YEARS}{_TAIL}",
        rf"{_SUBJECT} {_IS}{_PAIR}(?: ?,? ?(?:and |compared (?:to|with) )?{_PAIR})+{_TAIL}",
        rf"{_SUBJECT} {_WHEN} {_YEARS} ?,? ?{_IS}{_ABOUT}{_FIGURES}{_TAIL}",
        rf"{_WHEN} {_YEARS} ?,? ?{_SUBJECT} {_IS}{_ABOUT}{_FIGURES}{_TAIL}",
    )
)
_LONGEST = 400
_NOTHING = Context((), (), frozenset(), frozenset(), frozenset())


def of_sentences(texts: Iterable[str]) -> Iterator[Dated]:
    """The sentences that are of a known form: one subject, and as many figures of one unit as years.

    Each text is that of one passage, of one sentence or more.
    """
    for passage, text in enumerate(texts, 1):
        for sentence in _ENDS.split(text):
            if found := _of_sentence(sentence, passage):
                yield found


def _of_sentence(text: str, passage: int) -> Dated | None:
    if len(text) > _LONGEST:
        return None
    lowered = " ".join(_REPEATED.sub(" ", text.lower()).split())
    plain = _BEFORE_YEAR.sub(" ", " ".join(without_days(lowered).split()))
    years: list[str] = []
    figures: list[Figure] = []
    units: set[tuple[str, ...]] = set()

    def sign(found: re.Match[str]) -> str:
        digits = found["digits"]
        if _YEAR.fullmatch(digits) and not found["sign"] and not found["percent"] and not found["scale"]:
            years.append(digits)
            return f"@{found['noun'] or ''}"
        percent = "%" if found["percent"] else ""
        figures.append(Figure(digits.replace(",", "") + percent, {"passage": passage}))
        units.add(((found["sign"] or "").strip(), percent, found["scale"] or "", found["noun"] or ""))
        return "#"

    skeleton = _FIGURE.sub(sign, plain)
    if not len(years) == len(figures) == len(set(years)) >= 2 or len(units) > 1:
        return None
    form = next((found for each in _FORMS if (found := each.fullmatch(skeleton))), None)
    if form is None:
        return None
    by_year = dict(zip(years, figures, strict=True))
    (unit,) = units
    return Dated(
        "sentence",
        text,
        content(form["subject"]),
        by_year,
        frozenset(years),
        months_in(lowered),
        " ".join(unit),
        _NOTHING,
    )
