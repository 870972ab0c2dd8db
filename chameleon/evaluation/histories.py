"""The events that a folder of an evaluation holds, by problem."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from chameleon.errors import LogError
from chameleon.log import event_from_json
from chameleon.state import Begun, Event
from chameleon.usage import Usage

ELSEWHERE = "Give another folder with --out."
BACK = "back"
"""What a line says that takes events back."""
_ID = '{"id": '
_DECODER = json.JSONDecoder()


def _id_of(line: bytes) -> str:
    """The problem that an event is of, without reading the event. Raises ValueError where it names none."""
    text = line.decode("ascii")
    if not text.startswith(_ID):
        raise ValueError("it names no problem")
    id, _end = _DECODER.raw_decode(text, len(_ID))
    return str(id)


def histories(
    lines: Iterable[tuple[int, bytes]], wanted: Callable[[str], bool], path: Path
) -> tuple[dict[str, tuple[Event, ...]], dict[str, Usage]]:
    """The events of wanted problems that count, and what was spent on those taken back, by problem."""
    found: dict[str, list[Event]] = {}
    dropped: dict[str, Usage] = {}
    for number, (_, line) in enumerate(lines, 1):
        try:
            id = _id_of(line)
            if not wanted(id):
                continue
            data = json.loads(line)
            events = found.setdefault(id, [])
            if data["event"] == BACK:
                dropped[id] = dropped.get(id, Usage()) + usage_of(events[data["kept"] :])
                del events[data["kept"] :]
            else:
                events.append(event_from_json(data))
        except (ValueError, KeyError, TypeError, LogError) as problem:
            raise LogError(
                f"line {number} is not an event ({problem})", where=str(path), hint=ELSEWHERE
            ) from problem
    return {id: tuple(events) for id, events in found.items()}, dropped


def usage_of(events: Iterable[Event]) -> Usage:
    calls = (call for event in events if not isinstance(event, Begun) for call in event.calls)
    return sum((call.usage for call in calls), Usage())


def begun_in(path: Path) -> Iterator[str]:
    """The problems of the whole lines of a file of events; a line that is none is left out."""
    with path.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                if line.endswith(b"\n"):
                    yield _id_of(line)
