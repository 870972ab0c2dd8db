"""Harmless programs mean in the sandbox what they mean in plain Python."""

from __future__ import annotations

from typing import Any

from chameleon.sandbox import ProgramExecutor
from tests.sandbox.conftest import each_program


@each_program("harmless")
def test_same_answer_as_plain_python(sealed: ProgramExecutor, code: str) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(code, namespace)
    outcome = sealed.run(code)
    assert outcome.status == "ok", outcome
    assert outcome.value == namespace["ans"]
