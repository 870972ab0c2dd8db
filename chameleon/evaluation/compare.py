"""The arms of a grid side by side: their figures as JSON, and made of it a table, Markdown and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from chameleon.evaluation.run import DASH, Run, figure

Z_90 = 1.645
"""Half of a 90 % interval, in standard errors."""
NEEDS = "needs a model"
"""The one column that holds texts."""


class Difference(NamedTuple):
    """How much larger a share is than another over the same `n` questions, and half of its interval."""

    value: float
    half_width: float
    n: int


def half_width(share: float, n: int) -> float:
    """Return half of the 90 % interval of a share of n: 1.645 times the root of p (1 - p) / n.

    It is Wald's, as published with retrieval-augmented chain of thought: no width at 0 and at 1, where it
    says too little. Raises ValueError for n below 1.
    """
    if n < 1:
        raise ValueError("a share is one of at least one")
    return Z_90 * sqrt(share * (1 - share) / n)


def difference(ours: Mapping[str, bool], first: Mapping[str, bool]) -> Difference | None:
    """Return how much more often ours is right, over the questions that both have; None without any.

    The interval is that of paired verdicts: what both have right, or both wrong, tells nothing of it.
    """
    both = ours.keys() & first.keys()
    if not both:
        return None
    n = len(both)
    gains = sum(ours[id] and not first[id] for id in both)
    losses = sum(first[id] and not ours[id] for id in both)
    value = (gains - losses) / n
    variance = max((gains + losses) / n - value * value, 0.0)
    return Difference(value, Z_90 * sqrt(variance / n), n)


def evaluation_figures(run: Run, first: Run | None) -> dict[str, Any]:
    """Return the counts of an arm's run, and the difference to that of the first arm that was evaluated.

    Where the rule grades, that is the one of the leading figures, without an interval.
    """
    tally, n = run.tally, len(run.results)
    less: float | None = None
    less_half: float | None = None
    if first is not None and tally.graded is None:
        verdicts = ({result.id: bool(result.correct) for result in each.results} for each in (run, first))
        if (found := difference(*verdicts)) is not None:
            less, less_half = found.value, found.half_width
    elif first is not None and n and first.results:
        ours, theirs = (next(iter(each.tally.figures(each.tally.all).values())) for each in (run, first))
        less = None if ours is None or theirs is None else ours - theirs
    ungraded = tally.graded is None and n
    return tally.to_json(run.benchmark.name) | {
        "half_width_90": half_width(tally.all.accuracy or 0.0, n) if ungraded else None,
        "difference": less,
        "difference_half_width_90": less_half,
        "declined": n - tally.answered.n - tally.failed,
        "failed": tally.failed,
        "seconds_per_question": round(run.seconds / n, 6) if n else None,
    }


@dataclass(frozen=True)
class ArmTable:
    """The figures of a grid's arms, as `arm_figures` has them, and what they were measured over."""

    arms: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {**self.about, "arms": list(self.arms)}

    @property
    def names(self) -> list[str]:
        return [arm["arm"] for arm in self.arms]

    @property
    def columns(self) -> dict[str, list[str]]:
        """The cells by the name of their column, of those that have something to say."""
        evaluated = [arm["evaluation"] for arm in self.arms if arm["evaluation"]]
        figures = evaluated[0].get("figures", {}) if evaluated else {}
        shown: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
            **{name: _figure(name) for name in figures},
            **({} if figures else {"accuracy, %": _cell("evaluation accuracy", _percent)}),
            **_COLUMNS,
        }
        found = {name: [cell(arm) or DASH for arm in self.arms] for name, cell in shown.items()}
        return {name: cells for name, cells in found.items() if set(cells) != {DASH}}

    @property
    def notes(self) -> list[str]:
        """What the table leaves out, and why, a sentence each."""
        lacking: dict[str, list[str]] = {}
        for arm in self.arms:
            if arm["lacks"]:
                lacking.setdefault(arm["lacks"], []).append(arm["arm"])
        found = [f"{', '.join(names)} could not run: {reason}" for reason, names in lacking.items()]
        for arm in self.arms:
            if arm["failed"]:
                told = f"{arm['failed']:,} of {arm['problems']:,} problems came to no table"
                found.append(f"{arm['arm']}: {told}, the first since {arm['failed_first_for']}")
        if any(arm["needs_a_model"] for arm in self.arms):
            found.insert(0, "Answers need a model, so nothing is said of them.")
        if any(arm["evaluation"] and arm["evaluation"]["half_width_90"] is not None for arm in self.arms):
            found.insert(0, "± is half of a 90 % interval; that of a difference is over pairs of verdicts.")
        return found

    @property
    def markdown(self) -> str:
        """The table in Markdown, for a page."""
        columns = self.columns
        rule = ["---", *("---" if name == NEEDS else "---:" for name in columns)]
        rows = zip(self.names, *columns.values(), strict=True)
        lines = [_bars(["arm", *columns]), _bars(rule), *map(_bars, rows)]
        return "\n".join([*lines, *(f"\n- {note}" for note in self.notes)]) + "\n"


def _cell(path: str, shown: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], str | None]:
    """Make a cell of the value at a path of keys; None where there is none."""

    def cell(arm: Mapping[str, Any]) -> str | None:
        value: Any = arm
        for key in path.split():
            value = None if value is None else value[key]
        return None if value is None else shown(value)

    return cell


def _figure(name: str) -> Callable[[Mapping[str, Any]], str | None]:
    return lambda arm: figure(arm["evaluation"]["figures"][name]) if arm["evaluation"] else None


def _less(arm: Mapping[str, Any]) -> str | None:
    """Write the difference to the first arm."""
    found = arm["evaluation"] or {}
    less, half = found.get("difference"), found.get("difference_half_width_90")
    if less is None:
        return None
    return f"{less:+.4f}" if half is None else f"{100 * less:+.2f} ± {100 * half:.2f}"


def _tokens(arm: Mapping[str, Any]) -> str | None:
    usage = (arm["evaluation"] or {}).get("usage", {})
    both = usage.get("input_tokens"), usage.get("output_tokens")
    return None if None in both else f"{sum(both):,}"


def _milliseconds(arm: Mapping[str, Any]) -> str | None:
    seconds = None if arm["evaluation"] else arm["seconds_per_question"]
    return None if seconds is None else f"{1000 * seconds:.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "± 90 %": _cell("evaluation half_width_90", _percent),
    "to the first": _less,
    "declined": _cell("evaluation declined", "{:,}".format),
    "failed": _cell("evaluation failed", "{:,}".format),
    "calls": _cell("evaluation usage calls", "{:,}".format),
    "tokens": _tokens,
    "cost, $": _cell("evaluation usage cost", "{:.4f}".format),
    "s a question": _cell("evaluation seconds_per_question", "{:.3f}".format),
    **{f"R@{depth}": _cell(f"retrieval recall@{depth}", figure) for depth in (1, 5, 10)},
    "MRR": _cell("retrieval mrr", figure),
    "queries/s": _cell("retrieval queries_per_second", "{:,.0f}".format),
    "gold kept, %": _cell("table gold_kept", _percent),
    "of": _cell("table gold_known", lambda n: f"{n:,}" if n else DASH),
    "rows": _cell("table rows", "{:,.1f}".format),
    "columns": _cell("table columns", "{:,.1f}".format),
    "cells, %": _cell("table cells", _percent),
    "table tokens": _cell("table tokens", "{:,.1f}".format),
    "ms a question": _milliseconds,
    "no table": lambda arm: f"{arm['failed']:,}" if arm["failed"] else None,
    "calls each": _cell("calls_per_question", "{:,}".format),
    NEEDS: lambda arm: ", ".join(arm["needs_a_model"][:-1]),
}


def _bars(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
