"""Functions that are called in a process of its own: what they yield, and what ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import Declined, InputError
from chameleon.sandbox.bounded import Bounds, called, end_all
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


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("never", (), "takes more than 0 seconds"),
        ("slowly", (9, 0.4), "takes more than 0 seconds"),
        ("takes", (400,), "takes more than 200 MB of memory"),
        ("dies", (0,), "its reader has crashed over it"),
        ("dies", (signal.SIGTERM,), "its reader has crashed over it"),
        ("raises", ("theirs",), r"cannot be read \(KeyError: 'odd"),
    ],
)
def test_what_takes_too_much_or_fails_is_told_in_one_line(name: str, arguments: Any, said: str) -> None:
    bounds = SHORT._replace(part=9.0, total=1.0) if name == "slowly" else SHORT
    begun = time.monotonic()
    with pytest.raises(InputError, match=f"a.pdf: .*{said}") as told:
        call(name, *arguments, bounds=bounds)
    assert time.monotonic() - begun < 9 and "\n" not in str(told.value) and len(str(told.value)) < 500
    assert call("echo", 5) == [5]


def test_our_own_errors_stay_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert call("prints") == [True] and capfd.readouterr() == ("", "")
    found, process = [], call("tells")[1]
    with pytest.raises(Declined, match=r"a\.csv: not to be had\. Do this\."):
        for part in called(hostile_readers.raises, "ours", name="b", bounds=SHORT):
            found.append(part)
    assert found == [1] and call("tells")[1] == process


def test_one_process_serves_many_calls_and_one_that_had_too_much_before_is_made_anew() -> None:
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
