"""A run as a log: what is written comes back, a crash costs a line at most, and no state can be changed."""

from __future__ import annotations

import enum
import json
import os
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
from chameleon.errors import InputError, LogError, ModuleError
from chameleon.log import FORMAT, EventLog, event_from_json, event_to_json
from chameleon.state import (
    Event,
    Failure,
    Plan,
    PlanKind,
    Redo,
    RunEnded,
    RunStarted,
    State,
    Step,
    StepRecord,
)
from chameleon.table import Table

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


class Colour(enum.StrEnum):
    RED = "red"


class OldColour(str, enum.Enum):  # noqa: UP042 - its str() is the member's name, unlike a StrEnum's
    RED = "red"


class TestFreezing:
    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ({1}, "output is a set"),
            (b"x", "output is a bytes"),
            ({"a": [{}, {"b": object()}]}, "output.a[1].b is a object"),
            ([1.0, float("nan")], "output[1] is nan"),
            ({"x": (float("-inf"),)}, "output.x[0] is -inf"),
            ({"a": {5: 1}}, "output.a has the key 5"),
            ({"n": [10**5000]}, "output.n[0] is a number of more than 4,000 digits"),
        ],
    )
    def test_names_the_key_path_of_what_a_log_cannot_hold(self, value: Any, told: str) -> None:
        with pytest.raises(ModuleError) as error:
            values.freeze(value, "output")
        assert error.value.what.startswith(told)

    def test_refuses_what_never_ends(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        with pytest.raises(ModuleError, match="nested more than 64 levels"):
            values.freeze(loop)

    @pytest.mark.parametrize("value", [Colour.RED, OldColour.RED, {OldColour.RED: [Colour.RED]}])
    def test_keeps_of_an_enum_what_a_log_keeps(self, value: Any) -> None:
        frozen = values.freeze(value)
        assert repr(frozen) == repr(values.from_json(json.loads(json.dumps(values.to_json(frozen)))))

    def test_takes_numpy_scalars_that_are_floats_as_floats(self) -> None:
        numpy = pytest.importorskip("numpy")
        assert type(values.freeze(numpy.float64(0.5))) is float

    def test_hands_out_nothing_that_can_be_changed(self) -> None:
        given = {"list": [1, [2]], "mapping": {"key": ["value"]}}
        frozen = values.freeze(given)
        given["list"].append(3)  # type: ignore[attr-defined]
        given["mapping"]["key"].append("more")  # type: ignore[index]
        assert frozen == {"list": (1, (2,)), "mapping": {"key": ("value",)}}
        for mapping in (frozen, frozen["mapping"]):
            with pytest.raises(TypeError):
                mapping["new"] = 1

    def test_merging_keeps_the_order_in_which_keys_were_last_written(self) -> None:
        merged = values.merge({"a": 1, "b": 2, "c": 3}, {"a": 4, "d": 5})
        assert list(merged.items()) == [("b", 2), ("c", 3), ("a", 4), ("d", 5)]
        with pytest.raises(TypeError):
            merged["a"] = 0  # type: ignore[index]


RUN: list[Event] = [
    RunStarted("mine", values.freeze({"question": "How many? é 🦎"})),
    Plan((Step("look"), Step("say")), "fixed"),
    StepRecord(Step("look"), 3, {}, values.freeze({"look": 3})),
    StepRecord(Step("say"), "3", {}, values.freeze({"say": "3"})),
    RunEnded("answered"),
]


class TestState:
    def test_is_the_fold_of_its_events(self) -> None:
        state = State.fold(RUN)
        assert (state.answer, state.program, state.plan) == ("3", ("look", "say"), ("look", "say"))
        assert dict(state.cache) == {"look": 3, "say": "3"}

    def test_is_the_same_after_its_log_was_read_from_a_file(self, tmp_path: Path) -> None:
        path = _write(tmp_path, RUN)
        with EventLog(path) as log:
            assert State.fold(log) == State.fold(RUN)

    @pytest.mark.parametrize(
        ("events", "told"),
        [
            (RUN[1:], "no beginning"),
            ([RUN[0], RUN[0]], "two beginnings"),
            ([*RUN, RUN[2]], "after its end"),
            ([RUN[0], RUN[2]], "was not pending: look"),
            ([RUN[0], RUN[1], RUN[3]], "was not pending: say"),
        ],
    )
    def test_refuses_events_out_of_order(self, events: list[Event], told: str) -> None:
        with pytest.raises(LogError, match=told):
            State.fold(events)

    def test_has_no_answer_before_the_end(self) -> None:
        assert State.fold(RUN[:-1]).answer is None


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
