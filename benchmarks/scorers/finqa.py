"""How FinQA is scored (Chen et al., 2021), and how Program of Thoughts scores it.

Sources: the repositories czyssrs/FinQA, `code/evaluate/evaluate.py`, and wenhuchen/Program-of-Thoughts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.finqa_answers import AnswerRule
from chameleon.benchmarks.scorers.predictions import required
from chameleon.benchmarks.scorers.tabmwp import agrees, floatify
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import GradedScorer, Problem, Scorer, ValueScorer
from chameleon.evaluation.compare import half_width
from chameleon.modules.reports.finqa_program import (
    PLACES,
    calculated,
    parts_of,
    steps_of,
    structure_fault,
    tokens_of,
)

_KINDS = ("execution", "program", "answer")
_PRIME = 2**127 - 1


class _ProgramRule(Scorer):
    """What the rules for programs read: a program as text or tokens, or a number where there is none."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the text, which must be a program alone."""
        return text.strip()

    def from_run(self, answer: Any, found: Mapping[str, Any], problem: Problem) -> Any:
        """Return the run's answer with its program, or one that stands for the value that it found."""
        program = found.get("program") or as_program(found.get("value"))
        return {"program": program, "answer": answer}


class ExecutionRule(_ProgramRule):
    """FinQA's execution accuracy alone, broken down by facts and steps."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the program comes to the gold value.

        Oddity of the metric: numbers of five places are compared for equality, so that a program that gives
        a percentage is wrong where the gold one gives a share.
        """
        lines, _ = _gold_program(problem)
        tokens = tokens_in(prediction)
        if tokens is None:
            return False
        value, fault = calculated(tokens, lines)
        return not fault and value is not None and bool(value == problem.gold)


class ProgramRule(_ProgramRule):
    """FinQA's program accuracy alone, broken down by facts and steps."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether a prediction is the gold program in other words; see `equivalent`.

        Different from the original: it stops with an error where an equivalent program does not come to the
        gold value; here that program is right.
        """
        _, program = _gold_program(problem)
        tokens = tokens_in(prediction)
        return tokens is not None and equivalent(tokens_of(program), tokens)


class OfficialRule(_ProgramRule, GradedScorer):
    """FinQA (Chen et al., 2021): execution and program accuracy in percent; RAG-CoT's answer accuracy.

    The first two are FinQA's; the third is RAG-CoT's, see `AnswerRule`.
    """

    figures: ClassVar[tuple[str, ...]] = (
        *(f"{kind} accuracy" for kind in _KINDS),
        *(f"{kind} ± 90 %" for kind in _KINDS),
    )

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return 1 or 0 for each; None is neither. Raises `InputError`.

        Of a run the answer is graded that it gives, of a program alone the value that it comes to.
        """
        answer = None
        if isinstance(prediction, Mapping):
            answer = prediction.get("answer")
        elif tokens := tokens_in(prediction):
            answer = calculated(tokens, _gold_program(problem)[0]).value
        return {
            "execution": float(ExecutionRule().right(prediction, problem)),
            "program": float(ProgramRule().right(prediction, problem)),
            "answer": float(AnswerRule().right(answer, problem)),
        }

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the shares of all problems in percent, and half of their intervals."""
        shares = {kind: sums[kind] / n for kind in _KINDS}
        means = {f"{kind} accuracy": 100 * share for kind, share in shares.items()}
        return means | {f"{kind} ± 90 %": 100 * half_width(share, n) for kind, share in shares.items()}


class PrecisionRule(ValueScorer):
    """Program of Thoughts (Chen et al., 2022): numbers to the places of the coarser one."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value as a float where it can be one, "34.7%" as its hundredth, else as a text."""
        return _number_or_text(value)

    def from_run(self, answer: Any, found: Mapping[str, Any], problem: Problem) -> Any:
        """Return the value that a program came to, where the run has one; else its answer."""
        return self.from_answer(found.get("value", answer), problem)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction `agrees` with the gold value."""
        return agrees(prediction, problem.gold)


def equivalent(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Return whether two programs, as tokens with their end, are the same function of the gold arguments.

    These become unknowns, so the order of factors does not matter, nor do steps that are not used. Raises
    `InputError` for a gold program that is none.

    Oddities of the metric: an argument that the gold program does not have, letter by letter, makes any
    program wrong ("5" for "5.0", "100" for "const_100"); a step over a table must be written as in the
    gold program, and stand first where it stands first there, but not elsewhere.

    Different from the original, which has sympy read expressions as Python and search for their simplest
    form, without end for some: here the unknowns are numbers as if drawn by chance, and values are compared
    modulo a large prime. Powers and comparisons are the same only where both of their sides are.
    """
    steps, given = steps_of(gold[:-1]), predicted[:-1]
    try:
        known = {name for step in steps for name in _named(step)}
        wanted = _value(steps)
    except (ValueError, LookupError):
        raise InputError(f"the gold program cannot be read: {' '.join(gold)!r:.200}") from None
    if structure_fault(given):
        return False
    try:
        steps = steps_of(given)
        if any(step.count("(") > 1 or not known.issuperset(_named(step)) for step in steps):
            return False
        return _value(steps) == wanted
    except (ValueError, LookupError):
        return False


def _named(step: str) -> list[str]:
    """Return the arguments of a step that are no earlier steps; a step over a table, as it is written."""
    operation, *arguments = parts_of(step)
    return [step] if "table" in operation else [each for each in arguments if "#" not in each]


def _value(steps: Sequence[str]) -> int:
    """Compute what the last step comes to, modulo a prime. Raises LookupError for unknown steps."""
    values: dict[int, int] = {}
    for number, step in enumerate(steps):
        operation, *arguments = parts_of(step)
        if "table" in operation:
            values[number] = _unknown(step)
            continue
        first, second = (
            values[int(each.strip("#"))] if "#" in each else _unknown(each) for each in arguments
        )
        match operation:
            case "add":
                value = first + second
            case "subtract":
                value = first - second
            case "multiply":
                value = first * second
            case "divide" if second:
                value = first * pow(second, -1, _PRIME)
            case _:
                value = _unknown(operation, first, second)
        values[number] = value % _PRIME
    return values[len(steps) - 1]


def _unknown(*named: object) -> int:
    """Return the number that stands for what is named."""
    return int.from_bytes(sha256(repr(named).encode("utf-8", "replace")).digest()) % _PRIME


def tokens_in(prediction: Any) -> list[str] | None:
    """Return a prediction as tokens with their end: a list as it is, a text cut up; else None.

    Of an object its program is taken, else the program that stands for its answer (`as_program`).
    """
    if isinstance(prediction, Mapping):
        prediction = prediction.get("program") or as_program(prediction.get("answer"))
    if isinstance(prediction, list | tuple):
        return [*prediction] if all(isinstance(token, str) for token in prediction) else None
    program = prediction if isinstance(prediction, str) else as_program(prediction)
    return None if program is None else tokens_of(program)


def as_program(answer: Any) -> str | None:
    """Write the program "add(x, 0)" for the number x, a comparison for yes or no; None for anything else.

    So Program of Thoughts made programs of its answers for FinQA's leaderboard. x has five places.
    """
    value = _number_or_text(answer.strip() if isinstance(answer, str) else answer)
    if isinstance(value, str):
        value = {"yes": True, "no": False}.get(value.lower())
    if isinstance(value, bool):
        return "greater(1, 0)" if value else "greater(0, 1)"
    return f"add({round(value, PLACES)!r}, 0)" if isinstance(value, float) else None


def _number_or_text(value: Any) -> Any:
    """Return the number that a value is, "34.7%" being 0.347; what is none as `floatify` has it."""
    if not (isinstance(value, str) and value.endswith("%")):
        return floatify(value)
    number = floatify(value.removesuffix("%").replace(",", ""))
    return number / 100 if isinstance(number, float) else value


def _gold_program(problem: Problem) -> tuple[Sequence[Sequence[str]], str]:
    """Return the lines of the table and the gold program. Raises `InputError` where they are not known."""
    reason = "FinQA's rules need the gold program and its value"
    if problem.gold is None:
        raise InputError(reason, where=f"problem {problem.id}")
    return required(problem, "lines", reason), required(problem, "program", reason)
