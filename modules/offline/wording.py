"""Forms in words: what a reading asks for, for people who want to see how they were understood."""

from __future__ import annotations

from typing import Any

from chameleon.modules.offline.algebra import (
    Beside,
    Bill,
    Chosen,
    Compares,
    Count,
    Dates,
    Either,
    Exists,
    Filled,
    Fold,
    Gap,
    Greater,
    Groups,
    Is,
    Ordered,
    Pick,
    Share,
    Versus,
    Where,
    plain,
)  # fmt: skip
from chameleon.modules.offline.sheet import Sheet, shown

_SIGNS = {"<": "under", "<=": "at most", "==": "", "!=": "not", ">=": "at least", ">": "over", "in": ""}
_WHEN = {"<": "before", "<=": "up to", ">=": "from", ">": "after", "==": "in", "in": "in"}
_FOLDS = {
    "sum": "total",
    "mean": "average",
    "max": "highest",
    "min": "lowest",
    "spread": "range",
    "mode": "most frequent",
}
_MOST_TEXTS = 3


def said(form: Any, sheet: Sheet) -> str:
    """Say in words what a form asks for: "total Salary where Team is red"."""

    def name(index: int | None) -> str:
        return "row" if index is None else sheet.columns[index].plain or f"column {index + 1}"

    match form:
        case Pick(of, wanted):
            return f"{' and '.join(map(name, wanted))}{_of(of, sheet)}"
        case Count(of, distinct):
            return (
                f"number of {'rows' if distinct is None else f'different {name(distinct)}'}{_of(of, sheet)}"
            )
        case Fold(of, column, how):
            return f"{_FOLDS.get(how, how)} {name(column)}{_of(of, sheet)}"
        case Share(part, whole, column):
            what = "rows" if column is None else name(column)
            return f"share of {what}{_of(part, sheet)}{_among(whole, sheet)}"
        case Gap(one, other):
            return f"difference between {said(one, sheet)} and {said(other, sheet)}"
        case Greater(names, forms):
            return f"which of {' and '.join(names)} has more: {said(forms[0], sheet).partition(' where ')[0]}"
        case Groups(of, by, how, column):
            what = "number of rows" if column is None else f"{_FOLDS.get(how, how)} {name(column)}"
            return f"{what} for each {name(by)}{_of(of, sheet)}"
        case Chosen(of, sign):
            return f"{name(of.by)} with the {sign} of: {said(of, sheet)}"
        case Exists(of):
            return f"whether there is a row{_of(of, sheet)}"
        case Bill(_, of):
            return f"what {len(of)} things cost: {said(of[0], sheet)}"
    return type(form).__name__.lower()


def _of(rows: Any, sheet: Sheet) -> str:
    match rows:
        case Where(conditions) if conditions:
            return f" where {' and '.join(_condition(each, sheet) for each in conditions)}"
        case Ordered(of, column, descending, start, count):
            which = (
                "last"
                if descending and column is None
                else "first"
                if column is None
                else "most"
                if descending
                else "least"
            )
            by = "" if column is None else f" {sheet.columns[column].plain}"
            place = f"number {start + 1} by" if start else "the" if count == 1 else f"the {count} with the"
            return f" with {place} {which}{by}{_of(of, sheet)}"
        case Beside(of, shift):
            return f" of the row {'after' if shift > 0 else 'before'} that{_of(of, sheet)}"
    return ""


def _among(whole: Any, sheet: Sheet) -> str:
    return _of(whole, sheet).replace(" where ", " among those where ")


def _condition(condition: Any, sheet: Sheet) -> str:
    column = sheet.columns[condition.columns[0]]
    match condition:
        case Is(_, texts):
            names = sorted({shown(column.cells[column.places[text][0]]) for text in texts})
            more = f" or {len(names) - _MOST_TEXTS} others" if len(names) > _MOST_TEXTS else ""
            return f"{column.plain} is {' or '.join(names[:_MOST_TEXTS])}{more}"
        case Compares(_, sign, number):
            return f"{column.plain} is {_SIGNS[sign]} {plain(number)}".replace("  ", " ")
        case Dates(_, sign, moment, until):
            day = "-".join(f"{part:02}" for part in moment if part)
            last = "" if until is None else f" to {'-'.join(f'{part:02}' for part in until if part)}"
            return f"{column.plain} is {_WHEN[sign]} {day}{last}"
        case Versus(_, sign, other):
            return f"{column.plain} is {'more' if sign == '>' else 'less'} than {sheet.columns[other].plain}"
        case Filled():
            return f"{column.plain} is filled"
        case Either(parts, negated):
            joined = " or ".join(_condition(part, sheet) for part in parts)
            return f"not ({joined})" if negated else joined
    return str(column.plain)
