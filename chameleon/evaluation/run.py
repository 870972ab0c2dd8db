"""A kept run: its directory read again, and its description in figures and words."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chameleon.core.events import Event
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.kept_events import EventReader
from chameleon.evaluation.results import Count, Result, Tally, of_them_right
from chameleon.evaluation.run_dir import PROBLEMS, RESULTS, SETTINGS, read_results, read_settings
from chameleon.evaluation.stats import PlanStats
from chameleon.figures import in_time
from chameleon.lazy import cached_property
from chameleon.text import counted

DASH = "–"


def figure(value: float | None) -> str:
    """Write a graded figure with four decimals, as published ones are, and None as a dash."""
    return DASH if value is None else f"{value:.4f}"


def in_figures(tally: Tally, count: Count) -> str:
    """Return "BLEU 27.1871, ROUGE-1 0.6110"."""
    return ", ".join(f"{name} {figure(value)}" for name, value in tally.figures(count).items())


@dataclass(frozen=True)
class Run:
    """An evaluation's folder, read again.

    Attributes:
        tally: the counts over the results, with the benchmark's columns in order.
        name: distinguishes it from others in a report.
        index: by problem, in the file's order: the byte of `results.jsonl` at which its result begins, and
            its verdict.
    """

    path: Path
    settings: Mapping[str, Any]
    benchmark: Benchmark
    tally: Tally
    name: str = ""
    index: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def results(self) -> Iterator[Result]:
        """Read the results again, one by one."""
        return (result for _, result in _results(self.path))

    def pick(self, ids: Iterable[str]) -> Iterator[Result]:
        """Read the results of only these problems, skipping those without one."""
        with (self.path / RESULTS).open("rb") as file:
            for start, _ in (self.index[id] for id in ids if id in self.index):
                file.seek(start)
                yield from read_results([file.readline()], self.path / RESULTS)

    @property
    def n(self) -> int:
        """The number of problems with a result."""
        return self.tally.all.n

    @property
    def total(self) -> int | None:
        """The number of problems to run; None if the evaluation stopped before counting them."""
        return self.settings.get(PROBLEMS)

    @property
    def unfinished(self) -> bool:
        """Whether problems have no result yet."""
        return self.total is not None and self.n < self.total

    @property
    def problems(self) -> str:
        """The number of results in words: "200", or "69 of 200, unfinished"."""
        n = f"{self.n:,}"
        return f"{n} of {self.total:,}, unfinished" if self.unfinished else n

    @property
    def date(self) -> str:
        return str(self.settings.get("started") or "")[:10]

    @property
    def choices(self) -> str:
        """The settings chosen for this run: "tables_offline, without row_lookup, scorer chameleon"."""
        without = ", ".join(map(str, self.settings.get("without") or ()))
        scorer = self.settings.get("scorer")
        parts = (self.settings["inventory"], without and f"without {without}", scorer and f"scorer {scorer}")
        return ", ".join(str(part) for part in parts if part)

    @cached_property
    def plans(self) -> PlanStats:
        return PlanStats(self.tally.programs)

    def with_events(self, results: Iterable[Result]) -> Iterator[tuple[Result, tuple[Event, ...]]]:
        """Yield these results of the run, each with its events that count."""
        events = EventReader(self.path)
        for result in results:
            yield result, events.events_of(result)

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.name,
            "path": str(self.path),
            "date": self.date or None,
            **self.tally.to_json(str(self.settings["benchmark"])),
            "total": self.total,
            "unfinished": self.unfinished,
            "step_seconds": round(self.tally.seconds, 3),
            "declined": self.tally.declined,
            "rightly_declined": self.tally.rightly_declined,
            "failed": self.tally.failed,
            "settings": dict(self.settings),
        }

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The facts about a run shown below the table: pairs of a name and a text."""
        tally, answered, n = self.tally, self.tally.answered, self.n
        note = ""
        if answered.n and tally.graded:
            note = f", graded {in_figures(tally, answered)}; the others count as empty answers"
        elif answered.n:
            note = f", of them right {100 * answered.correct / answered.n:.2f}%"
        right = ("Right", _part(tally.all.correct, n))
        verdicts = ("Grades", in_figures(tally, tally.all)) if tally.graded else right
        skipped = tally.passed_over.most_common()
        each = f", {in_time(tally.seconds / n)} a problem" if n else ""
        settings = {name: value for name, value in self.settings.items() if name != PROBLEMS}
        pairs = [
            ("Problems", self.problems),
            verdicts,
            ("Answered", _part(answered.n, n) + note),
            ("Declined", _part(tally.declined, n) + of_them_right(tally.rightly_declined)),
            ("Failed", _part(tally.failed, n)),
            *(("", f"{count:,} times: {reason}") for reason, count in tally.reasons.most_common(3)),
            *(("", f"answered {counted(count, 'time')} without {where}") for where, count in skipped),
            ("Dropped", "; ".join(f"{name} in {count:,}" for name, count in tally.dropped.most_common())),
            ("Spent", tally.usage.in_words),
            ("Time", f"{in_time(tally.seconds)} summed over all problems{each}"),
            *((name.capitalize(), _in_words(value)) for name, value in settings.items()),
        ]
        return [(name, text) for name, text in pairs if text]


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read the folder of an evaluation, finished or not. Raises `InputError` for any other, `LogError`."""
    run_dir = Path(path)
    for name in (SETTINGS, RESULTS):
        if not (run_dir / name).is_file():
            hint = "An evaluation with an output folder makes one."
            inside = sorted(file.parent.name for file in run_dir.glob(f"*/{SETTINGS}"))
            if inside:
                names = f"{', '.join(inside[:5])}{' …' if inside[5:] else ''}"
                hint = f"It holds {names}: name those, such as {run_dir / inside[0]}."
            what = f"this is not the folder of an evaluation: it has no {name}"
            raise InputError(what, where=str(run_dir), hint=hint, code="" if inside else "missing-run")
    settings = read_settings(run_dir / SETTINGS)
    benchmark = find_benchmark(settings["benchmark"])
    rule = benchmark.scorers.get(str(settings.get("scorer")))
    tally = Tally(benchmark.columns, rule() if rule else None)
    index = {}
    for start, result in _results(run_dir):
        tally.add(result)
        index[result.id] = start, result.verdict
    return Run(run_dir, settings, benchmark, tally, run_dir.name or str(run_dir), index)


def _results(path: Path) -> Iterator[tuple[int, Result]]:
    """Yield the results, each with the byte at which its line begins."""
    start = end = 0

    def placed(lines: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal start, end
        for line in lines:
            start, end = end, end + len(line)
            yield line

    with (path / RESULTS).open("rb") as lines:
        for result in read_results(placed(lines), path / RESULTS):
            yield start, result


def uniquely_named(runs: Iterable[Run]) -> list[Run]:
    """Name runs whose directories have the same name by their whole path."""
    all_runs = list(runs)
    names = Counter(run.name for run in all_runs)
    return [run if names[run.name] == 1 else replace(run, name=str(run.path)) for run in all_runs]


def _part(count: int, n: int) -> str:
    return f"{count:,} ({100 * count / n:.2f}%)" if n else f"{count:,}"


def _in_words(value: Any) -> str:
    """Write a setting in words; "" for an empty one."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_in_words(each) or 'none'}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_in_words(each) for each in value)
    return "none" if value is None else str(value)
