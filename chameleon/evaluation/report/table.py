"""The paper's table: the published rows, and below them our runs with the same columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.evaluation.benchmark import Benchmark
from chameleon.evaluation.published import Published
from chameleon.evaluation.report.figures import figure
from chameleon.evaluation.report.summary import RunSummary

ALL = "ALL"
DASH = "–"


@dataclass(frozen=True)
class Line:
    """A row: a published system or a run. `cells` are percentages as printed, or the figures of a benchmark
    that grades; a dash where none is known.

    `settings` is what was chosen for a run, and for a published row where it was printed.
    """

    system: str
    published: bool
    n: int | None
    cells: Mapping[str, str]
    settings: str
    date: str = ""
    model: str = ""
    graded: bool = False
    unfinished: bool = False
    problems: str = DASH
    """`n` as it is shown: "7,686", or of a run that has not ended "69 of 200, unfinished"."""

    def to_json(self) -> dict[str, Any]:
        cells = {column: None if cell == DASH else float(cell) for column, cell in self.cells.items()}
        return {
            "system": self.system,
            "published": self.published,
            "n": self.n,
            "figures" if self.graded else "percent": cells,
            "date": self.date or None,
            "model": self.model or None,
            **({} if self.published else {"unfinished": self.unfinished}),
            "source" if self.published else "settings": self.settings,
        }


@dataclass(frozen=True)
class Comparison:
    """The table of one benchmark: the published lines come first.

    `columns` begin with ALL, or are the figures where the benchmark grades. Where some of its rules grade and
    others do not, those of the runs come after them, and a line has the ones of its own rule.
    """

    benchmark: Benchmark
    lines: tuple[Line, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        own = self.benchmark.figures or (ALL, *self.benchmark.columns)
        if not self.lines:
            return own
        shown = dict.fromkeys(name for line in self.lines for name in line.cells)
        return tuple(dict.fromkeys((*(name for name in own if name in shown), *shown)))

    @property
    def shown(self) -> str:
        """What the cells are: "right answers in percent", "EM, F1", or both."""
        graded = dict.fromkeys(name for line in self.lines if line.graded for name in line.cells)
        figures = ", ".join(graded or self.benchmark.figures)
        percent = "" if all(line.graded for line in self.lines) and figures else "right answers in percent"
        return "; ".join(part for part in (figures, percent) if part)

    def to_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark.name,
            "columns": list(self.columns),
            "rows": [line.to_json() for line in self.lines],
        }


def compare(runs: Iterable[RunSummary], find: Callable[[str], Benchmark]) -> list[Comparison]:
    """One table for each benchmark that the runs are of, in the order in which they come up."""
    by_benchmark: dict[str, list[RunSummary]] = {}
    for run in runs:
        by_benchmark.setdefault(run.benchmark, []).append(run)
    return [_comparison(find(name), group) for name, group in by_benchmark.items()]


def _comparison(benchmark: Benchmark, runs: Sequence[RunSummary]) -> Comparison:
    published = [_published_line(row, benchmark) for row in benchmark.published]
    return Comparison(benchmark, (*published, *(_run_line(run, benchmark) for run in runs)))


def _published_line(row: Published, benchmark: Benchmark) -> Line:
    cells = {
        column: f"{row.percent[column]:.2f}" if column in row.percent else DASH
        for column in benchmark.figures or (ALL, *benchmark.columns)
    }
    n = DASH if row.n is None else f"{row.n:,}"
    return Line(row.system, True, row.n, cells, row.source, graded=bool(benchmark.figures), problems=n)


def _run_line(run: RunSummary, benchmark: Benchmark) -> Line:
    tally = run.tally
    if tally.graded:
        cells = {name: figure(value) for name, value in tally.figures(tally.all).items()}
    else:
        counts = {ALL: tally.all, **tally.columns}
        cells = {
            column: benchmark.percent(column, counts[column].correct, counts[column].n)
            if column in counts
            else DASH
            for column in (ALL, *benchmark.columns)
        }
    return Line(
        run.name,
        False,
        run.tally.all.n,
        cells,
        run.choices,
        date=run.date,
        model=run.model or "none",
        graded=tally.graded is not None,
        unfinished=run.run.unfinished,
        problems=run.problems,
    )
