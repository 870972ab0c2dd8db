"""Values are frozen and written as JSON; events come back from a log, and a crash costs a line at most."""

import copy
import enum
import json
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chameleon
from chameleon import values
from chameleon.core.events import Dropped, Event, Nested, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.core.line_file import LineFile
from chameleon.core.log import FORMAT, EventLog, event_from_json, event_to_json, json_line, read_line
from chameleon.core.state import State
from chameleon.errors import InputError, LogError, ModuleError
from chameleon.table import Table
from chameleon.values import freeze
from chameleon.yaml_text import _InPython, _read, read_yaml
from tests.engine.doubles import QUESTION, executor
from tests.engine.strategies import RUN, anything, events, write_log

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BEGINS = {"event": "run_started", "format": FORMAT, "inventory": "mine"}
NO_EVENTS = [
    *({}, [], None, {"event": "stopped"}, {"event": "step"}, {**BEGINS, "input": []}),
    {"event": "run_ended", "reason": "failed", "error": {"sort": "x"}},
    {"event": "plan", "steps": [{"name": "a"}], "by": "", "note": "", "refused": "", "seconds": 0},
    *({**BEGINS, "input": {"t": each}} for each in ({"$table": {"header": [1], "rows": []}}, {"$path": 5})),
]
NO_TABLE = b'{"event": "step", "module": "x", "output": {"$table": {"header": [], "rows": []}}}'


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

    @pytest.mark.parametrize("data", NO_EVENTS)
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
    def test_hold_no_number_that_json_has_not(self, number: float) -> None:
        for value in (number, [1, [number]], ({"a": number},)):
            with pytest.raises(ValueError, match="not JSON compliant"):
                json_line({"a": value})


class TestEventLog:
    def test_of_an_earlier_version_may_tell_of_dropped_parameters(self, tmp_path: Path) -> None:
        """Also within a step; they change nothing, and go with the failure that they were told before."""
        told = Dropped("mine:m", "temperature", 0, "why")
        run: list[Event] = [*RUN[:2], told, Nested("look", RUN[0]), Nested("look", told), *RUN[2:3], told]
        with EventLog(write_log(tmp_path, [*run, RunEnded("failed")])) as log:
            assert log.events[:-1] == run
            assert State.fold(run).cache == State.fold(RUN[:3]).cache
            log.forget_failure()
            assert log.events == run[:-1]

    @pytest.mark.parametrize("garbage", [b"{}", b"\xff\xfe\x00", b"", b"[" * 100_000, NO_TABLE])
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

    def test_of_another_format_is_refused(self, tmp_path: Path) -> None:
        path = write_log(tmp_path, RUN)
        whole = path.read_bytes()
        for begun, told in ((b'"begun"', "no format"), (b'"run_started","format":"new"', "the format 'new'")):
            path.write_bytes(whole.replace(b'"run_started","format":"chameleon-log-1"', begun))
            with pytest.raises(LogError, match=f"^{path}: the log .*{told}, but this version reads"):
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
        started = executor({"two": lambda state: 2}).run(QUESTION).started
        assert started is not None and abs(started.at - time.time()) < 60
        written = event_to_json(started)
        assert event_from_json(written) == started and written.pop("at") == started.at
        old = event_from_json(written)
        assert isinstance(old, RunStarted) and old.at == 0 and "at" not in event_to_json(old)
        with pytest.raises(LogError, match="time"):
            event_from_json({**written, "at": -1})


contents = st.binary(max_size=6).map(lambda line: line.replace(b"\n", b""))


@given(st.lists(contents.map(lambda line: line + b"\n")), contents)
def test_lines_come_back_and_one_without_an_end_goes(tmp_path_factory: Any, lines: Any, rest: bytes) -> None:
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


class Colour(enum.StrEnum):
    RED = "red"


class OldColour(str, enum.Enum):  # noqa: UP042 - its str() is the member's name, unlike a StrEnum's
    RED = "red"


LOOP: list[Any] = []
LOOP.append(LOOP)


@given(anything)
def test_come_back_from_json_frozen(value: Any) -> None:
    frozen = values.freeze(value)
    read = values.from_json(json.loads(json.dumps(values.to_json(frozen))))
    assert read == frozen and repr(read) == repr(frozen)


NOT_HELD: list[tuple[Any, str]] = [
    *(({1}, "output is a set"), (b"x", "output is a bytes")),
    ({"a": [{}, {"b": object()}]}, "output.a[1].b is an object"),
    ([1.0, float("nan")], "output[1] is nan"),
    ({"x": (float("-inf"),)}, "output.x[0] is -inf"),
    ({"a": {5: 1}}, "output.a has the key 5"),
    ({"n": [10**5000]}, "output.n[0] is a number of more than 4,000 digits"),
    (LOOP, f"output{'[0]' * 65} is nested more than 64 levels"),
]


@pytest.mark.parametrize(("value", "told"), NOT_HELD)
def test_the_key_path_of_what_a_log_cannot_hold_is_named(value: Any, told: str) -> None:
    with pytest.raises(ModuleError) as error:
        freeze(value, "output")
    assert error.value.what.startswith(told)


def test_enums_and_scalars_of_numpy_and_pandas_are_frozen_as_json() -> None:
    for value in (Colour.RED, OldColour.RED, {OldColour.RED: [Colour.RED]}):
        frozen: Any = freeze(value)
        assert repr(frozen) == repr(values.from_json(json.loads(json.dumps(values.to_json(frozen)))))
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    given = [np.int64(3), np.float64(0.5), np.longdouble(2), np.bool_(True), np.array(4), np.array("x")]
    given += [pd.Timestamp("2024-01-02"), np.datetime64("2024-01-02"), pd.NaT, np.datetime64("NaT")]
    frozen = freeze({"of": given})["of"]
    assert frozen == (3, 0.5, 2.0, True, 4, "x", "2024-01-02T00:00:00", "2024-01-02", None, None)
    assert {*map(type, frozen)} == {int, float, bool, str, type(None)}
    for value in (np.float32("nan"), np.timedelta64(3, "ns"), np.array(None), np.array([1]), pd.Series()):
        with pytest.raises(ModuleError) as error:
            freeze(value)
        assert (".tolist()" in error.value.hint) == bool(np.shape(value))


def test_values_can_be_read_merged_copied_pickled_and_written_but_not_changed() -> None:
    merged = values.merge({"a": 1, "b": 2, "c": 3}, {"a": 4, "d": 5})
    assert list(merged.items()) == [("b", 2), ("c", 3), ("a", 4), ("d", 5)], "in the order of last writing"
    frozen = freeze({"a": [1, {"b": None}]})
    assert json.loads(json.dumps(frozen)) == {"a": [1, {"b": None}]}
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert again == frozen and type(again) is type(frozen)
        for each, key in ((again, "c"), (again["a"][1], "b"), (merged, "a")):
            with pytest.raises(TypeError, match="read-only"):
                each[key] = 1
        with pytest.raises(TypeError, match="read-only"):
            again["a"][1].update(b=2)


HOME = Path(chameleon.__file__).parent
FILES = [*HOME.glob("*/**/*.yaml"), *HOME.glob("prompts/**/*.md")]
SHIPPED = {file: file.read_text("utf-8").partition("\n---\n")[0] for file in FILES}

needs_libyaml = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML has no libyaml here")


def told(read: Callable[[Any, Callable[[yaml.Node], None]], Any], text: Any) -> Any:
    """Return the data with the lines of all nodes that have a text, or None for what is no YAML."""
    lines: list[tuple[str, int]] = []

    def look(node: yaml.Node) -> None:
        lines.append((node.tag, node.start_mark.line if node.value else 0))
        for each in node.value if isinstance(node, yaml.CollectionNode) else ():
            for part in each if isinstance(each, tuple) else (each,):
                look(part)

    try:
        return repr(read(text, look)), lines
    except yaml.YAMLError:
        return None


@needs_libyaml
def test_shipped_files_are_read_alike() -> None:
    assert len(SHIPPED) > 150
    for file, text in SHIPPED.items():
        assert told(read_yaml, text) == told(_read, _InPython(text)) is not None, file


@needs_libyaml
@given(st.text("ab:{}[],|>- \n\"'#1.~&*", max_size=40))
def test_made_texts_are_read_alike(text: str) -> None:
    """Whatever Python reads; libyaml lets a few more pass, such as a tab within a text."""
    slow = told(_read, _InPython(text))
    assert slow is None or slow == told(read_yaml, text)


@needs_libyaml
def test_errors_say_what_is_wrong() -> None:
    for text, problem in {
        "a: *b": "found undefined alias 'b'",
        "a: @b": "found character '@'",
        "a: !!timestamp 1": "not a valid timestamp",
        "a: \udcff": "unacceptable character",
        "a: !!python/name:os.system": "could not determine a constructor",
    }.items():
        with pytest.raises(yaml.YAMLError, match=problem):
            read_yaml(text)


@needs_libyaml
@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 999_999, "- " * 400_000, "{a: " * 200_000, "? " * 400_000])
def test_what_nests_without_end_is_refused(text: str) -> None:
    """In a process of its own: libyaml by itself ends it."""
    code = "import sys; from chameleon.yaml_text import read_yaml; read_yaml(sys.stdin.read())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr.endswith("YAMLError: it is nested too deeply\n")
