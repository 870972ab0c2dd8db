"""The figures of a report by what they are of and by year: from rows, columns and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from chameleon import Table
from chameleon.modules.reports.evidence import years_in
from chameleon.retrieval.lexical.analysis import terms
from chameleon.table.calculation import number_in

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "dec|sept?|jan|feb|mar|apr|jun|jul|aug|oct|nov"
_DAY = re.compile(rf"\b(?:{_MONTHS}|{_SHORT})\b \.? ?\d{{1,2}}(?=(?:19|20)\d\d|\b)")
_REPEATED = re.compile(r"\(\s*-?[\d.,]+\s*%?\s*\)")
_FIGURE = re.compile(
    r"(?<![\w.,-])(?P<currency>\$ ?)?(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<percent> ?%)?(?![\w,.]*\d)"
)
_DASHES = frozenset(("2013", "2014"))
"""What the dashes – and — of blank cells have become in FinQA's text."""

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


@dataclass(frozen=True)
class Figures:
    """The figures of one thing: `name` as terms, and each figure as it is written, by year and by column.

    `by_name` has them by the name of the column (or row) that they stand in, as terms.
    """

    source: Source
    name: frozenset[str]
    label: str
    by_year: Mapping[str, str]
    by_name: Mapping[frozenset[str], str]
    all: tuple[str, ...]

    @property
    def only(self) -> str | None:
        """The figure, where there is but one."""
        return self.all[0] if len(self.all) == 1 else None


def content(text: str) -> frozenset[str]:
    """The terms of a text that tell things apart: no years, units and words such as "amount"."""
    bare = _REPEATED.sub(" ", text)
    return frozenset(
        term for term in terms(bare) if term not in _generic() and not years_in(term) and "_" not in term
    )


def of_table(table: Table | None) -> list[Figures]:
    """What the rows are about and what the columns are about; a header that is data is a row as well."""
    if table is None:
        return []
    lines = [list(line) for line in table.rows]
    header = list(table.header)
    if len(header) == 2 and _figure(header[1]) is not None and not _is_year(header[1]):
        lines, header = [header, *lines], ["", ""]
    rows = [_line(line[0], header[1:], line[1:], "row") for line in lines]
    columns = [
        _line(header[place], [line[0] for line in lines], [line[place] for line in lines], "column")
        for place in range(1, len(header))
    ]
    return [each for each in (*rows, *columns, *_of_dated_rows(header, lines)) if each.all]


def _of_dated_rows(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[Figures]:
    """What rows such as "2006 net revenue" and "2007 net revenue" are about, for each column of figures."""
    groups: dict[frozenset[str], dict[str, Sequence[str]]] = {}
    for line in lines:
        if len(years := years_in(line[0])) == 1 and (name := content(line[0])):
            groups.setdefault(name, {}).setdefault(next(iter(years)), line)
    for name, dated in groups.items():
        for place in range(1, len(header)):
            figures = {year: figure for year, line in dated.items() if (figure := _figure(line[place]))}
            if len(figures) > 1:
                label = next(iter(dated.values()))[0]
                column = content(header[place]) if len(header) > 2 else frozenset()
                yield Figures("column", name | column, label, figures, {}, tuple(figures.values()))


def of_sentences(texts: Iterable[str]) -> Iterator[Figures]:
    """Sentences that have as many figures as years, in the same order: the figure of each year."""
    for text in texts:
        plain = _REPEATED.sub(" ", _DAY.sub(" ", text.lower()))
        years: list[str] = []
        figures: list[str] = []
        for found in _FIGURE.finditer(plain):
            digits = found["digits"]
            if _is_year(digits) and not found["currency"] and not found["percent"]:
                years.append(digits)
            else:
                figures.append(digits.replace(",", ""))
        if len(years) == len(figures) == len(set(years)) >= 2:
            by_year = dict(zip(years, figures, strict=True))
            yield Figures("sentence", content(text), text, by_year, {}, tuple(figures))


def _line(label: str, names: Sequence[str], cells: Sequence[str], source: Source) -> Figures:
    by_year: dict[str, str] = {}
    by_name: dict[frozenset[str], str] = {}
    twice: set[str] = set()
    every = []
    for name, cell in zip(names, cells, strict=True):
        figure = _figure(cell)
        if figure is None:
            continue
        every.append(figure)
        years = years_in(name)
        if len(years) == 1:
            year = next(iter(years))
            if year in by_year:
                twice.add(year)
            by_year[year] = figure
        if key := content(name):
            by_name[key] = figure
    for year in twice:
        del by_year[year]
    return Figures(source, content(label), label, by_year, by_name, tuple(every))


def _figure(cell: str) -> str | None:
    """The number of a cell as programs write it; None for none, and for a dash."""
    text = cell.replace("$", "").split("(")[0].strip().replace(",", "")
    if text.rstrip("%").strip() in _DASHES or "const" in text:
        return None
    bare = text.rstrip("%").strip()
    return bare if bare and number_in(bare) is not None else None


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", text.strip()))
