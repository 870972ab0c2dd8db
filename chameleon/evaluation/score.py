"""Score what some system has given: recorded texts, predictions or programs, by an official rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Judgement, Problem, Row, Scorer
from chameleon.evaluation.results import Result
from chameleon.sandbox import ExecResult, shared_sandbox
from chameleon.text import nearest

_AT_ONCE = 4
_BATCH = 256
# What other systems' files, and our own results, call a prediction.
_PREDICTIONS = ("prediction", "executed_recorded", "executed")
_TEXTS = ("output",)
_PROGRAMS = ("program",)


class Field:
    """Where a row of predictions holds what is to be scored: "output", or "zeroshot.output" below a key.

    The last part of the name says what it is: `output` is a model's text, `program` a program, and anything
    else a prediction as it stands. `prediction` also finds the names that known files use for it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        *self.above, self.last = name.split(".")

    @property
    def is_text(self) -> bool:
        return self.last in _TEXTS

    @property
    def is_program(self) -> bool:
        return self.last in _PROGRAMS

    def of(self, row: Row, id: str) -> Any:
        """Return the value in a problem's row. Raises `InputError` with the nearest field it has."""
        for value in self._found(row):
            return value
        there = list(_fields(row))
        hint = nearest(self.name, there) if there else ""
        raise InputError(f"the prediction for problem {id} has no field {self.name!r}", hint=hint)

    def read(self, value: Any, problem: Problem, scorer: Scorer) -> Any:
        """Return what the scorer compares: a text is read and a program's value converted by its own rule."""
        if self.is_program:
            return scorer.from_value(value, problem)
        if not self.is_text or value is None:
            return value
        if not isinstance(value, str):
            raise InputError(f"{self.name} of {problem.id} is a {type(value).__name__}, not a text")
        return scorer.from_output(value, problem)

    def is_in(self, row: Row) -> bool:
        """Return whether the row has the field, and something in it."""
        return next(self._found(row), None) is not None

    def _found(self, row: Row) -> Iterator[Any]:
        found: Any = row
        for key in self.above:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            for name in self._names(found):
                # An object below a key holds further fields, unless it is a prediction itself.
                is_one = self.last == "prediction" or name in _PREDICTIONS
                if name in found and (is_one or not isinstance(found[name], Mapping)):
                    yield found[name]

    def _names(self, row: Row) -> tuple[str, ...]:
        if self.last != "prediction":
            return (self.last,)
        return (*_PREDICTIONS, "answer") if "declined" in row else _PREDICTIONS


@dataclass
class Outcomes:
    """What was met while scoring: problems, those without a prediction, other rows, programs' ends."""

    problems: int = 0
    missing: int = 0
    unknown: int = 0
    programs: Counter[str] = field(default_factory=Counter)


def score(
    problems: Iterable[Problem],
    rows: Iterable[Row],
    id_of: Callable[[Row], str | None],
    wanted: Field,
    scorer: Scorer,
    *,
    given: bool = False,
    last_counts: bool = False,
) -> Iterator[tuple[Result | None, Outcomes]]:
    """Yield the verdict on every problem, in order.

    A problem without a row of predictions counts as wrong; where only `given` ones are to count, it has no
    result, and neither has one whose row lacks the field that others have. Programs run in the sandbox, five
    seconds each (as Program-of-Thoughts has it). Raises `InputError` for rows without an id or the field, for
    two rows with the same id (unless `last_counts`), and where the scorer cannot read what is given.
    """
    by_id = _by_id(rows, id_of, last_counts)
    outcomes = Outcomes(unknown=len(by_id))
    if given and any(map(wanted.is_in, by_id.values())):
        by_id = {id: row for id, row in by_id.items() if wanted.is_in(row)}
        outcomes.unknown = len(by_id)
    for problem, row, value in _values(problems, by_id, wanted, outcomes):
        outcomes.problems += 1
        if row is None:
            outcomes.missing += 1
            judged = scorer.judged(None, problem, answered=False)
            yield None if given else _result(problem, None, judged, answered=False), outcomes
            continue
        outcomes.unknown -= 1
        ours = "declined" in row and not (wanted.is_text or wanted.is_program)
        # A result of ours that was declined or failed is never right.
        counts = "declined" not in row or not (row["declined"] or row.get("error"))
        found = row["found"] if isinstance(row.get("found"), Mapping) else {}
        prediction = scorer.from_run(value, found, problem) if ours else wanted.read(value, problem, scorer)
        # What a rule makes nothing of, such as an empty list, was an answer of ours nevertheless.
        answered = counts if ours else prediction is not None
        judged = scorer.judged(prediction, problem, answered=counts)
        yield _result(problem, prediction, judged, answered=answered), outcomes


def _values(
    problems: Iterable[Problem], given: Mapping[str, Row], wanted: Field, outcomes: Outcomes
) -> Iterator[tuple[Problem, Row | None, Any]]:
    if not wanted.is_program:
        for problem in problems:
            row = given.get(problem.id)
            yield problem, row, wanted.of(row, problem.id) if row is not None else None
        return
    sandbox, waiting = shared_sandbox(), iter(problems)

    def run(program: Any) -> ExecResult | None:
        return sandbox.run(program, timeout=5.0) if isinstance(program, str) else None

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while batch := list(islice(waiting, _BATCH)):
            programs = [wanted.of(given[p.id], p.id) if p.id in given else None for p in batch]
            for problem, result in zip(batch, pool.map(run, programs), strict=True):
                row = given.get(problem.id)
                if row is not None:
                    end = "no program" if result is None else result.error_type or result.status
                    outcomes.programs["a value" if result is not None and result.ok else end] += 1
                yield problem, row, _number_or_value(result) if result is not None and result.ok else None


def _number_or_value(result: ExecResult) -> Any:
    """Return a program's answer; a fraction as the number that rules compare, not as the text "1/3"."""
    if result.value_type == "fraction":
        with suppress(AttributeError, ValueError, ArithmeticError):  # what a hostile program may send instead
            above, below = result.value.split("/")
            return int(above) / int(below)
    return result.value


def _result(problem: Problem, prediction: Any, judged: Judgement, *, answered: bool) -> Result:
    return Result(
        id=problem.id,
        answer=prediction,
        declined=not answered,
        correct=judged.correct,
        columns=problem.columns,
        grades=judged.grades,
        sequence=problem.sequence,
        position=problem.position,
    )


def _by_id(rows: Iterable[Row], id_of: Callable[[Row], str | None], last_counts: bool) -> dict[str, Row]:
    given: dict[str, Row] = {}
    for row in rows:
        id = id_of(row)
        if id is None:
            told = f"Its fields: {', '.join(row)[:200]}."
            raise InputError("a row of the predictions names no problem", hint=told)
        if id in given and not last_counts:
            told = f"there are two predictions for problem {id}"
            raise InputError(told, hint="Score the rows of one run of several alone.")
        given[id] = row
    return given


def _fields(row: Row, above: str = "") -> Iterator[str]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{key}.") if not above else ()
        else:
            yield f"{above}{key}"
