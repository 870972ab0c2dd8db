"""How FinQA is scored (Chen et al., 2021), and how Program of Thoughts scores it.

Sources: the repositories czyssrs/FinQA, `code/evaluate/evaluate.py`, and wenhuchen/Program-of-Thoughts.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.finqa_answers import AnswerRule
from chameleon.benchmarks.scorers.finqa_equivalence import check_packages, equivalent
from chameleon.benchmarks.scorers.predictions import required
from chameleon.benchmarks.scorers.tabmwp_rule import agrees, floatify
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import GradedScorer, Problem, Scorer, ValueScorer
from chameleon.evaluation.compare import Z_90
from chameleon.modules.reports.finqa_program import PLACES, calculated, tokens_of

_KINDS = ("execution", "program", "answer")


class _FromProgram(Scorer):
    """The inputs of rules for programs: a program as text or tokens, or a number without one."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the text, which must contain only a program."""
        return text.strip()

    def from_run(self, answer: Any, findings: Mapping[str, Any], problem: Problem) -> Any:
        """Return the run's answer with its program, or with one made from the value that it found."""
        program = findings.get("program") or as_program(findings.get("value"))
        return {"program": program, "answer": answer}


class ExecutionRule(_FromProgram):
    """FinQA's execution accuracy only, broken down by facts and steps."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the program results in the gold value.

        Oddity of the metric: numbers are compared exactly at five places, so a program that gives a
        percentage is wrong if the gold one gives a share.
        """
        lines, _ = _gold_program(problem)
        tokens = tokens_in(prediction)
        if tokens is None:
            return False
        value, fault = calculated(tokens, lines)
        return not fault and value is not None and bool(value == problem.gold)


class ProgramRule(_FromProgram):
    """FinQA's program accuracy only, broken down by facts and steps."""

    def check(self) -> None:
        check_packages()

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether a prediction is equivalent to the gold program; see `equivalent`.

        Different from the original: it stops with an error if an equivalent program does not result in the
        gold value; here that program is right.
        """
        _, program = _gold_program(problem)
        tokens = tokens_in(prediction)
        return tokens is not None and equivalent(tokens_of(program), tokens)


class OfficialRule(_FromProgram, GradedScorer):
    """FinQA (Chen et al., 2021): execution and program accuracy in percent; RAG-CoT's answer accuracy."""

    figures: ClassVar[tuple[str, ...]] = (
        *(f"{kind} accuracy" for kind in _KINDS),
        *(f"{kind} ± 90%" for kind in _KINDS),
    )

    def check(self) -> None:
        check_packages()

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return 1 or 0 for each; None is neither. Raises `InputError`, `MissingPackage`.

        A run is graded by its answer, a program without one by its value.
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
        """Return the shares of all problems in percent, and half of their intervals: Wald's, as published."""
        shares = {kind: sums[kind] / n for kind in _KINDS}
        means = {f"{kind} accuracy": 100 * share for kind, share in shares.items()}
        return means | {f"{k} ± 90%": 100 * Z_90 * sqrt(p * (1 - p) / n) for k, p in shares.items()}


class PrecisionRule(ValueScorer):
    """Program of Thoughts (Chen et al., 2022): numbers to the places of the coarser one."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value as a float if possible, "34.7%" divided by 100, else as a text."""
        return _number_or_text(value)

    def from_run(self, answer: Any, findings: Mapping[str, Any], problem: Problem) -> Any:
        """Return the value of a run's program, if it has one; else its answer."""
        return self.from_answer(findings.get("value", answer), problem)

    def right(self, prediction: Any, problem: Problem) -> bool:
        return agrees(prediction, problem.gold)


def tokens_in(prediction: Any) -> list[str] | None:
    """Return a prediction as tokens with their end: a list as it is, a text cut up; else None.

    An object is replaced by its program, else by a program for its answer (`as_program`).
    """
    if isinstance(prediction, Mapping):
        prediction = prediction.get("program") or as_program(prediction.get("answer"))
    if isinstance(prediction, list | tuple):
        return [*prediction] if all(isinstance(token, str) for token in prediction) else None
    program = prediction if isinstance(prediction, str) else as_program(prediction)
    return None if program is None else tokens_of(program)


def as_program(answer: Any) -> str | None:
    """Write the program "add(x, 0)" for the number x, a comparison for yes or no; None for anything else.

    Program of Thoughts made programs of its answers this way for FinQA's leaderboard. x has five places.
    """
    value = _number_or_text(answer.strip() if isinstance(answer, str) else answer)
    if isinstance(value, str):
        value = {"yes": True, "no": False}.get(value.lower())
    if isinstance(value, bool):
        return "greater(1, 0)" if value else "greater(0, 1)"
    return f"add({round(value, PLACES)!r}, 0)" if isinstance(value, float) else None


def _number_or_text(value: Any) -> Any:
    """Return the number in a value ("34.7%" is 0.347), else the value as converted by `floatify`."""
    if not (isinstance(value, str) and value.endswith("%")):
        return floatify(value)
    number = floatify(value.removesuffix("%").replace(",", ""))
    return number / 100 if isinstance(number, float) else value


def _gold_program(problem: Problem) -> tuple[Sequence[Sequence[str]], str]:
    """Return the lines of the table and the gold program. Raises `InputError` if they are unknown."""
    reason = "FinQA's rules need the gold program and its value"
    if problem.gold is None:
        raise InputError(reason, where=f"problem {problem.id}")
    return required(problem, "lines", reason), required(problem, "program", reason)
