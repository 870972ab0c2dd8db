"""What holds of every statement and question: no error but `Declined`, and the same in any row order."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Declined, StepRejected, Table
from chameleon.modules.offline.lexical.answers import answer_of
from chameleon.modules.offline.lexical.arguments import arguments_of
from chameleon.modules.offline.lexical.questions import question_readings
from chameleon.modules.offline.lexical.reading import Reading
from chameleon.modules.offline.lexical.statements import readings_of
from chameleon.modules.table_ops.aggregate import Grouping
from chameleon.modules.table_ops.selection import ColumnSelection, RowSelection
from chameleon.modules.table_ops.sort_by import Sorting
from tests.modules.offline.asked import Asked, questions
from tests.modules.offline.asked import table as table_of

_APPLIED: dict[str, Any] = {
    "select_row": RowSelection.apply,
    "select_column": ColumnSelection.apply,
    "group_by": Grouping.apply,
    "sort_by": Sorting.apply,
}
_STATEMENTS = [each for each in questions() if each.reader == "tabfact_offline" and each.rule == "answered"]
TABLES = [table_of(name) for name in dict.fromkeys(each.table for each in _STATEMENTS)]
_WORDS = sorted({word for each in _STATEMENTS for word in each.question.split()})
_LINES = st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join)
_CELLS = st.text(max_size=12) | st.sampled_from(
    ["12", "1,203", "may 4 , 2001", "w 3 - 1", "total", "²", "-", ""]
)
_ANY_TABLES = st.integers(1, 4).flatmap(
    lambda width: st.builds(
        Table,
        st.lists(_CELLS, min_size=width, max_size=width),
        st.lists(st.lists(_CELLS, min_size=width, max_size=width), max_size=6),
    )
)


class _Settings:
    most_distinct = 1.0


def _answer(reading: Reading, table: Table) -> object:
    """What the chain of a reading comes to, or why it comes to nothing."""
    for link in reading.chain:
        try:
            args = arguments_of(link, table)
            table = _APPLIED[link.operation](_Settings(), table, args)
        except StepRejected:
            continue
    try:
        return answer_of(reading, table)
    except Declined as reason:
        return str(reason)


@settings(max_examples=120)
@given(_LINES | st.text(max_size=60), st.sampled_from(TABLES) | _ANY_TABLES)
def test_any_text_over_any_table_is_read_or_not_without_an_error(text: str, table: Table) -> None:
    for reading in [*readings_of(text, table), *question_readings(text, table)]:
        _answer(reading, table)
        assert 0 <= reading.sure <= 1


@settings(max_examples=40)
@given(_LINES, st.sampled_from(TABLES))
def test_a_text_is_read_the_same_each_time(text: str, table: Table) -> None:
    assert [each.to_json() for each in readings_of(text, table)] == [
        each.to_json() for each in readings_of(text, table)
    ]


@settings(max_examples=60)
@given(st.sampled_from(_STATEMENTS), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(asked: Asked, random: Random) -> None:
    told = table_of(asked.table)
    order = list(range(len(told.rows)))
    random.shuffle(order)
    shuffled = told.take_rows(order)
    assert _answer(readings_of(asked.question, shuffled)[0], shuffled) == json.loads(asked.expected)
