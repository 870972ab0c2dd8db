"""The events of a run folder: a gzip member for each problem with a result, and plain lines for the others.

Lines are written to `recent.jsonl` as things happen, so a killed process loses none. When a problem gets its
result, its lines move to a member of `events.jsonl.gz` and are no longer needed among the recent ones.
"""

import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from chameleon.core.events import Event, RunStarted
from chameleon.core.log import event_from_json, read_line
from chameleon.errors import InputError, LogError
from chameleon.evaluation.results import Result
from chameleon.usage import Usage

EVENTS, RECENT = "events.jsonl.gz", "recent.jsonl"
BACK = "back"  # a line by `RunDir.take_back`: only the first events of the run count
_RERUN_HINT = "Take its problem out of results.jsonl to run it again, or give another folder for the results."
_GZIP = 31  # for zlib: a gzip member
_MAX_MEMBER_BYTES = 1 << 30  # a larger member is damaged, or a bomb


@dataclass
class RunLines:
    """The lines of one run, its events that still count, and the cost of the others."""

    lines: list[bytes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    dropped: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, id: str, lines: Iterable[bytes], path: Path) -> Self:
        """Read the lines of a problem's run. Raises `LogError` for one that is not an event."""
        run = cls()
        with _read_errors(path, f"a line of problem {id} is not an event"):
            for line in lines:
                run.add(line)
        return run

    def add(self, line: bytes) -> None:
        """Add the next line. Raises `LogError`, `KeyError`, `TypeError` or `ValueError` for a non-event."""
        data = read_line(line)
        if data["event"] == BACK:
            self._drop(data["kept"])
        else:
            event = event_from_json(data)
            if isinstance(event, RunStarted):  # the problem was run again
                self._drop(0)
            self.events.append(event)
        self.lines.append(line)

    def _drop(self, count: int) -> None:
        self.dropped += usage_of(self.events[count:])
        del self.events[count:]


def usage_of(events: Iterable[Event]) -> Usage:
    """Sum the cost of the calls of these events."""
    calls = (call for event in events if not isinstance(event, RunStarted) for call in event.calls)
    return sum((call.usage for call in calls), Usage())


class EventReader:
    """Read the events of problems that have a result."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def lines_of(self, result: Result) -> list[bytes]:
        """Return the lines of a problem's run, none if lost. Raises `LogError` if damaged, `InputError`."""
        if result.member is None:
            return []
        try:
            return self._packed(result)
        except LogError:
            lines = recent_lines(self._folder).get(result.id, [])
            # A member that begins after the end of the file is lost, not damaged.
            if not lines and result.member < (self._folder / EVENTS).stat().st_size:
                raise
            return lines

    def is_packed(self, result: Result) -> bool:
        """Return whether the problem has a member: in folders of earlier versions the last ones do not."""
        with suppress(LogError):
            return bool(self._packed(result))
        return False

    def _packed(self, result: Result) -> list[bytes]:
        path, start = self._folder / EVENTS, result.member or 0
        with _read_errors(path, f"the member at byte {start:,} is damaged"):
            lines_by_id = _by_problem(read_member(path, start)[0], path)
            if result.id not in lines_by_id:
                raise LookupError(f"problem {result.id} is missing from it")
            return lines_by_id[result.id]

    def events_of(self, result: Result) -> tuple[Event, ...]:
        """Return the events of a problem's run that count. Raises as `lines_of` does."""
        return tuple(RunLines.of(result.id, self.lines_of(result), self._folder).events)

    def input_of(self, result: Result) -> Mapping[str, Any]:
        """Return the input of a problem's run, if known. Raises as `lines_of` does."""
        first = RunLines.of(result.id, self.lines_of(result)[:1], self._folder).events
        return first[0].input if first and isinstance(first[0], RunStarted) else {}


def read_member(path: Path, start: int) -> tuple[list[bytes], int]:
    """Return the lines of the gzip member at an offset, and the offset where it ends.

    Raises `EOFError` for an incomplete one, `ValueError`, `zlib.error` or `OSError` for a damaged one.
    """
    unpacker, text = zlib.decompressobj(_GZIP), bytearray()
    with path.open("rb") as file:
        file.seek(start)
        while not unpacker.eof and (data := file.read(1 << 16)):
            text += unpacker.decompress(data)
            if len(text) > _MAX_MEMBER_BYTES:
                raise ValueError("it is too large")
        end = file.tell() - len(unpacker.unused_data)
    if not unpacker.eof:
        raise EOFError("its end is missing")
    return bytes(text).splitlines(keepends=True), end


def recent_lines(folder: Path) -> dict[str, list[bytes]]:
    """Return the recent lines by problem. Raises `LogError` with the line that belongs to none."""
    return _by_problem(whole_lines(folder / RECENT), folder / RECENT)


def unfinished_runs(folder: Path, start: int, done: Container[str]) -> dict[str, RunLines]:
    """Read the runs without a result: their recent lines, else a member that lost its result.

    Args:
        start: the offset from which members are read: that of the last one with a result.
        done: the ids of the problems with a result.

    Raises:
        LogError: for a damaged line.
    """
    lines_by_id = _by_problem(_lines_after(folder / EVENTS, start), folder / EVENTS)
    lines_by_id |= recent_lines(folder)  # a process killed before the result leaves both: they are equal
    return {id: RunLines.of(id, each, folder) for id, each in lines_by_id.items() if id not in done}


def _by_problem(lines: Iterable[bytes], path: Path) -> dict[str, list[bytes]]:
    """Return lines by their problem. Raises `LogError` with the line that belongs to none."""
    lines_by_id: dict[str, list[bytes]] = {}
    for number, line in enumerate(lines, 1):
        with _read_errors(path, f"line {number} is not an event"):
            lines_by_id.setdefault(str(read_line(line)["id"]), []).append(line)
    return lines_by_id


def _lines_after(path: Path, start: int) -> Iterator[bytes]:
    """Yield the lines of the members from an offset, up to one torn by a kill."""
    with suppress(OSError, EOFError, ValueError, zlib.error):
        while True:
            lines, start = read_member(path, start)
            yield from lines


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the complete lines of a file, none if it does not exist."""
    if path.exists():
        with path.open("rb") as lines:
            yield from (line for line in lines if line.endswith(b"\n"))


@contextmanager
def _read_errors(path: Path, what: str) -> Iterator[None]:
    """Raise an error that names this part of the file for anything that keeps it from being read."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"the events cannot be read: {problem.strerror}", where=str(path)) from problem
    except (AttributeError, EOFError, LookupError, TypeError, ValueError, LogError, zlib.error) as problem:
        raise LogError(f"{what} ({problem})", where=str(path), hint=_RERUN_HINT) from problem
