"""Write a FinQA program without a model: a few forms of questions over figures found by name and year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State, Table
from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.figures import Figures, content, of_sentences, of_table
from chameleon.modules.reports.program_writer import value_of
from chameleon.modules.reports.prompting import texts_of
from chameleon.modules.reports.rules import Asked, asked

_UNITS = frozenset(("thousand", "million", "billion"))
_WITHOUT_UNIT = ("growth", "share", "ratio")
_HINT = "With a model, the inventory finqa answers such questions."


class RuleProgramGenerator(Module):
    """Writes a FinQA program for changes, shares, averages and totals, without a model; declines others."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("cache.finqa_program",)

    def check(self) -> None:
        """Raise `MissingPackage` where the words of a report cannot be read."""
        content("total")

    def run(self, state: State) -> str:
        """The program. Raises `Declined` where the question or what it is about is not understood."""
        return rule_program(state.input["question"], state.table, texts_of(state))

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"finqa_program": output}


def rule_program(question: str, table: Table | None, texts: Sequence[str]) -> str:
    """The program that answers a question of one of the known forms. Raises `Declined` for any other."""
    wanted = asked(question)
    if wanted is None:
        raise Declined("the question has none of the forms that are understood without a model", hint=_HINT)
    if wanted.kind not in _WITHOUT_UNIT and _units(question).isdisjoint(_units(_header(table))):
        raise Declined("the table's figures are in another unit than the question asks for", hint=_HINT)
    program = _Report(table, texts, question).program(wanted)
    if fault := value_of(program, table).fault:
        raise Declined(f"the program does not work: {fault}", hint=_HINT)
    return program


def _header(table: Table | None) -> str:
    return " ".join(table.header) if table else ""


def _units(text: str) -> frozenset[str]:
    """The units that a text names; all of them where it names none."""
    return frozenset(unit for unit in _UNITS if unit in text.lower()) or _UNITS


class _Report:
    """The figures of a report, to be found by what they are of."""

    def __init__(self, table: Table | None, texts: Sequence[str], question: str) -> None:
        self.table = table
        self.figures = of_table(table)
        self.sentences = list(of_sentences(texts))
        self.said = content(question)
        self.header = content(" ".join(table.header if table else ()))
        self.around = content(" ".join(texts))

    def program(self, wanted: Asked) -> str:
        if wanted.kind in ("growth", "change"):
            return self._moved(wanted)
        if wanted.kind in ("share", "ratio"):
            return self._part(wanted)
        return self._over(wanted)

    def _moved(self, wanted: Asked) -> str:
        before, after = wanted.years
        found = self._find(wanted.things[0], wanted.years)
        old, new = found.by_year[before], found.by_year[after]
        first = f"subtract({new}, {old})"
        return f"{first}, divide(#0, {old})" if wanted.kind == "growth" else first

    def _part(self, wanted: Asked) -> str:
        part, whole = wanted.things
        years = wanted.years[:1] if len(wanted.years) == 1 else ()
        if len(wanted.years) > 1:
            raise Declined("the question names several years for one share", hint=_HINT)
        one, all = self._figure(part, years), self._whole(whole, years)
        if one == all:
            raise Declined("the part and the whole are the same figure", hint=_HINT)
        return f"divide({one}, {all})"

    def _over(self, wanted: Asked) -> str:
        found = self._find(wanted.things[0], wanted.years, several=True)
        years = wanted.years or tuple(sorted(found.by_year))
        if not wanted.years and wanted.spell and wanted.spell != len(years):
            raise Declined(f"there are figures of {len(years)} years, not of {wanted.spell}", hint=_HINT)
        if wanted.kind == "total" and len(wanted.years) < 2 and not wanted.spell:
            raise Declined("the question names no years to add up", hint=_HINT)
        if len(years) < 2:
            raise Declined("there is one figure, and nothing to take the average of", hint=_HINT)
        whole = found.source == "row" and {*found.by_year} == {*years} and len(found.all) == len(years)
        name = {
            "average": "table_average",
            "total": "table_sum",
            "largest": "table_max",
            "smallest": "table_min",
        }
        if whole and self.table is not None:
            program = f"{name[wanted.kind]}({found.label}, none)"
            if not value_of(program, self.table).fault:
                return program
        figures = [found.by_year[year] for year in years]
        if wanted.kind in ("largest", "smallest"):
            chosen = (max if wanted.kind == "largest" else min)(figures, key=float)
            return f"add({chosen}, 0)"
        return _added(figures, average=wanted.kind == "average")

    def _figure(self, thing: str, years: Sequence[str]) -> str:
        """The one figure of a thing: of the year, of the column that the question names, or the only one."""
        if years_in(thing):
            return self._due(thing)
        return self._of(self._find(thing, years, several=not years), years)

    def _of(self, found: Figures, years: Sequence[str]) -> str:
        return found.by_year[years[0]] if years and years[0] in found.by_year else self._named(found)

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
        (year,) = years_in(thing)
        places = [
            place for place, each in enumerate(rows) if not each.name and years_in(each.label) == {year}
        ]
        if len(places) == 1:
            place = places[0] + thing.startswith("after")
            if place < len(rows) and (place == places[0] or "thereafter" in rows[place].label):
                return self._named(rows[place])
        raise Declined(f"no row is called {thing!r}", hint=_HINT)

    def _named(self, found: Figures) -> str:
        if found.only is not None:
            return found.only
        named = {name: figure for name, figure in found.by_name.items() if name <= self.said}
        if len(named) > 1:  # "the total of Skerry" is a row's
            named = {name: figure for name, figure in named.items() if name != content("total")}
        if len(named) != 1:
            raise Declined(f"it is not clear which figure of {found.label!r} is meant", hint=_HINT)
        return next(iter(named.values()))

    def _find(self, thing: str, years: Sequence[str], several: bool = False) -> Figures:
        """The figures of the thing that a phrase names. Raises `Declined` for none, or for several."""
        phrase = content(thing)
        if not phrase:
            raise Declined("the question does not say what it is about", hint=_HINT)
        needed = {*years} if len(years) > 1 or not several else set()
        fitting = [
            each for each in self.figures if needed <= each.by_year.keys() or (len(years) < 2 and each.only)
        ]
        sentences = [each for each in self.sentences if {*years} <= each.by_year.keys()] if years else []
        for level in (
            [each for each in fitting if each.name == phrase],
            [each for each in fitting if self._is_cut(each.name, phrase)],
            [each for each in sentences if phrase <= each.name],
            [each for each in fitting if phrase < each.name],
        ):
            if len({(each.label, each.all) for each in level}) == 1:
                return level[0]
            if level:
                raise Declined(f"several figures are called {thing!r:.80}", hint=_HINT)
        raise Declined(f"no figures are called {thing!r:.80}", hint=_HINT)


def _added(figures: Sequence[str], *, average: bool) -> str:
    steps = [f"add({figures[0]}, {figures[1]})"]
    steps += [f"add(#{place}, {figure})" for place, figure in enumerate(figures[2:])]
    if average:
        steps.append(f"divide(#{len(steps) - 1}, const_{len(figures)})")
    return ", ".join(steps)
