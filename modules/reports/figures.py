"""The figures of the tables of a report: what each is of, and of which year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chameleon.modules.reports.cells import number_text
from chameleon.modules.reports.context import Context, introduced, phrases, telling
from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.facts import PlacedTable, source_of_row
from chameleon.modules.reports.naming import content, total
from chameleon.modules.reports.periods import Period, months_in, period, words_beside

_IN_UNITS = re.compile(
    r"((?:fy ?)?(?:19|20)\d\d)\s*[(\[]?("
    r"(?:[£$€]|eur|usd|gbp)\s?(?:m|mn|k|bn|'?000s?|million|thousand|billion)?"
    r"|(?:million|thousand|billion)s?|mn|bn|'000s?)[)\]]?",
    re.IGNORECASE,
)


class Figure(NamedTuple):
    """A figure as programs write it, and where it stands, as states have it."""

    text: str
    source: Mapping[str, int]


@dataclass(frozen=True)
class Dated:
    """What a row, a column or a sentence tells of one thing: its `name` as words, its figures by year.

    `years` are those of its cells, of blank ones as well; `whole` is whether a row has no other cells;
    `unit` is the text that may tell in which unit they are.
    """

    source: str
    label: str
    name: frozenset[str]
    by_year: Mapping[str, Figure]
    years: frozenset[str]
    months: frozenset[str]
    unit: str
    context: Context
    whole: bool = False


class Cell(NamedTuple):
    """One cell, with the words of its row and of its column; `figure` is None where it holds none."""

    row: frozenset[str]
    column: frozenset[str]
    years: frozenset[str]
    months: frozenset[str]
    figure: Figure | None
    label: str
    unit: str
    context: Context
    table: int
    alone: bool = False
    """Whether its table has no other column of figures, and no year names it."""


class Listed(NamedTuple):
    """A column over rows that are no years: its figures, and that of a row "total"; none for no such row."""

    name: frozenset[str]
    label: str
    figures: tuple[Figure, ...]
    total: Figure | None
    unit: str
    context: Context


class Grid:
    """A table as lines, with its header; what is data in the header is a line as well."""

    def __init__(self, placed: PlacedTable, number: int = 0) -> None:
        table = placed.table
        header, lines = list(table.header), [list(line) for line in table.rows]
        self.unit, self.number, self.passage = " ".join((*placed.above, *header)), number, placed.passage
        self.first = 0
        if len(header) == 2 and number_text(header[1]) is not None and not years_in(header[1]):
            header, lines, self.first = ["", ""], [header, *lines], -1
        header = _without_unit(header)
        self.header, self.lines = header, lines
        self.sections = list(_sections(lines))
        labels = [line[0] for line in lines]
        dated = years_in(" ; ".join([*header[1:], *labels]))
        above = (*placed.above, header[0])
        said = [line[0] for line in lines if any(each.strip() for each in line[1:])]
        names = frozenset(words for each in (*said, *header[1:]) if (words := content(each)) - total())
        years = frozenset(dated | years_in(" ; ".join(above)))
        self.months = months_in(" ; ".join(above))
        shown = tuple(introduced(placed.before))
        told = tuple(each for text in above for each in phrases(text))
        self.context = Context(told, shown, names, years, frozenset(dated))

    def cells(self) -> Iterator[Cell]:
        """The cells of all lines but those of sections."""
        for row, line in enumerate(self.lines):
            if not any(each.strip() for each in line[1:]):
                continue
            for column in range(1, len(self.header)):
                names = line[0], self.header[column]
                yield Cell(
                    _undated(names[0]),
                    _undated(names[1]) - content(self.header[0]),
                    frozenset(years_in(names[0]) | years_in(names[1])),
                    _months(names[0]) | _months(names[1]) or self.months,
                    self.figure(row, column),
                    line[0],
                    f"{self.unit} {line[0]}",
                    self.explained_in(row),
                    self.number,
                    len(self.header) == 2 and not years_in(names[1]),
                )

    def dated(self) -> Iterator[Dated]:
        """Rows over columns that are years, and columns over rows that are."""
        width, height = range(1, len(self.header)), range(len(self.lines))
        for row in height:
            label, context = self.lines[row][0], self.explained_in(row)
            yield from self._by_year("row", label, [(row, each) for each in width], self.header[1:], context)
        labels = [line[0] for line in self.lines]
        for column in width:
            places = [(each, column) for each in height]
            yield from self._by_year("column", self.header[column], places, labels, self.context)

    def listed(self) -> Iterator[Listed]:
        """The columns over rows without years; one partly blank, or of one row, has no `figures`."""
        rows = [row for row, line in enumerate(self.lines) if any(each.strip() for each in line[1:])]
        names = [content(self.lines[row][0]) for row in rows]
        totals = [row for row, name in zip(rows, names, strict=True) if name == total()]
        odd = any(name & _gathering() and name != total() for name in names)
        if odd or len(totals) > 1 or any(years_in(self.lines[row][0]) for row in rows):
            return
        for column in range(1, len(self.header)):
            label = self.header[column]
            figures = [self.figure(row, column) for row in rows if row not in totals]
            told = tuple(each for each in figures if each is not None)
            if years_in(label) or not told:
                continue
            if None in figures or len(figures) < 2:
                told = ()
            whole = self.figure(totals[0], column) if totals else None
            yield Listed(content(label), label, told, whole, f"{self.unit} {label}", self.context)

    def figure(self, row: int, column: int) -> Figure | None:
        """The figure in a cell; None for none."""
        text = number_text(self.lines[row][column])
        place = source_of_row(self.passage, row + self.first) | {"column": column + 1}
        return None if text is None else Figure(text, place)

    def explained_in(self, row: int) -> Context:
        """The context of a row: that of the table, and the name of its section."""
        return self.context._replace(section=telling(self.sections[row]))

    def _by_year(
        self,
        source: str,
        label: str,
        places: Sequence[tuple[int, int]],
        beside: Sequence[str],
        context: Context,
    ) -> Iterator[Dated]:
        """The figures of a line, apart for the years themselves and for what else is said beside them."""
        groups: dict[tuple[frozenset[str], frozenset[str]], list[tuple[Period, Figure | None]]] = {}
        if years_in(label):
            return
        corner = content(self.header[0])
        for place, beside_it in zip(places, beside, strict=True):
            if found := period(beside_it):
                told = groups.setdefault((found.words - corner, found.months or self.months), [])
                told.append((found, self.figure(*place)))
        for (words, months), told in groups.items():
            named = [each.year for each, _ in told]
            by_year = {
                each.year: figure
                for each, figure in told
                if figure is not None and named.count(each.year) == 1
            }
            whole = source == "row" and len(by_year) == len(places)
            unit = f"{self.unit} {label}"
            yield Dated(
                source,
                label,
                content(label) | words,
                by_year,
                frozenset(named),
                months,
                unit,
                context,
                whole,
            )


def grids_of(tables: Sequence[PlacedTable]) -> list[Grid]:
    """The tables of a report as grids."""
    return [Grid(placed, number) for number, placed in enumerate(tables)]


def _undated(name: str) -> frozenset[str]:
    return words_beside(name) if years_in(name) else content(name)


def _months(name: str) -> frozenset[str]:
    return months_in(name) if years_in(name) else frozenset()


def _gathering() -> frozenset[str]:
    """Words of rows that are made of other rows."""
    return content("total subtotal average mean median sum change growth difference increase decrease net")


def _without_unit(header: list[str]) -> list[str]:
    """The names of columns, years without the unit that all of them bear: "2024 £m", "2023 £m"."""
    years = [_IN_UNITS.fullmatch(name.strip()) for name in header[1:]]
    units = {found[2].lower().replace(" ", "") for found in years if found}
    if not all(years) or len(units) != 1:
        return header
    return [header[0], *(found[1] for found in years if found)]


def _sections(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Of each line, the name of the line without figures that it stands below; a total ends a section."""
    section = ""
    for line in lines:
        if not any(each.strip() for each in line[1:]):
            section = line[0]
        yield section
        if total() <= content(line[0]) and any(each.strip() for each in line[1:]):
            section = ""
