"""The directory of an evaluation: results, events and the settings that made them, safe against a crash."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, LogError
from chameleon.evaluation.prompt_texts import PROMPTS, MissingPrompt, PromptTexts, with_prompts
from chameleon.evaluation.results import Result
from chameleon.evaluation.settings import settings_diff
from chameleon.log import (
    FORMAT,
    LineFile,
    before_failure,
    event_from_json,
    event_to_json,
    json_line,
    read_line,
)
from chameleon.state import Event, RunStarted
from chameleon.usage import Usage

SETTINGS, RESULTS, EVENTS = "settings.json", "results.jsonl", "events.jsonl"
PROBLEMS, _BACK = "problems", "back"
_NAMED = "chameleon-log-2"  # the format of events whose prompts may be named by their digests
_ELSEWHERE = "Give another folder for the results."
_ID = re.compile(rb'\{"id": ?("(?:[^"\\]|\\.)*")')


class RunDir:
    """Keep an evaluation problem by problem; the same evaluation opened again goes on.

    `done` are the results that were there when it was opened, by problem; `dropped` is what was spent on
    steps that were taken back. Writing is safe from several threads; one process at a time may have the
    directory open. Raises `LogError` when another evaluation has it, when its settings differ (the difference
    is named), or when a file in it is not ours; `InputError` when it cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.done: dict[str, Result] = {}
        self.dropped: dict[str, Usage] = {}
        self._begun: dict[str, tuple[Event, ...]] = {}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder: {problem.strerror}", where=str(path)) from problem
        # This file stays the same while the directory is open: its lock is what makes other processes wait.
        self._events = LineFile(self.path / EVENTS, "event log", _ELSEWHERE)
        try:
            self._results = LineFile(self.path / RESULTS, "results", _ELSEWHERE)
            self._check_settings(settings)
            self._prompts = PromptTexts(self.path / PROMPTS, _ELSEWHERE)
            self._load(read_results((line for _, line in self._results.whole_lines()), self._results.path))
        except BaseException:
            self.close()
            raise

    def append(self, id: str, event: Event) -> None:
        """Keep one event of a problem's run."""
        self._require(not self._events.is_deleted)
        written = {"id": id, **event_to_json(event)}
        if isinstance(event, RunStarted):
            written["format"] = _NAMED
        self._prompts.shorten(written)
        self._events.append(json_line(written))

    def finish(self, result: Result) -> None:
        """Keep a problem's result, after all its events."""
        self._require(not self._results.is_deleted)
        self._results.append(json_line(result.to_json()))

    def require_kept(self) -> None:
        """Raise `LogError` when results or events do not lie in the directory any more."""
        self._require(self._results.is_in_place and self._events.is_in_place)

    def _require(self, there: bool) -> None:
        if not there:
            what = "the folder was deleted or moved, so nothing more is kept in it"
            raise LogError(what, where=str(self.path))

    def unfinished(self, id: str) -> tuple[Event, ...]:
        """Return the events of a run that was interrupted, to go on from; each is given once."""
        return self._begun.pop(id, ())

    @property
    def usage(self) -> Usage:
        """What all that is kept here has cost, with what was taken back."""
        finished = sum((result.usage for result in self.done.values()), Usage())
        unfinished = sum(map(_usage_of, self._begun.values()), Usage())
        return finished + unfinished + sum(self.dropped.values(), Usage())

    def forget_failures(self) -> int:
        """Drop the results of runs that failed, so that they go on from their last good step; how many.

        What followed in their conversations is dropped as well: it depends on what they are answered now.
        """
        failed = [result for result in self.done.values() if result.failed]
        torn: dict[str, int] = {}
        for each in failed:
            if each.sequence:
                torn[each.sequence] = min(each.position, torn.get(each.sequence, each.position))
        if failed:
            kept = [
                result
                for result in self.done.values()
                if not result.failed and result.position <= torn.get(result.sequence, result.position)
            ]
            self._results.rewrite(json_line(result.to_json()) for result in kept)
            self._load(kept)
        return len(failed)

    def take_back(self, id: str, events: tuple[Event, ...], kept: int) -> tuple[Event, ...]:
        """Note that of a run only the first `kept` events still count, and return them."""
        self.dropped[id] = self.dropped.get(id, Usage()) + _usage_of(events[kept:])
        self._events.append(json_line({"id": id, "event": _BACK, "kept": kept}))
        return events[:kept]

    def expect(self, problems: int) -> None:
        """Keep in the settings how many problems are to be run, so that an unfinished run shows as one."""
        settings = read_settings(self.path / SETTINGS)
        if settings.get(PROBLEMS) != problems:
            write_whole(self.path / SETTINGS, json.dumps({**settings, PROBLEMS: problems}, indent=2) + "\n")

    def close(self) -> None:
        for name in ("_events", "_results", "_prompts"):
            if hasattr(self, name):
                getattr(self, name).close()

    def __enter__(self) -> RunDir:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        file = self.path / SETTINGS
        if file.exists():
            if told := settings_diff(read_settings(file), settings):
                what = f"the folder was made with other settings: {told}"
                raise LogError(what, where=str(self.path), hint=_ELSEWHERE)
            return
        for name in (RESULTS, EVENTS):
            if (self.path / name).stat().st_size:
                what = f"the folder has {name} and no settings that made it"
                raise LogError(what, where=str(self.path), hint=_ELSEWHERE)
        write_whole(file, json.dumps(settings, indent=2) + "\n")

    def _load(self, results: Iterable[Result]) -> None:
        """Take these results for done, and read the events of all other problems.

        A failure at the end of these is to be tried again.
        """
        self.done = {result.id: result for result in results}
        self._begun, self.dropped = read_events(
            self._events.whole_lines(), lambda id: id not in self.done, self._events.path, self._prompts.texts
        )
        for id, events in self._begun.items():
            kept = before_failure(events)
            if kept < len(events):
                self._begun[id] = self.take_back(id, events, kept)


def spent_in(path: Path) -> Usage:
    """Sum what all calls in a directory have cost, also those of runs that have not ended."""
    with (path / EVENTS).open("rb") as lines:
        rows = (read_line(line) for line in lines if line.endswith(b"\n"))
        calls = (call for row in rows for call in row.get("calls", ()))
        return sum((Usage.from_json(call["usage"]) for call in calls), Usage())


def write_whole(file: Path, text: str) -> None:
    """Write a file that is either not there or whole."""
    beside = file.with_name(file.name + ".new")
    beside.write_text(text, "utf-8")
    beside.replace(file)


def read_settings(file: Path) -> Mapping[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
        settings["benchmark"], settings["inventory"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise LogError(
            "these are no settings of an evaluation", where=str(file), hint=_ELSEWHERE
        ) from problem
    return dict(settings)


def read_results(lines: Iterable[bytes], path: Path) -> Iterator[Result]:
    """Read the whole lines of results; each problem has one."""
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            continue
        try:
            result = Result.from_json(read_line(line))
        except (ValueError, KeyError, TypeError) as problem:
            hint = f"Take out that line if it is not ours. {_ELSEWHERE}"
            raise LogError(f"line {number} is no result", where=str(path), hint=hint) from problem
        if result.id in seen:
            what = f"line {number} is another result of problem {result.id}"
            raise LogError(what, where=str(path), hint=f"Take out one of them. {_ELSEWHERE}")
        seen.add(result.id)
        yield result


def numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, each with the place where it starts."""
    place = 0
    with path.open("rb") as lines:
        for line in lines:
            yield place, line
            place += len(line)


def read_events(
    lines: Iterable[tuple[int, bytes]], wanted: Callable[[str], bool], path: Path, prompts: Mapping[str, str]
) -> tuple[dict[str, tuple[Event, ...]], dict[str, Usage]]:
    """Read the events of wanted problems that count, and what was spent on those taken back, by problem.

    `lines` come with the places where they start; `prompts` are the texts that they name by digests.
    """
    found: dict[str, list[Event]] = {}
    dropped: dict[str, Usage] = {}
    for place, line in lines:
        if not line.endswith(b"\n"):
            continue
        try:
            if not wanted(id := id_of(line)):
                continue
            data = read_line(line)
            events = found.setdefault(id, [])
            if data["event"] == _BACK:
                dropped[id] = dropped.get(id, Usage()) + _usage_of(events[data["kept"] :])
                del events[data["kept"] :]
            else:
                if data.get("format") == _NAMED:
                    data["format"] = FORMAT
                events.append(event_from_json(with_prompts(data, prompts)))
        except MissingPrompt as problem:
            raise LogError(
                f"line {_number(path, place)} has a prompt that {PROMPTS} lacks: it is damaged or gone",
                where=str(path),
                hint=f"Bring {PROMPTS} back. {_ELSEWHERE}",
            ) from problem
        except (ValueError, KeyError, TypeError, LogError) as problem:
            what = f"line {_number(path, place)} is not an event ({problem})"
            raise LogError(what, where=str(path), hint=_ELSEWHERE) from problem
    return {id: tuple(events) for id, events in found.items()}, dropped


def _number(path: Path, place: int) -> int:
    """Return the number of the line that starts at this place of a file."""
    return sum(start <= place for start, _ in numbered(path))


def id_of(line: bytes) -> str:
    """Return the problem that an event is of, without reading the event: of many, few are wanted."""
    if (found := _ID.match(line)) is None:
        raise ValueError("it names no problem")
    return str(json.loads(found[1]))


def _usage_of(events: Iterable[Event]) -> Usage:
    calls = (call for event in events if not isinstance(event, RunStarted) for call in event.calls)
    return sum((call.usage for call in calls), Usage())
