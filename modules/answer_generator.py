"""Give the final answer (Chameleon, section 4.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chameleon import Module, State
from chameleon.errors import ModuleError
from chameleon.modules.solution_generator import stated_answer
from chameleon.table import read_value

_LETTERED = re.compile(r"\(?([A-Za-z])(?:\)|\.|:|$)(?=\s|$)")


class AnswerGenerator(Module):
    """Gives the final answer: what the program computed, else what the solution says. Always the last."""

    reads = ("cache.program_result?", "cache.solution?", "input.choices?")
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        result = state.cache.get("program_result")
        if result is None:
            result = self._from_solution(state.cache.get("solution"))
        return as_choice(tidy(result), state.input.get("choices") or ())

    def update_cache(self, cache: Any, output: Any) -> dict[str, Any]:
        return {"answer": output}

    def _from_solution(self, solution: str | None) -> str:
        if solution is None:
            raise ModuleError("neither a program's result nor a solution is there to answer from")
        return stated_answer(solution) or solution.strip()


def tidy(value: Any) -> Any:
    """A number without the noise of binary floating point: 1.6000000000000001 is 1.6, and 18.0 is 18."""
    if isinstance(value, float):
        rounded = float(f"{value:.12g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value


def as_choice(answer: Any, choices: Sequence[str]) -> Any:
    """The choice that the answer stands for; the answer itself when it stands for none.

    Case, spaces and "$" do not matter; numbers are compared as numbers ("1/2" is 0.5); a letter such as
    "(B)" or "B. Thursday" names a choice; so does a text that begins with one ("Thursday, since …").
    """
    if not choices:
        return answer
    said = {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer).strip()
    by_form = {_form(choice): choice for choice in choices}
    if (choice := by_form.get(_form(said))) is not None:
        return choice
    number = read_value(said).number
    equal = [choice for choice in choices if number is not None and read_value(choice).number == number]
    if len(equal) == 1:
        return equal[0]
    lettered = _LETTERED.match(said)
    if lettered and ord(lettered[1].upper()) - ord("A") < len(choices):
        return choices[ord(lettered[1].upper()) - ord("A")]
    begun = [choice for choice in choices if _form(said).startswith(_form(choice) + " ")]
    return max(begun, key=len) if begun else answer


def _form(text: str) -> str:
    return " ".join(text.casefold().replace("$", "").replace(",", " ").split()).rstrip(".")
