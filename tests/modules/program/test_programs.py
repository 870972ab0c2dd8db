"""A program's result as an answer of three forms."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, StepRejected
from chameleon.errors import ModuleError
from chameleon.modules.program.programs import TableAnswer
from chameleon.modules.table_ops.table_query import Form


@pytest.mark.parametrize(
    ("value", "form", "answer"),
    [
        (3.0, "items", ["3"]),
        ("Quay", "items", ["Quay"]),
        (["Quay", 2, 0.1 + 0.2], "items", ["Quay", "2", "0.3"]),
        (True, "items", ["yes"]),
        (True, "verdict", "yes"),
        (0, "verdict", "no"),
        ("False", "verdict", "no"),
        ([True], "verdict", "yes"),
        (["Quay", "Weir"], "text", "Quay, Weir"),
        (7, "text", "7"),
    ],
)
def test_a_programs_result_becomes_an_answer(value: Any, form: Form, answer: Any) -> None:
    module = TableAnswer(form)
    output = module.run(State(cache={"program_result": value}))
    assert output == answer and module.update_cache({}, output) == {"answer": answer}


@pytest.mark.parametrize(
    ("value", "form"),
    [(None, "items"), ([], "items"), ({"a": 1}, "items"), ([None], "text")],
)
def test_a_result_of_another_form_is_no_answer(value: Any, form: Form) -> None:
    with pytest.raises(ModuleError, match="the program's result is"):
        TableAnswer(form).run(State(cache={"program_result": value}))


@pytest.mark.parametrize("value", [2, "perhaps", [True, False]])
def test_a_result_that_is_no_verdict_is_rejected(value: Any) -> None:
    with pytest.raises(StepRejected):
        TableAnswer("verdict").run(State(cache={"program_result": value}))
