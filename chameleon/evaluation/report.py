"""Runs in figures: each by itself, and the paper's table, the published rows with the runs below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chameleon.evaluation.benchmark import Benchmark, Published
from chameleon.evaluation.results import Count, Result, Tally
from chameleon.evaluation.stats import PlanStats
from chameleon.usage import Usage

if TYPE_CHECKING:
    from chameleon.evaluation.run_dir import Run

ALL, DASH = "ALL", "–"
VERDICTS = ("wrong", "declined", "failed", "right")
GRADED = ("declined", "failed", "graded")
_IN_PAIRS = ("seeds", "versions", "digests")
_TOLD = ("inventory", "without", "model", "benchmark", "scorer", "started", "data", "problems", *_IN_PAIRS)


def figure(value: float | None) -> str:
    """Write a graded figure with four decimals, as published ones are; a dash where there is no example."""
    return DASH if value is None else f"{value:.4f}"


def in_figures(tally: Tally, count: Count) -> str:
    """Return "BLEU 27.1871, ROUGE-1 0.6110"."""
    return ", ".join(f"{name} {figure(value)}" for name, value in tally.figures(count).items())


def verdict_of(result: Result) -> str:
    """Say in a word what became of a problem: one of `VERDICTS`, or of `GRADED`."""
    if result.correct:
        return "right"
    if result.declined:
        return "declined"
    if result.error is not None:
        return "failed"
    return "graded" if result.correct is None else "wrong"


class RunSummary:
    """A run in figures, under the name that tells it from the others of a report.

    `verdicts` may become of its problems, `counts` says how many did. `seconds` is the sum over the problems;
    those that ran side by side count each.
    """

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name
        self.settings, self.results, self.tally = run.settings, run.results, run.tally
        self.benchmark, self.inventory = str(self.settings["benchmark"]), str(self.settings["inventory"])
        self.model: str | None = self.settings.get("model")
        self.date = str(self.settings.get("started") or "")[:10]
        self.plans = PlanStats.of(result.plan for result in self.results)
        self.verdicts = GRADED if self.tally.graded else VERDICTS
        found = Counter(map(verdict_of, self.results))
        self.counts = {verdict: found[verdict] for verdict in self.verdicts}
        self.seconds = sum(result.seconds for result in self.results)

    @classmethod
    def of(cls, runs: Iterable[Run]) -> list[RunSummary]:
        """Name each run after its directory; where two are called alike, by the whole path."""
        found = list(runs)
        names = Counter(run.path.name or str(run.path) for run in found)
        return [cls(run, run.path.name if names[run.path.name] == 1 else str(run.path)) for run in found]

    @property
    def problems(self) -> str:
        """How many have a result: "200", or "69 of 200, unfinished"."""
        n = f"{self.tally.all.n:,}"
        return f"{n} of {self.run.total:,}, unfinished" if self.run.unfinished else n

    @property
    def choices(self) -> str:
        """What was chosen for this run: "tables_offline, without row_lookup"."""
        without = ", ".join(map(str, self.settings.get("without") or ()))
        return f"{self.inventory}, without {without}" if without else self.inventory

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.name,
            "path": str(self.run.path),
            "date": self.date or None,
            **self.tally.to_json(self.benchmark),
            "total": self.run.total,
            "unfinished": self.run.unfinished,
            "step_seconds": round(self.seconds, 3),
            "declined": self.counts["declined"],
            "failed": self.counts["failed"],
            "settings": dict(self.settings),
        }


def facts(run: RunSummary) -> list[tuple[str, str]]:
    """List what is said of a run below the table: pairs of a name and a text."""
    tally, answered, n = run.tally, run.tally.answered, run.tally.all.n
    settings = {key: value for key, value in run.settings.items() if value or key not in _IN_PAIRS}
    data = dict(settings.get("data") or {})
    name = str(data.pop("name", ""))
    if not answered.n:
        ours = ""
    elif tally.graded:
        ours = f", graded {in_figures(tally, answered)}; the others count as empty answers"
    else:
        ours = f", of them right {100 * answered.correct / answered.n:.2f} %"
    found = (
        ("Grades", in_figures(tally, tally.all)) if tally.graded else ("Right", _part(tally.all.correct, n))
    )
    seconds = f"{run.seconds:,.1f} summed over all problems"
    pairs = [
        ("Inventory", run.choices),
        ("Model", run.model or "none"),
        ("Benchmark", run.benchmark),
        ("Scorer", str(settings.get("scorer") or "")),
        ("Started", str(settings.get("started") or "").replace("T", " ")),
        ("Data", ", ".join(filter(None, [name, _listed(data)]))),
        ("Problems", run.problems),
        found,
        ("Answered", _part(answered.n, n) + ours),
        ("Declined", _part(run.counts["declined"], n)),
        ("Failed", _part(run.counts["failed"], n)),
        *(("", f"{count:,} times: {reason}") for reason, count in tally.reasons.most_common(3)),
        *(
            ("", f"answered {count:,} times without {where}")
            for where, count in tally.passed_over.most_common()
        ),
        ("Dropped", "; ".join(f"{name} in {count:,}" for name, count in tally.dropped.most_common())),
        ("Spent", usage_in_words(tally.usage)),
        ("Seconds", f"{seconds}, {run.seconds / n:.3f} a problem" if n else seconds),
        *((key.capitalize(), _in_words(settings[key])) for key in _IN_PAIRS if key in settings),
    ]
    pairs += [(key.capitalize(), _in_words(settings[key])) for key in settings if key not in _TOLD]
    return [(name, text) for name, text in pairs if text]


def _part(count: int, n: int) -> str:
    return f"{count:,} ({100 * count / n:.2f} %)" if n else f"{count:,}"


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return _listed(value) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_in_words, value)) or "none"
    return "none" if value is None else str(value)


def _listed(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_in_words(value)}" for key, value in data.items())


def usage_in_words(usage: Usage) -> str:
    """Return "3 model calls, 812 + 40 tokens, $0.0012"."""
    if not usage.calls:
        return "no model calls"
    return f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}, {spent_in_words(usage)}"


def spent_in_words(usage: Usage) -> str:
    """Return "812 + 40 tokens, $0.0012"; what the provider does not say is called unknown."""
    tokens, cost = "tokens unknown", "cost unknown"
    if usage.input_tokens is not None and usage.output_tokens is not None:
        tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens{usage.parts}"
    if usage.cost is not None:
        cost = f"${usage.cost:,.4f}"
    return f"{tokens}, {cost}"


@dataclass(frozen=True)
class SystemRow:
    """A row of the paper's table: a published system or a run.

    `cells` are percentages as printed, or the figures of a benchmark that grades; a dash where none is known.
    `settings` is what was chosen for a run, and for a published row where it was printed; `problems` is `n`
    as it is shown: "7,686", or of a run that has not ended "69 of 200, unfinished".
    """

    system: str
    published: bool
    n: int | None
    cells: Mapping[str, str]
    settings: str
    graded: bool
    problems: str
    date: str = ""
    model: str = ""
    unfinished: bool = False

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
    """The table of one benchmark: the published rows come first.

    `columns` begin with ALL, or are the figures where the benchmark grades. Where some of its rules grade and
    others do not, those of the runs come after them, and a row has the ones of its own rule.
    """

    benchmark: Benchmark
    rows: tuple[SystemRow, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        own = _columns(self.benchmark)
        found = dict.fromkeys(name for row in self.rows for name in row.cells)
        return tuple(dict.fromkeys((*(name for name in own if name in found), *found))) or own

    @property
    def shown(self) -> str:
        """What the cells are: "right answers in percent", "EM, F1", or both."""
        graded = dict.fromkeys(name for row in self.rows if row.graded for name in row.cells)
        figures = ", ".join(graded or self.benchmark.figures)
        percent = "" if all(row.graded for row in self.rows) and figures else "right answers in percent"
        return "; ".join(part for part in (figures, percent) if part)

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        return {"benchmark": self.benchmark.name, "columns": list(self.columns), "rows": rows}


def compare(runs: Iterable[RunSummary], find: Callable[[str], Benchmark]) -> list[Comparison]:
    """Make one table for each benchmark that the runs are of, in the order in which they come up."""
    by_benchmark: dict[str, list[RunSummary]] = {}
    for run in runs:
        by_benchmark.setdefault(run.benchmark, []).append(run)
    found = []
    for name, group in by_benchmark.items():
        benchmark = find(name)
        published = [_published_row(row, benchmark) for row in benchmark.published]
        found.append(Comparison(benchmark, (*published, *(_run_row(run, benchmark) for run in group))))
    return found


def _columns(benchmark: Benchmark) -> tuple[str, ...]:
    return benchmark.figures or (ALL, *benchmark.columns)


def _published_row(row: Published, benchmark: Benchmark) -> SystemRow:
    cells = {
        column: f"{row.percent[column]:.2f}" if column in row.percent else DASH
        for column in _columns(benchmark)
    }
    n = DASH if row.n is None else f"{row.n:,}"
    return SystemRow(row.system, True, row.n, cells, row.source, bool(benchmark.figures), n)


def _run_row(run: RunSummary, benchmark: Benchmark) -> SystemRow:
    tally = run.tally
    counts = {column: tally.columns.get(column, Count()) for column in benchmark.columns}
    cells = {
        column: benchmark.percent(column, count.correct, count.n)
        for column, count in {ALL: tally.all, **counts}.items()
    }
    if tally.graded:
        cells = {name: figure(value) for name, value in tally.figures(tally.all).items()}
    scorer = run.settings.get("scorer")
    return SystemRow(
        run.name,
        False,
        tally.all.n,
        cells,
        f"{run.choices}, scorer {scorer}" if scorer else run.choices,
        tally.graded is not None,
        run.problems,
        date=run.date,
        model=run.model or "none",
        unfinished=run.run.unfinished,
    )
