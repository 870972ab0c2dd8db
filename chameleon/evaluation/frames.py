"""Evaluations that were kept, as data frames of pandas: a row for each problem, model call or step."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from chameleon.errors import InputError, require
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import Run, read_run, told_apart, verdict_of
from chameleon.evaluation.run_dir import EVENTS, SETTINGS
from chameleon.log import read_line
from chameleon.state import Event, Nested, Plan, RunEnded, StepRecord
from chameleon.usage import Usage
from chameleon.values import to_json

Kind = Literal["problems", "calls", "steps"]
Row = dict[str, Any]
_USAGE = ("calls", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost")
_TIMED = ("seconds", *_USAGE)
_COLUMNS: Mapping[str, tuple[str, ...]] = {
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
_WHOLE = ("call", "step", "sample", "attempts", *_USAGE[:-1])
_BEGINS = re.compile(rb'"event": ?"run_started"')


def results(*folders: str | os.PathLike[str], kind: Kind = "problems") -> Any:
    """Return evaluations that were kept as one DataFrame: a row for each problem, model call or step.

    `folders` are those of kept evaluations, or patterns of such, as "runs/*"; the column `run`
    has their names. What a provider did not say is missing, never 0; `correct` is missing where answers are
    graded, and each grade has a column of its name. Raises `MissingPackage` without pandas, `InputError` for
    a folder that is none, `LogError` for a damaged one.
    """
    require("pandas", "results are given as a DataFrame by", "programs")
    import pandas

    if kind not in _COLUMNS:
        raise InputError(f"there is no kind of rows {kind!r}", hint=f"Kinds: {', '.join(_COLUMNS)}.")
    runs = told_apart(read_run(path) for path in _found(folders))
    rows = [row for run in runs for row in RunRows(run).of(kind)]
    columns = dict.fromkeys([*_COLUMNS[kind], *(name for row in rows for name in row)])
    frame = pandas.DataFrame.from_records(rows, columns=list(columns))
    kinds = dict.fromkeys(_WHOLE, "Int64") | {"correct": "boolean", "cost": "float64", "seconds": "float64"}
    return frame.astype({name: each for name, each in kinds.items() if name in columns})


def _found(folders: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the folders, and those that patterns match, in order. Raises `InputError` for none."""
    if not folders:
        raise InputError("no folder is named", hint="Name the folder of a kept evaluation.")
    for each in map(Path, folders):
        if each.exists() or not glob.has_magic(str(each)):
            yield each
            continue
        pattern = str(each.relative_to(each.anchor))
        matching = Path(each.anchor).glob(pattern)
        if not (found := sorted(path for path in matching if (path / SETTINGS).is_file())):
            hint = "A folder of a grid has one for each arm."
            raise InputError("no evaluation is called so", where=str(each), hint=hint)
        yield from found


class RunRows:
    """The rows of an evaluation that was kept, by kind."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def of(self, kind: Kind) -> Iterator[Row]:
        """Yield the rows of this kind."""
        if kind == "problems":
            questions = dict(self._questions())
            for result in self.run.results:
                yield self._of_problem(result, questions.get(result.id))
            return
        of_kind = self._of_calls if kind == "calls" else self._of_steps
        for result, events in self.run.with_events(list(self.run.results)):
            for number, row in enumerate(of_kind(events), 1):
                yield {"run": self.run.name, "id": result.id, kind.removesuffix("s"): number, **row}

    def _of_problem(self, result: Result, question: Any) -> Row:
        row: Row = {
            "run": self.run.name,
            "id": result.id,
            "question": question,
            "answer": result.answer,
            "gold": result.gold,
            "verdict": verdict_of(result),
            "correct": result.correct,
            "declined": result.declined,
            "failed": result.failed,
            "error": str(result.error) if result.error else None,
            "plan": " → ".join(result.plan),
            "seconds": result.seconds,
            **{name: getattr(result.usage, name) for name in _USAGE},
            "columns": list(result.columns),
            "conversation": result.sequence or None,
        }
        return row | {
            name if name not in row else f"grade {name}": each for name, each in result.grades.items()
        }

    def _questions(self) -> Iterator[tuple[str, Any]]:
        """Yield what each problem asked, from the beginnings of the runs; the last of a problem counts."""
        with (self.run.path / EVENTS).open("rb") as lines:
            for line in lines:
                if _BEGINS.search(line) and line.endswith(b"\n"):
                    begun = read_line(line)
                    if begun.get("event") == "run_started":
                        yield begun["id"], begun["input"].get("question")

    def _of_calls(self, events: Iterable[Event]) -> Iterator[Row]:
        for event, inside in self._timed(events):
            asked_by = f"planner {event.by}" if isinstance(event, Plan) else "planner"
            asked_by = event.step.module if isinstance(event, StepRecord) else asked_by
            for call in event.calls:
                yield {
                    "asked_by": "/".join((*inside, asked_by)),
                    "model": call.model,
                    "sample": call.sample,
                    "prompt": call.messages[-1][1] if call.messages else None,
                    "reply": call.text,
                    "finish": call.finish or None,
                    "error": call.error or None,
                    "attempts": call.attempts,
                    "from_store": call.cached,
                    "seconds": call.seconds,
                    **{name: getattr(call.usage, name) for name in _USAGE},
                }

    def _of_steps(self, events: Iterable[Event]) -> Iterator[Row]:
        for event, inside in self._timed(events):
            if isinstance(event, StepRecord):
                usage = sum((call.usage for call in event.calls), Usage())
                yield {
                    "module": event.step.module,
                    "inside": "/".join(inside) or None,
                    "args": to_json(event.step.args),
                    "output": to_json(event.output),
                    "error": str(event.error) if event.error else None,
                    "seconds": event.seconds,
                    **{name: getattr(usage, name) for name in _USAGE},
                }

    def _timed(
        self, events: Iterable[Event], inside: tuple[str, ...] = ()
    ) -> Iterator[tuple[Plan | StepRecord | RunEnded, tuple[str, ...]]]:
        """Yield plans, steps and ends, with the modules whose inventories they happened in."""
        for event in events:
            if isinstance(event, Nested):
                yield from self._timed([event.event], (*inside, event.module))
            elif isinstance(event, Plan | StepRecord | RunEnded):
                yield event, inside
