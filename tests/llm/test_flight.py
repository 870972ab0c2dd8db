"""The same work in flight twice is done once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.errors import ModelError
from chameleon.llm.flight import SingleFlight


def in_flight_together(flights: SingleFlight[str], count: int, work: object) -> list[object]:
    def ask(number: int) -> object:
        try:
            return flights.run("key", lambda: work(number))  # type: ignore[operator]
        except Exception as error:
            return error

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(ask, range(count)))


def test_waiters_share_the_result() -> None:
    done: list[int] = []

    def work(number: int) -> str:
        threading.Event().wait(0.1)
        done.append(number)
        return "result"

    results = in_flight_together(SingleFlight(), 6, work)
    assert len(done) == 1
    assert sorted(results) == [("result", False)] + [("result", True)] * 5  # type: ignore[type-var]


def test_waiters_get_the_failure_each_as_an_object_of_its_own() -> None:
    def work(number: int) -> str:
        threading.Event().wait(0.1)
        raise ModelError("broken", hint="fix it")

    results = in_flight_together(SingleFlight(), 4, work)
    assert {str(result) for result in results} == {"broken. fix it"}
    assert len({id(result) for result in results}) == 4


def test_a_private_failure_stays_with_its_owner_and_the_next_waiter_takes_over() -> None:
    begun: list[int] = []

    def work(number: int) -> str:
        begun.append(number)
        threading.Event().wait(0.05)
        if len(begun) == 1:
            raise PermissionError("mine alone")
        return "result"

    results = in_flight_together(SingleFlight(private=(PermissionError,)), 5, work)
    assert sum(isinstance(result, PermissionError) for result in results) == 1
    assert [result[0] for result in results if isinstance(result, tuple)] == ["result"] * 4
    assert len(begun) == 2


def test_nothing_is_kept_after_landing() -> None:
    flights: SingleFlight[int] = SingleFlight()
    assert flights.run("key", lambda: 1) == (1, False)
    assert flights.run("key", lambda: 2) == (2, False)
    with pytest.raises(KeyboardInterrupt):
        flights.run("key", _interrupted)
    assert flights.run("key", lambda: 3) == (3, False)


def _interrupted() -> int:
    raise KeyboardInterrupt
