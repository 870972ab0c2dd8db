"""The same work in flight twice is done once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.llm.single_flight import SingleFlight, WaitedTooLong


def ask_together(count: int, work: Callable[[], str | None]) -> list[object]:
    """Do the work for one key in many threads; return what each came to, and whether others did it."""
    flights: SingleFlight[str] = SingleFlight()
    begin = threading.Barrier(count)

    def ask(_: int) -> object:
        begin.wait()
        try:
            with flights.join("key") as flight:
                if flight.result is not None:
                    return flight.result, True
                flight.result = work()
                return flight.result, False
        except ValueError as error:
            return error

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(ask, range(count)))


def test_waiters_share_the_result() -> None:
    done: list[int] = []

    def work() -> str:
        threading.Event().wait(0.1)
        done.append(1)
        return "result"

    results = ask_together(6, work)
    assert len(done) == 1
    assert sorted(results) == [("result", False)] + [("result", True)] * 5  # type: ignore[type-var]


@pytest.mark.parametrize("fails", [True, False])
def test_a_failure_or_a_result_that_is_not_shared_stays_with_its_owner(fails: bool) -> None:
    begun: list[int] = []

    def work() -> str | None:
        begun.append(1)
        threading.Event().wait(0.05)
        if len(begun) == 1 and fails:
            raise ValueError("mine alone")
        return "result" if len(begun) > 1 else None

    results = ask_together(5, work)
    assert sum(isinstance(each, ValueError) or each == (None, False) for each in results) == 1
    assert [each[0] for each in results if isinstance(each, tuple) and each[0]] == ["result"] * 4
    assert len(begun) == 2


def test_nothing_is_kept_after_landing() -> None:
    flights: SingleFlight[int] = SingleFlight()
    for result in (1, 2):
        with flights.join("key") as flight:
            assert flight.result is None
            flight.result = result
    with pytest.raises(KeyboardInterrupt), flights.join("key"):
        raise KeyboardInterrupt
    with flights.join("key") as flight:
        assert flight.result is None


def test_nobody_waits_longer_than_allowed() -> None:
    flights: SingleFlight[int] = SingleFlight()

    def wait() -> None:
        with flights.join("key", time.monotonic() + 0.05):
            pass

    with flights.join("key"), ThreadPoolExecutor(1) as threads, pytest.raises(WaitedTooLong):
        threads.submit(wait).result()
