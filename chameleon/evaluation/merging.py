"""Merge the parts of an evaluation, each run on a separate machine, into one directory."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chameleon.core.line_file import LineFile
from chameleon.errors import InputError, LogError
from chameleon.evaluation.kept_events import EventReader, unfinished_runs, whole_lines
from chameleon.evaluation.problems import PART
from chameleon.evaluation.run_dir import (
    LIMIT,
    PROBLEMS,
    RESULTS,
    SETTINGS,
    RunDir,
    read_results,
    read_settings,
    settings_diff,
)


def merge(parts: Sequence[Path], out: Path) -> None:
    """Merge the folders of all parts of an evaluation into one, as a single run would have written it.

    An unfinished part is copied as it is: the same evaluation resumes in `out`. A merge that fails leaves
    nothing there.

    Raises:
        InputError: for a folder that is not a part, for a part that is missing or named twice, and if `out`
            is not empty.
        LogError: for a folder without settings, for a part with other settings, for one that is being written
            to, and for a damaged one.
    """
    settings_by_folder = _settings_of(parts)
    settings = _common(settings_by_folder)
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise InputError("the folder already exists", where=str(out), hint="Name a new folder.")
    ids = set[str]()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locked:
            place = locked.enter_context(tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent))
            with RunDir(Path(place, "whole"), settings) as target:
                for path in settings_by_folder:
                    file = LineFile(path / RESULTS, "results", "Merge when that part has ended.")
                    locked.callback(file.close)  # until the merged folder is in place
                    _copy(path, target, ids)
            if out.exists():
                out.rmdir()
            target.path.rename(out)  # on the same file system, so it appears at once
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", where=str(out)) from problem


def _copy(part: Path, target: RunDir, ids: set[str]) -> None:
    """Copy a part's contents to the target; adds the ids of problems with a result to `ids`."""
    events, start = EventReader(part), 0
    for result in read_results(whole_lines(part / RESULTS), part / RESULTS, ids):
        target.take_over(result.id, events.lines_of(result))
        target.finish(result)
        start = max(start, result.member or 0)
    for id, run in unfinished_runs(part, start, ids).items():
        target.take_over(id, run.lines)


def _settings_of(parts: Sequence[Path]) -> dict[Path, Mapping[str, Any]]:
    """Return the settings of all parts by their folders. Raises `InputError` unless each occurs once."""
    settings = {path: read_settings(path / SETTINGS) for path in parts}
    numbers, of = list[int](), 1
    for path, each in settings.items():
        try:
            numbers.append(each[PART]["number"])
            of = each[PART]["of"]
        except (KeyError, TypeError):
            hint = "Name only the folders of parts."
            raise InputError("it is a complete evaluation, not a part", where=str(path), hint=hint) from None
    if wrong := [str(number) for number in range(1, of + 1) if numbers.count(number) != 1]:
        what = f"of {of} parts, these are missing or given twice: {', '.join(wrong[:10])}"
        raise InputError(what, hint="Name one folder per part.")
    return settings


def _common(parts: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that one run would have. Raises `LogError` if the parts differ in them."""
    (first, settings), *others = parts.items()
    for path, other in others:
        same = {**other, PART: {**other[PART], "number": settings[PART]["number"]}}  # except for the number
        differs = settings_diff(settings, same)
        was, now = (json.dumps(each.get(LIMIT, "unknown")) for each in (settings, other))
        if not differs and was != now:  # `settings_diff` ignores limits
            differs = f"limit changed from {was} to {now}"
        if differs:
            hint = f"It is compared with {first}. Merge parts of one evaluation."
            raise LogError(f"the part was made with other settings: {differs}", where=str(path), hint=hint)
    counts = [each.get(PROBLEMS) for each in parts.values()]
    started = min(str(each.get("started", "")) for each in parts.values())
    common = {key: value for key, value in settings.items() if key != PART}
    return {**common, "started": started, PROBLEMS: None if None in counts else sum(counts)}
