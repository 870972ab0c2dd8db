"""The page of a report: the runs in one table, and each problem with what happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path

from chameleon.evaluation.page_views import write_html
from chameleon.evaluation.results import Count, Result
from chameleon.evaluation.run import Run, in_figures
from chameleon.evaluation.run_page import RunView
from chameleon.evaluation.system_table import Comparison, ranked


def write_page(
    runs: Sequence[Run], comparisons: Sequence[Comparison], file: str | Path, problems: int = 200
) -> None:
    """Write the page; `problems` is how many of each run are shown at most, in the order of `ranked`.

    The same runs give the same page. Memory does not grow with the number of problems. The file is there
    only when it is whole. Raises `InputError` when it cannot be written.
    """
    sections = [RunSection(run, number, problems, runs) for number, run in enumerate(runs, 1)]
    ids = {id for section in sections for id in section.anchors}
    for section in sections:
        section.look_up(ids)
    write_html("report_page.html.j2", file, comparisons=comparisons, sections=sections)


class RunSection:
    """The part of the page about one run: at most so many problems, in the order of `ranked`."""

    def __init__(self, run: Run, number: int, most: int, runs: Sequence[Run]) -> None:
        self.run, self.number = run, number
        self.published = [row for row in run.benchmark.published if row.module_use]
        alike = [each for each in runs if each.settings["benchmark"] == run.settings["benchmark"]]
        own = {result.id for result in run.results}
        first = islice((id for id in ranked(alike) if id in own), most)
        places = {id: place for place, id in enumerate(first)}
        chosen = (placed for placed in enumerate(run.results, 1) if placed[1].id in places)
        self.chosen = sorted(chosen, key=lambda placed: places[placed[1].id])
        self.anchors = {result.id: f"run{number}-problem{place}" for place, result in self.chosen}
        self.verdicts = {result.id: result.verdict for _, result in self.chosen}
        self.counts = Counter(self.verdicts.values())

    def look_up(self, ids: AbstractSet[str]) -> None:
        """Read the verdicts on these problems, which other runs show."""
        if ids - self.verdicts.keys():
            self.verdicts |= {each.id: each.verdict for each in self.run.results if each.id in ids}

    def module_use(self) -> list[tuple[str, float, list[float | None]]]:
        """List what the run or a published system calls: name, share of questions, published percentages."""
        plans, published = self.run.plans, self.published
        names = dict.fromkeys([*plans.modules, *(name for row in published for name in row.module_use)])
        return [(name, plans.share(name), [row.module_use.get(name) for row in published]) for name in names]

    def problems(self) -> Iterator[tuple[Result, str, RunView]]:
        """Read the problems that are shown, each with its grades and its run."""
        for result, events in self.run.with_events([result for _, result in self.chosen]):
            count = Count()
            count.add(result)
            grades = in_figures(self.run.tally, count) if result.grades else ""
            yield result, grades, RunView.of(events)
