"""Kept evaluations as pandas data frames: a row for each problem."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, require
from chameleon.evaluation.kept_events import EventReader
from chameleon.evaluation.run import Run, read_run, uniquely_named
from chameleon.evaluation.run_dir import SETTINGS

_FIELDS = ("id", "answer", "gold", "correct", "declined", "failed")
_COUNTS = ("calls", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_COLUMNS = (
    *("run", "id", "question", "answer", "gold", "verdict", "correct", "declined", "failed", "error"),
    *("plan", "seconds", *_COUNTS, "cost", "columns", "conversation"),
)
_TYPES = {"correct": "boolean", "cost": "float64", "seconds": "float64", **dict.fromkeys(_COUNTS, "Int64")}


def results(*folders: str | os.PathLike[str]) -> Any:
    """Return kept evaluations as one DataFrame: a row for each problem.

    Values that a provider did not report are missing, never 0; `correct` is missing if answers are graded,
    and each grade has its own column.

    Args:
        folders: folders of evaluations or patterns such as "runs/*"; the column `run` has their names.

    Raises:
        MissingPackage: without pandas.
        InputError: for a folder that is not an evaluation.
        LogError: for a damaged one.
    """
    require("pandas", "results are given as a DataFrame by", "programs")
    import pandas

    rows = [row for run in uniquely_named(map(read_run, _matching(folders))) for row in _rows(run)]
    columns = dict.fromkeys([*_COLUMNS, *(name for row in rows for name in row)])
    return pandas.DataFrame(rows, columns=list(columns)).astype(_TYPES)


def _matching(folders: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the folders, and the matches of patterns, in order. Raises `InputError` if nothing matches."""
    if not folders:
        raise InputError("no folder is named", hint="Name the folder of a saved evaluation.")
    for each in folders:
        matching = map(Path, sorted(glob.glob(str(each))))  # noqa: PTH207 - may begin anywhere
        yield from [path for path in matching if (path / SETTINGS).is_file()] or [Path(each)]


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    events = EventReader(run.path)
    for result in run.results:
        row: dict[str, Any] = {
            **{name: getattr(result, name) for name in _FIELDS},
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
