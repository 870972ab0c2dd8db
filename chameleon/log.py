"""Event logs on disk: one JSON object a line, appended as things happen, whole lines only."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, get_args

from chameleon import values
from chameleon.errors import InputError, LogError
from chameleon.lines import LineFile
from chameleon.state import Begun, Dropped, Ended, Event, Failure, Plan, PlanKind, Reason, Record, Step
from chameleon.usage import Call

_JSON = json.JSONEncoder(allow_nan=False, check_circular=False).encode  # frozen values hold no circle
_SAME = {"$output": True}
_BEGINS = b'{"event": "'


def event_to_json(event: Event) -> dict[str, Any]:
    """One event as a JSON object; `event_from_json` gives it back."""
    if isinstance(event, Record):
        return _step_to_json(event)
    if isinstance(event, Plan):
        return {
            "event": "plan",
            "steps": [step.to_json() for step in event.steps],
            "by": event.by,
            "note": event.note,
            "kind": event.kind,
            "refused": event.refused,
            "seconds": round(event.seconds, 6),
            **({"path": list(event.path)} if event.path else {}),
            **_calls(event.calls),
        }
    if isinstance(event, Dropped):
        told = {"parameter": event.parameter, "value": event.value, "why": event.why}
        return {"event": "dropped", "model": event.model, **told}
    if isinstance(event, Ended):
        return {"event": "ended", "reason": event.reason, **_error(event.error), **_calls(event.calls)}
    return {
        "event": "begun",
        "inventory": event.inventory,
        "input": values.to_json(event.input),
        "settings": values.to_json(event.settings),
    }


def _step_to_json(record: Record) -> dict[str, Any]:
    written = {
        "event": "step",
        **record.step.to_json(),
        "output": values.to_json(record.output),
        "input": _changes(record.input_changes, record.output),
        "cache": _changes(record.cache_changes, record.output),
        "seconds": round(record.seconds, 6),
    }
    if record.dropped:
        written["dropped"] = True
    if record.error is not None:
        written["error"] = record.error.to_json()
    if record.calls:
        written["calls"] = [call.to_json() for call in record.calls]
    return written


def json_line(data: Mapping[str, Any]) -> bytes:
    """A JSON object as one line of a file; raises `ValueError` for a number that JSON cannot hold."""
    return (_JSON(data) + "\n").encode("ascii")


def event_from_json(data: Mapping[str, Any]) -> Event:
    """Read one event. Raises `LogError` when the object is none."""
    try:
        kind = data["event"]
        calls = tuple(Call.from_json(call) for call in data.get("calls", ()))
        error = Failure(**data["error"]) if data.get("error") else None
        if kind == "begun":
            settings = values.from_json(data.get("settings", {}))
            return Begun(data["inventory"], _read_mapping(data["input"]), settings)
        if kind == "ended":
            if data["reason"] not in get_args(Reason):
                raise LogError(f"a run has ended for an unknown reason: {data['reason']!r}")
            return Ended(data["reason"], error, calls)
        if kind == "dropped":
            return Dropped(str(data["model"]), str(data["parameter"]), data["value"], str(data["why"]))
        seconds = float(data.get("seconds", 0))
        if kind == "plan":
            steps = tuple(Step.from_json(step) for step in data["steps"])
            kind = data.get("kind", "proposed")
            if kind not in get_args(PlanKind):
                raise ValueError(f"no kind of plan: {kind!r}")
            path = tuple(int(place) for place in data.get("path", ()))
            return Plan(steps, data["by"], data["note"], kind, data["refused"], seconds, calls, path)
        if kind == "step":
            output = values.from_json(data["output"])
            return Record(
                Step.from_json(data),
                output,
                _read_changes(data["input"], output),
                _read_changes(data["cache"], output),
                error,
                seconds,
                calls,
                data.get("dropped", False),
            )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError) as problem:
        raise LogError(f"an event cannot be read: {type(problem).__name__}: {problem}") from problem
    raise LogError(f"an event is of an unknown kind: {kind!r}")


def _error(error: Failure | None) -> dict[str, Any]:
    return {"error": error.to_json()} if error else {}


def _calls(calls: Iterable[Call]) -> dict[str, Any]:
    written = [call.to_json() for call in calls]
    return {"calls": written} if written else {}


def _changes(changes: Mapping[str, Any], output: Any) -> dict[str, Any]:
    """Most changes are the output itself: a large table is written once, not twice."""
    return {
        key: _SAME if value is output and value is not None else values.to_json(value)
        for key, value in changes.items()
    }


def _read_mapping(data: Any) -> Mapping[str, Any]:
    read = values.from_json(data)
    if not isinstance(read, Mapping):
        raise TypeError("the input is no mapping")
    return read


def _read_changes(data: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
    items = {key: output if value == _SAME else values.from_json(value) for key, value in data.items()}
    return values.ReadOnly(items)


def before_failure(events: Sequence[Event]) -> int:
    """How many events stand before the failure that ended a run: all of them, if it ended otherwise.

    The end of a run that failed or ran out of budget is left out, with the failed steps and plans before it.
    """
    kept = len(events)
    if kept and isinstance(last := events[-1], Ended) and last.reason in ("failed", "budget"):
        kept -= 1
        while kept and _is_failed(events[kept - 1]):
            kept -= 1
    return kept


def _is_failed(event: Event) -> bool:
    if isinstance(event, Dropped):  # it stands before the plan or step that tells it
        return True
    if isinstance(event, Record):
        return event.error is not None or event.dropped
    return isinstance(event, Plan) and bool(event.refused)


class EventLog:
    """A file of events that survives a crash: what it holds is whole lines, in order.

    Opening reads the events already there and cuts off a line that was not finished. Several threads may
    append, one process at a time. Raises `LogError` naming the file and line when a whole line is not an
    event, or when another run has the file open; `InputError` for what is no regular file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.events: list[Event] = []
        self._starts: list[int] = []
        self._lock = threading.Lock()
        self._file = LineFile(path, hint="Or give another file with --log.")
        try:
            self._load()
        except BaseException:
            self._file.close()
            raise

    def _load(self) -> None:
        for number, (start, line) in enumerate(self._file.whole_lines(), 1):
            if not line.endswith(b"\n"):
                if not _BEGINS.startswith(line[: len(_BEGINS)]):  # nothing that we left unfinished
                    raise LogError(
                        f"line {number} is not an event", where=str(self.path), hint="Name another file."
                    )
                continue
            self._starts.append(start)
            try:
                self.events.append(event_from_json(json.loads(line)))
            except (ValueError, RecursionError, LogError) as problem:
                raise LogError(
                    f"line {number} is not an event ({problem})", where=str(self.path)
                ) from problem

    def append(self, event: Event) -> None:
        """Write one event as one line and hand it to the operating system at once.

        Raises `LogError` when the disk takes no more; the file then ends with the line before.
        """
        line = json_line(event_to_json(event))
        with self._lock:
            self._starts.append(self._file.append(line))
            self.events.append(event)

    def forget_failure(self) -> None:
        """Drop the end of a run that failed or ran out of budget, and the failed steps and plans before it.

        The run can then go on from its last good step, with another model, key or budget. What is dropped
        is gone from the file; a run that was answered or declined stays as it is.
        """
        kept = before_failure(self.events)
        if kept == len(self.events):
            return
        with self._lock:
            self._file.cut(self._starts[kept])
            del self.events[kept:], self._starts[kept:]

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self.events))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> EventLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
