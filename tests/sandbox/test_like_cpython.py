"""Harmless programs mean in the sandbox what they mean in plain Python."""

from __future__ import annotations

from chameleon.sandbox import ProgramExecutor
from tests.sandbox.conftest import each_program, in_plain_python


@each_program("harmless")
def test_same_answer_as_plain_python(sealed: ProgramExecutor, code: str) -> None:
    outcome = sealed.run(code)
    assert outcome.status == "ok", outcome
    assert outcome.value == in_plain_python(code)
