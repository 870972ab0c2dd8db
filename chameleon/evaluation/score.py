"""Score the output of any system: recorded texts, predictions or programs, by an official rule."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Row, Scorer
from chameleon.evaluation.results import Result
from chameleon.sandbox import ExecResult, shared_sandbox
from chameleon.text import nearest, type_in_words

_MAX_PROGRAMS = 4  # at once
# Names of a prediction in other systems' files and in our results.
_PREDICTIONS = ("prediction", "executed_recorded", "executed")


class Field:
    """The field of a row of predictions to score: "output", or "zeroshot.output" below a key.

    The last part of the name is the kind: `output` is a model's text, `program` a program, and anything else
    a prediction to use as it is. `prediction` also finds the names that known files use for it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        *self.above, self.last = name.split(".")
        self.is_text, self.is_program = self.last == "output", self.last == "program"

    def of(self, row: Row, id: str) -> Any:
        """Return the value in a problem's row. Raises `InputError` with the nearest field it has."""
        for value in self._values(row):
            return value
        below = {key: value for key, value in row.items() if isinstance(value, Mapping)}
        there = [key for key in row if key not in below]
        there += [f"{key}.{name}" for key, value in below.items() for name in value]
        hint = nearest(self.name, there) if there else ""
        raise InputError(f"the prediction for problem {id} has no field {self.name!r}", hint=hint)

    def read(self, value: Any, problem: Problem, scorer: Scorer) -> Any:
        """Return the value that the scorer compares: it reads texts and converts the values of programs."""
        if self.is_program:
            return scorer.from_value(value, problem)
        if not self.is_text or value is None:
            return value
        if not isinstance(value, str):
            raise InputError(f"{self.name} of {problem.id} is {type_in_words(value)}, not a text")
        return scorer.from_output(value, problem)

    def is_in(self, row: Row) -> bool:
        """Return whether the row has the field and it is not empty."""
        return next(self._values(row), None) is not None

    def _values(self, row: Row) -> Iterator[Any]:
        data: Any = row
        for key in self.above:
            data = data.get(key) if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping):
            return
        names = [self.last]
        if self.last == "prediction":
            names = [*_PREDICTIONS, *(["answer"] if "declined" in data else [])]
        for name in names:
            # An object below a key holds further fields, unless it is itself a prediction.
            is_one = self.last == "prediction" or name in _PREDICTIONS
            if name in data and (is_one or not isinstance(data[name], Mapping)):
                yield data[name]


@dataclass
class Scored:
    """The verdicts on problems in order, counts of missing and unknown ones, and how programs ended."""

    results: list[Result] = field(default_factory=list)
    problems: int = 0
    missing: int = 0
    unknown: int = 0
    programs: Counter[str] = field(default_factory=Counter)


def score(
    problems: Iterable[Problem],
    rows: Iterable[Row],
    id_of: Callable[[Row], str | None],
    field: Field,
    scorer: Scorer,
    *,
    given_only: bool = False,
    last_counts: bool = False,
) -> Scored:
    """Return the verdict on every problem.

    A problem without a row of predictions counts as wrong. Programs run in the sandbox for at most five
    seconds each, as in Program-of-Thoughts.

    Args:
        given_only: whether a problem without a row has no result instead, nor one whose row lacks a field
            that others have.
        last_counts: whether the last of several rows with the same id counts.

    Raises:
        InputError: for rows without an id or the field, for two rows with the same id (unless
            `last_counts`), and if the scorer cannot read a value.
    """
    by_id = _by_id(rows, id_of, last_counts)
    if given_only and any(map(field.is_in, by_id.values())):  # else `of` reports the wrong name
        by_id = {id: row for id, row in by_id.items() if field.is_in(row)}
    every = list(problems)
    scored = Scored(problems=len(every), unknown=len(by_id.keys() - {problem.id for problem in every}))
    values = {each.id: field.of(by_id[each.id], each.id) for each in every if each.id in by_id}
    if field.is_program:
        values = _run(values, scored.programs)
    for problem in every:
        row = by_id.get(problem.id)
        prediction, answered, counts = None, False, False
        if row is None:
            scored.missing += 1
            if given_only:
                continue
        else:
            value, ours = values[problem.id], "declined" in row and not (field.is_text or field.is_program)
            found = row["found"] if isinstance(row.get("found"), Mapping) else {}
            read = scorer.from_run(value, found, problem) if ours else field.read(value, problem, scorer)
            # Our results that were declined or failed are never right.
            prediction, counts = read, "declined" not in row or not (row["declined"] or row.get("error"))
            # Our run did answer even if the rule cannot read it, as with an empty list.
            answered = counts if ours else prediction is not None
        judgment = scorer.judged(prediction, problem, answered=counts)
        result = Result(
            id=problem.id,
            answer=prediction,
            declined=not answered,
            correct=judgment.correct,
            columns=problem.columns,
            grades=judgment.grades,
            sequence=problem.sequence,
            position=problem.position,
        )
        scored.results.append(result)
    return scored


def _run(programs: Mapping[str, Any], ends: Counter[str]) -> dict[str, Any]:
    """Return the values of programs by problem, or None, and count how they ended."""
    sandbox = shared_sandbox()

    def run(program: Any) -> ExecResult | None:
        return sandbox.run(program, timeout=5.0) if isinstance(program, str) else None

    with ThreadPoolExecutor(_MAX_PROGRAMS) as pool:
        results = dict(zip(programs, pool.map(run, programs.values()), strict=True))
    for result in results.values():
        outcome = "no program" if result is None else result.error_type or result.status
        ends["a value" if result is not None and result.ok else outcome] += 1
    return {
        id: _number_or_value(result) if result is not None and result.ok else None
        for id, result in results.items()
    }


def _number_or_value(result: ExecResult) -> Any:
    """Return a program's answer; a fraction as the number that rules compare, not as the text "1/3"."""
    if result.value_type == "fraction":
        with suppress(AttributeError, ValueError, ArithmeticError):  # a hostile program may send anything
            above, below = result.value.split("/")
            return int(above) / int(below)
    if result.value_type in ("set", "frozenset", "range"):
        return str(result.value)  # the rules would take the first of a list, but of these none
    return result.value


def _by_id(rows: Iterable[Row], id_of: Callable[[Row], str | None], last_counts: bool) -> dict[str, Row]:
    by_id: dict[str, Row] = {}
    for row in rows:
        id = id_of(row)
        if id is None:
            hint = f"Its fields: {', '.join(row)[:200]}."
            raise InputError("a row of the predictions has no problem id", hint=hint)
        if id in by_id and not last_counts:
            what = f"there are two predictions for problem {id}"
            raise InputError(what, hint="Score the rows of one run only.", code="several-runs")
        by_id[id] = row
    return by_id
