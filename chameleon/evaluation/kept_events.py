"""The events of a run folder: gzip members of some problems each, and the latest as plain lines.

Lines are written to `recent.jsonl` as things happen, so that a killed process loses none. Once there are some
of problems with a result, these become a member of `events.jsonl.gz`. Prompts are alike, so problems that are
packed together take a fraction of what each alone would take.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chameleon.core.events import Event, RunStarted
from chameleon.core.log import event_from_json, read_line
from chameleon.errors import InputError, LogError
from chameleon.evaluation.results import Result
from chameleon.usage import Usage

EVENTS, RECENT = "events.jsonl.gz", "recent.jsonl"
BACK = "back"
_AGAIN = "Take its problem out of results.jsonl to run it again, or give another folder for the results."
_GZIP = 31  # for zlib: a gzip member
_MAX_MEMBER_BYTES = 1 << 30  # a member of more is damaged, or a bomb


@dataclass
class RunLines:
    """The lines of one run, the events that count of them, and what those cost that do not."""

    lines: list[bytes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    dropped: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, id: str, lines: Iterable[bytes], path: Path) -> RunLines:
        """Read the lines of a problem's run. Raises `LogError` for one that is not an event."""
        run = cls()
        with _named(path, f"a line of problem {id} is not an event"):
            for line in lines:
                run.add(line)
        return run

    def add(self, line: bytes) -> None:
        """Take in the next line. Raises `LogError`, `KeyError`, `TypeError` or `ValueError` for no event."""
        data = read_line(line)
        if data["event"] == BACK:
            self._drop(data["kept"])
        else:
            event = event_from_json(data)
            if isinstance(event, RunStarted):  # the problem was run again
                self._drop(0)
            self.events.append(event)
        self.lines.append(line)

    def _drop(self, kept: int) -> None:
        self.dropped += usage_of(self.events[kept:])
        del self.events[kept:]


def usage_of(events: Iterable[Event]) -> Usage:
    """Sum what the calls of these events have cost."""
    calls = (call for event in events if not isinstance(event, RunStarted) for call in event.calls)
    return sum((call.usage for call in calls), Usage())


class EventReader:
    """Read the events of problems that have a result."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._member: tuple[int, Mapping[str, list[bytes]]] = -1, {}  # the last one that was read

    def lines_of(self, result: Result) -> list[bytes]:
        """Return the lines of a problem's run, none if lost. Raises `LogError` if damaged, `InputError`."""
        if result.member is None:
            return []
        found = self._packed(result.member).get(result.id)
        if found is None:  # not packed yet, or at this moment
            recent = _by_problem(whole_lines(self._folder / RECENT), self._folder / RECENT)
            self._member = -1, {}
            found = recent.get(result.id) or self._packed(result.member).get(result.id)
        if found is None and result.member < (path := self._folder / EVENTS).stat().st_size:
            what = f"the member at byte {result.member:,} lacks problem {result.id}: the file is damaged"
            raise LogError(what, where=str(path), hint=_AGAIN)
        return found or []

    def _packed(self, start: int) -> Mapping[str, list[bytes]]:
        """Return the lines of the member that starts there, by problem; none where it is not whole."""
        if self._member[0] == start:
            return self._member[1]
        path, unpacker, text = self._folder / EVENTS, zlib.decompressobj(_GZIP), bytearray()
        with _named(path, f"the member at byte {start:,} is damaged"), path.open("rb") as file:
            file.seek(start)
            while not unpacker.eof and (data := file.read(1 << 16)):
                text += unpacker.decompress(data)
                if len(text) > _MAX_MEMBER_BYTES:
                    raise ValueError("it is too large")
        if not unpacker.eof:
            return {}
        self._member = start, _by_problem(bytes(text).splitlines(keepends=True), path)
        return self._member[1]

    def events_of(self, result: Result) -> tuple[Event, ...]:
        """Return the events of a problem's run that count. Raises as `lines_of` does."""
        return tuple(RunLines.of(result.id, self.lines_of(result), self._folder).events)

    def input_of(self, result: Result) -> Mapping[str, Any]:
        """Return what a problem's run was given, if that is known. Raises as `lines_of` does."""
        first = RunLines.of(result.id, self.lines_of(result)[:1], self._folder).events
        return first[0].input if first and isinstance(first[0], RunStarted) else {}


def recent_lines(folder: Path, start: int) -> dict[str, list[bytes]]:
    """Return the latest lines by problem: plain ones, and those of the members from `start` on.

    The last member may be torn; its lines are still among the plain ones then. Raises `LogError`.
    """
    found = _by_problem(_lines_after(folder / EVENTS, start), folder / EVENTS)
    return found | _by_problem(whole_lines(folder / RECENT), folder / RECENT)


def unfinished_runs(
    folder: Path, recent: Mapping[str, list[bytes]], done: Container[str]
) -> dict[str, RunLines]:
    """Read the runs of problems that are not `done`. Raises `LogError` naming one with a damaged line."""
    return {id: RunLines.of(id, each, folder) for id, each in recent.items() if id not in done}


def _by_problem(lines: Iterable[bytes], path: Path) -> dict[str, list[bytes]]:
    """Return lines by the problem that they are of. Raises `LogError` naming the line that is of none."""
    found: dict[str, list[bytes]] = {}
    for number, line in enumerate(lines, 1):
        with _named(path, f"line {number} is not an event"):
            found.setdefault(str(read_line(line)["id"]), []).append(line)
    return found


def _lines_after(path: Path, start: int) -> Iterator[bytes]:
    """Yield the whole lines of the members from a place on; one that a kill has torn ends them."""
    if path.exists():
        with path.open("rb") as file, suppress(OSError, EOFError, zlib.error):
            file.seek(start)
            yield from (line for line in gzip.GzipFile(fileobj=file) if line.endswith(b"\n"))


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a file; none where there is no file."""
    if path.exists():
        with path.open("rb") as lines:
            yield from (line for line in lines if line.endswith(b"\n"))


@contextmanager
def _named(path: Path, what: str) -> Iterator[None]:
    """Raise whatever keeps a part of a file from being read as an error that says which part it is."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"the events cannot be read: {problem.strerror}", where=str(path)) from problem
    except (AttributeError, LookupError, TypeError, ValueError, LogError, zlib.error) as problem:
        raise LogError(f"{what} ({problem})", where=str(path), hint=_AGAIN) from problem
