"""All calls of a model wait after a 429."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from chameleon import LLM
from chameleon.llm.pace import Pace, pace_of
from tests.llm.asking import Start
from tests.loopback import Answer, Fault


def test_the_longest_wait_counts_and_ends() -> None:
    now = 100.0
    pace = Pace(lambda: now)
    assert [pace.turn() for _ in range(500)] == [0] * 500
    for seconds in (3, 7, 5):
        pace.wait(seconds)
    assert pace.turn() == 7
    now += 6
    assert pace.turn() == 1
    now += 2
    assert pace.turn() == 0


def test_a_model_at_an_address_has_one_pace() -> None:
    assert pace_of("openai:m", "a") is pace_of("openai:m", "a") is not pace_of("openai:m", "b")
    assert pace_of("openai:m", "a", ("key",)) is not pace_of("openai:m", "a")


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{"Retry-After": "0.4"}, {}])
def test_clients_of_one_model_wait_together(loopback: Start, headers: dict[str, str]) -> None:
    begun: list[float] = []
    lock, is_refused = threading.Lock(), threading.Event()

    def reply(request: dict[str, Any]) -> Answer:
        with lock:
            begun.append(time.monotonic())
            if len(begun) > 1:
                return "ok"
            is_refused.set()
            return Fault(429, headers=headers)

    loopback(reply)
    first, second = LLM.connect("openai:local"), LLM.connect("openai:local")
    asking = threading.Thread(target=first.ask, args=["hi"])
    asking.start()
    is_refused.wait(10)
    time.sleep(0.1)  # until the refusal is read
    assert second.ask("hi again").text == "ok"
    asking.join()
    assert min(begun[1:]) - begun[0] >= (0.4 if headers else 0.25)
