"""The program that answers a question of one of a few forms, and the figures that it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from chameleon import Declined
from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.facts import PlacedTable
from chameleon.modules.reports.figures import Figure, Figures, content, of_sentences, of_table
from chameleon.modules.reports.program_writer import value_of
from chameleon.modules.reports.rules import Asked, asked, refused

_SCALES = ("thousand", "million", "billion")
_SCALED = re.compile(r"\b(?:in|of) (?:thousands|millions|billions)\b")
_DOLLARS = re.compile(r"\bin (?:us |u\.s\. )?dollars\b")
_WITHOUT_UNIT = ("growth", "share", "ratio")
_HINT = "With a model, the inventory finqa answers such questions."
_OVER_ROW = {
    "average": "table_average",
    "total": "table_sum",
    "largest": "table_max",
    "smallest": "table_min",
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
        raise _declined("the question has none of the forms that are understood without a model")
    if reason := refused(question):
        raise _declined(reason)
    report = _Report(tables, texts, question)
    program = report.program(wanted)
    report.check_units(wanted)
    if fault := value_of(program, [each.table for each in tables]).fault:
        raise _declined(f"the program does not work: {fault}")
    evidence = [dict(figure.source) for figure in report.used]
    return Written(
        program, [place for number, place in enumerate(evidence) if place not in evidence[:number]]
    )


def _declined(reason: str) -> Declined:
    return Declined(reason, hint=_HINT)


def _scales(text: str) -> frozenset[str]:
    """The scales of thousand, million and so on that a text names."""
    return frozenset(scale for scale in _SCALES if scale in text.lower())


class _Report:
    """The figures of a report, to be found by what they are of; `used` are those of the program."""

    def __init__(self, tables: Sequence[PlacedTable], texts: Sequence[str], question: str) -> None:
        self.tables = [placed.table for placed in tables]
        self.figures = [each for placed in tables for each in of_table(placed)]
        self.sentences = list(of_sentences(texts))
        self.question = question.lower()
        self.said = content(question)
        self.header = content(" ".join(name for table in self.tables for name in table.header))
        self.texts = " ".join(texts).lower()
        self.around = content(self.texts)
        self.used: list[Figure] = []
        self.units: list[str] = []

    def program(self, wanted: Asked) -> str:
        if wanted.kind in ("growth", "change"):
            return self._moved(wanted)
        if wanted.kind in ("share", "ratio"):
            return self._part(wanted)
        return self._over(wanted)

    def check_units(self, wanted: Asked) -> None:
        """Raise `Declined` where figures are in another unit than is asked for, or in several."""
        found = [_scales(unit) for unit in self.units]
        if len({*filter(None, found)}) > 1:
            raise _declined("the figures are in different units")
        if wanted.kind in _WITHOUT_UNIT:
            return
        have = frozenset().union(*found)
        need = _scales(self.question)
        plain = not need and _DOLLARS.search(self.question)
        if (need and have and not need & have) or (
            plain
            and (have or (_SCALED.search(self.texts) and not any("passage" in f.source for f in self.used)))
        ):
            raise _declined("the figures are in another unit than the question asks for")

    def _take(self, figure: Figure, found: Figures) -> str:
        self.used.append(figure)
        self.units.append(found.unit)
        return figure.text

    def _moved(self, wanted: Asked) -> str:
        before, after = wanted.years
        found = self._find(wanted.things[0], wanted.years)
        new, old = (self._take(found.by_year[year], found) for year in (after, before))
        rose = float(new) - float(old)
        if (wanted.direction == "down" and rose >= 0) or (wanted.direction == "up" and rose <= 0):
            raise _declined(f"{found.label!r:.80} went the other way than the question says")
        if wanted.kind == "growth" and float(old) <= 0:
            raise _declined("a change from a figure that is not positive has no plain percentage")
        first = f"subtract({new}, {old})"
        return f"{first}, divide(#0, {old})" if wanted.kind == "growth" else first

    def _part(self, wanted: Asked) -> str:
        part, whole = wanted.things
        if len(wanted.years) > 1:
            raise _declined("the question names several years for one share")
        one, all = self._figure(part, wanted.years), self._whole(whole, wanted.years)
        if one == all:
            raise _declined("the part and the whole are the same figure")
        return f"divide({one}, {all})"

    def _over(self, wanted: Asked) -> str:
        found = self._find(wanted.things[0], wanted.years, several=True)
        years = wanted.years or tuple(sorted(found.by_year))
        if not wanted.years and wanted.spell and wanted.spell != len(years):
            raise _declined(f"there are figures of {len(years)} years, not of {wanted.spell}")
        if wanted.kind == "total" and len(wanted.years) < 2 and not wanted.spell:
            raise _declined("the question names no years to add up")
        if len(years) < 2:
            raise _declined("there is one figure, and nothing to take the average of")
        if not wanted.years and found.years - {*years}:
            raise _declined(f"{found.label!r:.80} has no figure of some years")
        figures = [self._take(found.by_year[year], found) for year in years]
        if wanted.kind in ("largest", "smallest") and all(float(figure) <= 0 for figure in figures):
            raise _declined("of figures below zero it is not clear which is the largest")
        whole = found.source == "row" and {*found.by_year} == {*years} and len(found.all) == len(years)
        if whole and self._names(found.label) == 1:
            program = f"{_OVER_ROW[wanted.kind]}({found.label}, none)"
            if not value_of(program, self.tables).fault:
                return program
        if wanted.kind in ("largest", "smallest"):
            chosen = (max if wanted.kind == "largest" else min)(figures, key=float)
            return f"add({chosen}, 0)"
        return _added(figures, average=wanted.kind == "average")

    def _names(self, label: str) -> int:
        """How many lines of the tables begin with a label."""
        return sum(line[0] == label for table in self.tables for line in (table.header, *table.rows))

    def _figure(self, thing: str, years: Sequence[str]) -> str:
        """The one figure of a thing: of the year, of the column that the question names, or the only one."""
        if years_in(thing):
            return self._due(thing)
        return self._of(self._find(thing, years, several=not years), years)

    def _of(self, found: Figures, years: Sequence[str]) -> str:
        dated = found.by_year.get(years[0]) if years else None
        return self._take(dated, found) if dated else self._named(found, years)

    def _whole(self, whole: str, years: Sequence[str]) -> str:
        """The figure of the whole: of the only row with a total, where one is asked for by no row's name."""
        phrase = content(whole)
        totals = [each for each in self.figures if each.source == "row" and "total" in each.name]
        if "total" in phrase and len(totals) == 1 and all(each.name != phrase for each in self.figures):
            return self._of(totals[0], years)
        return self._figure(whole, years)

    def _is_cut(self, name: frozenset[str], phrase: frozenset[str]) -> bool:
        """Whether a name is a part of the phrase, and the header says the rest, or the text says one word."""
        rest = phrase - name
        return (
            bool(name) and name < phrase and (rest <= self.header or (len(rest) == 1 and rest <= self.around))
        )

    def _due(self, thing: str) -> str:
        """The figure of a row that is named by a year, or of "thereafter", which follows it."""
        rows = [each for each in self.figures if each.source == "row"]
        places = [
            place
            for place, each in enumerate(rows)
            if not each.name and years_in(each.label) == years_in(thing)
        ]
        if len(places) == 1 and len(years_in(thing)) == 1:
            place = places[0] + thing.startswith("after")
            if place == places[0] or (
                place < len(rows)
                and "thereafter" in rows[place].label.lower()
                and rows[place].passage == rows[places[0]].passage
            ):
                return self._named(rows[place], ())
        raise _declined(f"no row is called {thing!r:.80}")

    def _named(self, found: Figures, years: Sequence[str]) -> str:
        """The only figure, or that of the column that the question names; never of another year."""
        if found.only is not None and (not years or found.years <= {*years}):
            return self._take(found.only, found)
        beside = [
            (figure, name)
            for figure in found.all
            if (name := content(figure.beside)) and name <= self.said
            if not years or years_in(figure.beside) <= {*years}
        ]
        if len(beside) > 1:  # "the total of Skerry" is a row's
            beside = [(figure, name) for figure, name in beside if name != content("total")]
        if len(beside) != 1:
            raise _declined(f"it is not clear which figure of {found.label!r:.80} is meant")
        return self._take(beside[0][0], found)

    def _find(self, thing: str, years: Sequence[str], several: bool = False) -> Figures:
        """The figures of the thing that a phrase names. Raises `Declined` for none, or for several."""
        phrase = content(thing)
        if not phrase:
            raise _declined("the question does not say what it is about")
        needed = tuple(years) if len(years) > 1 or not several else ()
        fitting = [each for each in self.figures if each.has(needed)]
        sentences = [each for each in self.sentences if {*years} <= each.by_year.keys()] if years else []
        for level in (
            [each for each in fitting if each.name == phrase],
            [each for each in fitting if self._is_cut(each.name, phrase)],
            [each for each in sentences if phrase <= each.name],
            [each for each in fitting if phrase < each.name],
        ):
            if len({(each.label, tuple(figure.text for figure in each.all)) for each in level}) == 1:
                return level[0]
            if level:
                raise _declined(f"several figures are called {thing!r:.80}")
        if years and any(each.name == phrase for each in self.figures):
            raise _declined(f"{thing!r:.80} has no single figure of {' and of '.join(years)}")
        raise _declined(f"no figures are called {thing!r:.80}")


def _added(figures: Sequence[str], *, average: bool) -> str:
    steps = [f"add({figures[0]}, {figures[1]})"]
    steps += [f"add(#{place}, {figure})" for place, figure in enumerate(figures[2:])]
    if average:
        steps.append(f"divide(#{len(steps) - 1}, const_{len(figures)})")
    return ", ".join(steps)
