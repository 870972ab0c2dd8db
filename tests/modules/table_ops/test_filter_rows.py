"""`f_filter_rows`: conditions mean what they say, and what is not understood is named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.filter_rows import FilterRows, rows_where
from tests.modules.table_ops.doubles import column

STAGES = Table(
    ["Rank", "Rider and team", "Points", "Date", "Remark"],
    [
        ["1", "Liquigas", "1,203", "October 4, 2009", ""],
        ["2", "Love and Peace", "20", "May 5, 2010", "fell"],
        ["3", "Caisse d'Epargne (ESP)", "n/a", "2009-01-02", "–"],
    ],
)


# The numbers of the rows that are left.
@pytest.mark.parametrize(
    ("condition", "table", "rows"),
    [
        ('points>=20 and RIDER  and team = "liquigas"', STAGES, "1"),
        ("Points != 20", STAGES, "13"),
        ("Points = 1203", STAGES, "1"),
        ("Points < 2,000", STAGES, "12"),
        ("Rider and team = Love and Peace and Points = 20", STAGES, "2"),
        ("Rider and team = Caisse d'Epargne (ESP)", STAGES, "3"),
        ("(Rider and team contains love or Rank = 1)", STAGES, "12"),
        ("Rider and team does not contain love", STAGES, "13"),
        ("Rider and team > Liq", STAGES, "12"),
        ("not Remark is empty", STAGES, "2"),
        ("Remark is not empty", STAGES, "2"),
        ('Remark = ""', STAGES, "1"),
        ("Remark is fell or Rank is 3", STAGES, "23"),
        ("not (Rank = 1 or Rank = 2)", STAGES, "3"),
        ("Rank = 1 or Rank = 2 and Points = 0", STAGES, "1"),
        ("Date = 2009", STAGES, "13"),
        ("Date > 2009", STAGES, "2"),
        ("Date >= October 2009", STAGES, "12"),
        ("Date <= 2009-10-04", STAGES, "13"),
        ("`Rank` < 3 and [Points] > 100", STAGES, "1"),
        ("V < $300", column("$1,200 | $(900) | $300"), "2"),
        ("V < 1 kg", column("5 kg | 800 g"), "2"),
        ("V > 6", column("5 kg | 8 kg"), "2"),
        ("V > 30/06/2024", column("25/12/2024 | 14/06/2024"), "1"),
        ("V > 2024-03-01 12:00", column("2024-03-01 23:30 | 2024-03-01 08:15"), "1"),
        ("V > 10:00", column("9:45 AM | 2:05 PM"), "2"),
        ("V < May 2020", column("May 2020 | April 2019 | "), "2"),
        ("V < 1:50", column("1:52.33 | 1:49.10"), "2"),
        ("V > 02116", column("02116 | 12207"), "2"),
        ("V > 8", column("7 | DNF | 9"), "3"),
        ("V is empty", column("n/a | | x"), "12"),
    ],
)
def test_a_condition_keeps_the_rows_that_it_says(condition: str, table: Table, rows: str) -> None:
    held = rows_where(condition, table)
    assert "".join(str(number) for number, holds in enumerate(held, 1) if holds) == rows


@pytest.mark.parametrize(
    ("condition", "table", "named"),
    [
        ("", STAGES, "its end"),
        ("Pointz > 3", STAGES, "begins at 'Pointz > 3'"),
        ("Rank >", STAGES, "after 'Rank >'"),
        ("Points > 20 and", STAGES, "'20 and'"),
        ("Points > 20 and Pontz > 3", STAGES, "'20 and Pontz > 3'"),
        ("Rank = x or Pontz > 3", STAGES, "'x or Pontz > 3'"),
        ("(Rank = 1", STAGES, "not closed before its end"),
        ("Rank = 1)", STAGES, "goes on with ')'"),
        ("not " * 99 + "Rank = 1", STAGES, "nested"),
        ("(" * 1_999, STAGES, "nested"),
        ("Rank = " + "1" * 2_000, STAGES, "2,000 characters"),
        ("__import__('os').system('id')", STAGES, "begins at"),
        ("V > 95", column("$100 | €90"), "'V'"),
        ("V > 2024-04-01", column("03/04/2024 | 05/06/2024"), "'V'"),
        ("V > 6 cm", column("5 kg | 8 kg"), "'V'"),
        ("V > 8", column("7 | <5 | 9"), "'V'"),
        ("V > 0.2", column("5% | 30%"), "'V'"),
        ("V > 20%", column("0.05 | 0.3"), "'V'"),
    ],
)
def test_what_is_not_understood_is_named(condition: str, table: Table, named: str) -> None:
    with pytest.raises(StepRejected, match=re.escape(named)):
        rows_where(condition, table)


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
