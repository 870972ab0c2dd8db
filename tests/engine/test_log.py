"""Events come back from a log as they were, and a crash costs a line at most."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chameleon.core.events import Dropped, Event, Nested, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.core.line_file import LineFile
from chameleon.core.log import FORMAT, EventLog, event_from_json, event_to_json, json_line, read_line
from chameleon.core.state import State
from chameleon.errors import InputError, LogError
from chameleon.table import Table
from tests.engine.doubles import QUESTION, executor
from tests.engine.strategies import RUN, events, write_log

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BEGINS = {"event": "run_started", "format": FORMAT, "inventory": "mine"}


class TestEventsAsJson:
    @given(events)
    def test_come_back_as_they_were(self, event: Event) -> None:
        line = json.dumps(event_to_json(event), allow_nan=False)
        assert "\n" not in line and line.isascii()
        assert event_from_json(json.loads(line)) == event

    def test_an_output_that_is_also_written_to_the_state_stands_in_the_line_once(self) -> None:
        table = Table(["fruit"], [["a fruit that occurs once"]])
        line = json.dumps(event_to_json(StepRecord(Step("look"), table, {"table": table}, {"seen": table})))
        assert line.count("a fruit that occurs once") == 1
        read: Any = event_from_json(json.loads(line))
        assert read.input_changes["table"] == read.cache_changes["seen"] == table

    @pytest.mark.parametrize(
        "data",
        [
            *({}, [], None, {"event": "stopped"}, {"event": "step"}),
            {**BEGINS, "input": []},
            {"event": "run_ended", "reason": "failed", "error": {"sort": "x"}},
            {"event": "plan", "steps": [{"name": "a"}], "by": "", "note": "", "refused": "", "seconds": 0},
            {**BEGINS, "input": {"t": {"$table": {"header": [1], "rows": []}}}},
            {**BEGINS, "input": {"t": {"$path": 5}}},
        ],
    )
    def test_what_is_no_event_is_told(self, data: Any) -> None:
        with pytest.raises(LogError):
            event_from_json(data)


class TestLines:
    @given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
    @example({"n": 2**64, "half": "\ud800", "deep": json.loads("[" * 300 + "]" * 300), "price": None})
    def test_come_back_as_they_were(self, data: dict[str, Any]) -> None:
        line = json_line(data)
        assert line.count(b"\n") == 1 and line.endswith(b"\n")
        assert repr(read_line(line)) == repr(json.loads(line)) == repr(data)

    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    @pytest.mark.parametrize("where", [lambda n: n, lambda n: [1, [n]], lambda n: ({"a": n},)])
    def test_hold_no_number_that_json_has_not(self, number: float, where: Callable[[float], Any]) -> None:
        with pytest.raises(ValueError, match="not JSON compliant"):
            json_line({"a": where(number)})


class TestEventLog:
    def test_of_an_earlier_version_goes_on(self, tmp_path: Path) -> None:
        path = tmp_path / "log.jsonl"
        lines = [json.dumps(event_to_json(event)).encode("ascii") + b"\n" for event in RUN]
        for kept in range(len(lines)):
            path.write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
            with EventLog(path) as log:
                assert log.events == RUN[:kept]
                log.append(RUN[kept])
            with EventLog(path) as log:
                assert log.events == RUN[: kept + 1]

    def test_of_an_earlier_version_may_tell_of_dropped_parameters(self, tmp_path: Path) -> None:
        """Also within a step; they change nothing, and go with the failure that they were told before."""
        told = Dropped("mine:m", "temperature", 0, "why")
        run: list[Event] = [*RUN[:2], told, Nested("look", RUN[0]), Nested("look", told), *RUN[2:3], told]
        with EventLog(write_log(tmp_path, [*run, RunEnded("failed")])) as log:
            assert log.events[:-1] == run
            assert State.fold(run).cache == State.fold(RUN[:3]).cache
            log.forget_failure()
            assert log.events == run[:-1]

    def test_survives_a_crash_wherever_it_comes(self, tmp_path: Path) -> None:
        whole = write_log(tmp_path, RUN).read_bytes()
        path = tmp_path / "cut.jsonl"
        ends = {at for at in range(len(whole) + 1) if at % 7 == 0 or whole[:at].endswith(b"\n")}
        for end in ends:
            path.write_bytes(whole[:end])
            kept = whole[:end].count(b"\n")
            with EventLog(path) as log:
                assert log.events == RUN[:kept]
                for event in RUN[kept:]:
                    log.append(event)
            assert path.read_bytes() == whole

    @pytest.mark.parametrize(
        "garbage",
        [
            *(b"{}", b"\xff\xfe\x00", b"", b"[" * 100_000),
            b'{"event": "step", "module": "x", "output": {"$table": {"header": [], "rows": []}}}',
        ],
    )
    @pytest.mark.parametrize("position", [0, 5])
    def test_names_the_line_that_is_no_event(self, tmp_path: Path, garbage: bytes, position: int) -> None:
        path = write_log(tmp_path, RUN)
        lines = path.read_bytes().splitlines()
        damaged = b"".join(line + b"\n" for line in [*lines[:position], garbage, *lines[position:]])
        path.write_bytes(damaged)
        with pytest.raises(LogError) as error:
            EventLog(path)
        assert str(error.value).startswith(f"{path}: line {position + 1} is not an event")
        assert path.read_bytes() == damaged, "a log that cannot be read is left as it is"

    @pytest.mark.parametrize(
        ("begun", "told"),
        [(b'"begun"', "names no format"), (b'"run_started","format":"new"', "has the format 'new'")],
    )
    def test_of_another_format_is_refused(self, tmp_path: Path, begun: bytes, told: str) -> None:
        path = write_log(tmp_path, RUN)
        path.write_bytes(path.read_bytes().replace(b'"run_started","format":"chameleon-log-1"', begun))
        with pytest.raises(LogError, match=f"^{path}: the log {told}, but this version reads"):
            EventLog(path)

    def test_keeps_whole_lines_when_many_threads_append(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.jsonl") as log, ThreadPoolExecutor(8) as pool:
            assert [*pool.map(log.append, [Plan((), "by")] * 400)] == [None] * 400
        with EventLog(tmp_path / "log.jsonl") as log:
            assert len(log.events) == 400

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs device files")
    def test_what_is_no_regular_file_is_refused_unread(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
            with pytest.raises(InputError, match="cannot open the log: it is not a regular file"):
                EventLog(path)
        with pytest.raises(InputError, match="cannot open the log: No such file"):
            EventLog(tmp_path / "no such folder" / "log.jsonl")

    def test_a_full_disk_is_told_and_leaves_whole_lines(self, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        path = write_log(tmp_path, RUN[:2])
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
    def test_opens_or_tells_whatever_its_end_is(self, tmp_path_factory: Any, tail: bytes, kept: int) -> None:
        path = write_log(tmp_path_factory.mktemp("log"), RUN[:kept])
        whole = path.read_bytes() + tail
        path.write_bytes(whole)
        try:
            with EventLog(path) as log:
                assert log.events == RUN[:kept]
        except LogError as error:
            assert tail and str(path) in str(error) and path.read_bytes() == whole

    def test_says_when_its_run_began_and_one_that_does_not_is_read_as_before(self) -> None:
        state = executor({"two": lambda state: 2}).run(QUESTION)
        assert state.started is not None and abs(state.started.at - time.time()) < 60
        written = event_to_json(state.started)
        assert written["at"] == state.started.at and event_from_json(written) == state.started
        del written["at"]
        old = event_from_json(written)
        assert isinstance(old, RunStarted) and old.at == 0 and old == state.started
        assert "at" not in event_to_json(old)
        with pytest.raises(LogError, match="time"):
            event_from_json({**written, "at": -1})


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
    file.append(b"new\n")
    assert [line for _, line in file.whole_lines()] == [*lines, b"new\n"]
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
