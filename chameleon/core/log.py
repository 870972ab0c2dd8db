"""Event logs on disk: one JSON object per line, appended as things happen, whole lines only."""

import hashlib
import json
import logging
import math
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, get_args

import orjson

from chameleon import values
from chameleon.core.events import (
    Approval,
    Dropped,
    Event,
    Failure,
    Nested,
    Plan,
    PlanKind,
    Reason,
    RunEnded,
    RunStarted,
    Said,
    Step,
    StepRecord,
)
from chameleon.core.line_file import LineFile
from chameleon.errors import ChameleonError, LogError
from chameleon.signing import is_sealed, sealed
from chameleon.table import Table
from chameleon.usage import Call, checked_seconds

FORMAT = "chameleon-log-1"
_SEAL = "seal"
_log = logging.getLogger("chameleon")
_ENCODE = json.JSONEncoder(allow_nan=False, check_circular=False).encode  # frozen values have no cycles
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_ORJSON_LINE = re.compile(rb'\{"\w+":(?! )')  # orjson writes no space after the colon, json does
_CONTAINERS = (dict, list, tuple)
_OUTPUT_KEY = "$output"
_MARKS = ("dropped", "beside")  # of a step, written only if true
_LAST_SECOND = 253_402_300_799  # of the year 9999
_LINE_STARTS = (b'{"event":"', b'{"event": "')  # as orjson and as json write them


def event_to_json(event: Event) -> dict[str, Any]:
    """Write one event as a JSON object; `event_from_json` reads it back."""
    data: dict[str, Any]
    match event:
        case RunStarted():
            return {
                "event": "run_started",
                "format": FORMAT,
                **({"at": event.at} if event.at else {}),
                "inventory": event.inventory,
                "input": values.to_json(event.input),
                "settings": values.to_json(event.settings),
                **({"notes": notes} if (notes := getattr(event.input.get("table"), "notes", None)) else {}),
            }
        case Plan():
            data = {
                "event": "plan",
                "steps": [step.to_json() for step in event.steps],
                "by": event.by,
                "note": event.note,
                "kind": event.kind,
                "refused": event.refused,
                "seconds": round(event.seconds, 6),
            }
            if event.path:
                data["path"] = list(event.path)
        case StepRecord():
            data = {
                "event": "step",
                **event.step.to_json(),
                "output": values.to_json(event.output),
                "input": _changes(event.input_changes, event.output),
                "cache": _changes(event.cache_changes, event.output),
                "seconds": round(event.seconds, 6),
            }
            data |= {mark: True for mark in _MARKS if getattr(event, mark)}
        case Nested():
            return {"event": "nested", "module": event.module, "inside": event_to_json(event.event)}
        case Approval():
            steps = [step.to_json() for step in event.steps]
            return {"event": "approval", "said": event.said, "by": event.by, "steps": steps}
        case Dropped():
            return {"event": "dropped", **asdict(event)}
        case RunEnded():
            data = {"event": "run_ended", "reason": event.reason}
    if not isinstance(event, Plan) and event.error:
        data["error"] = event.error.to_json()
    if event.calls:
        data["calls"] = [call.to_json() for call in event.calls]
    return data


def _changes(changes: Mapping[str, Any], output: Any) -> dict[str, Any]:
    """Write a change that is the output, or a table in it, by reference, so a large table is written once."""
    if not changes:
        return {}
    parts = output.items() if isinstance(output, Mapping) else ()
    references: dict[int, Any] = {id(part): key for key, part in parts if isinstance(part, Table)}
    if output is not None:
        references[id(output)] = True  # ids stay unique while `output` is alive
    return {
        key: {_OUTPUT_KEY: references[id(value)]} if id(value) in references else values.to_json(value)
        for key, value in changes.items()
    }


def json_line(data: Mapping[str, Any]) -> bytes:
    """Write a JSON object as one line. Raises `ValueError` for a number that JSON cannot hold."""
    try:
        line = orjson.dumps(data, option=_OPTIONS)
    except TypeError:  # orjson limits: 64-bit integers, whole surrogate pairs, 254 levels
        return (_ENCODE(data) + "\n").encode("ascii")
    if b"null" in line and _has_nan(data):  # orjson writes a NaN as null
        raise ValueError("Out of range float values are not JSON compliant")
    return line


def _has_nan(parts: Any) -> bool:
    """Return whether any value is infinite or NaN."""
    for each in parts.values() if isinstance(parts, dict) else parts:
        if type(each) is float:
            if not math.isfinite(each):
                return True
        elif isinstance(each, _CONTAINERS) and _has_nan(each):
            return True
    return False


def read_line(line: bytes) -> Any:
    """Read a line of JSON. Raises `ValueError` if it is not JSON or is nested too deeply.

    Lines not written by orjson may hold integers of more than 64 bits, which it would change.
    """
    try:
        return orjson.loads(line) if _ORJSON_LINE.match(line) else json.loads(line)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem


def event_from_json(data: Mapping[str, Any]) -> Event:
    """Read one event. Raises `LogError` if it is not an event, or starts a log of another format."""
    try:
        return _event(data)
    except LogError:
        raise
    except Exception as problem:  # a damaged line may raise anything
        raise LogError(f"an event cannot be read: {type(problem).__name__}: {problem}") from problem


def read_event(line: bytes, number: int, path: Path) -> Event:
    """Read a line of a log. Raises `LogError` naming the line, or the file if it has another format."""
    try:
        return event_from_json(read_line(line))
    except (ValueError, LogError) as problem:
        if isinstance(problem, LogError) and problem.hint:  # about the format
            raise problem.at(str(path)) from problem
        raise LogError(f"line {number} is not an event ({problem})", where=str(path)) from problem


def _event(data: Mapping[str, Any]) -> Event:
    calls = tuple(Call.from_json(call) for call in data.get("calls", ()))
    error = Failure.from_json(data["error"]) if data.get("error") else None
    seconds = checked_seconds(data.get("seconds", 0))
    match data["event"]:
        case "run_started" | "begun":  # its name before formats had names
            return _beginning(data)
        case "plan":
            if (kind := data.get("kind", "proposed")) not in get_args(PlanKind):
                raise ValueError(f"unknown kind of plan: {kind!r}")
            steps = tuple(Step.from_json(step) for step in data["steps"])
            path = tuple(int(place) for place in data.get("path", ()))
            by, note, refused = (str(data[name]) for name in ("by", "note", "refused"))
            return Plan(steps, by, note, kind, refused, seconds, calls, path)
        case "step":
            output = values.from_json(data["output"])
            changes = _read_changes(data["input"], output), _read_changes(data["cache"], output)
            marks = (data.get(mark, False) for mark in _MARKS)
            return StepRecord(Step.from_json(data), output, *changes, error, seconds, calls, *marks)
        case "nested":
            return Nested(str(data["module"]), _event(data["inside"]))
        case "approval":
            if (answer := data["said"]) not in get_args(Said):
                raise ValueError(f"unknown answer: {answer!r}")
            return Approval(tuple(map(Step.from_json, data["steps"])), answer, str(data["by"]))
        case "dropped":
            return Dropped(*(data[name] for name in ("model", "parameter", "value", "why")))
        case "run_ended":
            if data["reason"] not in get_args(Reason):
                raise LogError(f"a run ended for an unknown reason: {data['reason']!r}")
            return RunEnded(data["reason"], error, calls)
        case kind:
            raise LogError(f"unknown kind of event: {kind!r}")


def _beginning(data: Mapping[str, Any]) -> RunStarted:
    if (written_format := data.get("format")) != FORMAT:
        fault = f"has the format {written_format!r}" if written_format else "names no format"
        raise LogError(
            f"the log {fault}, but this version reads {FORMAT}",
            hint="Read it with the version of Chameleon that wrote it, or start a new log.",
        )
    if not isinstance(run_input := values.from_json(data["input"]), Mapping):
        raise TypeError("the input is not a mapping")
    if not 0 <= (at := float(data.get("at", 0))) <= _LAST_SECOND:
        raise ValueError("the start time is out of range")
    return RunStarted(data["inventory"], run_input, values.from_json(data.get("settings", {})), at)


def _read_changes(data: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
    def read(value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {_OUTPUT_KEY}:
            return output if value[_OUTPUT_KEY] is True else output[value[_OUTPUT_KEY]]
        return values.from_json(value)

    return values.ReadOnly({key: read(value) for key, value in data.items()})


def before_failure(events: Sequence[Event]) -> int:
    """Count the events before the failure that ended a run, or all of them if it did not fail.

    The end of a failed run is not counted, nor are the failed steps and plans just before it.
    """
    count = len(events)
    if count and isinstance(events[-1], RunEnded):
        while count and _is_failed(events[count - 1]):
            count -= 1
    return count


def _is_failed(event: Event) -> bool:
    """Return whether the event is a failed run, step or plan, or an old log's note on one."""
    match event:
        case Nested():
            return _is_failed(event.event)
        case RunEnded():
            return event.reason in ("failed", "budget")
        case StepRecord():
            return event.error is not None or event.dropped
    return isinstance(event, Dropped) or (isinstance(event, Plan) and bool(event.refused))


def _is_yes(event: Event) -> bool:
    """Return whether the event allows steps of the run or of a nested one."""
    happened = event.innermost if isinstance(event, Nested) else event
    return isinstance(happened, Approval) and happened.said == "yes"


def settings_in(path: Path | None) -> Mapping[str, Any]:
    """Return the settings of the run in a file; empty without a file or a run in it."""
    with suppress(OSError, ValueError, ChameleonError):
        if path is not None and path.is_file():
            with path.open("rb") as lines:
                event = event_from_json(read_line(lines.readline()))
            return event.settings if isinstance(event, RunStarted) else {}
    return {}


class EventLog:
    """A file of events that survives a crash: it holds whole lines, in order.

    Opening it reads the existing events and cuts off an unfinished last line. Several threads of one process
    may append. Raises `LogError` naming the file and line if a whole line is not an event, or if another run
    has the file open; `InputError` if it is not a regular file.

    An approval is sealed (`chameleon.signing`) together with everything before it in the file. An approval
    not sealed by this user does not count: it is left out of `events`, with a warning.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.events: list[Event] = []
        self._before = hashlib.sha256()  # of the lines in the file
        self._uncounted = 0  # lines left out of `events`
        self._lock = threading.Lock()
        self._file = LineFile(path, hint="Or give another file for the log.")
        try:
            for number, (_, line) in enumerate(self._file.whole_lines(), 1):
                self._read(line, number)
        except BaseException:
            self._file.close()
            raise

    def __repr__(self) -> str:
        return f"<EventLog {self.path}: {len(self.events):,} events>"

    def _read(self, line: bytes, number: int) -> None:
        """Read an event from the file; a line left unfinished by a crash holds none."""
        if not line.endswith(b"\n"):
            if not any(start.startswith(line[: len(start)]) for start in _LINE_STARTS):
                what = f"line {number} is not an event"  # raise, not cut: the file may not be a log
                raise LogError(what, where=str(self.path), hint="Name another file.")
            return
        event = read_event(line, number, self.path)
        if not _is_yes(event) or is_sealed(self._content(event), str(read_line(line).get(_SEAL, ""))):
            self._take(event)
        else:
            what = "another user approved it, or the lines before it were changed"
            _log.warning("%s: line %d: the approval does not count: %s", self.path, number, what)
            self._uncounted += 1
        self._before.update(line)

    def append(self, event: Event) -> None:
        """Write one event as one line and hand it to the operating system at once.

        Raises `LogError` if the disk is full; the file then ends with the previous line.
        """
        data = event_to_json(event)
        with self._lock:
            if _is_yes(event):
                data[_SEAL] = sealed(self._content(event))
            line = json_line(data)
            self._file.append(line)
            self._before.update(line)
            self._take(event)

    def _take(self, event: Event) -> None:
        """Add an event that is in the file to `events`."""
        self.events.append(event)

    def _content(self, event: Event) -> bytes:
        """Return the content that an approval's seal covers: all lines before it, and the approval."""
        return self._before.digest() + json_line(event_to_json(event))

    def forget_failure(self) -> None:
        """Drop the end of a run that failed or ran out of budget, with the failed steps and plans before it.

        The run can then resume from its last good step with another model, key or budget. A step that was
        approved and failed needs approval again. Dropped lines are deleted from the file; a run that was
        answered or declined is not changed.
        """
        count = before_failure(self.events)
        if count < len(self.events):
            with self._lock:
                starts = [start for start, _ in self._file.whole_lines()]
                # The dropped events hold no uncounted approval: the event after one is always its answer.
                self._file.cut(starts[count + self._uncounted])
                del self.events[count:]
                self._before = hashlib.sha256(b"".join(line for _, line in self._file.whole_lines()))

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self.events))

    def close(self) -> None:
        """Let other runs write to the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
