"""The problems and predictions that a command line names, and `chameleon score` of one by the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from chameleon.cli.columns import show_counts
from chameleon.cli.options import DataOptions
from chameleon.cli.out import counted, say
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Row, Scorer
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems, recognised, tables_beside
from chameleon.evaluation.evaluate import Spending, in_turn
from chameleon.evaluation.results import Tally
from chameleon.evaluation.score import Field, Scored, score
from chameleon.text import nearest


class Data:
    """The problems that the command line names: a data file, its benchmark, and a scorer."""

    def __init__(self, path: Path, benchmark: str | None, options: DataOptions) -> None:
        self.path, self.options = path, options
        self.benchmark: Benchmark = recognised(path) if benchmark is None else find_benchmark(benchmark)
        self.file = DataFile(path, self.benchmark.id_key)
        self.tables = options.tables or tables_beside(self.benchmark, path)
        self.scorer: str = options.scorer or next(iter(self.benchmark.scorers))
        if self.scorer not in self.benchmark.scorers:
            hint = nearest(self.scorer, self.benchmark.scorers)
            raise InputError(f"{self.benchmark.name} has no scorer {self.scorer!r}", hint=hint)

    def new_scorer(self) -> Scorer:
        """Make the scorer anew: it may have a generator of random numbers."""
        return self.benchmark.scorers[self.scorer]()

    def problems(self) -> Iterator[Problem]:
        """Read the first problems; a conversation's stand together, so that the limit cuts only the last."""
        every = read_problems(self.benchmark, self.file, self.tables)
        return islice(chain.from_iterable(in_turn(every)), self.options.limit)


@dataclass(frozen=True)
class Predictions:
    """The predictions that the command line names: a file, what is scored in it, and which rows count.

    `where` is "KEY=VALUE" or None; `given` leaves out the problems that have no prediction.
    """

    path: Path
    field: str
    where: str | None = None
    given: bool = False

    def rows(self, data: Data) -> Iterator[Row]:
        """Read the rows that count. Raises `InputError` where `where` is no pair or picks none."""
        rows = data.benchmark.rows(DataFile(self.path, data.benchmark.id_key), self.path)
        if self.where is None:
            return rows
        key, equals, value = self.where.partition("=")
        if not equals:
            raise InputError(f"--where {self.where!r} is no KEY=VALUE", hint="Such as --where run=cot.")
        return (row for row in rows if str(row.get(key)) == value)

    def warn(self, outcomes: Scored, data: Data) -> None:
        """Say which problems and rows have no counterpart, and what came of programs."""
        if outcomes.missing:
            verdict = "left out" if self.given else "wrong"
            say(f"{counted(outcomes.missing, 'problem')} without a row in {self.path}: {verdict}.")
        if outcomes.unknown and data.options.limit is None:
            say(
                f"{counted(outcomes.unknown, 'row')} of {self.path} of no problem of the data: not looked at."
            )
        if outcomes.programs:
            say(
                "Programs: " + ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common()) + "."
            )


def score_predictions(data: Data, predictions: Predictions, *, as_json: bool) -> int:
    """Score recorded predictions, show the counts, and return the exit code."""
    scorer = data.new_scorer()
    tally = Tally(data.benchmark.columns, scorer)
    begun = time.monotonic()
    outcomes = score(
        data.problems(),
        predictions.rows(data),
        data.benchmark.id_of,
        Field(predictions.field),
        scorer,
        given=predictions.given,
        last_counts=data.benchmark.last_counts,
    )
    for result in outcomes.results:
        tally.add(result)
    if not outcomes.problems:
        raise InputError("there is no problem to score", where=str(data.path))
    if outcomes.missing and outcomes.missing == outcomes.problems:
        picked = f" that have {predictions.where}" if predictions.where else ""
        raise InputError(
            f"no row of the predictions{picked} belongs to a problem of the data",
            where=str(predictions.path),
            hint=f"A row belongs to the problem with the same {data.benchmark.id_key!r}.",
        )
    predictions.warn(outcomes, data)
    seconds = time.monotonic() - begun
    show_counts(tally, data.benchmark, data.scorer, seconds, Spending(), as_json=as_json)
    return 0
