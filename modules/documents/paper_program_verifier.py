"""Check that a program written for a paper runs, and that its answer is one value."""

from __future__ import annotations

import math
from typing import Any

from chameleon import State, StepRejected
from chameleon.modules.program.programs import ProgramVerifier, run_program

_MANY = {"list": "a list", "tuple": "a tuple", "set": "a set", "frozenset": "a set", "dict": "a dict"}


class PaperProgramVerifier(ProgramVerifier):
    """Checks that the program sets `ans` to one number or text. Follows paper_program_generator."""

    def run(self, state: State) -> dict[str, str]:
        """Return what was found. Raises `StepRejected` for a program that fails, or gives no single value."""
        verdict = super().run(state)
        if told := _no_single_value(run_program(state, self.timeout).value):
            raise StepRejected(f"the program sets ans to {told}, and not to one number or text")
        return verdict


def _no_single_value(value: Any) -> str:
    """Return what an answer is that is no single value; "" for one that is."""
    if isinstance(value, float | complex) and (isinstance(value, complex) or not math.isfinite(value)):
        return "no real number"
    if isinstance(value, str) and value.strip().lower() in ("nan", "inf", "-inf", "none"):
        return f'"{value.strip()}"'
    return next((name for kind, name in _MANY.items() if type(value).__name__ == kind), "")
