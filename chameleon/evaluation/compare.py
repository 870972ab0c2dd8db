"""The arms of a grid side by side: their figures as JSON, shown as a table with notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev
from typing import Any, Protocol

from chameleon.evaluation.benchmark import Benchmark
from chameleon.evaluation.results import Result, Tally, of_them_right
from chameleon.evaluation.run import DASH

Z_90 = 1.645  # half of a 90% interval, in standard errors
NEEDS, TO_FIRST = "needs a model", "to the first"  # the only column of texts, and the one of differences


def half_width(share: float, n: int) -> float:
    """Return half of the 90% interval of a share of n: Wilson's, as in the published SARA results."""
    return Z_90 / (1 + Z_90**2 / n) * sqrt(share * (1 - share) / n + Z_90**2 / (4 * n * n))


def difference(
    ours: Mapping[str, bool], first: Mapping[str, bool]
) -> tuple[float, float] | tuple[None, None]:
    """Return how much more often ours is right on the shared questions, if any, and half of the interval.

    Both are fractions, not points. The 90% interval is for paired verdicts: questions that both have right,
    or both wrong, do not widen it.
    """
    pairs = [ours[id] - first[id] for id in ours.keys() & first.keys()]
    return (fmean(pairs), Z_90 * pstdev(pairs) / sqrt(len(pairs))) if pairs else (None, None)


class Kept(Protocol):
    """The part of an evaluation that is compared: a kept `Run`, or one in memory."""

    @property
    def n(self) -> int: ...
    @property
    def tally(self) -> Tally: ...
    @property
    def benchmark(self) -> Benchmark: ...
    @property
    def results(self) -> Iterable[Result]: ...


def evaluation_figures(run: Kept, first: Kept | None) -> dict[str, Any]:
    """Return the counts of an arm's run, and its difference (in the first figure, if graded) to `first`."""
    tally, n = run.tally, run.n
    less, less_half = None, None
    if first is not None and tally.graded is None:
        verdicts = ({result.id: bool(result.correct) for result in each.results} for each in (run, first))
        less, less_half = difference(*verdicts)
    elif first is not None and n and first.n:
        ours, theirs = (next(iter(each.tally.figures(each.tally.all).values())) for each in (run, first))
        less = None if ours is None or theirs is None else ours - theirs
    ungraded = tally.graded is None and n
    return tally.to_json(run.benchmark.name) | {
        "half_width_90": half_width(tally.all.accuracy or 0.0, n) if ungraded else None,
        "difference": less,
        "difference_half_width_90": less_half,
        "wrong": None if tally.graded else tally.verdicts["wrong"],
        "declined": tally.declined,
        "rightly_declined": tally.rightly_declined,
        "failed": tally.failed,
        "seconds_per_question": round(tally.seconds / n, 6) if n else None,
    }


@dataclass(frozen=True)
class ArmTable:
    """The figures of a grid's arms, as `arm_figures` returns them, and what they were measured on."""

    arms: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {**self.about, "arms": list(self.arms)}

    @property
    def names(self) -> list[str]:
        return [arm["arm"] for arm in self.arms]

    @property
    def columns(self) -> dict[str, list[str]]:
        """The cells by column name, without empty columns."""
        rows = [_cells(arm) for arm in self.arms]
        # Only the rows of evaluated arms have the figures of a grading rule.
        names = max(rows, key=len, default={})
        columns = {name: [row.get(name) or DASH for row in rows] for name in names}
        renamed = {TO_FIRST: f"to {self.compared_with}"} if self.compared_with else {}
        return {renamed.get(name, name): cells for name, cells in columns.items() if set(cells) != {DASH}}

    @property
    def compared_with(self) -> str:
        """The arm that the others are compared with, if it is not the first: the first that ran."""
        ran = [arm for arm in self.arms if arm["evaluation"]]
        are_compared = any(arm["evaluation"].get("difference") is not None for arm in ran)
        return ran[0]["arm"] if are_compared and ran[0] is not self.arms[0] else ""

    @property
    def notes(self) -> list[str]:
        """Notes on what the table leaves out and why, a sentence each."""
        arms_by_reason: dict[str, list[str]] = {}
        for arm in self.arms:
            if arm["lacks"]:
                reason = arm["lacks"] if arm["evaluation"] else f"could not run: {arm['lacks']}"
                arms_by_reason.setdefault(reason, []).append(arm["arm"])
        notes = [f"{', '.join(names)} {reason}" for reason, names in arms_by_reason.items()]
        for arm in self.arms:
            if arm["failed"]:
                count = f"{arm['failed']:,} of {arm['problems']:,} problems found no table"
                notes.append(f"{arm['arm']}: {count}, the first with: {arm['failed_first_for']}")
        if self.compared_with:
            notes.append(f"Differences are to {self.compared_with}, the first that ran.")
        if any(arm["needs_a_model"] for arm in self.arms):
            notes.insert(0, "Answers need a model, so none were measured.")
        if any(arm["evaluation"] and arm["evaluation"]["half_width_90"] is not None for arm in self.arms):
            notes.insert(0, "± is half of a 90% interval; that of a difference is over pairs of verdicts.")
        return notes


def _cells(arm: Mapping[str, Any]) -> dict[str, str]:
    """Write an arm's cells by column name, "" for unknown ones."""
    figures, table = arm["evaluation"] or {}, arm["table"] or {}
    usage = figures.get("usage", {})
    tokens = [usage.get("input_tokens"), usage.get("output_tokens")]
    less, half = figures.get("difference"), figures.get("difference_half_width_90")
    to_first = "" if less is None else f"{less:+.4f}"  # of graded figures, without an interval
    if less is not None and half is not None:
        to_first = f"{100 * less:+.2f} ± {100 * half:.2f}"
    seconds = arm["seconds_per_question"]
    return {
        "right": _written(figures.get("correct")),
        "wrong": _written(figures.get("wrong")),
        "accuracy, %": _written(figures.get("accuracy"), ".2f", 100),
        **{name: _written(value, ".4f") for name, value in figures.get("figures", {}).items()},
        "± 90%": _written(figures.get("half_width_90"), ".2f", 100),
        TO_FIRST: to_first,
        **_published(arm, figures),
        "declined": _written(figures.get("declined")) + of_them_right(figures.get("rightly_declined", 0)),
        "failed": _written(figures.get("failed")),
        "calls": _written(usage.get("calls")),
        "tokens": "" if None in tokens else _written(sum(tokens)),
        "cost, $": _written(usage.get("cost"), ".4f"),
        "s a question": _written(figures.get("seconds_per_question"), ".3f"),
        "gold kept, %": _written(table.get("gold_kept"), ".2f", 100),
        "of": _written(table.get("gold_known") or None),
        "rows": _written(table.get("rows"), ",.1f"),
        "columns": _written(table.get("columns"), ",.1f"),
        "cells, %": _written(table.get("cells"), ".2f", 100),
        "table tokens": _written(table.get("tokens"), ",.1f"),
        "ms a question": "" if figures else _written(seconds, ".1f", 1000),
        "no table": _written(arm["failed"] or None),
        "calls each": _written(arm["calls_per_question"]),
        NEEDS: ", ".join(arm["needs_a_model"][:-1]),
    }


def _published(arm: Mapping[str, Any], evaluation: Mapping[str, Any]) -> dict[str, str]:
    """Write the published figure of an arm, and ours minus it, in points."""
    change, share = arm.get("published_change"), arm.get("published")
    ours = evaluation.get("difference") if share is None else evaluation.get("accuracy")
    printed = change if share is None else share
    if printed is None:
        return {"published": "", "to published": ""}
    figures = list(evaluation.get("figures", {}).values())  # of a grading rule, the first
    is_graded = bool(figures) and share is not None
    ours = figures[0] if is_graded else None if ours is None else 100 * ours
    away = "" if ours is None else f"{ours - printed:+.2f}"
    return {"published": f"{printed:+.2f}" if share is None else f"{printed:.2f}", "to published": away}


def _written(value: float | None, form: str = ",", times: float = 1) -> str:
    return "" if value is None else format(times * value, form)
