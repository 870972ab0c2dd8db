"""A program is run once, and its result is an answer of three forms."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, StepRejected, Table
from chameleon.errors import ModuleError
from chameleon.modules.program import programs
from chameleon.modules.program.programs import ProgramExecutor, ProgramVerifier, TableAnswer
from chameleon.modules.table_ops.table_query import Form
from chameleon.sandbox import ExecResult


@pytest.mark.parametrize(
    ("value", "form", "answer"),
    [
        (3.0, "items", ["3"]),
        ("Quay", "items", ["Quay"]),
        (["Quay", 2, 0.1 + 0.2], "items", ["Quay", "2", "0.3"]),
        (True, "verdict", "yes"),
        (0, "verdict", "no"),
        ("False", "verdict", "no"),
        ([True], "verdict", "yes"),
        (["Quay", "Weir"], "text", "Quay, Weir"),
    ],
)
def test_a_programs_result_becomes_an_answer(value: Any, form: Form, answer: Any) -> None:
    module = TableAnswer(form)
    output = module.run(State(cache={"program_result": value}))
    assert output == answer and module.update_cache({}, output) == {"answer": answer}


def test_a_result_of_another_form_is_no_answer() -> None:
    for value in (None, [], {"a": 1}, [None]):
        with pytest.raises(ModuleError, match="the program's result is"):
            TableAnswer("items").run(State(cache={"program_result": value}))
    for value in (2, "perhaps", [True, False]):
        with pytest.raises(StepRejected):
            TableAnswer("verdict").run(State(cache={"program_result": value}))


class Counting:
    """A sandbox that counts the programs that it runs."""

    def __init__(self, value: Any) -> None:
        self.value, self.runs = value, 0

    def run(self, *_: object, **__: object) -> ExecResult:
        self.runs += 1
        return ExecResult("ok", self.value, "list")


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting([1, {"a": [2.5]}])
    monkeypatch.setattr(programs, "shared_sandbox", lambda: counting)
    return counting


TABLE = Table(["a"], [["1"]])


def test_a_verified_program_is_run_again_only_where_something_has_changed(sandbox: Counting) -> None:
    verified = ProgramVerifier().run(State({"table": TABLE}, {"program": "ans = table"}))
    for program, table, timeout, runs in (
        ("ans = table", TABLE, None, 1),
        ("ans = df", TABLE, None, 2),
        ("ans = table", Table(["a"], [["2"]]), None, 3),
        ("ans = table", TABLE, 1.0, 4),
    ):
        state = State({"table": table}, {"program": program, "verified": verified})
        assert ProgramExecutor(timeout).run(state) == sandbox.value
        assert sandbox.runs == runs
    for earlier in ({"verdict": "it runs and sets ans", "type": "int"}, True, None):  # of an earlier log
        state = State({}, {"program": "ans = 1", "verified": earlier})
        assert ProgramExecutor().run(state) == sandbox.value
    assert sandbox.runs == 7
