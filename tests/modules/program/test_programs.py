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


class TestAVerifiedProgram:
    def test_is_not_run_again(self, sandbox: Counting) -> None:
        verified = ProgramVerifier().run(State({"table": TABLE}, {"program": "ans = table"}))
        state = State({"table": TABLE}, {"program": "ans = table", "verified": verified})
        assert ProgramExecutor().run(state) == sandbox.value
        assert sandbox.runs == 1

    @pytest.mark.parametrize(
        ("program", "table", "timeout"),
        [
            ("ans = df", TABLE, None),
            ("ans = table", Table(["a"], [["2"]]), None),
            ("ans = table", TABLE, 1.0),
        ],
    )
    def test_is_run_again_where_anything_has_changed(
        self, program: str, table: Table, timeout: float | None, sandbox: Counting
    ) -> None:
        verified = ProgramVerifier().run(State({"table": TABLE}, {"program": "ans = table"}))
        state = State({"table": table}, {"program": program, "verified": verified})
        assert ProgramExecutor(timeout).run(state) == sandbox.value
        assert sandbox.runs == 2

    def test_of_an_earlier_log_is_run(self, sandbox: Counting) -> None:
        for verified in ({"verdict": "it runs and sets ans", "type": "int"}, True, None):
            state = State({}, {"program": "ans = 1", "verified": verified})
            assert ProgramExecutor().run(state) == sandbox.value
        assert sandbox.runs == 3
