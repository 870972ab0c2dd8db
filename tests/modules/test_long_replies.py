"""A reply of a model in a loop takes memory and time in proportion to its length, and has a bound."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import pytest

from chameleon.modules.program.answer_generator import chosen
from chameleon.modules.program.solution_generator import first_sentence, stated_answer, statements


@pytest.mark.parametrize("said", ["The answer is 7. ", "Answer: 7\n", r"\boxed{7} "])
def test_a_reply_that_repeats_itself_takes_little_memory(said: str) -> None:
    text = said * (140_000 // len(said))
    tracemalloc.start()
    try:
        found = statements(text)
        assert chosen(text, ["7", "8"]) == "7"
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found and found[0].startswith("7") and most < 50 * len(text)
    assert stated_answer(text) == "7"


def seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def test_a_sentence_without_spaces_takes_time_in_proportion() -> None:
    assert first_sentence("a" * 300_000) and seconds(lambda: first_sentence("a" * 300_000)) < 1
