"""Tables that models write back: read whatever the form, and trace them to the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table import Table, as_subtable, parse_table
from tests.table.strategies import tables

_SOLD = [["Pen", "$2", "2024-05-04"], ["Desk lamp", "$30", ""], ["Pen", "$2", "2024-05-04"]]
SHOP = Table(["Item", "Price", "Sold On"], [*_SOLD, ['12" ruler', "$3", "2024-05-06"]], "Shop")
PEN = Table(["Item", "Price"], [["Pen", "$2"]])

REPLIES = {
    "bars": "Item | Price\nPen | $2",
    "framed": "| Item | Price |\n| Pen | $2 |",
    "left bars only": "| Item | Price\n| Pen | $2",
    "indented": "   Item | Price\n   Pen | $2",
    "rule": "Item | Price\n--- | ---\nPen | $2",
    "aligned": "| Item | Price |\n| :--- | ---: |\n| Pen  |    $2 |",
    "tight rule": "|Item|Price|\n|-|-|\n|Pen|$2|",
    "fence": "Sure! | Here:\n```markdown\n| Item | Price |\n|---|---|\n| Pen | $2 |\n```\nAnything | else?",
    "tilde fence": "~~~\nItem | Price\nPen | $2\n~~~",
    "prose": "The pen fits the question.\n\nItem | Price\nPen | $2\n\nIt costs $2.",
    "blank lines": "Item | Price\n\nPen | $2\n",
    "the last of several": "Table:\nItem | Price\nPen | $3\n\nRelevant rows:\nItem | Price\nPen | $2",
    "several after blank lines": "Item|Price\n---|---\nPen|$3\n\nItem|Price\n---|---\nPen|$2",
    "labels": "/*\ncol : Item | Price\nrow 1 : Pen | $2\n*/",
    "a bar too many": "Item | Price\nPen | $2 | ",
    "json": '```json\n[{"Item": "Pen", "Price": "$2"}]\n```',
    "json in prose": 'Here:\n{"Item": ["Pen"], "Price": ["$2"]}\nDone [1].',
    "json lists": '{"header": ["Item", "Price"], "rows": [["Pen", "$2"]]}',
    "tabs": "Item\tPrice\nPen\t$2",
    "csv fence": "```csv\nItem,Price\nPen,$2\n```",
    "windows line ends": "Item | Price\r\nPen | $2\r\n",
}


@pytest.mark.parametrize("form", REPLIES)
def test_forms(form: str) -> None:
    assert parse_table(REPLIES[form]) == PEN


def test_names_are_spelled_as_in_the_original() -> None:
    reply = parse_table('"ITEM" | sold  on | Extra\nPen | x | y', SHOP)
    assert reply.header == ("Item", "Sold On", "Extra")
    assert reply.caption == "Shop"


def test_a_missing_header_is_taken_from_the_original() -> None:
    assert parse_table("pen | $2 | 2024-05-04\nCap | $5 | ", SHOP).header == SHOP.header
    assert parse_table("Pen | $2 | 2024-05-04", SHOP).rows == SHOP.rows[:1]
    assert parse_table("Item | Price | Sold on\nPen | $2 | x", SHOP).rows == (("Pen", "$2", "x"),)
    assert parse_table("Name | Cost | Day\n---|---|---\nPen | $2 | x", SHOP).header == ("Name", "Cost", "Day")


@pytest.mark.parametrize("text", ["", "No table here.", "```\n```", "{not json}", "a, b"])
def test_a_reply_without_a_table(text: str) -> None:
    with pytest.raises(InputError, match="the reply: holds no table"):
        parse_table(text)


def test_rows_of_different_widths() -> None:
    with pytest.raises(InputError, match="row 2 has 3 cells, the header has 2"):
        parse_table("a | b\n1 | 2\n1 | 2 | 3")


@given(st.text(alphabet=st.sampled_from('ab1|-:, \t\n`"\\{}[]…'), max_size=60))
def test_any_reply_gives_a_table_or_an_input_error(text: str) -> None:
    for like in (None, SHOP):
        try:
            assert parse_table(text, like).header
        except InputError as error:
            assert "\n" not in str(error)


def test_a_sub_table_is_taken_from_the_original() -> None:
    reply = Table(["PRICE", '"item"'], [["$3", "12 ruler"], [" $2 ", "**pen**"], ["$2", "Pen"]])
    rows = [["Pen", "$2"], ["Pen", "$2"], ['12" ruler', "$3"]]
    assert as_subtable(reply, SHOP) == Table(["Item", "Price"], rows, "Shop")


@pytest.mark.parametrize(
    "reply",
    [
        Table(["Item", "Colour"], [["Pen", "red"]]),
        Table(["Item"], [["Pencil"]]),
        Table(["Item"], [["Pen"], ["Pen"], ["Pen"]]),
        Table(["Item", "Price"], [["Pen", "$30"]]),
        Table(["Item", "Item"], [["Pen", "Pen"]]),
        Table(["Item"]),
    ],
)
def test_what_the_original_does_not_have_is_refused(reply: Table) -> None:
    assert as_subtable(reply, SHOP) is None


def test_repeated_names_are_met_in_their_order() -> None:
    table = Table(["Team", "Goals", "Goals"], [["A", "1", "2"]])
    assert as_subtable(Table(["Goals", "goals"], [["1", "2"]]), table) == table.take_columns([1, 2])
    assert as_subtable(Table(["Goals"], [["2"]]), table) is None


@given(tables(min_rows=1), st.data())
def test_a_shuffled_and_restyled_part_is_found(table: Table, data: st.DataObject) -> None:
    # Names that differ in case alone could stand for each other; here each stands for itself.
    table = Table([f"{name} {index}" for index, name in enumerate(table.header)], table.rows)
    columns = data.draw(st.lists(st.sampled_from(range(len(table.header))), min_size=1, unique=True))
    rows = data.draw(st.lists(st.sampled_from(range(len(table.rows))), min_size=1, unique=True))
    part = table.take_rows(rows).take_columns(columns)
    found = as_subtable(part, table)
    assert found is not None and table.contains(found) and len(found.rows) == len(rows)
    rows_aloud = [[f"  {cell} " for cell in row] for row in part.rows]
    found = as_subtable(Table([f' "{name}" ' for name in part.header], rows_aloud), table)
    assert found is not None and table.contains(found) and len(found.rows) == len(rows)


@given(tables(), tables())
def test_the_result_is_always_a_part_of_the_original(reply: Table, table: Table) -> None:
    found = as_subtable(reply, table)
    assert found is None or (table.contains(found) and len(found.rows) == len(reply.rows))
