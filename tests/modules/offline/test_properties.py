"""What must not change an answer, and the algebra beside pandas."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import Declined, Table
from chameleon.modules.offline.forms import Fold, Grouped, HowMany, Pick
from chameleon.modules.offline.judge import Answer, answer
from chameleon.modules.offline.rows import Compares, Either, Is, Ordered, Unfit, Where
from chameleon.modules.offline.sheet import Sheet, is_blank
from chameleon.table import read_table

pandas = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[3]
FILES = [*(ROOT / "demos" / "data").glob("*.csv"), *Path(__file__).with_name("everyday").glob("*.csv")]


def questions_about(table: Table) -> Iterator[str]:
    """Yield questions of a few forms, filled from the table's own header and cells."""
    sheet = Sheet(table)
    if sheet.key is None:
        return
    name = sheet.key.plain.lower()
    names = [cell for row in sheet.rows[:3] if not is_blank(cell := sheet.key.cells[row])]
    others = [each for each in sheet.columns if each.kind == "text" and each is not sheet.key]
    yield f"How many {name}s are there?"
    for column in sheet.amounts[:3]:
        wanted = column.plain.lower()
        yield f"Which {name} has the highest {wanted}?"
        yield f"Which {name} has the lowest {wanted}?"
        yield f"What is the average {wanted}?"
        yield f"What is the total {wanted}?"
        if number := next((each for each in column.numbers[1:] if each is not None), None):
            yield f"How many {name}s have a {wanted} of more than {float(number):g}?"
        for cell in names:
            yield f"What is the {wanted} of {cell}?"
        if len(names) > 1:
            yield f"How much higher is the {wanted} of {names[0]} than that of {names[1]}?"
        for other in others[:2]:
            yield f"What is the average {wanted} by {other.plain.lower()}?"
            yield f"What is the highest {wanted} where the {other.plain.lower()} is {other.cells[0]}?"
    for other in others[:2]:
        yield f"How many {name}s have the {other.plain.lower()} {other.cells[0]}?"
        yield f"What is the {other.plain.lower()} of {names[0]}?"
        yield f"What is the most common {other.plain.lower()}?"
        yield f"Is the {other.plain.lower()} of {names[0]} {other.cells[1]}?"


def asked(question: str, table: Table) -> Answer | None:
    try:
        return answer(question, table)
    except Declined:
        return None


def answered() -> list[tuple[str, Table]]:
    tables = [read_table(file).with_caption(file.stem.replace("_", " ")) for file in sorted(FILES)]
    return [(question, table) for table in tables for question in questions_about(table)]


CASES = answered()


def shuffled_columns(table: Table, chance: Random, found: Answer, question: str) -> Table:
    return table.take_columns(chance.sample(range(len(table.header)), len(table.header)))


def shuffled_rows(table: Table, chance: Random, found: Answer, question: str) -> Table:
    return table.take_rows(chance.sample(range(len(table.rows)), len(table.rows)))


def renamed_column(table: Table, chance: Random, found: Answer, question: str) -> Table:
    sheet = Sheet(table)
    key = sheet.key.index if sheet.key else None
    spare = [i for i in range(len(table.header)) if i not in found.result.columns and i != key]
    if not spare:
        return table
    place = chance.choice(spare)
    header = [*table.header[:place], "Zubrix", *table.header[place + 1 :]]
    return Table(header, table.rows, table.caption)


def added_column(table: Table, chance: Random, found: Answer, question: str) -> Table:
    wider = table.with_column("Zubrix", [f"qua{chance.randrange(9)}" for _ in table.rows])
    return shuffled_columns(wider, chance, found, question)


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@pytest.mark.parametrize("change", [shuffled_columns, shuffled_rows, renamed_column, added_column])
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(case=st.sampled_from(CASES), chance=st.randoms(use_true_random=False))
def test_meaningless_changes_change_nothing(change: Any, case: tuple[str, Table], chance: Random) -> None:
    question, table = case
    found = asked(question, table)
    if found is None:
        return
    again = asked(question, change(table, chance, found, question))
    assert again is None or sorted(again.result.values) == sorted(found.result.values), question


def test_most_of_these_questions_are_answered() -> None:
    part = list(islice(CASES, 0, None, 5))
    assert sum(asked(*case) is not None for case in part) > 0.5 * len(part)


SIGNS = ("<", "<=", "==", "!=", ">=", ">")
TEAMS = ("Nord", "Sud", "West")
ROWS = st.lists(st.tuples(st.sampled_from(TEAMS), st.integers(-50, 900)), min_size=2, max_size=12)


def both(rows: list[tuple[str, int]]) -> tuple[Sheet, Any]:
    """Return the same rows as a sheet and as a frame."""
    cells = [(f"N{place}x", team, str(points)) for place, (team, points) in enumerate(rows)]
    frame = pandas.DataFrame(cells, columns=["Name", "Team", "Points"]).astype({"Points": int})
    return Sheet(Table(["Name", "Team", "Points"], cells)), frame


def told(form: Any, sheet: Sheet) -> Any:
    """Return what a form gives, as a number or texts; None where the table does not bear it."""
    try:
        result = form.run(sheet)
    except Unfit:
        return None
    return float(result.number) if result.kind == "number" else list(result.values)


@settings(deadline=None)
@given(ROWS, st.integers(-50, 900), st.sampled_from(SIGNS), st.sampled_from(TEAMS))
def test_filters_and_groups_are_as_in_pandas(rows: Any, number: int, sign: Any, team: str) -> None:
    sheet, df = both(rows)
    above, in_team = Compares(2, sign, Fraction(number)), Is(1, frozenset({team.lower()}))
    over, of_team = df.eval(f"Points {sign} {number}"), df["Team"] == team
    for where, kept in (
        (Where(), df),
        (Where((above,)), df[over]),
        (Where((above, in_team)), df[over & of_team]),
        (Where((Either((in_team,), negated=True),)), df[~of_team]),
    ):
        assert where.rows(sheet) == list(kept.index)
        assert told(HowMany(where), sheet) == len(kept)
        assert told(HowMany(where, 1), sheet) == kept["Team"].nunique()
        for how in ("sum", "mean", "median") if len(kept) else ():
            fold = Fold(where, 2, how)  # type: ignore[arg-type]
            assert told(fold, sheet) == pytest.approx(float(kept["Points"].agg(how)))
        if len(kept):
            sums = kept.groupby("Team", sort=False)["Points"].sum()
            assert told(Grouped(Fold(where, 2, "sum"), 1), sheet) == [f"{k}: {v}" for k, v in sums.items()]


@settings(deadline=None)
@given(ROWS, st.integers(1, 4), st.booleans())
def test_orders_are_those_of_pandas_with_ties(rows: list[tuple[str, int]], count: int, down: bool) -> None:
    sheet, df = both(rows)
    ends = (df.nlargest if down else df.nsmallest)(count, "Points", keep="all")
    names = told(Pick(Ordered(Where(), 2, down, 0, count), (0,)), sheet)
    assert sorted(names or ends["Name"]) == sorted(ends["Name"])
    best = told(Grouped(HowMany(Where()), 1, 1), sheet)
    sizes = df.groupby("Team").size()
    assert sorted(best or sizes[sizes == sizes.max()].index) == sorted(sizes[sizes == sizes.max()].index)
