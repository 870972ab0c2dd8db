"""The directory of an evaluation: results, events and the settings that made them, safe against a crash."""

import gzip
import json
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from chameleon.core.events import Event
from chameleon.core.line_file import LineFile, private
from chameleon.core.log import before_failure, event_to_json, json_line, read_line
from chameleon.errors import InputError, LogError
from chameleon.evaluation.kept_events import (
    BACK,
    EVENTS,
    RECENT,
    EventReader,
    RunLines,
    read_member,
    recent_lines,
    unfinished_runs,
    usage_of,
    whole_lines,
)
from chameleon.evaluation.results import Result
from chameleon.usage import Usage

SETTINGS, RESULTS = "settings.json", "results.jsonl"
FIGURES = "grid.json"  # kept by `compare` next to the folders of its arms
PROBLEMS, LIMIT = "problems", "limit"
# The start time, the names of files and the number of problems may differ.
_NOT_COMPARED = ("started", "data.name", "tables.name", PROBLEMS, LIMIT)
_VERSIONS, _RESOLVED, _WEIGHTS = "versions.", "resolved.", ".weights"
_FOLDER_HINT = "Give another folder for the results."
_RESUME_HINT = "Use the same settings to resume, or another folder for the results."
_MAX_STALE_BYTES = 256 << 10  # of packed lines among the recent ones, before they are dropped


class RunDir(AbstractContextManager["RunDir"]):
    """Keep an evaluation problem by problem; the same evaluation opened again resumes.

    `done` names the problems that had a result at opening: `on_kept` is called with each of these results.
    `answers` has their answers if they are answered questions of a conversation. `dropped` is the cost of
    steps that were taken back. Writing is safe from several threads; only one process at a time may open the
    directory.

    Raises:
        LogError: when another evaluation has it open, when its settings differ (naming the difference), or
            when it has results or events without settings.
        InputError: when it cannot be made, or holds something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        on_kept: Callable[[Result], object] = lambda result: None,
    ) -> None:
        self.path, self._on_kept = Path(path), on_kept
        self.done: set[str] = set()
        self.answers: dict[str, Any] = {}
        self.dropped: dict[str, Usage] = {}
        self._lock = threading.Lock()
        self._begun: dict[str, RunLines] = {}
        self._open: dict[str, list[bytes]] = {}  # the lines of runs without a result
        self._stale_bytes = 0  # of recent lines whose problems have a result
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise InputError(f"cannot make the folder: {problem.strerror}", where=str(path)) from problem
        if not (self.path / SETTINGS).exists() and (names := self._foreign_files()):
            what = f"the folder holds something else, such as {names[0]}"
            raise InputError(what, where=str(path), hint="Name another folder.")
        # This file is not replaced while the directory is open: its lock makes other processes wait.
        self._events = LineFile(self.path / EVENTS, "event log", _FOLDER_HINT)
        try:
            self._results = LineFile(self.path / RESULTS, "results", _FOLDER_HINT)
            self._recent = LineFile(self.path / RECENT, "log of recent events", _FOLDER_HINT)
            self._check_settings(settings)
            self._load()
        except BaseException:
            self.close()
            raise

    def append(self, id: str, event: Event) -> None:
        """Keep one event of a problem's run."""
        self.take_over(id, [json_line({"id": id, **event_to_json(event)})])

    def take_over(self, id: str, lines: Iterable[bytes]) -> None:
        """Keep further lines of a problem's run, as they were written."""
        with self._lock:
            for line in lines:
                self._recent.append(line)
                self._open.setdefault(id, []).append(line)

    def finish(self, result: Result) -> Result:
        """Keep a problem's result, after all its events; return it with the offset of these."""
        with self._lock:
            lines = b"".join(self._open.get(result.id, ()))
            # The events come first, so that no result is without them; mtime=0 makes the bytes reproducible.
            member = self._events.append(gzip.compress(lines, mtime=0)) if lines else None
            result = replace(result, member=member)
            self._results.append(json_line(result.to_json()))
            self._open.pop(result.id, None)
            self._stale_bytes += len(lines)
            if self._stale_bytes >= max(_MAX_STALE_BYTES, self._recent.size // 2):
                self._drop_stale()
        return result

    def _drop_stale(self) -> None:
        """Keep only the lines of runs without a result among the recent ones."""
        self._recent.rewrite(line for lines in self._open.values() for line in lines)
        self._stale_bytes = 0

    def require_kept(self) -> None:
        """Raise `LogError` when results or events are no longer in the directory."""
        if not all(file.is_in_place for file in (self._results, self._events, self._recent)):
            what = "the folder was deleted or moved, so nothing more can be saved in it"
            raise LogError(what, where=str(self.path))

    def unfinished(self, id: str) -> tuple[Event, ...]:
        """Return the events of an interrupted run, from which it resumes; each run is returned once."""
        return tuple(self._begun.pop(id).events) if id in self._begun else ()

    @property
    def usage(self) -> Usage:
        """The cost of runs without a result, including steps that were taken back."""
        unfinished = (usage_of(run.events) for run in self._begun.values())
        return sum((*unfinished, *self.dropped.values()), Usage())

    def forget_failures(self) -> int:
        """Drop the results of failed runs, which then resume from their last good step; return how many.

        Later questions of their conversations are dropped as well: they depend on the new answers.
        """
        failed = 0
        torn: dict[str, int] = {}
        for each in self._kept():
            failed += each.failed
            if each.failed and each.sequence:
                torn[each.sequence] = min(each.position, torn.get(each.sequence, each.position))

        def stays(each: Result) -> bool:
            return not each.failed and each.position <= torn.get(each.sequence, each.position)

        if failed:
            self._drop_stale()
            events = EventReader(self.path)
            for each in self._kept():
                if not stays(each):
                    self.take_over(each.id, events.lines_of(each))
            self._results.rewrite(json_line(each.to_json()) for each in self._kept() if stays(each))
            self._load()
        return failed

    def take_back(self, id: str, events: Sequence[Event], count: int) -> tuple[Event, ...]:
        """Note that only the first `count` events of a run still count, and return them."""
        self.dropped[id] = self.dropped.get(id, Usage()) + usage_of(events[count:])
        self.take_over(id, [json_line({"id": id, "event": BACK, "kept": count})])
        return tuple(events[:count])

    def expect(self, problems: int, limit: int | None = None) -> None:
        """Record how many problems will be run, and what limited their number."""
        before = read_settings(self.path / SETTINGS)
        if (settings := {**before, PROBLEMS: problems, LIMIT: limit}) != before:
            write_whole(self.path / SETTINGS, json.dumps(settings, indent=2) + "\n")

    def close(self) -> None:
        """Close the files so that other processes can open the folder."""
        if self._stale_bytes:
            with suppress(LogError):  # the folder then holds them twice
                self._drop_stale()
        for name in ("_events", "_results", "_recent"):
            if hasattr(self, name):
                getattr(self, name).close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _foreign_files(self) -> list[str]:
        own, endings = (RESULTS, EVENTS, RECENT), (".new", ".log", ".out", ".txt")
        names = (each.name for each in self.path.iterdir())
        return sorted(name for name in names if not (name in own or name[0] == "." or name.endswith(endings)))

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        file = self.path / SETTINGS
        if file.exists():
            if diff := settings_diff(read_settings(file), settings):
                what = f"the folder was made with other settings: {diff}"
                raise LogError(what, where=str(self.path), hint=_RESUME_HINT)
            return
        for name in (RESULTS, EVENTS, RECENT):
            if (self.path / name).exists() and (self.path / name).stat().st_size:
                what = f"the folder has {name} but no settings"
                raise LogError(what, where=str(self.path), hint=_FOLDER_HINT)
        write_whole(file, json.dumps(settings, indent=2) + "\n")

    def _kept(self, ids: set[str] | None = None) -> Iterator[Result]:
        return read_results((line for _, line in self._results.whole_lines()), self._results.path, ids)

    def _load(self) -> None:
        """Mark problems with results as done; read the other problems' events, except final failures."""
        self.done.clear()
        self.answers.clear()
        last = -1  # the offset of the last member that has a result
        recent, reader, moved = recent_lines(self.path), EventReader(self.path), dict[str, Result]()
        for each in self._kept(self.done):
            result, last = each, max(last, -1 if each.member is None else each.member)
            if each.id in recent and not reader.is_packed(each):
                place = self._events.append(gzip.compress(b"".join(recent[each.id]), mtime=0))
                result = moved[each.id] = replace(each, member=place)
            if result.sequence and result.answered:
                self.answers[result.id] = result.answer
            self._on_kept(result)
        self._begun = unfinished_runs(self.path, max(last, 0), self.done)
        self._open = {id: run.lines for id, run in self._begun.items()}
        if moved:
            self._results.rewrite(json_line(moved.get(each.id, each).to_json()) for each in self._kept())
        self._drop_stale()
        with suppress(OSError, EOFError, ValueError, zlib.error):  # damaged parts are not changed
            if not moved:  # else it would cut the members just added
                self._events.cut(read_member(self.path / EVENTS, last)[1] if last >= 0 else 0)
        self.dropped = {id: run.dropped for id, run in self._begun.items() if run.dropped != Usage()}
        for id, run in self._begun.items():
            count = before_failure(run.events)
            if count < len(run.events):
                run.events = list(self.take_back(id, run.events, count))


def spent_in(path: Path) -> Usage:
    """Sum the cost of all calls in a directory, including runs that have not ended."""
    done, spent, start = set[str](), Usage(), 0
    for result in read_results(whole_lines(path / RESULTS), path / RESULTS, done):
        spent, start = spent + result.usage, max(start, result.member or 0)
    runs = unfinished_runs(path, start, done).values()
    return sum((usage_of(run.events) + run.dropped for run in runs), spent)


def write_whole(file: Path, text: str) -> None:
    """Write a file that is either missing or complete. Raises `LogError` if it cannot be written."""
    draft = file.with_name(file.name + ".new")
    try:
        with open(draft, "w", encoding="utf-8", opener=private) as opened:
            opened.write(text)
        draft.replace(file)
    except OSError as problem:
        what = f"the file cannot be written: {problem.strerror}"
        raise LogError(what, where=str(file), hint=f"Check its permissions. {_FOLDER_HINT}") from problem


def read_settings(file: Path) -> Mapping[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
        is_named = isinstance(settings["benchmark"], str) and "inventory" in settings
        if not is_named or not isinstance(settings.get(PROBLEMS), int | None):
            raise TypeError("the benchmark or the number of problems is missing")
        if checked := settings.pop("checked", None):  # from an earlier version
            settings.setdefault(LIMIT, checked["limit"])
    except OSError as problem:
        hint = "Name the folder of an evaluation."
        raise LogError(f"cannot be read: {problem.strerror}", where=str(file), hint=hint) from problem
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        what = "these are not the settings of an evaluation"
        raise LogError(what, where=str(file), hint=_FOLDER_HINT) from problem
    return dict(settings)


def read_results(lines: Iterable[bytes], path: Path, seen: set[str] | None = None) -> Iterator[Result]:
    """Read the complete lines of results, one per problem, and add their ids to `seen`."""
    seen = set() if seen is None else seen
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            continue
        try:
            result = Result.from_json(read_line(line))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            hint = "Delete that line; its problem then runs again."
            raise LogError(f"line {number} is not a result", where=str(path), hint=hint) from problem
        if result.id in seen:
            what = f"line {number} is another result of problem {result.id}"
            raise LogError(what, where=str(path), hint=f"Delete one of them. {_FOLDER_HINT}")
        seen.add(result.id)
        yield result


def settings_diff(before: Mapping[str, Any], now: Mapping[str, Any], above: str = "") -> str:
    """Name the first setting that differs, with both values; "" if none does."""
    for key in [*before, *(key for key in now if key not in before)]:
        name, old, new = f"{above}{key}", before.get(key), now.get(key)
        if name in _NOT_COMPARED or (name.startswith(_VERSIONS) and None in (old, new)):
            continue
        if name.startswith(_RESOLVED) and name.endswith(_WEIGHTS) and old is None:
            continue  # the run itself has downloaded them
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if diff := settings_diff(old, new, f"{name}."):
                return diff
        elif old != new and key == "sha256":  # a digest is useless to a reader
            part, names = above.removesuffix("."), (before.get("name"), now.get("name"))
            if names[0] != names[1]:
                return f"{part} changed from {names[0]} to {names[1]}"
            return f"the content of {part}{f' ({names[0]})' if names[0] else ''} has changed"
        elif old != new:
            note = ", which this machine decides," if name.startswith(_RESOLVED) else ""
            setting = f"{name.removeprefix(_RESOLVED)}{note}"
            return f"{setting} changed from {json.dumps(old)} to {json.dumps(new)}"
    return ""
