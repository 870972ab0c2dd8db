"""Events come back from a log as they were, and a crash costs a line at most."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import values
from chameleon.budget import Call, Usage
from chameleon.errors import ChameleonError, InputError, LogError
from chameleon.log import FORMAT, EventLog, LineFile, event_from_json, event_to_json
from chameleon.state import (
    Event,
    Failure,
    Plan,
    PlanKind,
    Redo,
    RunEnded,
    RunStarted,
    Step,
    StepRecord,
)
from chameleon.table import Table
from tests.e2e.commands import environment

# Any text that Python can hold: half a surrogate pair comes out of badly decoded files.
texts = st.text(st.characters(exclude_categories=()), max_size=8)
keys = texts | st.sampled_from(["$", "$$", "$table", "$path", "$output", "$$output", "event", "error"])
tables = st.integers(1, 3).flatmap(
    lambda width: st.builds(
        Table,
        st.lists(texts, min_size=width, max_size=width),
        st.lists(st.lists(texts, min_size=width, max_size=width), max_size=3),
        texts,
    )
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | tables
    | st.sampled_from([Path("a/b.csv"), Path("/tmp"), Path()])
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(keys, anything, max_size=3).map(values.freeze)
failures = st.builds(Failure, texts, texts, texts)
usages = st.builds(
    Usage, st.integers(0, 3), st.none() | st.integers(0, 9), st.none(), st.none() | st.just(0.5)
)
calls = st.builds(
    Call,
    model=texts,
    messages=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    params=st.dictionaries(texts, st.integers() | texts, max_size=2),
    text=texts,
    finish=texts,
    sample=st.integers(0, 9),
    usage=usages,
    cached=st.booleans(),
    error=texts,
)
many_calls = st.lists(calls, max_size=2).map(tuple)
redos = st.builds(Redo, st.integers(1, 9), st.sampled_from([0.0, 0.1]), st.booleans())
steps = st.builds(Step, texts, st.none() | mappings, st.none() | redos)
kinds = st.sampled_from(get_args(PlanKind))
seconds = st.integers(0, 10**6).map(lambda micro: micro / 10**6)
events: st.SearchStrategy[Event] = (
    st.builds(RunStarted, texts, mappings, mappings)
    | st.builds(Plan, st.lists(steps, max_size=3).map(tuple), texts, texts, kinds, texts, seconds, many_calls)
    | st.builds(
        StepRecord,
        steps,
        anything.map(values.freeze),
        mappings,
        mappings,
        st.none() | failures,
        seconds,
        many_calls,
        st.booleans(),
    )
    | st.builds(
        RunEnded,
        st.sampled_from(["answered", "declined", "failed", "budget"]),
        st.none() | failures,
        many_calls,
    )
)
BEGINS = {"event": "run_started", "format": FORMAT}


class TestEventsAsJson:
    @given(events)
    def test_come_back_as_they_were(self, event: Event) -> None:
        line = json.dumps(event_to_json(event), allow_nan=False)
        assert "\n" not in line and line.isascii()
        assert event_from_json(json.loads(line)) == event

    @given(anything)
    def test_values_come_back_frozen(self, value: Any) -> None:
        frozen = values.freeze(value)
        read = values.from_json(json.loads(json.dumps(values.to_json(frozen))))
        assert read == frozen
        assert _types(read) == _types(frozen)

    def test_an_output_that_is_also_written_to_the_state_stands_in_the_line_once(self) -> None:
        table = Table(["fruit"], [["a fruit that occurs once"]])
        line = json.dumps(event_to_json(StepRecord(Step("look"), table, {"table": table}, {"seen": table})))
        assert line.count("a fruit that occurs once") == 1
        read = event_from_json(json.loads(line))
        assert isinstance(read, StepRecord)
        assert read.input_changes["table"] == read.cache_changes["seen"] == table

    @pytest.mark.parametrize(
        "data",
        [
            {},
            [],
            5,
            None,
            "step",
            {"event": "stopped"},
            {"event": "step"},
            {**BEGINS, "inventory": "mine", "input": []},
            {"event": "run_ended", "reason": "failed", "error": {"sort": "x"}},
            {"event": "plan", "steps": [{"name": "a"}], "by": "", "note": "", "refused": "", "seconds": 0},
            {
                "event": "run_started",
                "inventory": "mine",
                "input": {"t": {"$table": {"header": [1], "rows": []}}},
            },
            {**BEGINS, "inventory": "mine", "input": {"t": {"$path": 5}}},
        ],
    )
    def test_what_is_no_event_is_told(self, data: Any) -> None:
        with pytest.raises(LogError):
            event_from_json(data)


RUN: list[Event] = [
    RunStarted("mine", values.freeze({"question": "How many? é 🦎"})),
    Plan((Step("look"), Step("say")), "fixed"),
    StepRecord(Step("look"), 3, {}, values.freeze({"look": 3})),
    StepRecord(Step("say"), "3", {}, values.freeze({"say": "3"})),
    RunEnded("answered"),
]


class TestEventLog:
    def test_survives_a_crash_at_every_byte(self, tmp_path: Path) -> None:
        whole = _write(tmp_path, RUN).read_bytes()
        lines = whole.splitlines(keepends=True)
        path = tmp_path / "cut.jsonl"
        for end in range(len(whole) + 1):
            path.write_bytes(whole[:end])
            kept = sum(1 for number in range(len(lines)) if sum(map(len, lines[: number + 1])) <= end)
            with EventLog(path) as log:
                assert log.events == RUN[:kept]
                for event in RUN[kept:]:
                    log.append(event)
            assert path.read_bytes() == whole

    @pytest.mark.parametrize(
        "garbage",
        [
            b"garbage",
            b"{}",
            b"\xff\xfe\x00",
            b"\x00\x00\x00\x00",
            b"",
            b"[" * 100_000,
            b'{"event": "step", "module": "x", "output": {"$table": {"header": [], "rows": []}}}',
        ],
    )
    @pytest.mark.parametrize("position", [0, 2, 5])
    def test_names_the_file_and_line_of_a_whole_line_that_is_no_event(
        self, tmp_path: Path, garbage: bytes, position: int
    ) -> None:
        path = _write(tmp_path, RUN)
        lines = path.read_bytes().splitlines()
        lines.insert(position, garbage)
        damaged = b"".join(line + b"\n" for line in lines)
        path.write_bytes(damaged)
        with pytest.raises(LogError) as error:
            EventLog(path)
        assert str(error.value).startswith(f"{path}: line {position + 1} is not an event")
        assert path.read_bytes() == damaged, "a log that cannot be read is left as it is"

    @pytest.mark.parametrize(
        ("old", "told"), [(b"begun", "names no format"), (b"new", "has the format 'new'")]
    )
    def test_of_another_format_is_refused(self, tmp_path: Path, old: bytes, told: str) -> None:
        path = _write(tmp_path, RUN)
        begun = b'"begun"' if old == b"begun" else b'"run_started", "format": "new"'
        path.write_bytes(path.read_bytes().replace(b'"run_started", "format": "chameleon-log-1"', begun))
        with pytest.raises(
            LogError, match=f"^{path}: the log {told}, and this version reads chameleon-log-1. "
        ):
            EventLog(path)

    def test_keeps_whole_lines_when_many_threads_append(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.jsonl") as log:
            writers = [
                threading.Thread(target=lambda n=n: [log.append(Plan((), f"{n}")) for _ in range(50)])
                for n in range(8)
            ]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
        with EventLog(tmp_path / "log.jsonl") as log:
            assert len(log.events) == 400

    def test_is_on_disk_before_it_is_closed(self, tmp_path: Path) -> None:
        log = EventLog(tmp_path / "log.jsonl")
        log.append(RUN[0])
        assert (tmp_path / "log.jsonl").read_bytes().endswith(b"\n")
        log.close()

    def test_a_place_that_cannot_be_opened_is_told(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "no such folder" / "log.jsonl"):
            with pytest.raises(InputError, match="cannot open the log"):
                EventLog(path)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs device files")
    def test_a_device_or_a_pipe_is_refused_unread(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (Path("/dev/zero"), Path("/dev/full"), tmp_path / "pipe"):
            with pytest.raises(InputError, match="it is not a regular file"):
                EventLog(path)

    @pytest.mark.skipif(sys.platform == "win32", reason="needs file locks")
    def test_is_for_one_run_at_a_time(self, tmp_path: Path) -> None:
        path = _write(tmp_path, RUN[:2])
        with EventLog(path) as log:
            with pytest.raises(LogError, match="another run is writing to it"):
                EventLog(path)
            log.append(RUN[2])
        with EventLog(path) as log:
            assert log.events == RUN[:3]

    def test_a_full_disk_is_told_and_leaves_whole_lines(self, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        path = _write(tmp_path, RUN[:2])
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        with EventLog(path) as log:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
            try:
                with pytest.raises(LogError, match="the log cannot be written: File too large"):
                    log.append(RUN[2])
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert path.read_bytes() == before and log.events == RUN[:2]
            log.append(RUN[2])
        with EventLog(path) as log:
            assert log.events == RUN[:3]

    @settings(max_examples=30)
    @given(st.binary(max_size=40), st.integers(0, len(RUN)))
    def test_opens_or_tells_whatever_stands_at_its_end(
        self, tmp_path_factory: Any, tail: bytes, kept: int
    ) -> None:
        path = _write(tmp_path_factory.mktemp("log"), RUN[:kept])
        whole = path.read_bytes() + tail
        path.write_bytes(whole)
        try:
            with EventLog(path) as log:
                assert log.events == RUN[:kept]
        except LogError as error:
            assert tail and str(path) in str(error)
            assert path.read_bytes() == whole


def _write(folder: Path, events: list[Event]) -> Path:
    path = folder / "run.jsonl"
    with EventLog(path) as log:
        for event in events:
            log.append(event)
    return path


def _types(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_types(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _types(item) for key, item in value.items()}
    return type(value)


def whole(file: LineFile) -> list[bytes]:
    return [line for _, line in file.whole_lines() if line.endswith(b"\n")]


contents = st.binary(max_size=6).map(lambda line: line.replace(b"\n", b""))


@given(st.lists(contents.map(lambda line: line + b"\n")), contents)
def test_lines_come_back_and_an_unfinished_one_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(b"".join(lines) + rest)
    file = LineFile(path)
    places = list(file.whole_lines())
    assert [line for _, line in places] == [*lines, *([rest] if rest else [])]
    assert all(path.read_bytes()[start:].startswith(line) for start, line in places if line.endswith(b"\n"))
    assert path.read_bytes() == b"".join(lines)
    start = file.append(b"new\n")
    assert path.read_bytes()[start:] == b"new\n" and whole(file) == [*lines, b"new\n"]
    file.close()


def test_many_threads_append_whole_lines(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "file")

    def write(name: int) -> None:
        for number in range(50):
            file.append(f"{name} {number} {'x' * 5000}\n".encode())

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [tuple(line.split()[:2]) for line in whole(file)]
    assert sorted(found) == sorted((str(a).encode(), str(b).encode()) for a in range(8) for b in range(50))
    file.close()


def test_lines_are_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = LineFile(path)
    file.append(b"old\n")
    file.rewrite([b"a\n", b"b\n"])
    file.append(b"c\n")
    assert path.read_bytes() == b"a\nb\nc\n" and [each.name for each in tmp_path.iterdir()] == ["file"]
    with pytest.raises(LogError, match="another run is writing to it"):
        LineFile(path)
    file.close()
    LineFile(path).close()


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "file", Path("/dev/null")):
        with pytest.raises(ChameleonError, match="cannot open the log: "):
            LineFile(place)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """A file that may not grow stands for a disk that is full."""
    code = """
import resource, signal, sys
from chameleon.errors import LogError
from chameleon.log import LineFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = LineFile(sys.argv[1], "event log", "Or elsewhere.")
try:
    while True:
        file.append(b"x" * 299 + b"\\n")
except LogError as error:
    print(error)
"""
    pytest.importorskip("resource")
    path = tmp_path / "file"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=environment(), check=True
    )
    assert (
        done.stdout == f"{path}: the event log cannot be written: File too large. Make room. Or elsewhere.\n"
    )
    assert path.read_bytes() == (b"x" * 299 + b"\n") * 3
