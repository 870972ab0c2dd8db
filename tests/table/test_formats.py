"""Tables as text in every style and back, as models write them back, and made from tables and frames."""

import importlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State
from chameleon.errors import InputError, StepRejected
from chameleon.modules.lookup import RowLookup
from chameleon.table import Table, as_subtable, parse_table, to_terminal, to_text
from chameleon.table.formats import excerpt, places
from chameleon.text import estimated_tokens
from tests.table.strategies import read_text, tables

SALES = Table(
    ["", "Units", "Price | unit"], [["Mon", "3", "$1.50"], ["Tue", "", "<b> \\|"], ["Wed", "1,200", '"x"']]
)

EXPECTED = yaml.safe_load(Path(__file__).with_name("styles.yaml").read_text("utf-8"))


def test_styles_and_forms_of_replies() -> None:
    for style, text in EXPECTED.items():
        assert to_text(SALES, style) == text
    for form, text in REPLIES.items():
        assert parse_table(text) == PEN, form


def test_cells_stay_on_one_line_and_what_is_cut_is_said() -> None:
    table = Table(["a\nb", " c "], [["x\r\ny", "1\t2"]])
    assert to_text(table) == "a b | c\nx y | 1 2"
    assert to_text(table, "markdown").count("\n") == 2
    long = Table(["n", "text"], [[str(n), "abcdefgh"] for n in range(1985)])
    assert to_text(long, max_rows=5).split("\n")[-1] == "… 1,980 more rows not shown"
    assert to_text(long, max_rows=1984).endswith("\n… 1 more row not shown")
    lines = to_text(long, max_rows=1, max_cell=4).split("\n")
    assert lines == ["n | text", "0 | abc…", "… 1,984 more rows not shown; 1 cell cut to 4 characters"]
    assert json.loads(to_text(long, "json", max_rows=0))["note"] == "… 1,985 more rows not shown"
    assert to_text(long, "html", max_rows=0).endswith("</table>\n<p>… 1,985 more rows not shown</p>")
    assert "…" not in to_text(long, max_rows=1985, max_cell=8)
    for style in ("pipe", "markdown", "tsv", "csv", "json"):  # the note is no row
        text = to_text(long, style, max_rows=2, max_cell=5)  # type: ignore[arg-type]
        assert parse_table(text, long).rows == (("0", "abcd…"), ("1", "abcd…"))


def test_what_does_not_fit_is_refused_and_the_encoding_of_chain_of_table() -> None:
    for limits in ({"max_rows": -1}, {"max_cell": 0}, {"max_tokens": 0}):
        with pytest.raises(InputError, match="at least 0 rows, 1 token and 1 character"):
            to_text(SALES, **limits)
    with pytest.raises(InputError, match=r"'xml'\. There are: pipe, numbered, markdown"):
        to_text(SALES, "xml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not 19"):
        to_terminal(SALES, 19)
    table = Table(["a", "b|c"], [["1", "2 */"], ["3", ""]], "not shown")
    assert to_text(table, "numbered") == "col : a | b\\|c\nrow 1 : 1 | 2 * /\nrow 2 : 3 |"
    assert to_text(table, "numbered", max_rows=1).endswith("\n… 1 more row not shown")
    small: Any = Table(["a"], [["1"], ["2"]])
    for make, args, why in (
        (small.take_columns, ([],), "at least one column"),
        (Table, ([],), "at least one column"),
        (small.with_column, ("b", ["3"]), "has 1 cells"),
        (small.with_column, ("b", ["3", 4]), "text, not int"),
        (Table, (["a"], [["1"], [None]]), "text, not NoneType"),
        (Table, (["a"], [["1"], ["2", "3"]]), "row 2 has 2 cells"),
    ):
        with pytest.raises(InputError, match=why):
            make(*args)


@given(tables(), tables(min_columns=2, min_rows=1, bars=False), tables(min_rows=1, filled=True))
def test_what_is_written_is_read_back(table: Table, barless: Table, filled: Table) -> None:
    for style in ("pipe", "markdown", "json"):
        text = to_text(table, style)  # type: ignore[arg-type]
        assert parse_table(text) == table
        assert parse_table(f"Here it is:\n\n```\n{text}\n```\nThat is all.") == table
        assert parse_table(f"Here it is:\n{text}\nThat is all.") == table
    for style in ("tsv", "csv"):
        assert parse_table(f"```{style}\n{to_text(barless, style)}\n```") == barless  # type: ignore[arg-type]
    for style in ("pipe", "tsv", "json"):
        assert read_text(to_text(filled, style), style, keep_totals=True) == filled  # type: ignore[arg-type]


@given(tables(min_rows=1), st.integers(1, 200), st.sampled_from(["pipe", "numbered", "markdown"]))
def test_a_budget_of_tokens_keeps_the_first_rows(table: Table, limit: int, style: str) -> None:
    shown = excerpt(table, max_tokens=limit)
    kept = len(shown.rows)
    used = sum(estimated_tokens(" | ".join(line)) + 1 for line in (shown.header, *shown.rows))
    assert used <= limit or kept == 0
    assert bool(shown.note) == (kept < len(table.rows))
    text = to_text(table, style, max_tokens=limit)  # type: ignore[arg-type]
    assert ("not shown" in text.splitlines()[-1]) == bool(shown.note) or "not shown" in str(table.rows)


def test_the_terminal_aligns_columns_says_what_it_hides_and_is_not_steered() -> None:
    cities = Table(["City", "People"], [["Rome", "2,800,000"], ["北京", "7"], ["Ko\u0308ln", ""]])
    lines = ["City     People", "────  ─────────", "Rome  2,800,000", "北京          7", "Ko\u0308ln"]
    assert to_terminal(cities).split("\n") == lines
    years = Table(["Name", *(f"Year {n}" for n in range(9))], [["A rather long name", *["$1,234,567"] * 9]])
    lines = to_terminal(years, 40).split("\n")
    assert lines[2] == "A rather long n…  $1,234,567  $1,234,567", "numbers are never cut"
    assert lines[-1] == "… 7 more columns not shown: Year 2, Year 3, Year 4, Year 5, Year 6, …"
    table = Table(["n"], [[str(n)] for n in range(100)])
    assert to_terminal(table, max_rows=3).endswith("\n… 97 more rows not shown")
    assert to_terminal(table, max_rows=None).count("\n") == 101
    assert to_terminal(Table(["a", "b"])) == "a  b\n─  ─"
    table = Table(["\x1b]0;title\x07"], [["\x1b[2Jx\u202egnp\u200b\x9b31m\n\r\ty"], ["\ud800"]])
    text = to_terminal(table)
    assert all(character.isprintable() for character in text.replace("\n", "")) and text.count("\n") == 3


@given(st.lists(st.lists(st.text(max_size=30), min_size=9, max_size=9), max_size=4), st.integers(20, 120))
def test_no_line_of_cells_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    lines = to_terminal(Table(map(str, range(9)), rows), width).split("\n")
    assert all(places(line) <= width for line in lines[: len(rows) + 2])
    assert all(line.isprintable() for line in lines)


_SOLD = [["Pen", "$2", "2024-05-04"], ["Desk lamp", "$30", ""], ["Pen", "$2", "2024-05-04"]]
SHOP = Table(["Item", "Price", "Sold On"], [*_SOLD, ['12" ruler', "$3", "2024-05-06"]], "Shop")
PEN = Table(["Item", "Price"], [["Pen", "$2"]])

REPLIES = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text("utf-8"))


def test_names_and_a_missing_header_are_those_of_the_original_and_no_table_is_an_error() -> None:
    reply = parse_table('"ITEM" | sold  on | Extra\nPen | x | y', SHOP)
    assert (reply.header, reply.caption) == (("Item", "Sold On", "Extra"), "Shop")
    assert parse_table("pen | $2 | 2024-05-04\nCap | $5 | ", SHOP).header == SHOP.header
    assert parse_table("Pen | $2 | 2024-05-04", SHOP).rows == SHOP.rows[:1]
    assert parse_table("Item | Price | Sold on\nPen | $2 | x", SHOP).rows == (("Pen", "$2", "x"),)
    assert parse_table("Name | Cost | Day\n---|---|---\nPen | $2 | x", SHOP).header == ("Name", "Cost", "Day")
    uneven = "a | b\n1 | 2\n1 | 2 | 3"
    for text in ("", "No table here.", "```\n```", "{not json}", "[]", "{}", "a, b", uneven):
        with pytest.raises(InputError, match="row 2 has 3 cells" if text == uneven else "has no table"):
            parse_table(text)


@given(st.text(alphabet=st.sampled_from('ab1|-:, \t\n`"\\{}[]…'), max_size=60))
def test_any_reply_gives_a_table_or_an_input_error(text: str) -> None:
    for like in (None, SHOP):
        try:
            assert parse_table(text, like).header
        except InputError as error:
            assert "\n" not in str(error)


def test_a_sub_table_is_taken_from_the_original_or_refused() -> None:
    wrong = ("Item,Colour|Pen,red", "Item|Pencil", "Item|Pen|Pen|Pen", "Item,Price|Pen,$30")
    for reply in (*wrong, "Item,Item|Pen,Pen", "Item"):
        header, *rows = (line.split(",") for line in reply.split("|"))
        assert as_subtable(Table(header, rows), SHOP) is None, reply
    reply = Table(["PRICE", '"item"'], [["$3", "12 ruler"], [" $2 ", "**pen**"], ["$2", "Pen"]])
    rows = [["Pen", "$2"], ["Pen", "$2"], ['12" ruler', "$3"]]
    assert as_subtable(reply, SHOP) == Table(["Item", "Price"], rows, "Shop")
    table = Table(["Team", "Goals", "Goals"], [["A", "1", "2"]])
    assert as_subtable(Table(["Goals", "goals"], [["1", "2"]]), table) == table.take_columns([1, 2])
    assert as_subtable(Table(["Goals"], [["2"]]), table) is None
    table = Table(["Type <String>", "n"], [["List<int>", "1"], ["x < 3", "2"], ["</table>", "3"]])
    reply = "Type ‹String> | n\nList‹int> | 1\n‹/table> | 3"
    assert as_subtable(parse_table(reply, like=table), table) == table.take_rows([0, 2])
    state = State({"question": "?", "table": SHOP})
    assert RowLookup().interpret("Item | Price\nPen | $2", state).rows == (("Pen", "$2"),)
    with pytest.raises(StepRejected, match="not part of the table"):
        RowLookup().interpret("Item | Price\nPen | $4", state)


@given(tables(min_rows=1), st.data())
def test_a_shuffled_and_restyled_part_is_found(table: Table, data: st.DataObject) -> None:
    # Names that differ in case alone could stand for each other; here each stands for itself.
    table = Table([f"{name} {index}" for index, name in enumerate(table.header)], table.rows)
    columns = data.draw(st.lists(st.sampled_from(range(len(table.header))), min_size=1, unique=True))
    rows = data.draw(st.lists(st.sampled_from(range(len(table.rows))), min_size=1, unique=True))
    part = table.take_rows(rows).take_columns(columns)
    aloud = [[f"  {cell} " for cell in row] for row in part.rows]
    for reply in (part, Table([f' "{name}" ' for name in part.header], aloud)):
        found = as_subtable(reply, table)
        assert found is not None and table.contains(found) and len(found.rows) == len(rows)


@given(tables(), tables())
def test_the_result_is_always_a_part_of_the_original(reply: Table, table: Table) -> None:
    found = as_subtable(reply, table)
    assert found is None or (table.contains(found) and len(found.rows) == len(reply.rows))


@given(table=tables(), data=st.data(), name=st.text(max_size=3))
def test_taken_rows_and_columns_are_those_named(table: Table, data: st.DataObject, name: str) -> None:
    columns = data.draw(st.lists(st.integers(0, len(table.header) - 1), min_size=1, max_size=5))
    rows = data.draw(st.lists(st.integers(0, len(table.rows) - 1), max_size=5)) if table.rows else []
    header = [table.header[index] for index in columns]
    expected = Table(header, [[row[i] for i in columns] for row in table.rows], "c")
    assert table.with_caption("c").take_columns(iter(columns)) == expected
    assert table.take_rows(iter(rows)) == Table(table.header, [table.rows[index] for index in rows])
    assert table.take_columns(columns).columns == expected.columns
    cells = [str(number) for number in range(len(table.rows))]
    wider = table.with_column(name, iter(cells))
    assert wider.header == (*table.header, name) and [row[-1] for row in wider.rows] == cells
    assert wider.take_columns(range(len(table.header))) == table


def test_frames_and_records_become_tables() -> None:
    pandas = pytest.importorskip("pandas")
    born = pandas.to_datetime(["1994-05-01", None])
    frame = pandas.DataFrame({"name": ["Ann", "Bob"], "age": [30.0, None], "in": [True, False], "born": born})
    table = Table.from_pandas(frame, "Staff")
    assert table.rows == (("Ann", "30", "true", "1994-05-01"), ("Bob", "", "false", ""))
    assert table.caption == "Staff" and next(iter(table.to_pandas()["age"])) == 30
    assert Table.from_pandas(frame.groupby("name").sum(numeric_only=True)).header == ("name", "age", "in")
    assert Table.from_pandas(frame[frame.age > 1]).header == table.header
    with pytest.raises(InputError, match=r"Call Table\.from_pandas\(df\)"):
        Table(frame)
    found = Table.from_records([{"a": 1, "b": None}, {"c": [1]}])
    assert found == Table("abc", [["1", "", ""], ["", "", "[1]"]])
    assert Table.from_records([["Type", "Type"], [1, 2.0]]) == Table(["Type", "Type (2)"], [["1", "2"]])
    if find_spec("polars"):
        frame = importlib.import_module("polars").DataFrame({"a": [1, None], "b": ["x", "y"]})
        assert Table.from_polars(frame).rows == (("1", "x"), ("", "y"))


def test_a_run_takes_dataframes_and_shows_itself_in_a_notebook() -> None:
    pandas = pytest.importorskip("pandas")
    executor = Executor(Inventory.load("tables_offline"))
    frame = pandas.DataFrame({"fruit": ["<b>apple</b>", "pear"], "price": [2, 3]})
    state = executor.run({"question": "What is the total price?", "table": frame})
    assert state.answer == "5" and state.input["table"] == Table.from_pandas(frame)
    for shown in (state, state.input["table"]):
        text = shown._repr_html_()
        assert text.startswith("<table>") and "<b>" not in text and len(text) < 5_000
    assert "<td>5</td>" in state._repr_html_() and "<th>read as</th>" in state._repr_html_()
