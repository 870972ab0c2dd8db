"""The page of a report: the runs in one table, and each problem with what happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from chameleon.evaluation.page_views import write_html
from chameleon.evaluation.results import Count, Result
from chameleon.evaluation.run import Run, in_figures
from chameleon.evaluation.run_page import RunView
from chameleon.evaluation.system_table import Comparison, ranked


def write_page(
    runs: Sequence[Run],
    comparisons: Sequence[Comparison],
    file: str | Path,
    problems: int = 200,
    labels: Mapping[str, Counter[str]] | None = None,
) -> None:
    """Write the page; `problems` is how many of each run are shown at most, in the order of `ranked`.

    `labels` counts, by the names of runs, the labels that a person gave to answers. The same runs give the
    same page. Memory does not grow with what results hold. The file is there only when it is whole. Raises
    `InputError` when it cannot be written.
    """
    given = labels or {}
    sections = [
        RunSection(run, number, problems, runs, given.get(run.name, Counter()))
        for number, run in enumerate(runs, 1)
    ]
    write_html("report_page.html.j2", file, comparisons=comparisons, sections=sections)


class RunSection:
    """The part of the page about one run: at most so many problems, in the order of `ranked`."""

    def __init__(self, run: Run, number: int, most: int, runs: Sequence[Run], labels: Counter[str]) -> None:
        self.run, self.number, self.labels = run, number, labels
        self.published = [row for row in run.benchmark.published if row.module_use]
        alike = [each for each in runs if each.settings["benchmark"] == run.settings["benchmark"]]
        places = {id: place for place, id in enumerate(run.index, 1)}
        first = islice((id for id in ranked(alike) if id in places), most)
        self.anchors = {id: f"run{number}-problem{places[id]}" for id in first}
        self.verdicts = {id: verdict for id, (_, verdict) in run.index.items()}
        self.counts = Counter(self.verdicts[id] for id in self.anchors)

    def module_use(self) -> list[tuple[str, float, list[float | None]]]:
        """List what the run or a published system calls: name, share of questions, published percentages."""
        plans, published = self.run.plans, self.published
        names = dict.fromkeys([*plans.modules, *(name for row in published for name in row.module_use)])
        return [(name, plans.share(name), [row.module_use.get(name) for row in published]) for name in names]

    def problems(self) -> Iterator[tuple[Result, str, RunView]]:
        """Read the problems that are shown, each with its grades and its run."""
        for result, events in self.run.with_events(self.run.pick(self.anchors)):
            count = Count()
            count.add(result)
            grades = in_figures(self.run.tally, count) if result.grades else ""
            yield result, grades, RunView.of(events)
