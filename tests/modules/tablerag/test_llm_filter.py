"""The filter by a model's code: what it cuts, how samples vote, and what leaves the table whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Table
from chameleon.modules.sql.database import safe_names
from chameleon.modules.tablerag.llm_filter import (
    KeptPart,
    LLMFilter,
    kept_in_frame,
    run_filter,
    without_pandas,
)
from chameleon.table.replies import normal
from tests.modules.tablerag.running import REGATTA, output, run

needs_pandas = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")
ALL = tuple(range(4))
ENDLESS = "while True: pass"


def filtered(*replies: Any, **settings: Any) -> Any:
    """What the module makes of these replies, and the table after it."""
    module = LLMFilter(**settings)
    module.samples = len(replies)
    state, _ = run(module, replies)
    return output(state, "llm_filter"), state


NUMBERS = "df['Points'] = pd.to_numeric(df['Points'].str.replace(',', ''), errors='coerce')\n"


@needs_pandas
@pytest.mark.parametrize(
    ("code", "rows", "columns"),
    [
        ("filtered_table = df", ALL, ALL),
        ("filtered_table = df[df['Country'] == 'SEL'][['Crew']].reset_index(drop=True)", (0, 2), (1,)),
        ("filtered_table = df.sort_values('Crew').tail(2)[['Country', 'Crew']]", (2, 3), (1, 2)),
        (f"{NUMBERS}filtered_table = df[(df['Points'] > 900) | df['Points'].isna()]", (0, 1, 3), ALL),
        ("df['Crew'] = df['Crew'].str.lower()\nfiltered_table = df[df['Crew'] == 'pikes']", (2,), ALL),
    ],
)
def test_rows_and_columns_are_those_selected(code: str, rows: Any, columns: Any) -> None:
    assert run_filter(code, REGATTA) == KeptPart(rows, columns)


@needs_pandas
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("filtered_table = df[df['Country'] == 'XYZ']", "is empty"),
        ("filtered_table = df['Crew']", "is no table"),
        ("result = df", "does not set filtered_table"),
        ("filtered_table = df.assign(Double=1)", "the column 'Double'"),
        ("filtered_table = df[['Crew', 'Crew']]", "a column twice"),
        ("df.loc[0, 'Crew'] = 'Sharks'\nfiltered_table = df", "a row that the table does not have"),
        ("df['Rank'] = [10**400] * 4\nfiltered_table = df", "a row that the table does not have"),
        ("filtered_table = df[df['Year'] > 3]", "KeyError in line 1"),
        ("filtered_table = df[", "SyntaxError"),
        ("import os\nos._exit(0)", ""),
        (ENDLESS, "took too long"),
        ("x = [0] * 10**12\nfiltered_table = df.head(1)", ""),
        ("filtered_table = pd.DataFrame([['x' * 100] * 4] * 10**5, columns=df.columns)", ""),
        ("pd.DataFrame.to_numpy = lambda *a, **k: np.array([['a', 'b', 'c']])\nfiltered_table = df", ""),
        ("class F(pd.DataFrame):\n    columns = ['Rank', 'X']\nfiltered_table = F([[1, 2]])", ""),
    ],
)
def test_anything_else_leaves_the_table_whole_and_says_why(code: str, reason: str) -> None:
    told, state = filtered(f"```python\n{code}\n```", timeout=0.3 if code == ENDLESS else None)
    assert told["whole"] and told["reason"] and reason in told["reason"]
    assert state.input["table"] == REGATTA and "kept" not in state.cache


@needs_pandas
def test_columns_without_a_name_of_their_own_get_one() -> None:
    table = Table(["", "Points", "Points", "a\nb", "Points_2"], [["x", "1", "2", "3", "4"]])
    assert safe_names(table.header) == ["column_1", "Points", "Points_2", "a b", "Points_2_2"]
    assert run_filter("filtered_table = df[['column_1', 'Points_2']]", table) == KeptPart((0,), (0, 2))


SEL = "filtered_table = df[df['Country'] == 'SEL']"
SEL_TOO = "filtered_table = df[df['Country'].str.contains('sel', case=False)]"
FIRST, BROKEN = "filtered_table = df.head(1)", "filtered_table = df['Year']"


@needs_pandas
def test_samples_agree_that_keep_the_same_and_what_is_cut_off_has_no_vote() -> None:
    told, _ = filtered(FIRST, SEL, SEL_TOO, FIRST + " [", "no code")
    assert told["rows"] == (0, 2) and told["votes"] == 2 and told["code"] == SEL
    assert len(told["faults"]) == 2
    told, state = filtered(SEL, *[BROKEN] * 4)  # code that fails votes for the whole table
    assert told["whole"] and told["votes"] == 1 and state.input["table"] == REGATTA
    cut = {"text": FIRST, "finish": "length"}
    assert filtered(cut, SEL)[0]["rows"] == (0, 2)
    assert "cut off" in filtered(cut, cut)[0]["reason"]


@needs_pandas
def test_by_text_code_counts_to_the_letter_and_runs_only_then() -> None:
    told, _ = filtered(SEL, FIRST, SEL_TOO, FIRST, agree="text")
    assert told["rows"] == (0,) and told["votes"] == 2
    told, _ = filtered(FIRST, *[BROKEN] * 2, agree="text")
    assert told["whole"] and "KeyError" in told["reason"]


def test_a_small_table_is_not_asked_about_and_without_pandas_none(monkeypatch: pytest.MonkeyPatch) -> None:
    state, client = run(LLMFilter(), [], table=REGATTA.take_rows([0]))
    assert output(state, "llm_filter")["whole"] and not client.requests
    monkeypatch.setattr("chameleon.modules.tablerag.llm_filter.without_pandas", lambda: "pandas is not here")
    state, client = run(LLMFilter(), [])
    assert output(state, "llm_filter")["reason"] == "pandas is not here" and not client.requests


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
LINES = st.integers(1, 3).map(lambda width: st.lists(CELL, min_size=width, max_size=width))
TABLES = LINES.flatmap(lambda line: st.builds(Table, line, st.lists(line, min_size=1, max_size=5)))


@settings(max_examples=50)
@given(TABLES, st.data())
def test_every_true_selection_is_found_again(table: Table, data: st.DataObject) -> None:
    """With its labels, in any order; without them what is found has cells that are compared as the same."""
    rows = data.draw(st.lists(st.sampled_from(range(len(table.rows))), min_size=1, unique=True))
    columns = data.draw(st.lists(st.sampled_from(range(len(table.header))), min_size=1, unique=True))
    names = safe_names(table.header)
    cells = [[table.rows[row][column] for column in columns] for row in rows]
    frame = {"columns": [names[column] for column in columns], "rows": cells}
    labelled = kept_in_frame(frame | {"index": list(map(str, rows))}, table, names)
    assert labelled == KeptPart(tuple(sorted(rows)), tuple(sorted(columns)))
    plain = kept_in_frame(frame, table, names)
    assert isinstance(plain, KeptPart) and plain.columns == labelled.columns
    found = sorted([normal(table.rows[row][column]) for column in columns] for row in plain.rows)
    assert found == sorted(list(map(normal, line)) for line in cells)


NUMBER = st.booleans() | st.integers() | st.floats()
CELLS = st.lists(
    st.lists(st.none() | NUMBER | st.text(max_size=3) | st.lists(NUMBER), max_size=3), max_size=5
)
LABELS = st.none() | st.lists(st.text("0123456789-²", max_size=12), max_size=5)


@given(TABLES, st.lists(st.text(max_size=3), max_size=3), LABELS, CELLS)
def test_no_frame_makes_it_stumble(table: Table, header: Any, labels: Any, cells: Any) -> None:
    names = safe_names(table.header)
    frame = {"columns": header or names, "rows": cells} | ({} if labels is None else {"index": labels})
    kept = kept_in_frame(frame, table, names)
    if isinstance(kept, KeptPart):
        assert kept.rows and kept.columns
        assert set(kept.rows) <= set(range(len(table.rows)))
        assert set(kept.columns) <= set(range(len(table.header)))
