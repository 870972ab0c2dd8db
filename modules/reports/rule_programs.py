"""The program that answers a question of one of a few forms, and the figures that it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.facts import PlacedTable
from chameleon.modules.reports.figures import Cell, Dated, Figure
from chameleon.modules.reports.lookup import Lookup, declined
from chameleon.modules.reports.naming import content, without_opposites
from chameleon.modules.reports.periods import months_in
from chameleon.modules.reports.program_writer import value_of
from chameleon.modules.reports.refusals import refused
from chameleon.modules.reports.rules import Asked, asked

_SCALES = ("thousand", "million", "billion")
_SCALED = re.compile(r"\b(?:in|of) (?:thousands|millions|billions)\b")
_CURRENCY = re.compile(r"\b(?:usd|eur|gbp|nok|sek|dkk|chf|jpy)\b|[$€£¥]")
_DOLLARS = re.compile(r"\bin (?:us |u\.s\. )?dollars\b")
_LOST = re.compile(
    r"\b(?:loss(?:es)?|deficits?|expenses?|costs?|charges?|payments?|paid|outflows?|provisions?|tax(?:es)?|"
    r"purchases?|repurchases?|dividends?|expenditures?|used|decreases?)\b",
    re.IGNORECASE,
)
_WITHOUT_UNIT = ("growth", "share", "ratio", "greater")
_OVER_ROW = {
    "average": "table_average",
    "total": "table_sum",
    "largest": "table_max",
    "smallest": "table_min",
}

_TOGETHER = {
    "average": "take the average of",
    "total": "add it to",
    "largest": "compare it with",
    "smallest": "compare it with",
}


class Written(NamedTuple):
    """A program, and where its numbers stand: row, column and passage, counted from 1."""

    program: str
    evidence: Sequence[dict[str, int]]


def rule_program(question: str, tables: Sequence[PlacedTable], texts: Sequence[str]) -> Written:
    """The program that answers a question of one of the known forms. Raises `Declined` for any other.

    `texts` are those of the passages, "" for one that holds a table.
    """
    wanted = asked(question)
    if wanted is None:
        raise declined("the question has none of the forms that are understood without a model")
    if reason := refused(question, comparing=wanted.kind == "greater"):
        raise declined(reason)
    months = months_in(question)
    if len(months) > 1:
        raise declined("the question names several months")
    report = _Report(Lookup(tables, texts, months), tables, texts, question)
    program = report.program(wanted)
    report.check_units(wanted)
    if fault := value_of(program, [each.table for each in tables]).fault:
        raise declined(f"the program does not work: {fault}")
    evidence = [dict(figure.source) for figure in report.used]
    return Written(
        program, [place for number, place in enumerate(evidence) if place not in evidence[:number]]
    )


def _scales(text: str) -> frozenset[str]:
    """The scales of thousand, million and so on that a text names."""
    return frozenset(scale for scale in _SCALES if scale in text.lower())


class _Report:
    """Writes programs over the figures of a report; `used` are those of the program."""

    def __init__(
        self, figures: Lookup, tables: Sequence[PlacedTable], texts: Sequence[str], question: str
    ) -> None:
        self.figures = figures
        self.tables = [placed.table for placed in tables]
        self.question = question.lower()
        self.said = content(question)
        self.texts = " ".join(texts).lower()
        self.used: list[Figure] = []
        self.units: list[str] = []

    def program(self, wanted: Asked) -> str:
        if wanted.kind in ("growth", "change"):
            return self._moved(wanted)
        if wanted.kind in ("share", "ratio"):
            return self._part(wanted)
        if wanted.kind in ("difference", "greater"):
            return self._compared(wanted)
        return self._over(wanted)

    def check_units(self, wanted: Asked) -> None:
        """Raise `Declined` where figures are in another unit than is asked for, or in several."""
        found = [_scales(unit) for unit in self.units]
        percent = {figure.text.endswith("%") for figure in self.used}
        currencies = {*filter(None, (frozenset(_CURRENCY.findall(unit.lower())) for unit in self.units))}
        if (
            len({*filter(None, found)}) > 1
            or len(currencies) > 1
            or (len(percent) > 1 and wanted.kind != "ratio")
        ):
            raise declined("the figures are in different units")
        if wanted.kind in _WITHOUT_UNIT:
            return
        have = frozenset().union(*found)
        need = _scales(self.question)
        plain = not need and _DOLLARS.search(self.question)
        if (need and have and (not need & have or "per share" in self.question)) or (
            plain
            and (have or (_SCALED.search(self.texts) and not any("passage" in f.source for f in self.used)))
        ):
            raise declined("the figures are in another unit than the question asks for")

    def _take(self, figure: Figure, unit: str) -> str:
        self.used.append(figure)
        self.units.append(unit)
        return figure.text

    def _taken(self, cell: Cell) -> str:
        assert cell.figure is not None
        return self._take(cell.figure, cell.unit)

    def _moved(self, wanted: Asked) -> str:
        before, after = wanted.years
        found = self.figures.by_year(wanted.things[0], wanted.years)
        new, old = (self._take(found.by_year[year], found.unit) for year in (after, before))
        rose, below = _number(new) - _number(old), _number(new) < 0 or _number(old) < 0
        if wanted.kind == "growth" and _number(old) <= 0:
            raise declined("a change from a figure that is not positive has no plain percentage")
        if below and _LOST.search(without_opposites(found.label)):
            raise declined(f"{found.label!r:.80} is written below zero: it is not clear which way it went")
        if (wanted.direction == "down" and rose >= 0) or (wanted.direction == "up" and rose <= 0):
            raise declined(f"{found.label!r:.80} went the other way than the question says")
        first = f"subtract({new}, {old})"
        return f"{first}, divide(#0, {old})" if wanted.kind == "growth" else first

    def _part(self, wanted: Asked) -> str:
        part, whole = wanted.things
        if len(wanted.years) > 1:
            raise declined("the question names several years for one share")
        year = "".join(wanted.years)
        if years_in(part):
            due = next(iter(years_in(part)))
            one = self.figures.due(due, after=part.startswith("after"), said=self.said)
        else:
            one = self.figures.cell(part, year, self.said, alone=True)
        by_row = one.row == content(part) and wanted.kind == "share"
        said = self.said - content(part) if by_row else self.said
        all = self.figures.cell(whole, year, said, alone=True)
        if (one.alone or all.alone) and one.table != all.table:
            raise declined("the part and the whole are of different tables")
        first, second = self._taken(one), self._taken(all)
        if self.used[0].source == self.used[1].source or first == second:
            raise declined("the part and the whole are the same figure")
        return f"divide({first}, {second})"

    def _compared(self, wanted: Asked) -> str:
        first, second = (
            self.figures.cell(thing, year, self.said)
            for thing, year in zip(wanted.things, wanted.years, strict=True)
        )
        one, other = self._taken(first), self._taken(second)
        if self.used[0].source == self.used[1].source and self.used[0].source.get("row"):
            raise declined("the question compares a figure with itself")
        if wanted.kind == "greater":
            return f"greater({other}, {one})" if wanted.direction == "down" else f"greater({one}, {other})"
        larger, smaller = sorted((one, other), key=_number, reverse=True)
        return f"subtract({larger}, {smaller})"

    def _over(self, wanted: Asked) -> str:
        thing = wanted.things[0]
        if len(wanted.years) < 2 and not wanted.spell:
            column = self.figures.column(thing, {*wanted.years})
            if column is not None:
                unit = column.unit
                return self._over_rows(wanted, column.figures, column.total, unit)
        found = self.figures.by_year(thing, wanted.years)
        years = wanted.years or tuple(sorted(found.by_year))
        self._check_years(wanted, found, years)
        figures = [self._take(found.by_year[year], found.unit) for year in years]
        if found.whole and len(found.by_year) == len(years) and self._names(found.label) == 1:
            program = f"{_OVER_ROW[wanted.kind]}({found.label}, none)"
            if not value_of(program, self.tables).fault and not _all_negative(wanted, figures):
                return program
        return _combined(wanted, figures)

    def _check_years(self, wanted: Asked, found: Dated, years: Sequence[str]) -> None:
        if not wanted.years and wanted.spell and wanted.spell != len(years):
            raise declined(f"there are figures of {len(years)} years, not of {wanted.spell}")
        if wanted.kind == "total" and len(wanted.years) < 2 and not wanted.spell:
            raise declined("the question names no years to add up")
        if not years:
            raise declined(f"{found.label!r:.80} has no figure of a year")
        if len(years) < 2:
            raise declined(
                f"there is one figure of {found.label!r:.80}, and nothing to {_TOGETHER[wanted.kind]}"
            )
        if not wanted.years and found.years - {*years}:
            raise declined(f"{found.label!r:.80} has no figure of some years")

    def _over_rows(self, wanted: Asked, figures: Sequence[Figure], whole: Figure | None, unit: str) -> str:
        """The program over the figures of a column; of a total it is its row's."""
        added = sum(_number(each.text) for each in figures)
        if whole is not None and abs(added - _number(whole.text)) > 0.5 * len(figures):
            raise declined("the rows do not come to their total")
        if wanted.kind == "total" and any(each.text.endswith("%") for each in figures):
            raise declined("figures in per cent have no sum")
        if wanted.kind == "total" and whole is not None:
            return f"add({self._take(whole, unit)}, 0)"
        return _combined(wanted, [self._take(each, unit) for each in figures])

    def _names(self, label: str) -> int:
        """How many lines of the tables begin with a label."""
        return sum(line[0] == label for table in self.tables for line in (table.header, *table.rows))


def _number(text: str) -> float:
    return float(text.rstrip("%"))


def _all_negative(wanted: Asked, figures: Sequence[str]) -> bool:
    return wanted.kind in ("largest", "smallest") and all(_number(figure) <= 0 for figure in figures)


def _combined(wanted: Asked, figures: Sequence[str]) -> str:
    """The average, sum, largest or smallest of figures."""
    if _all_negative(wanted, figures):
        raise declined("of figures below zero it is not clear which is the largest")
    if wanted.kind in ("largest", "smallest"):
        chosen = (max if wanted.kind == "largest" else min)(figures, key=_number)
        return f"add({chosen}, 0)"
    steps = [f"add({figures[0]}, {figures[1]})"]
    steps += [f"add(#{place}, {figure})" for place, figure in enumerate(figures[2:])]
    if wanted.kind == "average":
        steps.append(f"divide(#{len(steps) - 1}, const_{len(figures)})")
    return ", ".join(steps)
