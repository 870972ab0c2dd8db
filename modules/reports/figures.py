"""The figures of a report by what they are of and by year: from rows, columns and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from chameleon.modules.reports.cells import number_text
from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.facts import PlacedTable, source_of_row
from chameleon.retrieval.lexical.analysis import terms

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "dec|sept?|jan|feb|mar|apr|jun|jul|aug|oct|nov"
_DAY = re.compile(rf"\b(?:{_MONTHS}|{_SHORT})\b \.? ?\d{{1,2}}(?=(?:19|20)\d\d|\b)")
_REPEATED = re.compile(r"\(\s*-?[\d.,]+\s*%?\s*\)")
_FIGURE = re.compile(
    r"(?<![\w.,-])(?P<currency>\$ ?)?(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<percent> ?%)?(?![\w,.]*\d)"
)
_COMPARES = re.compile(
    r"\b(?:less|more|greater|fewer|higher|lower) than\b|\bby (?:about |approximately )?\$? ?\d"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")

_UNTELLING = (
    "million millions billion billions thousand thousands dollar dollars usd us cent cents amount amounts "
    "value values figure number percentage point points basis company companys our year years ended ending "
    "end fiscal period december march june september january october approximate approximately recorded "
    "reported respectively 31 30 28 29 27 26 25 24 $"
)


@cache
def _generic() -> frozenset[str]:
    return frozenset(terms(_UNTELLING))


Source = Literal["row", "column", "sentence"]


class Figure(NamedTuple):
    """A figure as programs write it, the name beside it, and where it stands, as states have it."""

    text: str
    beside: str
    source: Mapping[str, int]


@dataclass(frozen=True)
class Figures:
    """The figures of one thing: its `name` as terms, and each figure, by year where it has one.

    `years` are those that its name and the names beside its cells have, of blank cells as well; `unit` is the
    text that may tell in which unit they are; `blank` is whether a cell has no figure.
    """

    source: Source
    name: frozenset[str]
    label: str
    by_year: Mapping[str, Figure]
    all: tuple[Figure, ...]
    years: frozenset[str]
    unit: str
    blank: bool = False

    @property
    def only(self) -> Figure | None:
        """The figure, where there is but one; None where another year's is blank."""
        return self.all[0] if len(self.all) == 1 and not (self.blank and self.years) else None

    @property
    def passage(self) -> int | None:
        """The passage that they stand in, from 1; None for the report's own table."""
        return self.all[0].source.get("passage")

    def has(self, years: Sequence[str]) -> bool:
        """Whether it has a figure of each year, or one that is not of any other year."""
        if {*years} <= self.by_year.keys():
            return True
        return len(years) < 2 and self.only is not None and self.years <= {*years}


def content(text: str) -> frozenset[str]:
    """The terms of a text that tell things apart: no years, units and words such as "amount"."""
    bare = _REPEATED.sub(" ", text)
    return frozenset(
        term for term in terms(bare) if term not in _generic() and not years_in(term) and "_" not in term
    )


def of_table(table: PlacedTable) -> list[Figures]:
    """What the rows are about and what the columns are about; a header that is data is a row as well."""
    grid = _Grid.of(table)
    rows = [grid.line(place, "row") for place in range(len(grid.lines))]
    columns = [grid.line(place, "column") for place in range(1, len(grid.header))]
    return [each for each in (*rows, *columns, *grid.dated_rows()) if each.all]


class _Grid(NamedTuple):
    """The lines of a table with its header; `first` is the row, from 0, that the first line is."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    first: int
    passage: int | None
    unit: str

    @classmethod
    def of(cls, placed: PlacedTable) -> _Grid:
        table, passage, _ = placed
        header, lines = list(table.header), [list(line) for line in table.rows]
        unit = " ".join((*placed.above, *header))
        if len(header) == 2 and number_text(header[1]) is not None and not _is_year(header[1]):
            return cls(["", ""], [header, *lines], -1, passage, unit)
        return cls(header, lines, 0, passage, unit)

    def line(self, place: int, source: Source) -> Figures:
        """The figures of a row or of a column."""
        if source == "row":
            label, cells = self.lines[place][0], [(place, column) for column in range(1, len(self.header))]
            names = list(self.header[1:])
        else:
            label, cells = self.header[place], [(row, place) for row in range(len(self.lines))]
            names = [line[0] for line in self.lines]
        every = [self.figure(row, column, name) for (row, column), name in zip(cells, names, strict=True)]
        found = tuple(each for each in every if each is not None)
        years = years_in(label).union(*map(years_in, names))
        return Figures(
            source,
            content(label),
            label,
            _by_year(found),
            found,
            frozenset(years),
            f"{self.unit} {label}",
            len(found) < len(every),
        )

    def figure(self, row: int, column: int, beside: str) -> Figure | None:
        """The figure in a cell; None for none. Its sign for per cent is left out, as annotators do."""
        text = number_text(self.lines[row][column])
        if text is None:
            return None
        place = source_of_row(self.passage, row + self.first) | {"column": column + 1}
        return Figure(text.rstrip("%"), beside, place)

    def dated_rows(self) -> Iterator[Figures]:
        """What rows such as "2006 net revenue" and "2007 net revenue" are about, column by column."""
        groups: dict[frozenset[str], dict[str, int]] = {}
        for place, line in enumerate(self.lines):
            if len(years := years_in(line[0])) == 1 and (name := content(line[0])):
                groups.setdefault(name, {}).setdefault(next(iter(years)), place)
        for name, dated in groups.items():
            for column in range(1, len(self.header)):
                cells = {year: self.figure(row, column, year) for year, row in dated.items()}
                by_year = {year: figure for year, figure in cells.items() if figure is not None}
                if len(by_year) > 1:
                    label = self.lines[next(iter(dated.values()))][0]
                    beside = content(self.header[column]) if len(self.header) > 2 else frozenset()
                    unit = f"{self.unit} {label}"
                    figures = tuple(by_year.values())
                    yield Figures("column", name | beside, label, by_year, figures, frozenset(dated), unit)


def _by_year(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Those beside the name of one year; none of a year that several have."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        years = years_in(figure.beside)
        if len(years) == 1:
            found.setdefault(next(iter(years)), []).append(figure)
    return {year: each[0] for year, each in found.items() if len(each) == 1}


def of_sentences(texts: Iterable[str]) -> Iterator[Figures]:
    """Sentences that have as many figures as years, in the same order: the figure of each year.

    Each text is that of one passage, of one sentence or more.
    """
    for passage, text in enumerate(texts, 1):
        for sentence in _ENDS.split(text):
            if found := _of_sentence(sentence, passage):
                yield found


def _of_sentence(text: str, passage: int) -> Figures | None:
    plain = _REPEATED.sub(" ", _DAY.sub(" ", text.lower()))
    if _COMPARES.search(plain):
        return None
    years: list[str] = []
    figures: list[Figure] = []
    for found in _FIGURE.finditer(plain):
        digits = found["digits"]
        if _is_year(digits) and not found["currency"] and not found["percent"]:
            years.append(digits)
        else:
            figures.append(Figure(digits.replace(",", ""), "", {"passage": passage}))
    if not len(years) == len(figures) == len(set(years)) >= 2:
        return None
    by_year = dict(zip(years, figures, strict=True))
    return Figures("sentence", content(text), text, by_year, tuple(figures), frozenset(years), text)


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", text.strip()))
