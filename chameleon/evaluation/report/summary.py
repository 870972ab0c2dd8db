"""One run in figures: what was answered, declined and failed, what it cost, and what made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from chameleon.evaluation.report.figures import in_figures
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.stats import PlanStats
from chameleon.usage import Usage

if TYPE_CHECKING:
    from chameleon.evaluation.folder import Run

Verdict = Literal["right", "wrong", "graded", "declined", "failed"]
VERDICTS: tuple[Verdict, ...] = ("wrong", "declined", "failed", "right")
GRADED: tuple[Verdict, ...] = ("declined", "failed", "graded")


def verdict_of(result: Result) -> Verdict:
    """What became of a problem, in a word."""
    if result.correct:
        return "right"
    if result.declined:
        return "declined"
    if result.error is not None:
        return "failed"
    return "graded" if result.correct is None else "wrong"


@dataclass(frozen=True)
class RunSummary:
    """A run under the name that tells it from the others of a report."""

    run: Run
    name: str

    @classmethod
    def of(cls, runs: Iterable[Run]) -> list[RunSummary]:
        """Name each run after its folder; where two folders are called alike, by the whole path."""
        found = list(runs)
        names = [run.path.name or str(run.path) for run in found]
        return [
            cls(run, name if names.count(name) == 1 else str(run.path))
            for run, name in zip(found, names, strict=True)
        ]

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.run.settings

    @property
    def tally(self) -> Tally:
        return self.run.tally

    @property
    def benchmark(self) -> str:
        return str(self.settings["benchmark"])

    @property
    def inventory(self) -> str:
        return str(self.settings["inventory"])

    @property
    def model(self) -> str | None:
        return self.settings.get("model")

    @property
    def date(self) -> str:
        """The day on which it began, as "2026-11-21"."""
        return str(self.settings.get("started") or "")[:10]

    @property
    def problems(self) -> str:
        """How many have a result: "200", or "69 of 200, unfinished"; of an unknown total "69, unfinished"."""
        n, total = f"{self.tally.all.n:,}", self.run.total
        if not self.run.unfinished:
            return n
        return f"{n}, unfinished" if total is None else f"{n} of {total:,}, unfinished"

    @property
    def choices(self) -> str:
        """What was chosen for this run, in words: "tables_offline, without row_lookup, scorer pot"."""
        without = [str(name) for name in self.settings.get("without") or ()]
        parts = [
            self.inventory,
            f"without {', '.join(without)}" if without else "",
            f"scorer {self.settings['scorer']}" if self.settings.get("scorer") else "",
        ]
        return ", ".join(part for part in parts if part)

    @cached_property
    def plans(self) -> PlanStats:
        return PlanStats.of(result.plan for result in self.run.results)

    @cached_property
    def counts(self) -> Mapping[Verdict, int]:
        verdicts = [verdict_of(result) for result in self.run.results]
        return {verdict: verdicts.count(verdict) for verdict in self.verdicts}

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What may become of a problem of this run."""
        return GRADED if self.tally.graded else VERDICTS

    @cached_property
    def seconds(self) -> float:
        """The sum over the problems; those that ran side by side count each."""
        return sum(result.seconds for result in self.run.results)

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
    """What is said of a run below the table: pairs of a name and a text."""
    settings, tally, counts = run.settings, run.tally, run.counts
    data = settings.get("data") or {}
    pairs = [
        ("Inventory", run.choices.removesuffix(f", scorer {settings.get('scorer')}")),
        ("Model", run.model or "none"),
        ("Benchmark", run.benchmark),
        ("Scorer", str(settings.get("scorer") or "")),
        ("Started", str(settings.get("started") or "").replace("T", " ")),
        ("Data", _named(data, ("name", "sha256"))),
        ("Problems", run.problems),
        _found(tally),
        ("Answered", _answered(run)),
        ("Declined", _part(counts["declined"], tally.all.n)),
        ("Failed", _part(counts["failed"], tally.all.n)),
        *(("", f"{count:,} times: {reason}") for reason, count in tally.reasons.most_common(3)),
        *(
            ("", f"answered {count:,} times without {where}")
            for where, count in tally.passed_over.most_common()
        ),
        ("Dropped", "; ".join(f"{name} in {count:,}" for name, count in tally.dropped.most_common())),
        ("Spent", usage_in_words(tally.usage)),
        ("Seconds", _seconds(run)),
        ("Seeds", _pairs(settings.get("seeds"))),
        ("Versions", _pairs(settings.get("versions"))),
        ("Digests", _pairs(settings.get("digests"))),
    ]
    known = {"inventory", "without", "model", "benchmark", "scorer", "started", "data", "seeds", "versions"}
    known |= {"problems"}
    pairs += [
        (key.capitalize(), _text(value)) for key, value in settings.items() if key not in known | {"digests"}
    ]
    return [(name, text) for name, text in pairs if text]


def usage_in_words(usage: Usage) -> str:
    """ "3 model calls, 812 + 40 tokens, $0.0012"."""
    if not usage.calls:
        return "no model calls"
    return f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}, {spent_in_words(usage)}"


def spent_in_words(usage: Usage) -> str:
    """ "812 + 40 tokens, $0.0012"; what the provider does not say is called unknown."""
    tokens, cost = "tokens unknown", "cost unknown"
    if usage.input_tokens is not None and usage.output_tokens is not None:
        tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens{usage.parts}"
    if usage.cost is not None:
        cost = f"${usage.cost:,.4f}"
    return f"{tokens}, {cost}"


def _found(tally: Tally) -> tuple[str, str]:
    """How many are right, or what they are graded."""
    if tally.graded:
        return "Grades", in_figures(tally, tally.all)
    return "Right", _part(tally.all.correct, tally.all.n)


def _answered(run: RunSummary) -> str:
    answered = run.tally.answered
    right = f", of them right {100 * answered.correct / answered.n:.2f} %" if answered.n else ""
    if run.tally.graded and answered.n:
        right = f", graded {in_figures(run.tally, answered)}; the others count as empty answers"
    return _part(answered.n, run.tally.all.n) + right


def _seconds(run: RunSummary) -> str:
    each = f", {run.seconds / run.tally.all.n:.3f} a problem" if run.tally.all.n else ""
    return f"{run.seconds:,.1f} summed over all problems{each}"


def _part(count: int, n: int) -> str:
    return f"{count:,} ({100 * count / n:.2f} %)" if n else f"{count:,}"


def _named(data: Any, keys: Sequence[str]) -> str:
    if not isinstance(data, Mapping):
        return _text(data)
    parts = [str(data[key]) if key == "name" else f"{key} {data[key]}" for key in keys if data.get(key)]
    return ", ".join([*parts, *(f"{key} {_text(data[key])}" for key in data if key not in keys)])


def _pairs(data: Any) -> str:
    return _named(data, ()) if data else ""


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return _pairs(value) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    return "none" if value is None else str(value)
