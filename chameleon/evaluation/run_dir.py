"""The directory of an evaluation: results, events and the settings that made them, safe against a crash."""

from __future__ import annotations

import json
import os
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    private,
    read_line,
)
from chameleon.state import Event, RunStarted
from chameleon.usage import Usage

SETTINGS, RESULTS, EVENTS = "settings.json", "results.jsonl", "events.jsonl"
PROBLEMS, CHECKED, _BACK, _FROM = "problems", "checked", "back", "events"
_NAMED = "chameleon-log-2"  # the format of events whose prompts may be named by their digests
_ELSEWHERE = "Give another folder for the results."
_ID = re.compile(rb'\{"id": ?("(?:[^"\\]|\\.)*")')


class RunDir:
    """Keep an evaluation problem by problem; the same evaluation opened again goes on.

    `done` names the problems that had a result when it was opened: `on_kept` is called with each of these
    results. `dropped` is what was spent on steps that were taken back. Writing is safe from several threads;
    one process at a time may have the directory open. Raises `LogError` when another evaluation has it, when
    its settings differ (the difference is named), or when a file in it is not ours; `InputError` when it
    cannot be made.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        on_kept: Callable[[Result], object] = lambda result: None,
    ) -> None:
        self.path, self._on_kept = Path(path), on_kept
        self.done: set[str] = set()
        self.dropped: dict[str, Usage] = {}
        self._lock = threading.Lock()
        self._begun: dict[str, Begun] = {}
        self._open: OrderedDict[str, int] = OrderedDict()
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise InputError(f"cannot make the folder: {problem.strerror}", where=str(path)) from problem
        # This file stays the same while the directory is open: its lock is what makes other processes wait.
        self._events = LineFile(self.path / EVENTS, "event log", _ELSEWHERE)
        try:
            self._results = LineFile(self.path / RESULTS, "results", _ELSEWHERE)
            self._check_settings(settings)
            self._prompts = PromptTexts(self.path / PROMPTS, _ELSEWHERE)
            self._load()
        except BaseException:
            self.close()
            raise

    def append(self, id: str, event: Event) -> None:
        """Keep one event of a problem's run."""
        written = {"id": id, **event_to_json(event)}
        if isinstance(event, RunStarted):
            written["format"] = _NAMED
        self._prompts.shorten(written)
        line = json_line(written)
        with self._lock:
            place = self._written(self._events, line)
            self._open.setdefault(id, place)

    def finish(self, result: Result) -> None:
        """Keep a problem's result, after all its events.

        It also tells from where on there are events of runs without a result: who goes on reads those alone.
        """
        with self._lock:
            others = (place for id, place in self._open.items() if id != result.id)
            place = next(others, self._events.size)  # they are in the order in which they began
            self._finished += 1
            line = json_line({**result.to_json(), _FROM: [place, len(self.done) + self._finished]})
            self._written(self._results, line)
            self._open.pop(result.id, None)

    def answer_of(self, id: str) -> Any:
        """Return what a question of a conversation that is done was answered; None where it was not."""
        return self._answers.get(id)

    def require_kept(self) -> None:
        """Raise `LogError` when results, events or prompts do not lie in the directory any more."""
        self._require(all(file.is_in_place for file in (self._results, self._events, self._prompts.file)))

    def _written(self, file: LineFile, line: bytes) -> int:
        """Write a line, and return the place where it starts."""
        try:
            return file.append(line)
        except LogError:
            self._require(not file.is_deleted)
            raise

    def _require(self, there: bool) -> None:
        if not there:
            what = "the folder was deleted or moved, so nothing more is kept in it"
            raise LogError(what, where=str(self.path))

    def unfinished(self, id: str) -> tuple[Event, ...]:
        """Return the events of a run that was interrupted, to go on from; each is given once."""
        return tuple(self._begun.pop(id).events) if id in self._begun else ()

    @property
    def usage(self) -> Usage:
        """What runs without a result have cost, with what was taken back."""
        unfinished = (_usage_of(begun.events) for begun in self._begun.values())
        return sum((*unfinished, *self.dropped.values()), Usage())

    def forget_failures(self) -> int:
        """Drop the results of runs that failed, so that they go on from their last good step; how many.

        What followed in their conversations is dropped as well: it depends on what they are answered now.
        """
        failed = 0
        torn: dict[str, int] = {}
        for each in self._kept():
            failed += each.failed
            if each.failed and each.sequence:
                torn[each.sequence] = min(each.position, torn.get(each.sequence, each.position))
        if failed:
            self._results.rewrite(
                json_line(each.to_json())
                for each in self._kept()
                if not each.failed and each.position <= torn.get(each.sequence, each.position)
            )
            self._load()
        return failed

    def take_back(self, id: str, events: Sequence[Event], kept: int) -> tuple[Event, ...]:
        """Note that of a run only the first `kept` events still count, and return them."""
        self.dropped[id] = self.dropped.get(id, Usage()) + _usage_of(events[kept:])
        self._events.append(json_line({"id": id, "event": _BACK, "kept": kept}))
        return tuple(events[:kept])

    def expect(self, problems: int, limit: int | None = None, *, is_checked: bool = False) -> None:
        """Keep in the settings how many problems are to be run, so that an unfinished run shows as one.

        With `is_checked` also that this many were looked through, up to a limit: see `checked_count`.
        """
        before = read_settings(self.path / SETTINGS)
        settings = {**before, PROBLEMS: problems, CHECKED: {"limit": limit}}
        if not is_checked:
            del settings[CHECKED]
        if settings != before:
            write_whole(self.path / SETTINGS, json.dumps(settings, indent=2) + "\n")

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

    def _kept(self) -> Iterator[Result]:
        return read_results((line for _, line in self._results.whole_lines()), self._results.path)

    def _load(self) -> None:
        """Take what has a result for done, and read the events of all other problems.

        A failure at the end of these is to be tried again.
        """
        self.done.clear()
        self._finished = 0
        self._answers: dict[str, Any] = {}
        last = b""

        def lines() -> Iterator[bytes]:
            nonlocal last
            for _, line in self._results.whole_lines():
                last = line if line.endswith(b"\n") else last
                yield line

        for result in read_results(lines(), self._results.path, self.done):
            if result.sequence and result.answered:
                self._answers[result.id] = result.answer
            self._on_kept(result)
        places = self._events.whole_lines(self._first_open(last))
        self._begun = read_events(
            places, lambda id: id not in self.done, self._events.path, self._prompts.texts
        )
        self._open = OrderedDict((id, begun.start) for id, begun in self._begun.items())
        self.dropped = {id: begun.dropped for id, begun in self._begun.items() if begun.dropped != Usage()}
        for id, begun in self._begun.items():
            kept = before_failure(begun.events)
            if kept < len(begun.events):
                begun.events = list(self.take_back(id, begun.events, kept))

    def _first_open(self, last: bytes) -> int:
        """Return the place in the events before which, by the last result, all runs have one.

        It is of use where no result was taken out since.
        """
        told = read_line(last).get(_FROM) if last else None
        place, results = told if isinstance(told, list) and len(told) == 2 else (0, 0)
        if not isinstance(place, int) or place <= 0 or results != len(self.done):
            return 0
        with self._events.path.open("rb") as file:
            file.seek(place - 1)
            return place if file.read(1) == b"\n" else 0  # else the file is not as it was


def checked_count(path: Path, limit: int | None) -> int | None:
    """Return how many problems a directory is for, where all up to this limit were looked through for it."""
    settings = read_settings(path / SETTINGS) if (path / SETTINGS).exists() else {}
    return settings.get(PROBLEMS) if settings.get(CHECKED) == {"limit": limit} else None


def spent_in(path: Path) -> Usage:
    """Sum what all calls in a directory have cost, also those of runs that have not ended."""
    with (path / EVENTS).open("rb") as lines:
        rows = (read_line(line) for line in lines if line.endswith(b"\n"))
        calls = (call for row in rows for call in row.get("calls", ()))
        return sum((Usage.from_json(call["usage"]) for call in calls), Usage())


def write_whole(file: Path, text: str) -> None:
    """Write a file that is either not there or whole. Raises `LogError` where it cannot be."""
    beside = file.with_name(file.name + ".new")
    try:
        with open(beside, "w", encoding="utf-8", opener=private) as opened:
            opened.write(text)
        beside.replace(file)
    except OSError as problem:
        what = f"the file cannot be written: {problem.strerror}"
        raise LogError(what, where=str(file), hint=f"Make room. {_ELSEWHERE}") from problem


def read_settings(file: Path) -> Mapping[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
        is_named = isinstance(settings["benchmark"], str) and "inventory" in settings
        if not is_named or not isinstance(settings.get(PROBLEMS), int | None):
            raise TypeError("no benchmark is named, or no number of problems")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
        raise LogError(
            "these are no settings of an evaluation", where=str(file), hint=_ELSEWHERE
        ) from problem
    return dict(settings)


def read_results(lines: Iterable[bytes], path: Path, seen: set[str] | None = None) -> Iterator[Result]:
    """Read the whole lines of results; each problem has one. `seen` receives their ids."""
    seen = set() if seen is None else seen
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            continue
        try:
            data = read_line(line)
            data.pop(_FROM, None)
            result = Result.from_json(data)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            hint = "Take out that line: its problem is then run again."
            raise LogError(f"line {number} is no result", where=str(path), hint=hint) from problem
        if result.id in seen:
            what = f"line {number} is another result of problem {result.id}"
            raise LogError(what, where=str(path), hint=f"Take out one of them. {_ELSEWHERE}")
        seen.add(result.id)
        yield result


def placed_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, each with the place where it starts."""
    place = 0
    with path.open("rb") as lines:
        for line in lines:
            yield place, line
            place += len(line)


@dataclass
class Begun:
    """A run in the events: where the first of them starts, those that count, and what others had cost."""

    start: int
    events: list[Event] = field(default_factory=list)
    dropped: Usage = field(default_factory=Usage)


def read_events(
    lines: Iterable[tuple[int, bytes]], wanted: Callable[[str], bool], path: Path, prompts: Mapping[str, str]
) -> dict[str, Begun]:
    """Read the runs of wanted problems, in the order in which they began.

    `lines` come with the places where they start; `prompts` are the texts that they name by digests.
    """
    found: dict[str, Begun] = {}
    for place, line in lines:
        if not line.endswith(b"\n"):
            continue
        try:
            if not wanted(id := _id_of(line)):
                continue
            data = read_line(line)
            begun = found.setdefault(id, Begun(place))
            if data["event"] == _BACK:
                begun.dropped += _usage_of(begun.events[data["kept"] :])
                del begun.events[data["kept"] :]
            else:
                if data.get("format") == _NAMED:
                    data["format"] = FORMAT
                event = event_from_json(with_prompts(data, prompts))
                if isinstance(event, RunStarted):  # where a result was taken out by hand, it ran anew
                    begun.dropped += _usage_of(begun.events)
                    begun.events.clear()
                begun.events.append(event)
        except MissingPrompt as problem:
            raise LogError(
                f"line {_number(path, place)} has a prompt that {PROMPTS} lacks: it is damaged or gone",
                where=str(path),
                hint=f"Bring {PROMPTS} back. {_ELSEWHERE}",
            ) from problem
        except (ValueError, KeyError, TypeError, LogError) as problem:
            raise _damaged(path, place, problem) from problem
    return found


def find_events(path: Path, ids: Iterable[str]) -> dict[str, array[int]]:
    """Return the places of the lines of these problems, whichever order they are in."""
    found = {id: array("Q") for id in ids}
    for place, line in placed_lines(path):
        if line.endswith(b"\n"):
            try:
                id = _id_of(line)
            except ValueError as problem:
                raise _damaged(path, place, problem) from problem
            if id in found:
                found[id].append(place)
    return found


def _damaged(path: Path, place: int, problem: Exception) -> LogError:
    what = f"line {_number(path, place)} is not an event ({problem})"
    return LogError(what, where=str(path), hint=_ELSEWHERE)


def _number(path: Path, place: int) -> int:
    """Return the number of the line that starts at this place of a file."""
    return sum(start <= place for start, _ in placed_lines(path))


def _id_of(line: bytes) -> str:
    """Return the problem that an event is of, without reading the event: of many, few are wanted."""
    if (found := _ID.match(line)) is None:
        raise ValueError("it names no problem")
    text = found[1]
    return str(json.loads(text)) if b"\\" in text else text[1:-1].decode()


def _usage_of(events: Iterable[Event]) -> Usage:
    calls = (call for event in events if not isinstance(event, RunStarted) for call in event.calls)
    return sum((call.usage for call in calls), Usage())
