"""Which figures of a report a phrase of a question asks for; several, or none, are declined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TypeVar

from chameleon import Declined
from chameleon.modules.reports.context import Context
from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.facts import PlacedTable
from chameleon.modules.reports.figures import Cell, Dated, Figure, Listed, grids_of
from chameleon.modules.reports.naming import content, fit, total
from chameleon.modules.reports.sentences import of_sentences

_HINT = "With a model, the inventory finqa answers such questions."
_Found = TypeVar("_Found")


def declined(reason: str) -> Declined:
    """The error for a question that is not answered by rules."""
    return Declined(reason, hint=_HINT)


class Lookup:
    """The figures of a report, found by what they are of; `months` are those that the question names."""

    def __init__(self, tables: Sequence[PlacedTable], texts: Sequence[str], months: Set[str]) -> None:
        self.grids = grids_of(tables)
        self.cells = [each for grid in self.grids for each in grid.cells()]
        self.dated = [each for grid in self.grids for each in grid.dated()]
        self.listed = [each for grid in self.grids for each in grid.listed()]
        self.sentences = list(of_sentences(texts))
        self.months = months

    def by_year(self, thing: str, years: Sequence[str]) -> Dated:
        """The row, column or sentence that tells the thing, for these years. Raises `Declined`."""
        asked = _words(thing)
        named = _best(self.dated, lambda each: _fit(asked, each.name, each.context)) or _best(
            self.sentences, lambda each: 2 * int(asked - total() == each.name - total())
        )
        found = [each for each in named if {*years} <= each.by_year.keys() and self._in_months(each.months)]
        if not found and named:
            raise declined(
                f"{thing!r:.80} has no single figure of {' and of '.join(years) or 'these months'}"
            )
        if not found:
            raise declined(f"no figures are called {thing!r:.80}")
        if len({(each.label, tuple(sorted(_told(each.by_year)))) for each in found}) > 1:
            raise declined(f"several figures are called {thing!r:.80}")
        if any(each not in found and self._may_be_meant(each, found[0], years) for each in named):
            raise declined(f"several rows are called {thing!r:.80}, and one is blank in a year")
        return found[0]

    def _may_be_meant(self, blank: Dated, found: Dated, years: Sequence[str]) -> bool:
        """Whether what is blank in one of these years is another thing that the same words name."""
        shared = blank.by_year.keys() & found.by_year.keys()
        is_same = bool(shared) and all(blank.by_year[y].text == found.by_year[y].text for y in shared)
        has_place = {*years} <= blank.years and self._in_months(blank.months)
        return bool(years and blank.by_year) and has_place and not is_same

    def column(self, thing: str, years: Set[str]) -> Listed | None:
        """The column over rows without years that the thing names; None for none. Raises `Declined`."""
        asked = content(thing)
        found = _best(self.listed, lambda each: _fit(asked, each.name, each.context))
        if years:
            found = [each for each in found if each.context.years == years]
        if len(found) > 1 and any(each.figures for each in found):
            raise declined(f"several figures are called {thing!r:.80}")
        return found[0] if found and found[0].figures else None

    def cell(self, thing: str, year: str, said: Set[str], *, alone: bool = False) -> Cell:
        """The one cell of the thing in a year, or of the only one without; `said` are the question's words.

        With `alone`, the name of the only column of a table need not be said. Raises `Declined`.
        """
        asked = _words(thing)
        named = _best(self.cells, lambda each: _cell_fit(asked, each, said, alone))
        if not named and (told := self._sentence(asked, year)):
            return told
        if not named:
            raise declined(f"no figures are called {thing!r:.80}")
        found = [each for each in named if _of_year(each, year) and self._in_months(each.months)]
        if year and any(each.years for each in found):
            found = [each for each in found if each.years]
        if len(found) > 1 and total() != asked:  # "the total of Skerry" is a row's
            found = [each for each in found if each.column != total()] or found
        if not year and len(named) > 1 and not found:
            raise declined(f"it is not clear which figure of {thing!r:.80} is meant")
        if not found or any(each.figure is None for each in found):
            raise declined(f"{thing!r:.80} has no single figure{f' of {year}' if year else ''}")
        if len({(each.label, each.figure and each.figure.text) for each in found}) > 1:
            raise declined(f"it is not clear which figure of {thing!r:.80} is meant")
        return found[0]

    def due(self, year: str, after: bool, said: Set[str]) -> Cell:
        """The cell of a row that is named by a year alone, or of "thereafter", which follows it."""
        for grid in self.grids:
            labels = [line[0] for line in grid.lines]
            places = [place for place, label in enumerate(labels) if years_in(label) and not content(label)]
            places = [place for place in places if years_in(labels[place]) == {year}]
            if len(places) != 1:
                continue
            place = places[0] + after
            if after and (place == len(labels) or "thereafter" not in labels[place].lower()):
                continue
            found = [
                each
                for each in grid.cells()
                if each.label == labels[place]
                and (each.alone or each.column <= said)
                and each.figure is not None
            ]
            if len(found) == 1:
                return found[0]
        raise declined(f"no row is called {f'after {year}' if after else year!r}")

    def _sentence(self, asked: frozenset[str], year: str) -> Cell | None:
        """The figure of a sentence for one year."""
        found = [
            each
            for each in self.sentences
            if each.name - total() == asked - total()
            and year in each.by_year
            and self._in_months(each.months)
        ]
        if len({each.by_year[year].text for each in found}) != 1:
            return None
        told = found[0]
        figure = told.by_year[year]
        years = frozenset({year})
        return Cell(
            told.name, frozenset(), years, told.months, figure, told.label, told.unit, told.context, -1
        )

    def _in_months(self, months: Set[str]) -> bool:
        """Whether figures of these months are of those that the question names; of none, of december."""
        return not self.months or months == self.months or (not months and self.months <= {"dec"})


def _words(thing: str) -> frozenset[str]:
    words = content(thing)
    if not words:
        raise declined("the question does not say what it is about")
    return words


def _fit(asked: frozenset[str], name: frozenset[str], context: Context) -> int:
    return fit(asked, name, context.explaining(name, asked), context.names - {name - total()})


def _cell_fit(asked: frozenset[str], cell: Cell, said: Set[str], alone: bool) -> int:
    """How a cell fits: by its row, by its column, or by both together; what is not asked for must be said."""
    ranks = [0]
    if cell.column <= said or (alone and cell.alone):
        ranks.append(_fit(asked, cell.row, cell.context))
    if cell.row <= said:
        ranks.append(_fit(asked, cell.column, cell.context))
    both = cell.row | cell.column
    explained = cell.context.explaining(cell.row, asked)
    others = cell.context.names - {cell.row - total(), cell.column - total()}
    ranks.append(fit(asked, both, explained, others))
    return max(ranks)


def _of_year(cell: Cell, year: str) -> bool:
    """Whether a cell is of the year; one without is of that of its table, which may name none."""
    if cell.years:
        return cell.years == {year} if year else cell.context.dated == cell.years
    return not year or cell.context.years == {year}


def _best(candidates: Iterable[_Found], rank: Callable[[_Found], int]) -> list[_Found]:
    """The candidates of the highest rank above 0."""
    ranked = [(rank(each), each) for each in candidates]
    best = max((number for number, _ in ranked), default=0)
    return [each for number, each in ranked if number == best > 0]


def _told(by_year: Mapping[str, Figure]) -> list[tuple[str, str]]:
    return [(year, figure.text) for year, figure in by_year.items()]
