"""What a solution states, and how long reading one may take."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from chameleon.modules.program.answer_generator import chosen
from chameleon.modules.program.solution_generator import first_sentence, stated_answer, statements


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("3 + 4 = 7. The answer is 7.", "7"),
        ("The answer is 7", "7"),
        ("The answer is 3.5.", "3.5"),
        ("the answer is: **$1,204.50**.", "$1,204.50"),
        ("The answer is Mr. Ito.", "Mr. Ito"),
        ("The answer is St. Olaf Bay.", "St. Olaf Bay"),
        ("The answer is 6:30 P.M.", "6:30 P.M."),
        ("The answer is 12. This is what was asked.", "12"),
        ("The answer is no.\nCheck: 4 < 5.", "no"),
        ("First the answer is 3. No: the answer is 4.", "4"),
        ("The answer is 12. Check that the final answer is 12.", "12"),
        ("4 × 3 = 12.\n**Answer:** 12", "12"),
        ("Answer:\n12 tents", "12 tents"),
        ("So it is $\\boxed{12}$.", "12"),
        ("The answer is \\(\\boxed{\\text{noon}}\\).", "noon"),
        ("Answer: 3\nThe answer is 4.", "4"),
        ("The answer isn't 4.", None),
        ("It is seven.", None),
        ("The answer is", None),
    ],
)
def test_what_a_solution_states(solution: str, answer: str | None) -> None:
    assert stated_answer(solution) == answer


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


def test_a_sentence_without_spaces_takes_time_in_proportion() -> None:
    begun = time.process_time()
    assert first_sentence("a" * 300_000) and time.process_time() - begun < 1
