"""Evaluations that were kept, as data frames of pandas: a row for each problem, model call or step."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from chameleon.core.events import Event, Nested, Plan, RunEnded, StepRecord
from chameleon.errors import InputError, require
from chameleon.evaluation.kept_events import EventReader, usage_of
from chameleon.evaluation.run import Run, read_run, told_apart
from chameleon.evaluation.run_dir import SETTINGS
from chameleon.values import to_json

Kind = Literal["problems", "calls", "steps"]
Row = dict[str, Any]
_TIMED = ("seconds", "calls", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost")
_HELD = ("id", "answer", "gold", "correct", "declined", "failed")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "problems": (
        *("run", "id", "question", "answer", "gold", "verdict", "correct", "declined", "failed", "error"),
        *("plan", *_TIMED, "columns", "conversation"),
    ),
    "calls": (
        *("run", "id", "call", "asked_by", "model", "sample", "prompt", "reply", "finish", "error"),
        *("attempts", "from_store", *_TIMED),
    ),
    "steps": ("run", "id", "step", "module", "inside", "args", "output", "error", *_TIMED),
}
_TYPES = dict.fromkeys(("call", "step", "sample", "attempts", *_TIMED[1:-1]), "Int64")
_TYPES |= {"correct": "boolean", "cost": "float64", "seconds": "float64"}


def results(*folders: str | os.PathLike[str], kind: Kind = "problems") -> Any:
    """Return evaluations that were kept as one DataFrame: a row for each problem, model call or step.

    `folders` are those of kept evaluations, or patterns of such, as "runs/*"; the column `run` has their
    names. What a provider did not say is missing, never 0; `correct` is missing where answers are graded,
    and each grade has a column of its name. Raises `MissingPackage` without pandas, `InputError` for
    anything but folders of evaluations, `LogError` for a damaged one.
    """
    require("pandas", "results are given as a DataFrame by", "programs")
    import pandas

    if kind not in _COLUMNS:
        raise InputError(f"there is no kind of rows {kind!r}", hint=f"Kinds: {', '.join(_COLUMNS)}.")
    rows = [row for run in told_apart(map(read_run, _matching(folders))) for row in _rows(run, kind)]
    columns = dict.fromkeys([*_COLUMNS[kind], *(name for row in rows for name in row)])
    frame = pandas.DataFrame(rows, columns=list(columns))
    return frame.astype({name: each for name, each in _TYPES.items() if name in columns})


def _matching(folders: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the folders, and those that patterns match, in order. Raises `InputError` for none."""
    if not folders:
        raise InputError("no folder is named", hint="Name the folder of a kept evaluation.")
    for each in folders:
        matching = map(Path, sorted(glob.glob(str(each))))  # noqa: PTH207 - may begin anywhere
        yield from [path for path in matching if (path / SETTINGS).is_file()] or [Path(each)]


def _rows(run: Run, kind: Kind) -> Iterator[Row]:
    if kind == "problems":
        yield from _problems(run)
        return
    of_kind = _calls if kind == "calls" else _steps
    for result, events in run.with_events(run.results):
        for number, row in enumerate(of_kind(events), 1):
            yield {"run": run.name, "id": result.id, kind.removesuffix("s"): number, **row}


def _problems(run: Run) -> Iterator[Row]:
    events = EventReader(run.path)
    for result in run.results:
        row: Row = {
            **{name: getattr(result, name) for name in _HELD},
            "run": run.name,
            "question": events.input_of(result).get("question"),
            "verdict": result.verdict,
            "error": str(result.error) if result.error else None,
            "plan": " → ".join(result.plan),
            "seconds": result.seconds,
            **result.usage.to_json(),
            "columns": list(result.columns),
            "conversation": result.sequence or None,
        }
        yield row | {f"grade {name}" if name in row else name: each for name, each in result.grades.items()}


def _calls(events: Iterable[Event]) -> Iterator[Row]:
    for event, inside in _timed(events):
        asked_by = f"planner {event.by}" if isinstance(event, Plan) else "planner"
        asked_by = event.step.module if isinstance(event, StepRecord) else asked_by
        for call in event.calls:
            yield {
                **{name: getattr(call, name) for name in ("model", "sample", "attempts", "seconds")},
                "asked_by": "/".join((*inside, asked_by)),
                "prompt": call.messages[-1][1] if call.messages else None,
                "reply": call.text,
                "finish": call.finish or None,
                "error": call.error or None,
                "from_store": call.cached,
                **call.usage.to_json(),
            }


def _steps(events: Iterable[Event]) -> Iterator[Row]:
    for event, inside in _timed(events):
        if isinstance(event, StepRecord):
            yield {
                "module": event.step.module,
                "inside": "/".join(inside) or None,
                "args": to_json(event.step.args),
                "output": to_json(event.output),
                "error": str(event.error) if event.error else None,
                "seconds": event.seconds,
                **usage_of([event]).to_json(),
            }


def _timed(
    events: Iterable[Event], inside: tuple[str, ...] = ()
) -> Iterator[tuple[Plan | StepRecord | RunEnded, tuple[str, ...]]]:
    """Yield plans, steps and ends, with the modules whose inventories they happened in."""
    for event in events:
        if isinstance(event, Nested):
            yield from _timed([event.event], (*inside, event.module))
        elif isinstance(event, Plan | StepRecord | RunEnded):
            yield event, inside
