"""The page of a report: the runs in one table, and each problem with its run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from chameleon.evaluation.charts import bars, graph
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
) -> None:
    """Write the page, showing at most `problems` of each run, in the order of `ranked`.

    The same runs give the same page. Memory does not grow with the size of results. The file appears only
    when complete. Raises `InputError` when it cannot be written.
    """
    sections = [RunSection(run, number, problems, runs) for number, run in enumerate(runs, 1)]
    context = {"comparisons": comparisons, "sections": sections, "bars": bars, "graph": graph}
    write_html("report_page.html.j2", file, **context)


class RunSection:
    """The part of the page about one run: a limited number of problems, in the order of `ranked`."""

    def __init__(self, run: Run, number: int, most: int, runs: Sequence[Run]) -> None:
        self.run, self.number = run, number
        # Runs of the same benchmark are ranked together, so that they show the same problems.
        alike = [each for each in runs if each.settings["benchmark"] == run.settings["benchmark"]]
        places = {id: place for place, id in enumerate(run.index, 1)}
        first = islice((id for id in ranked(alike) if id in places), most)
        self.anchors = {id: f"run{number}-problem{places[id]}" for id in first}
        self.verdicts = {id: verdict for id, (_, verdict) in run.index.items()}
        self.counts = Counter(self.verdicts[id] for id in self.anchors)

    def problems(self) -> Iterator[tuple[Result, str, RunView]]:
        """Read the problems to show, each with its grades and its run."""
        for result, events in self.run.with_events(self.run.pick(self.anchors)):
            count = Count()
            count.add(result)
            grades = in_figures(self.run.tally, count) if result.grades else ""
            yield result, grades, RunView.of(events)
