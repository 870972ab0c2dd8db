"""Give the final answer (Chameleon, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chameleon import Module, State
from chameleon.errors import ModuleError
from chameleon.modules.solution_generator import ANSWER


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
        stated = ANSWER.findall(solution)
        answer: str = stated[-1] if stated else solution
        return answer.strip().strip("*").strip()


def tidy(value: Any) -> Any:
    """A number without the noise of binary floating point: 1.6000000000000001 is 1.6, and 18.0 is 18."""
    if isinstance(value, float):
        rounded = float(f"{value:.12g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value


def as_choice(answer: Any, choices: Sequence[str]) -> Any:
    """The choice that the answer stands for: alike but for case, spaces and "$", or its letter, as "(B)"."""
    if not choices:
        return answer
    said = {True: "yes", False: "no"}.get(answer, str(answer)) if isinstance(answer, bool) else str(answer)
    by_form = {_form(choice): choice for choice in choices}
    if (choice := by_form.get(_form(said))) is not None:
        return choice
    letter = said.strip().strip("().").upper()
    if len(letter) == 1 and 0 <= ord(letter) - ord("A") < len(choices):
        return choices[ord(letter) - ord("A")]
    return answer


def _form(text: str) -> str:
    return " ".join(text.casefold().replace("$", "").split()).rstrip(".")
