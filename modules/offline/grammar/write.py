"""Tries every family of questions and keeps the first reading that leaves no word of weight unread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar import (
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
    payslips,
    periods,
    prices,
    rivals,
    schedules,
    shares,
    standings,
    summits,
    verdicts,
)
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import FILLERS, STEERING
from chameleon.modules.offline.grammar.problem import Draft, Problem, problem
from chameleon.modules.offline.grammar.shapes import frequencies as tally
from chameleon.modules.offline.grammar.shapes import stem_and_leaf
from chameleon.modules.offline.grammar.words import Word, stems
from chameleon.table import Table

Family = Callable[[Problem], Draft | None]

FAMILIES: tuple[Family, ...] = (
    functions.read_function,
    functions.read_pattern,
    functions.read_proportion,
    payslips.read_payslip,
    markets.read_market,
    chances.read_chance,
    prices.read_shopping,
    schedules.read_schedule,
    departures.read_departure,
    change.read_rate_of_change,
    rivals.read_rivals,
    comparisons.read_difference,
    comparisons.read_behind,
    comparisons.read_which_of_two,
    comparisons.read_whether_more,
    shares.read_share,
    shares.read_share_of_rows,
    shares.read_ratio,
    verdicts.read_verdict,
    verdicts.read_existence,
    periods.read_best_period,
    standings.read_top,
    standings.read_most_common,
    standings.read_placed,
    aggregates.read_aggregate,
    summits.read_summit,
    extremes.read_extreme,
    summits.read_dated,
    counts.read_count,
    lookups.read_number,
    lookups.read_names,
)


@dataclass(frozen=True)
class Program:
    """A short Python program that sets `ans`, and one sentence on how the question was understood.

    `columns` are the positions of those that it reads; none where it may read any.
    """

    code: str
    reading: str
    columns: frozenset[int] = frozenset()


def write_program(question: str, table: Table, choices: Sequence[str] = (), unit: str = "") -> Program:
    """Write the program that answers a question about a table, without a language model.

    The code uses the standard library only; it holds the values that it needs, or reads them from the
    variable `table` (see `Table.to_program_input`). Raises `Declined`, with the words that were not
    understood, for every question that is not understood in full.
    """
    if table.cells > _MOST_CELLS:
        raise Declined(
            f"the table has {len(table.rows):,} rows of {len(table.header)} cells, "
            "more than a program can read in its time",
            hint=f"Keep the rows or columns that are asked about: {_MOST_CELLS:,} cells at most.",
        )
    given = problem(question, table, choices, unit)
    if not given.words or not table.rows:
        raise Declined("there is no question to read" if not given.words else "the table has no rows")
    if _asks_twice(given):
        raise Declined("there are two questions in one", hint="Ask one at a time.")
    drafts: list[tuple[Draft, tuple[Word, ...]]] = []
    refusal: Declined | None = None
    for family in _families(given.table):
        try:
            draft = family(given)
        except Declined as declined:
            refusal = refusal or declined
            continue
        if draft is None:
            continue
        unread = given.unread(draft)
        if not unread:
            if len(draft.code) > _LONGEST_PROGRAM:
                raise Declined("the answer needs more of the table's values than a program can hold")
            return Program(draft.code, draft.reading, draft.columns)
        drafts.append((draft, unread))
    raise _refusal(given, drafts, refusal)


def _families(table: Table) -> tuple[Family, ...]:
    """The families that read a table of this shape; cells of a plot or a tally are no records."""
    if stem_and_leaf(table) is not None:
        return (frequencies.read_stem_and_leaf,)
    if tally(table) is not None:
        return (frequencies.read_frequencies,)
    return FAMILIES


# The sandbox takes programs up to 256 KiB, and by default runs them for 2 seconds.
_LONGEST_PROGRAM = 200_000
_MOST_CELLS = 1_200_000


def _asks_twice(given: Problem) -> bool:
    """Whether there is a second question, beside the last one or within it; quoted ones are story."""
    others = [text for i, text in enumerate(given.sentences) if i != given.asked_sentence]
    opening = [given.words[i].text.lower() for i in given.asked]
    return any(text.endswith("?") for text in others) or opening.count("how") + opening.count("what") > 1


def _refusal(
    given: Problem, drafts: Sequence[tuple[Draft, tuple[Word, ...]]], refusal: Declined | None
) -> Declined:
    """What to say: a name that the table lacks, else the few words left over, else a family's reason."""
    unread = min((words for _, words in drafts), key=len, default=())
    missing = _unknown_names(given)
    if shared := [word.text for word in missing if _is_in_cells(given.table, word)]:
        return Declined(
            f"it is not clear which row is meant by {', '.join(shared)}", hint="Give the full name."
        )
    if missing:
        return Declined(f"the table holds nothing that is called {', '.join(word.text for word in missing)}")
    if {word.text.lower() for word in unread} & {"each", "per", "every"}:
        return Declined(
            "the question asks for one answer for each of several things",
            hint="Ask about one of them, or which of them has the most.",
        )
    if unread and (refusal is None or len(unread) <= 2):
        return Declined(
            f"these words were not understood: {', '.join(word.text for word in unread)}",
            hint=f"Try again with the names of the columns: {_column_names(given)}.",
        )
    if refusal is not None and refusal.hint.startswith("There are:") and (foreign := _foreign(given)):
        return Declined(f"the table says nothing of {', '.join(foreign)}", hint=refusal.hint)
    return refusal or Declined(
        "this kind of question is not understood",
        hint="Ask for a count, a total, an average, the highest or lowest, or a comparison, "
        f"and name the columns: {_column_names(given)}.",
    )


def _is_in_cells(table: Table, word: Word) -> bool:
    """Whether a cell has a form of the word, which begins like it."""
    opening = word.text.lower()[:3]
    return any(opening in cell.lower() and word.stem in stems(cell) for row in table.rows for cell in row)


def _column_names(given: Problem) -> str:
    names = [name.strip() for name in given.table.header if name.strip()]
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")


def _foreign(given: Problem) -> list[str]:
    """The words of the asked sentence that neither the table nor the grammar has a use for."""
    draft = Draft("", "", frozenset(), frozenset(range(len(given.table.header))))
    frame = Frame(given)
    linked = {place for mention in frame.cells for place in mention.places}
    linked |= {place for mention in frame.columns for place in mention.places}
    known = STEERING | FILLERS
    return [
        word.text
        for place in given.asked
        if (word := given.words[place]).kind == "word" and word.text.lower() not in known
        if place not in linked and word in given.unread(draft)
    ]


def _is_year_or_date(word: Word) -> bool:
    return word.kind == "date" or (word.kind == "number" and word.text.isdigit() and len(word.text) == 4)


def _unknown_names(given: Problem) -> list[Word]:
    """The names and numbers of the asked sentence that neither the table nor the story has."""
    frame = Frame(given)
    linked = {place for mention in frame.cells for place in mention.places}
    linked |= {place for named in frame.columns for place in named.places}
    linked |= {place for date in frame.dates for place in date.places}
    linked |= {place for item in frame.bounds for place in item.places}
    return [
        given.words[i]
        for i in given.asked[1:]
        if i not in linked
        and (given.words[i].is_name or _is_year_or_date(given.words[i]))
        and given.words[i].stem not in given.topic
        and given.words[i].text.lower() not in FILLERS | STEERING
        and i not in given.naming
    ]
