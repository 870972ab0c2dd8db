"""The paper's table of a benchmark, and its other figures: runs, and the published rows below them."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chameleon.core.conversation import answer_in_text
from chameleon.core.events import RunStarted
from chameleon.errors import InputError, LogError
from chameleon.evaluation.benchmark import Benchmark, Published
from chameleon.evaluation.exhibits import Exhibit, Series, exhibits_of
from chameleon.evaluation.kept_events import EventReader
from chameleon.evaluation.results import Count, Result
from chameleon.evaluation.run import DASH, Run, figure
from chameleon.text import one_line

ALL = "ALL"
MARKS = {"right": "✓", "wrong": "✗", "declined": "–", "failed": "!", "graded": "·"}
_WORST_FIRST = ("wrong", "failed", "declined", "graded", "right")


@dataclass(frozen=True)
class SystemRow:
    """A row of the paper's table: a published system or a run.

    Attributes:
        cells: percentages as printed, or the figures of a grading benchmark; a dash if unknown.
        settings: the chosen settings of a run, or the source of a published row.
        problems: `n` as shown: "7,686", or "69 of 200, unfinished".
        tuned: the number of tuned parameters.
    """

    system: str
    n: int | None
    cells: Mapping[str, str]
    settings: str
    graded: bool
    problems: str
    date: str = ""
    model: str = ""
    tuned: str = ""
    run: Run | None = None

    @classmethod
    def published(cls, row: Published, benchmark: Benchmark) -> "SystemRow":
        """Make the row of a published system."""
        cells = dict.fromkeys(_columns(benchmark), DASH) | {k: f"{v:.2f}" for k, v in row.percent.items()}
        cells |= {name: f"{cells[name]}±{half:.2f}" for name, half in row.half_widths.items()}
        n = DASH if row.n is None else f"{row.n:,}"
        return cls(row.system, row.n, cells, row.source, bool(benchmark.figures), n, tuned=row.tuned)

    @classmethod
    def of(cls, run: Run) -> "SystemRow":
        """Make the row of a run."""
        tally, benchmark = run.tally, run.benchmark
        if tally.graded:
            cells = {name: figure(value) for name, value in tally.figures(tally.all).items()}
        else:
            names = benchmark.columns or tally.telling  # or the tags of your questions
            counts = {ALL: tally.all} | {name: tally.columns.get(name, Count()) for name in names}
            cells = {name: benchmark.percent(name, count.correct, count.n) for name, count in counts.items()}
        graded, model = tally.graded is not None, run.settings.get("model") or "none"
        return cls(run.name, tally.all.n, cells, run.choices, graded, run.problems, run.date, model, run=run)

    def to_json(self) -> dict[str, Any]:
        """Return the row; cells are numbers, or null."""
        own: dict[str, Any] = {"source": self.settings, "tuned": self.tuned or None}
        if self.run is not None:
            own = {"unfinished": self.run.unfinished, "settings": self.settings}
        return {
            "system": self.system,
            "published": self.run is None,
            "n": self.n,
            "figures" if self.graded else "percent": {
                name: None if cell == DASH else float(cell.split("±")[0]) for name, cell in self.cells.items()
            },
            "date": self.date or None,
            "model": self.model or None,
            **own,
        }


@dataclass(frozen=True)
class Comparison:
    """The table of one benchmark: the runs, with the published rows below them if wanted.

    `columns` begin with ALL, or are the figures if the benchmark grades. If only some of its rules grade, the
    columns of the runs follow, and a row fills those of its rule.
    """

    benchmark: Benchmark
    rows: tuple[SystemRow, ...]
    exhibits: tuple[Exhibit, ...] = ()

    @classmethod
    def of(cls, runs: Iterable[Run], *, published: bool = False, **exhibited: Any) -> "list[Comparison]":
        """Make one table for each benchmark, or file of your own questions, in the order of the runs.

        `exhibited` is passed to `exhibits_of`, whose errors are raised.
        """
        by_data: dict[Any, list[Run]] = {}
        for run in runs:
            data = run.settings["data"] if run.benchmark.skips_bad_rows else None  # own questions: by file
            by_data.setdefault((run.settings["benchmark"], data and data["sha256"]), []).append(run)
        tables = []
        for group in by_data.values():
            benchmark = group[0].benchmark
            printed = benchmark.published if published else ()
            rows = [SystemRow.published(row, benchmark) for row in printed]
            exhibits = exhibits_of(group, benchmark.published_figures if published else {}, **exhibited)
            tables.append(cls(benchmark, (*map(SystemRow.of, group), *rows), tuple(exhibits)))
        return tables

    @property
    def by_system(self) -> Exhibit:
        """The column that most systems have, for a chart."""
        name = max(self.columns, key=lambda each: sum(row.cells.get(each, DASH) != DASH for row in self.rows))
        cells = [
            (row, cell.split("±")[0]) for row in self.rows if (cell := row.cells.get(name, DASH)) != DASH
        ]
        systems = [Series(row.system, row.run is None, {name: float(cell)}) for row, cell in cells]
        return Exhibit(f"{name} by system", systems, chart="bars")

    @property
    def columns(self) -> tuple[str, ...]:
        own = _columns(self.benchmark)
        names = dict.fromkeys(name for row in self.rows for name in row.cells)
        return tuple(dict.fromkeys((*(name for name in own if name in names), *names))) or own

    @property
    def shown(self) -> str:
        """The meaning of the cells: "right answers in percent", "EM, F1", or both."""
        graded = dict.fromkeys(name for row in self.rows if row.graded for name in row.cells)
        figures = ", ".join(graded or self.benchmark.figures)
        percent = "" if all(row.graded for row in self.rows) and figures else "right answers in percent"
        return "; ".join(part for part in (figures, percent) if part)

    @property
    def runs(self) -> list[Run]:
        return [row.run for row in self.rows if row.run is not None]

    def problems(self, most: int) -> list[dict[str, str]]:
        """Return the first problems as `ranked`: id, question, gold, and by run a mark and the answer."""
        rows: dict[str, dict[str, str]] = {id: {"id": id} for id in ranked(self.runs)[:most]}
        for run in self.runs:
            log = EventReader(run.path)
            for result in run.pick(rows):
                row = rows[result.id]
                if not row.get("question"):
                    row |= {"question": _question_of(log, result), "gold": _short(result.gold)}
                row[run.name] = f"{MARKS[result.verdict]} {_short(result.answer)}".rstrip()
        return list(rows.values())

    @property
    def difference(self) -> str:
        """Count the problems on which the runs differ, and those that only one has right; "" for one run."""
        runs = [{id: verdict for id, (_, verdict) in run.index.items()} for run in self.runs]
        if len(runs) < 2:
            return ""
        shared = list(set.intersection(*map(set, runs)))
        right = [[run[id] == "right" for run in runs] for id in shared if len({run[id] for run in runs}) > 1]
        alone = [sum(each[n] and sum(each) == 1 for each in right) for n in range(len(runs))]
        counts = ", ".join(f"{run.name} {count:,}" for run, count in zip(self.runs, alone, strict=True))
        return f"They differ on {len(right):,} of {len(shared):,} problems; right where no other is: {counts}"

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        data = {"benchmark": self.benchmark.name, "columns": list(self.columns), "rows": rows}
        return {**data, "exhibits": [each.to_json() for each in self.exhibits if each.is_asked]}


def ranked(runs: Iterable[Run]) -> list[str]:
    """Order problem ids: those on which runs differ, then wrong, failed, declined and right ones.

    Each group is ordered by the numbers in the ids; ids without numbers keep the order of the results.
    """
    verdicts: dict[str, set[str]] = {}
    for run in runs:
        for id, (_, verdict) in run.index.items():
            verdicts.setdefault(id, set()).add(verdict)

    def rank(id: str) -> tuple[int, list[str]]:
        first = _WORST_FIRST.index(min(verdicts[id])) if len(verdicts[id]) == 1 else -1  # -1: runs differ
        return first, [number.zfill(20) for number in re.findall(r"\d+", id)]  # not as they finished

    return sorted(verdicts, key=rank)


def _question_of(log: EventReader, result: Result) -> str:
    """Return the beginning of the question, if the event log has it."""
    with suppress(LogError, InputError):
        starts = (each for each in log.events_of(result) if isinstance(each, RunStarted))
        return next((_short(each.input.get("question"), 60) for each in starts), "")
    return ""


def _short(value: Any, limit: int = 40) -> str:
    return one_line(answer_in_text(value, "; "), limit)


def _columns(benchmark: Benchmark) -> tuple[str, ...]:
    return benchmark.figures or (ALL, *benchmark.columns)
