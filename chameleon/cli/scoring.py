"""`chameleon score`: recorded texts, predictions or programs through an official rule."""

from __future__ import annotations

import time
from pathlib import Path

from chameleon.cli.counts import counted, say, show_counts
from chameleon.cli.problems import Data
from chameleon.errors import InputError
from chameleon.evaluation.data import DataFile
from chameleon.evaluation.results import Tally
from chameleon.evaluation.score import Field, Outcomes, score
from chameleon.evaluation.spending import Spending


def score_predictions(data: Data, predictions: Path, wanted: str, *, as_json: bool) -> int:
    """Score recorded predictions, show the counts, and return the exit code."""
    rows = DataFile(predictions, data.benchmark.id_key)
    tally, outcomes = Tally(data.benchmark.columns), Outcomes()
    begun = time.monotonic()
    for result, seen in score(data.problems(), rows, data.benchmark.id_key, Field(wanted), data.new_scorer()):
        tally.add(result)
        outcomes = seen
    if tally.all.n and outcomes.missing == tally.all.n:
        raise InputError(
            "no row of the predictions belongs to a problem of the data",
            where=str(predictions),
            hint=f"A row belongs to the problem with the same {data.benchmark.id_key!r}.",
        )
    _tell(outcomes, data, predictions)
    seconds = time.monotonic() - begun
    show_counts(tally, data.benchmark, data.scorer, seconds, Spending(), as_json=as_json)
    return 0


def _tell(outcomes: Outcomes, data: Data, predictions: Path) -> None:
    if outcomes.missing:
        say(f"{counted(outcomes.missing, 'problem')} without a row in {predictions}: wrong.")
    if outcomes.unknown and data.limit is None:
        say(f"{counted(outcomes.unknown, 'row')} of {predictions} of no problem of the data: not looked at.")
    if outcomes.programs:
        say("Programs: " + ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common()) + ".")
