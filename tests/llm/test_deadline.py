"""A run's seconds bound the calls in flight, and what comes later is not lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chameleon.budget import UNKNOWN, Budget, Meter, recording
from chameleon.errors import BudgetExceeded
from chameleon.llm import LLM, ResponseStore
from tests.loopback import LoopbackServer, Reply

Start = Callable[..., LoopbackServer]


def test_a_call_ends_with_the_runs_seconds_and_its_late_reply_is_recorded(
    loopback: Start, tmp_path: Path
) -> None:
    loopback(lambda request: Reply("late", delay=1.2))
    store = ResponseStore(tmp_path / "r.sqlite")
    llm = LLM.connect("openai:local", store=store)
    begun = time.monotonic()
    said = r"its budget of 0\.4 seconds before openai:local"
    with recording(Meter(Budget(seconds=0.4))) as recorder, pytest.raises(BudgetExceeded, match=said):
        llm.ask("hi")
    assert time.monotonic() - begun < 0.9
    assert recorder.meter.spent == recorder.calls[0].usage == UNKNOWN
    assert recorder.calls[0].error.startswith("BudgetExceeded")
    while not len(store) and time.monotonic() - begun < 10:
        time.sleep(0.02)
    assert llm.ask("hi").cached


def test_samples_and_waiters_end_with_the_runs_seconds_too(loopback: Start) -> None:
    loopback(lambda request: Reply("late", delay=1.2))
    llm = LLM.connect("openai:local")
    with ThreadPoolExecutor(1) as threads:
        patient = threads.submit(llm.ask, "hi")
        time.sleep(0.1)
        begun = time.monotonic()
        with recording(Meter(Budget(seconds=0.4))) as recorder, pytest.raises(BudgetExceeded):
            llm.ask_many("hi", 3)
        assert time.monotonic() - begun < 0.9
        assert sorted(call.usage.calls for call in recorder.calls) == [
            0,
            0,
            1,
        ]  # one request was to bring all three
        assert patient.result().text == "late"


def test_a_call_in_time_is_as_without_a_limit(loopback: Start) -> None:
    loopback()
    with recording(Meter(Budget(seconds=30))) as recorder:
        assert LLM.connect("openai:local").ask("hi").text == "ok"
    assert recorder.calls[0].usage == recorder.meter.spent
