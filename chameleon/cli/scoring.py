"""`chameleon score`: recorded texts, predictions or programs through an official rule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chameleon.cli.counts import counted, show_counts
from chameleon.cli.out import say
from chameleon.cli.problems import Data
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Row
from chameleon.evaluation.data import DataFile, data_files
from chameleon.evaluation.evaluate import Spending
from chameleon.evaluation.results import Tally
from chameleon.evaluation.score import Field, Outcomes, score

_LOOKED_AT = 20_000


@dataclass(frozen=True)
class Recorded:
    """The predictions that the command line names: a file, what is scored in it, and which rows count.

    `where` is "KEY=VALUE" or None; `given` leaves out the problems that have no prediction.
    """

    path: Path
    field: str
    where: str | None = None
    given: bool = False

    def rows(self, data: Data) -> Iterator[Row]:
        """The rows that count. Raises `InputError` where `where` is no pair or picks none."""
        rows = data.benchmark.rows(DataFile(self.path, data.benchmark.id_key), self.path)
        if self.where is None:
            return rows
        key, equals, value = self.where.partition("=")
        if not equals:
            raise InputError(f"--where {self.where!r} is no KEY=VALUE", hint="Such as --where run=cot.")
        return (row for row in rows if str(row.get(key)) == value)


def score_predictions(data: Data, recorded: Recorded, *, as_json: bool) -> int:
    """Score recorded predictions, show the counts, and return the exit code."""
    scorer, outcomes = data.new_scorer(), Outcomes()
    tally = Tally(data.benchmark.columns, scorer)
    begun = time.monotonic()
    scored = score(
        data.problems(),
        recorded.rows(data),
        data.benchmark.id_of,
        Field(recorded.field),
        scorer,
        given=recorded.given,
        last_counts=data.benchmark.last_counts,
    )
    for result, seen in scored:
        outcomes = seen
        if result is not None:
            tally.add(result)
    if not outcomes.problems:
        raise InputError("there is no problem to score", where=str(data.path))
    if outcomes.missing and outcomes.missing == outcomes.problems:
        picked = f" that have {recorded.where}" if recorded.where else ""
        same = f"A row belongs to the problem with the same {data.benchmark.id_key!r}."
        raise InputError(
            f"no row of the predictions{picked} belongs to a problem of the data",
            where=str(recorded.path),
            hint=same + _fitting(data, recorded),
        )
    _tell(outcomes, data, recorded)
    seconds = time.monotonic() - begun
    show_counts(tally, data.benchmark, data.scorer, seconds, Spending(), as_json=as_json)
    return 0


def _fitting(data: Data, recorded: Recorded) -> str:
    """Which file beside the data has the problems that the predictions are about, as a sentence."""
    id_of = data.benchmark.id_of
    wanted = set(map(id_of, recorded.rows(data)))
    given = {data.path.resolve(), recorded.path.resolve()}
    for path in data_files(data.path.parent):
        if path.resolve() in given:
            continue
        try:
            rows = islice(data.benchmark.rows(DataFile(path, data.benchmark.id_key), path), _LOOKED_AT)
            fits = any(data.benchmark.recognises(row) and id_of(row) in wanted for row in rows)
        except InputError:  # a file of some other kind
            continue
        if fits:
            return f" The file {path} has such problems."
    return ""


def _tell(outcomes: Outcomes, data: Data, recorded: Recorded) -> None:
    if outcomes.missing:
        verdict = "left out" if recorded.given else "wrong"
        say(f"{counted(outcomes.missing, 'problem')} without a row in {recorded.path}: {verdict}.")
    if outcomes.unknown and data.limit is None:
        rows = counted(outcomes.unknown, "row")
        say(f"{rows} of {recorded.path} of no problem of the data: not looked at.")
    if outcomes.programs:
        say("Programs: " + ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common()) + ".")
