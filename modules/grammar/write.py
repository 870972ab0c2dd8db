"""Tries every family of questions and keeps the first reading that leaves no word of weight unread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.grammar import (
    aggregates,
    chances,
    change,
    comparisons,
    counts,
    departures,
    extremes,
    frequencies,
    functions,
    lookups,
    markets,
    prices,
    schedules,
    shares,
    verdicts,
)
from chameleon.modules.grammar.problem import Draft, Problem, problem
from chameleon.modules.grammar.words import Word
from chameleon.table import Table

Family = Callable[[Problem], Draft | None]

FAMILIES: tuple[Family, ...] = (
    frequencies.read_stem_and_leaf,
    frequencies.read_frequencies,
    functions.read_function,
    functions.read_pattern,
    markets.read_market,
    chances.read_chance,
    prices.read_shopping,
    schedules.read_schedule,
    departures.read_departure,
    change.read_rate_of_change,
    comparisons.read_difference,
    comparisons.read_which_of_two,
    comparisons.read_whether_more,
    shares.read_share,
    shares.read_ratio,
    verdicts.read_verdict,
    aggregates.read_aggregate,
    extremes.read_extreme,
    counts.read_count,
    lookups.read_number,
    lookups.read_names,
)


@dataclass(frozen=True)
class Program:
    """A short Python program that sets `ans`, and one sentence on how the question was understood."""

    code: str
    reading: str


def write_program(question: str, table: Table, choices: Sequence[str] = (), unit: str = "") -> Program:
    """Write the program that answers a question about a table, without a language model.

    The code uses the standard library only; it holds the values that it needs, or reads them from the
    variable `table` (see `Table.to_program_input`). Raises `Declined`, with the words that were not
    understood, for every question that is not understood in full.
    """
    given = problem(question, table, choices, unit)
    if not given.words or not table.rows:
        raise Declined("there is no question to read" if not given.words else "the table has no rows")
    drafts: list[tuple[Draft, tuple[Word, ...]]] = []
    refusal: Declined | None = None
    for family in FAMILIES:
        try:
            draft = family(given)
        except Declined as declined:
            refusal = refusal or declined
            continue
        if draft is None:
            continue
        unread = given.unread(draft)
        if not unread:
            return Program(draft.code, draft.reading)
        drafts.append((draft, unread))
    if refusal is not None:
        raise refusal
    raise _not_understood(given, drafts)


def _not_understood(given: Problem, drafts: Sequence[tuple[Draft, tuple[Word, ...]]]) -> Declined:
    if not drafts:
        return Declined("the question is of a kind that the grammar does not know")
    _, unread = min(drafts, key=lambda pair: len(pair[1]))
    return Declined(f"these words were not understood: {', '.join(word.text for word in unread)}")
