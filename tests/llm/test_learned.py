"""Who goes first where nobody knows yet whether a model takes its parameters."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.llm.quirks import Probe


def enter(probe: Probe, *names: str) -> None:
    with probe.turn(frozenset(names)):
        pass


def test_one_request_goes_ahead_where_names_are_not_proven() -> None:
    probe, inside, most = Probe(), list[int](), list[int]()

    def work(number: int) -> None:
        with probe.turn(frozenset({"temperature"})):
            if not inside:
                inside.append(number)
                threading.Event().wait(0.1)
                most.append(len(inside))
            inside.append(number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert most == [1]


def test_names_that_are_proven_wait_for_nobody() -> None:
    probe = Probe()
    enter(probe, "a", "b")
    with probe.turn(frozenset({"c"})), ThreadPoolExecutor(1) as threads:
        threads.submit(enter, probe, "a").result(1)
        threads.submit(enter, probe).result(1)


def test_a_failure_proves_nothing_and_stops_nobody() -> None:
    probe = Probe()
    with pytest.raises(RuntimeError), probe.turn(frozenset({"a"})):
        raise RuntimeError
    with ThreadPoolExecutor(1) as threads:
        with probe.turn(frozenset({"a"})):
            waiting = threads.submit(enter, probe, "a")
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
        waiting.result(1)


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.llm.quirks._PATIENCE_S", 0.05)
    probe = Probe()
    with probe.turn(frozenset({"a"})), ThreadPoolExecutor(1) as threads:
        threads.submit(enter, probe, "a").result(1)
