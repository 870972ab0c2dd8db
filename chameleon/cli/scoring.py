"""The problems and predictions that a command line names, and `chameleon score` of one by the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from chameleon.cli.columns import show_counts
from chameleon.cli.options import DataOptions
from chameleon.cli.terminal import say
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Scorer
from chameleon.evaluation.data import DataFile, beside, find_benchmark, read_problems, recognised
from chameleon.evaluation.problems import in_turn
from chameleon.evaluation.results import Spending, Tally
from chameleon.evaluation.score import Field, score
from chameleon.text import counted, nearest


class Data:
    """The problems that the command line names: a data file, its benchmark, and a scorer."""

    def __init__(self, path: Path, benchmark: str | None, options: DataOptions) -> None:
        self.path, self.options = path, options
        self.benchmark: Benchmark = recognised(path) if benchmark is None else find_benchmark(benchmark)
        self.file = DataFile(path, self.benchmark.id_key)
        self.tables = options.tables or beside(path, *self.benchmark.tables_beside)
        self.scorer: str = options.scorer or next(iter(self.benchmark.scorers))
        if self.scorer not in self.benchmark.scorers:
            hint = nearest(self.scorer, self.benchmark.scorers)
            raise InputError(f"{self.benchmark.name} has no scorer {self.scorer!r}", hint=hint)

    def new_scorer(self) -> Scorer:
        """Make the scorer anew: it may have a generator of random numbers."""
        return self.benchmark.scorers[self.scorer]()

    def read(self, **how: Any) -> Iterator[Problem]:
        """Read the problems in the order of the file: see `read_problems`."""
        return read_problems(self.benchmark, self.file, self.tables, **how)

    def problems(self) -> Iterator[Problem]:
        """Read the first problems; a conversation's stand together, so that the limit cuts only the last."""
        return islice(chain.from_iterable(in_turn(self.read())), self.options.limit)


def score_predictions(
    data: Data, path: Path, field: str, where: str | None, *, given: bool, as_json: bool
) -> int:
    """Score recorded predictions, show the counts, and return the exit code.

    Args:
        path: the file of predictions; `field` is what is scored in it.
        where: "KEY=VALUE", for the rows that have this value alone.
        given: leave out problems that have no prediction.
    """
    rows = data.benchmark.rows(DataFile(path, data.benchmark.id_key), path)
    if where is not None:
        key, equals, value = where.partition("=")
        if not equals:
            raise InputError(f"--where {where!r} is no KEY=VALUE", hint="Such as --where run=cot.")
        rows = (row for row in rows if str(row.get(key)) == value)
    scorer = data.new_scorer()
    tally = Tally(data.benchmark.columns, scorer)
    begun = time.monotonic()
    outcomes = score(
        data.problems(),
        rows,
        data.benchmark.id_of,
        Field(field),
        scorer,
        given=given,
        last_counts=data.benchmark.last_counts,
    )
    for result in outcomes.results:
        tally.add(result)
    if not outcomes.problems:
        raise InputError("there is no problem to score", where=str(data.path))
    if outcomes.missing and outcomes.missing == outcomes.problems:
        picked = f" that have {where}" if where else ""
        what = f"no row of the predictions{picked} belongs to a problem of the data"
        hint = f"A row belongs to the problem with the same {data.benchmark.id_key!r}."
        raise InputError(what, where=str(path), hint=hint)
    if outcomes.missing:
        verdict = "left out" if given else "wrong"
        say(f"{counted(outcomes.missing, 'problem')} without a row in {path}: {verdict}.")
    if outcomes.unknown and data.options.limit is None:
        say(f"{counted(outcomes.unknown, 'row')} of {path} of no problem of the data: not looked at.")
    if outcomes.programs:
        ends = ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common())
        say(f"Programs: {ends}.")
    seconds = time.monotonic() - begun
    show_counts(tally, data.benchmark, data.scorer, seconds, Spending(), as_json=as_json)
    return 0
