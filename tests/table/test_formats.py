"""Tables as text: every style, what is cut and said to be cut, the way back, and terminals."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table import Table, parse_table, to_terminal, to_text
from chameleon.table.formats import excerpt, places
from chameleon.text import estimated_tokens
from tests.table.strategies import read_text, tables

SALES = Table(
    ["", "Units", "Price | unit"], [["Mon", "3", "$1.50"], ["Tue", "", "<b> \\|"], ["Wed", "1,200", '"x"']]
)

EXPECTED = {
    "pipe": r''' | Units | Price \| unit
Mon | 3 | $1.50
Tue |  | <b> \\|
Wed | 1,200 | "x"''',
    "markdown": r"""|  | Units | Price \| unit |
|---|---|---|
| Mon | 3 | $1.50 |
| Tue |  | <b> \\| |
| Wed | 1,200 | "x" |""",
    "html": """<table>
<tr><th></th><th>Units</th><th>Price | unit</th></tr>
<tr><td>Mon</td><td>3</td><td>$1.50</td></tr>
<tr><td>Tue</td><td></td><td>&lt;b&gt; \\|</td></tr>
<tr><td>Wed</td><td>1,200</td><td>&quot;x&quot;</td></tr>
</table>""",
    "tsv": """\tUnits\tPrice | unit
Mon\t3\t$1.50
Tue\t\t<b> \\|
Wed\t1,200\t\"\"\"x\"\"\"""",
    "csv": ''',Units,Price | unit
Mon,3,$1.50
Tue,,<b> \\|
Wed,"1,200","""x"""''',
    "json": r"""{"header": ["", "Units", "Price | unit"], "rows": [
["Mon", "3", "$1.50"],
["Tue", "", "<b> \\|"],
["Wed", "1,200", "\"x\""]
]}""",
}


@pytest.mark.parametrize("style", EXPECTED)
def test_styles(style: str) -> None:
    assert to_text(SALES, style) == EXPECTED[style]  # type: ignore[arg-type]


def test_cells_stay_on_one_line() -> None:
    table = Table(["a\nb", " c "], [["x\r\ny", "1\t2"]])
    assert to_text(table) == "a b | c\nx y | 1 2"
    assert to_text(table, "markdown").count("\n") == 2


def test_what_is_cut_is_said() -> None:
    long = Table(["n", "text"], [[str(n), "abcdefgh"] for n in range(1985)])
    assert to_text(long, max_rows=5).split("\n")[-1] == "… 1,980 more rows not shown"
    assert to_text(long, max_rows=1984).endswith("\n… 1 more row not shown")
    lines = to_text(long, max_rows=1, max_cell=4).split("\n")
    assert lines == ["n | text", "0 | abc…", "… 1,984 more rows not shown; 1 cell cut to 4 characters"]
    assert json.loads(to_text(long, "json", max_rows=0))["note"] == "… 1,985 more rows not shown"
    assert to_text(long, "html", max_rows=0).endswith("</table>\n<p>… 1,985 more rows not shown</p>")
    assert "…" not in to_text(long, max_rows=1985, max_cell=8)


@pytest.mark.parametrize("style", ["pipe", "markdown", "tsv", "csv", "json"])
def test_the_note_is_no_row(style: str) -> None:
    table = Table(["n", "text"], [[str(n), "abcdef"] for n in range(2000)])
    text = to_text(table, style, max_rows=2, max_cell=5)  # type: ignore[arg-type]
    assert parse_table(text, table).rows == (("0", "abcd…"), ("1", "abcd…"))


def test_bad_limits_and_styles() -> None:
    for limits in ({"max_rows": -1}, {"max_cell": 0}, {"max_tokens": 0}):
        with pytest.raises(InputError, match="at least 0 rows, 1 token and 1 character"):
            to_text(SALES, **limits)
    with pytest.raises(InputError, match=r"'xml'\. There are: pipe, numbered, markdown"):
        to_text(SALES, "xml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 20 places, not 19"):
        to_terminal(SALES, 19)


@given(tables(), st.sampled_from(["pipe", "markdown", "json"]))
def test_what_is_written_is_read_back(table: Table, style: str) -> None:
    text = to_text(table, style)  # type: ignore[arg-type]
    assert parse_table(text) == table
    assert parse_table(f"Here it is:\n\n```\n{text}\n```\nThat is all.") == table
    assert parse_table(f"Here it is:\n{text}\nThat is all.") == table


@given(tables(min_columns=2, min_rows=1, bars=False), st.sampled_from(["tsv", "csv"]))
def test_delimited_text_is_read_back(table: Table, style: str) -> None:
    text = to_text(table, style)  # type: ignore[arg-type]
    assert parse_table(f"```{style}\n{text}\n```") == table


@given(tables(min_rows=1, filled=True), st.sampled_from(["pipe", "tsv", "json"]))
def test_files_are_read_back(table: Table, style: str) -> None:
    assert read_text(to_text(table, style), style, keep_totals=True) == table  # type: ignore[arg-type]


def test_the_pipe_encoding_of_chain_of_table_counts_rows_and_never_ends_its_block() -> None:
    table = Table(["a", "b|c"], [["1", "2 */"], ["3", ""]], "not shown")
    assert to_text(table, "numbered") == "col : a | b\\|c\nrow 1 : 1 | 2 * /\nrow 2 : 3 |"
    assert to_text(table, "numbered", max_rows=1).endswith("\n… 1 more row not shown")


@given(tables(min_rows=1), st.integers(1, 200), st.sampled_from(["pipe", "numbered", "markdown"]))
def test_a_budget_of_tokens_keeps_the_first_rows_and_says_what_it_left_out(
    table: Table, limit: int, style: str
) -> None:
    shown = excerpt(table, max_tokens=limit)
    kept = len(shown.rows)
    used = sum(estimated_tokens(" | ".join(line)) + 1 for line in (shown.header, *shown.rows))
    assert used <= limit or kept == 0
    assert bool(shown.note) == (kept < len(table.rows))
    text = to_text(table, style, max_tokens=limit)  # type: ignore[arg-type]
    assert ("not shown" in text.splitlines()[-1]) == bool(shown.note) or "not shown" in str(table.rows)


def test_columns_stand_in_line() -> None:
    table = Table(["City", "People"], [["Rome", "2,800,000"], ["北京", "7"], ["Ko\u0308ln", ""]])
    assert to_terminal(table).split("\n") == [
        "City     People",
        "────  ─────────",
        "Rome  2,800,000",
        "北京          7",
        "Ko\u0308ln",
    ]


def test_numbers_are_never_cut_and_hidden_columns_are_named() -> None:
    table = Table(["Name", *(f"Year {n}" for n in range(9))], [["A rather long name", *["$1,234,567"] * 9]])
    lines = to_terminal(table, 40).split("\n")
    assert lines[2] == "A rather long n…  $1,234,567  $1,234,567"
    assert lines[-1] == "… 7 more columns not shown: Year 2, Year 3, Year 4, Year 5, Year 6, …"


def test_rows_beyond_the_limit_are_counted() -> None:
    table = Table(["n"], [[str(n)] for n in range(100)])
    assert to_terminal(table, max_rows=3).endswith("\n… 97 more rows not shown")
    assert to_terminal(table, max_rows=None).count("\n") == 101
    assert to_terminal(Table(["a", "b"])) == "a  b\n─  ─"


def test_a_cell_cannot_steer_the_terminal() -> None:
    table = Table(["\x1b]0;title\x07"], [["\x1b[2Jx\u202egnp\u200b\x9b31m\n\r\ty"], ["\ud800"]])
    text = to_terminal(table)
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert text.count("\n") == 3


@given(st.lists(st.lists(st.text(max_size=30), min_size=9, max_size=9), max_size=4), st.integers(20, 120))
def test_no_line_of_cells_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    lines = to_terminal(Table(map(str, range(9)), rows), width).split("\n")
    assert all(places(line) <= width for line in lines[: len(rows) + 2])
    assert all(line.isprintable() for line in lines)
