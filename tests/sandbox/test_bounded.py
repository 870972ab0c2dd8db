"""Functions called in a process of its own, and what a sandboxed program encodes as JSON for its host."""

import contextlib
import datetime
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import Declined, InputError
from chameleon.sandbox.bounded import Bounds, called, end_all
from chameleon.sandbox.decode import BadFrame, checked, read_frame
from chameleon.sandbox.inside.encode import Encoder, TooLarge, Unsupported, kind_of
from tests.e2e.commands import ROOT
from tests.sandbox import hostile_readers

SHORT = Bounds(part=0.5, total=2.0, memory=200 << 20)
LONG = SHORT._replace(part=30.0, total=60.0)  # for what ends by itself, on a busy machine as well


def call(name: str, *arguments: Any, bounds: Bounds = SHORT, data: bytes | None = None) -> list[Any]:
    return list(called(getattr(hostile_readers, name), *arguments, name="a.pdf", data=data, bounds=bounds))


PLAIN = st.none() | st.booleans() | st.integers() | st.text(st.characters()) | st.floats(allow_nan=False)
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)


@given(st.lists(JSON, max_size=4), st.none() | st.binary())
def test_values_come_back_as_they_are(values: list[Any], data: bytes | None) -> None:
    expected = values if data is None else [data.decode("latin-1"), *values]
    assert call("echo", *values, data=data) == expected


def test_what_takes_too_much_or_fails_is_reported_in_one_line() -> None:
    for name, arguments, said in (
        ("never", (), "takes more than 0 seconds"),
        ("slowly", (9, 0.4), "takes more than 0 seconds"),
        ("takes", (400,), "takes more than 200 MB of memory"),
        ("dies", (0,), "its reader crashed"),
        ("dies", (signal.SIGTERM,), "its reader crashed"),
        ("raises", ("theirs",), r"cannot be read \(KeyError: 'odd"),
    ):
        bounds = SHORT._replace(part=9.0, total=1.0) if name == "slowly" else SHORT
        begun = time.monotonic()
        with pytest.raises(InputError, match=f"a.pdf: .*{said}") as told:
            call(name, *arguments, bounds=bounds)
        assert time.monotonic() - begun < 9 and "\n" not in str(told.value) and len(str(told.value)) < 500
        assert call("echo", 5) == [5]


def test_own_errors_stay_and_one_process_serves_many_calls(capfd: pytest.CaptureFixture[str]) -> None:
    assert call("prints") == [True] and capfd.readouterr() == ("", "")
    found, process = [], call("tells")[1]
    with pytest.raises(Declined, match=r"a\.csv: not to be had\. Do this\."):
        for part in called(hostile_readers.raises, "ours", name="b", bounds=SHORT):
            found.append(part)
    assert found == [1] and call("tells")[1] == process
    end_all()
    first, second = (call("tells")[1] for _ in range(2))
    assert first == second != os.getpid()
    assert call("takes", 150, bounds=LONG) == call("takes", 150, bounds=LONG) == [150 << 20]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda n: call("echo", n), range(20))) == [[n] for n in range(20)]
    next(unfinished := called(hostile_readers.never, name="a"))
    unfinished.close()  # type: ignore[attr-defined]
    assert call("echo", 1) == [1]


@pytest.mark.slow
def test_seconds_begin_anew_with_each_part_and_while_nobody_waits() -> None:
    assert call("slowly", 3, 0.3) == [0, 1, 2]
    assert call("goes_on") == [1] and call("asks_for", 1.0) == [1.0]
    for _ in called(hostile_readers.slowly, 3, 0.1, name="a", bounds=SHORT):
        time.sleep(0.7)


def test_a_process_is_told_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-open-sesame-12345")
    end_all()
    before = threading.active_count()
    for limit in ("7", "8"):
        monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", limit)
        environment = call("tells")[0]
        assert "OPENAI_API_KEY" not in environment and environment["CHAMELEON_MAX_TABLE_MB"] == limit
    monkeypatch.delenv("CHAMELEON_MAX_TABLE_MB")
    assert "CHAMELEON_MAX_TABLE_MB" not in call("tells")[0]
    assert threading.active_count() - before < 20


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc alone")
def test_a_process_ends_soon_after_its_parent_however_that_ended() -> None:
    code = (
        "from chameleon.sandbox.bounded import called; from tests.sandbox.hostile_readers import never\n"
        "for process in called(never, name='a.pdf'): print(process, flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        stat = Path("/proc", parent.stdout.readline().decode().strip(), "stat")
        assert stat.exists()
        parent.kill()
    end = time.monotonic() + 10
    while stat.exists() and " Z " not in stat.read_text():
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.1)


finite = st.floats(allow_nan=False, allow_infinity=False)
same = st.none() | st.booleans() | st.integers() | finite | st.text()
kinds = (st.floats, st.fractions, st.decimals, st.dates, st.datetimes, st.timedeltas, st.complex_numbers)
keys = st.integers() | st.tuples(st.integers(), st.text())
others = st.one_of(
    *(kind() for kind in kinds),
    st.sets(st.integers() | st.text(), max_size=4),
    st.dictionaries(keys, st.none(), max_size=4),
)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)

    return st.recursive(leaves, deeper, max_leaves=12)


def there(value: Any) -> Any:
    form = Encoder(1 << 20, depth=12, digits=4000).encode(value)
    return checked(json.loads(json.dumps(form, allow_nan=False)), 15, 4000)


@given(nested(same), nested(same | others))
def test_values_of_json_come_as_they_are_and_others_as_strict_json_of_a_kind(plain: Any, value: Any) -> None:
    assert there(plain) == plain
    json.dumps(there(value), allow_nan=False).encode()
    assert kind_of(value) == ("none" if value is None else type(value).__name__.lower())


class Colour(IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "form", "kind"),
    [
        *((Fraction(1, 3), "1/3", "fraction"), (Decimal("2.50"), 2.5, "decimal")),
        *((Decimal("sNaN"), "sNaN", "decimal"), (Decimal("1e999"), "1E+999", "decimal")),
        *((1 + 2j, "(1+2j)", "complex"), (Colour.RED, 3, "int"), ({"a": 1}.keys(), ["a"], "list")),
        ({(1, 2): {3, 1, 2}}, {"[1, 2]": [1, 2, 3]}, "dict"),
        (frozenset(["b", 2.5, "a", 1]), [1, 2.5, "a", "b"], "frozenset"),
        (datetime.datetime(2020, 2, 29, 12, 30), "2020-02-29T12:30:00", "datetime"),
        *((datetime.date(2020, 2, 29), "2020-02-29", "date"), (datetime.time(12, 30), "12:30:00", "time")),
        (datetime.timedelta(minutes=1), 60.0, "timedelta"),
        (range(0, 10, 3), [0, 3, 6, 9], "range"),
        ([math.nan, -math.inf], ["nan", "-inf"], "list"),
        (namedtuple("point", "x y")(1, 2), [1, 2], "tuple"),
        *((Counter("aab"), {"a": 2, "b": 1}, "dict"), (defaultdict(int, a=1), {"a": 1}, "dict")),
        *((OrderedDict(a=1), {"a": 1}, "dict"), (deque([1, 2]), [1, 2], "list")),
    ],
)
def test_forms_and_kinds(value: Any, form: Any, kind: str) -> None:
    assert (there(value), kind_of(value)) == (form, kind)


def test_what_is_not_plain_data_and_frames_that_no_honest_child_sends_are_refused() -> None:
    for value in (lambda: 1, (item for item in ()), object(), json, print, b"bytes", type, iter([])):
        with pytest.raises(Unsupported):
            there([value])
    deep: list[Any] = []
    for _ in range(13):
        deep = [deep]
    large = (("x" * (1 << 21), "KiB"), (range(10**9), "KiB"))
    for value, told in ((deep, "12 levels"), *large, (10**4001, "digits"), (Fraction(1, 10**4001), "digits")):
        with pytest.raises(TooLarge, match=told):
            there(value)
    for data in (
        *(b"", b"\xff", b"[]", b"{}", b'{"s": 1}', b'{"s": "ok", "out": 3}', b'{"s": "ok", "k": 3}'),
        *(b'{"s": "ok", "v": 1, "k": "\\u001b[31m"}', b"[" * 100_000),
        *(b'{"s": "ok", "k": "x", "v": %b}' % value.encode() for value in WRONG),
    ):
        with pytest.raises(BadFrame):
            read_frame(data, depth=12, digits=4000)


WRONG = ["9" * 4200, "9" * 5000, "NaN", "[1e999]", "[" * 50 + "]" * 50, '{"a": ' * 50 + "1" + "}" * 50]


frames = nested(same).map(lambda value: json.dumps({"s": "ok", "v": value, "k": "x"}).encode())


@given(st.binary(max_size=200) | frames)
def test_any_bytes_end_in_a_frame_or_in_bad_frame(data: bytes) -> None:
    with contextlib.suppress(BadFrame):
        assert isinstance(read_frame(data, depth=12, digits=4000), dict)
