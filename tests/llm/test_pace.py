"""All calls of a model slow down together after a 429, and speed up again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import LLM
from chameleon.llm.pace import Pace, pace_of
from tests.llm.asking import Start
from tests.loopback import Answer, Fault


class Clock:
    """Tells a time that only the test changes."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def slowed(requests: int = 20) -> tuple[Pace, Clock]:
    """A pace that had so many requests in two seconds when a 429 came."""
    clock = Clock()
    pace = Pace(clock)
    for _ in range(requests):
        clock.now += 2 / requests
        assert pace.turn() == 0
    pace.slow_down(clock.now - 0.1)
    return pace, clock


def test_after_a_429_calls_take_turns_at_half_the_rate() -> None:
    pace, clock = slowed(20)
    assert 4 < pace.rate < 6
    for _ in range(5):
        seconds = pace.turn()
        assert seconds == pytest.approx(1 / pace.rate) == pace.turn()  # asking takes no turn
        clock.now += seconds
        assert pace.turn() == 0


def test_refusals_of_one_moment_count_as_one() -> None:
    pace, clock = slowed()
    rate = pace.rate
    for _ in range(50):
        pace.slow_down(clock.now - 0.5)
    assert pace.rate == rate
    clock.now += 3
    pace.slow_down(clock.now - 0.5)
    assert pace.rate < rate


def test_replies_speed_it_up_until_there_is_no_limit() -> None:
    pace, clock = slowed()
    rates = []
    while pace.rate < math.inf:
        clock.now += 1
        pace.speed_up()
        rates.append(pace.rate)
    assert rates == sorted(rates) and 15 <= len(rates) <= 25
    assert pace.turn() == 0


@given(st.lists(st.tuples(st.sampled_from("tsuw"), st.floats(0, 30)), max_size=60))
def test_turns_are_never_in_the_past_and_the_rate_stays_positive(moves: list[tuple[str, float]]) -> None:
    clock = Clock()
    pace = Pace(clock)
    for move, seconds in moves:
        clock.now += seconds
        if move == "t":
            assert pace.turn() >= 0
        elif move == "s":
            pace.slow_down(clock.now - seconds)
        elif move == "u":
            pace.speed_up()
        else:
            pace.wait(seconds)
        assert pace.rate >= 1 and pace.turn() <= 60


def test_there_is_no_limit_before_a_429_but_the_server_may_ask_to_wait() -> None:
    pace = Pace(Clock())
    assert [pace.turn() for _ in range(500)] == [0] * 500
    assert pace.rate == math.inf
    pace.wait(7)
    assert pace.turn() == 7


def test_a_model_at_an_address_has_one_pace() -> None:
    assert pace_of("openai:m", "a") is pace_of("openai:m", "a") is not pace_of("openai:m", "b")
    assert pace_of("openai:m", "a", ("key",)) is not pace_of("openai:m", "a")


@pytest.mark.slow
def test_clients_of_one_model_slow_down_together(loopback: Start) -> None:
    begun: list[float] = []
    lock = threading.Lock()

    def reply(request: dict[str, Any]) -> Answer:
        with lock:
            begun.append(time.monotonic())
            return Fault(429, headers={"Retry-After": "0.3"}) if len(begun) == 1 else "ok"

    loopback(reply)
    first, second = LLM.connect("openai:local"), LLM.connect("openai:local")
    assert first.ask("hi").text == "ok"
    pace: Pace = first._pipeline.connection.pace
    assert pace is second._pipeline.connection.pace
    assert pace.rate < math.inf
    waited = begun[1] - begun[0]
    assert waited >= 0.3
    with ThreadPoolExecutor(1) as threads:
        ask: Callable[[str], Any] = second.ask
        assert {each.text for each in threads.map(ask, ["a"])} == {"ok"}
    gaps = [later - earlier for earlier, later in pairwise(begun[1:])]
    assert min(gaps) > 0.2
