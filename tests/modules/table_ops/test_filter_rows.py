"""`f_filter_rows`: conditions mean what they say, and what is not understood is named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.filter_rows import FilterRows, rows_where

STAGES = Table(
    ["Rank", "Rider and team", "Points", "Date", "Remark"],
    [
        ["1", "Liquigas", "1,203", "October 4, 2009", ""],
        ["2", "Love and Peace", "20", "May 5, 2010", "fell"],
        ["3", "Caisse d'Epargne (ESP)", "n/a", "2009-01-02", "–"],
    ],
)


def kept(condition: str, table: Table = STAGES) -> str:
    """The ranks of the rows that are left."""
    held = rows_where(condition, table)
    return "".join(row[0] for row, holds in zip(table.rows, held, strict=True) if holds)


@pytest.mark.parametrize(
    ("condition", "ranks"),
    [
        ("Points > 20", "1"),
        ('points>=20 and RIDER  and team = "liquigas"', "1"),
        ("Points != 20", "13"),
        ("Points = 1203", "1"),
        ("Points < 2,000", "12"),
        ("Rider and team = Love and Peace and Points = 20", "2"),
        ("Rider and team = Caisse d'Epargne (ESP)", "3"),
        ("(Rider and team contains love or Rank = 1)", "12"),
        ("Rider and team does not contain love", "13"),
        ("Rider and team > Liq", "12"),
        ("not Remark is empty", "2"),
        ("Remark is not empty", "2"),
        ('Remark = ""', "1"),
        ("Remark is fell or Rank is 3", "23"),
        ("not (Rank = 1 or Rank = 2)", "3"),
        ("Rank = 1 or Rank = 2 and Points = 0", "1"),
        ("Date = 2009", "13"),
        ("Date > 2009", "2"),
        ("Date >= October 2009", "12"),
        ("Date <= 2009-10-04", "13"),
        ("`Rank` < 3 and [Points] > 100", "1"),
        ("Points > 5,000", ""),
    ],
)
def test_a_condition_keeps_the_rows_that_it_says(condition: str, ranks: str) -> None:
    assert kept(condition) == ranks


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("", "its end"),
        ("Pointz > 3", "begins at 'Pointz > 3'"),
        ("Rank 3", "begins at 'Rank 3'"),
        ("Rank >", "after 'Rank >'"),
        ("Points > 20 and", "'20 and'"),
        ("Points > 20 and Pontz > 3", "'20 and Pontz > 3'"),
        ("Rank = x or Pontz > 3", "'x or Pontz > 3'"),
        ("(Rank = 1", "not closed before its end"),
        ("Rank = 1)", "goes on with ')'"),
        ('Rank = "1" 2', "goes on with '2'"),
        ("not " * 99 + "Rank = 1", "nested"),
        ("(" * 1_999, "nested"),
        ("Rank = " + "1" * 2_000, "2,000 characters"),
        ("__import__('os').system('id')", "begins at"),
    ],
)
def test_what_is_not_understood_is_named(condition: str, named: str) -> None:
    with pytest.raises(StepRejected, match=re.escape(named)):
        rows_where(condition, STAGES)


def test_a_reply_is_read_with_its_quotes_and_parentheses() -> None:
    reply = 'Explanation: two hold.\nSo: f_filter_rows((Rank = 1 or Rank = 2) and Remark != "fell").'
    args = FilterRows().read_args(reply, STAGES)
    assert args == {"condition": '(Rank = 1 or Rank = 2) and Remark != "fell"'}
    assert FilterRows().apply(STAGES, args).rows == STAGES.rows[:1]
    with pytest.raises(StepRejected, match="no row meets the condition"):
        FilterRows().apply(STAGES, {"condition": "Points > 5,000"})


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet="Rank=<>()\"' andotr123", max_size=60))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        held = rows_where(text, STAGES)
    except StepRejected:
        return
    assert len(held) == len(STAGES.rows) and all(isinstance(each, bool) for each in held)


@pytest.mark.parametrize(
    ("cells", "condition", "held"),
    [
        (["$1,200", "$(900)", "$300"], "V < $300", [0, 1, 0]),
        (["900K", "1.2M", ""], "V > 1,000,000", [0, 1, 0]),
        (["5 kg", "800 g"], "V < 1 kg", [0, 1]),
        (["5 kg", "8 kg"], "V > 6", [0, 1]),
        (["25/12/2024", "14/06/2024"], "V > 30/06/2024", [1, 0]),
        (["25/12/2024", "14/06/2024"], "V = December 2024", [1, 0]),
        (["2024-03-01 23:30", "2024-03-01 08:15"], "V > 2024-03-01 12:00", [1, 0]),
        (["9:45 AM", "2:05 PM"], "V > 10:00", [0, 1]),
        (["May 2020", "April 2019", ""], "V < May 2020", [0, 1, 0]),
        (["1:52.33", "1:49.10"], "V < 1:50", [0, 1]),
        (["02116", "12207"], "V = 02116", [1, 0]),
        (["7", "DNF", "9"], "V > 8", [0, 0, 1]),
        (["n/a", "", "x"], "V is empty", [1, 1, 0]),
    ],
)
def test_a_value_is_compared_as_meant(cells: list[str], condition: str, held: list[int]) -> None:
    assert rows_where(condition, Table(["V"], [[cell] for cell in cells])) == held


@pytest.mark.parametrize(
    ("cells", "condition"),
    [
        (["$100", "€90"], "V > 95"),
        (["03/04/2024", "05/06/2024"], "V > 2024-04-01"),
        (["5 kg", "8 kg"], "V > 6 cm"),
        (["12.500 €", "8.750 €"], "V > 9"),
        (["7", "<5", "9"], "V > 8"),
        (["5%", "30%"], "V > 0.2"),
        (["0.05", "0.3"], "V > 20%"),
        (["1.5 Mrd", "900 Mio"], "V > 100"),
    ],
)
def test_what_cannot_be_compared_is_refused(cells: list[str], condition: str) -> None:
    with pytest.raises(StepRejected, match="'V'"):
        rows_where(condition, Table(["V"], [[cell] for cell in cells]))
