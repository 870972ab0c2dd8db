"""Which rows of a file are its header, its data, or set apart; and groups."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor
from chameleon.errors import InputError
from chameleon.table import Table, read_table
from chameleon.table.totals import set_apart
from tests.table.strategies import read_text

TOTALS = """TOTAL:|Sum|Subtotal|YTD|Σ|Summe|Gesamt|Zwischensumme|Sous-total|Total général|Suma|Totale|Soma
Totaal|合计|总计|総計|Total (2)|"""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *(
            (f"Item,Amount\nPen,6\nCup,20\n{label},26\n", ["Pen", "Cup"])
            for label in re.split(r"\||\n", TOTALS)
        ),
        ("Land,City,Sales\nN,A,1\nN,B,2\nN Total,,3\nS,C,4\nS Total,,4\nGrand Total,,7\n", ["N", "N", "S"]),
        ("Land,City,Sales\nN,A,1\n,B,2\n,Total,3\nS,C,4\n,D,5\n,Total,9\nTotal,,12\n", [*"NNSS"]),
        ("Name,Score\nAl,10\nBo,20\nCy,30\nMin,10\nMean,20\nStd,8\nCount,3\n", ["Al", "Bo", "Cy"]),
        ("City,People\nAll,30\nBern,10\nGenf,20\n", ["Bern", "Genf"]),
        ("Stadt;Umsatz\nBonn;1.250,50\nTrier;980,00\nSumme;2.230,50\n", ["Bonn", "Trier"]),
        ("Line,2023,2024\nA,101,120\nB,50,60\nC,7,8\nEverything,158,188\n", ["A", "B", "C"]),
        ("Dish,Price,Note\nStarters,,\nSoup,5,x\nMains,,\nFish,9,y\nSource: the menu,,\n", ["Soup", "Fish"]),
        ("Item,Cost,Who\nPen,2,Al\nCup,3,Bo\nEnd of report,,\n", ["Pen", "Cup"]),
        ("Item,Cost\nPen,2\nItem,Cost\nCup,3\n", ["Pen", "Cup"]),
        # These are data.
        ("Company,Revenue\nShell,50\nTotal,40\nBP,30\n", ["Shell", "Total", "BP"]),
        ("Company,Revenue\nShell,50\nBP,30\nTotal,40\n", ["Shell", "BP", "Total"]),
        ("Shop,Units\nKo,5\nTotal Wine,9\nLi,2\n", ["Ko", "Total Wine", "Li"]),
        ("Name,Score\nAl,10\nMax,30\nCy,25\n", ["Al", "Max", "Cy"]),
        ("Name,Score\nAl,10\nBo,20\nCy,30\n", ["Al", "Bo", "Cy"]),
        ("stat,price\ncount,120\nmean,14.2\nmin,3\nmax,40\n", ["count", "mean", "min", "max"]),
        ("Item,Price\nPen,\nCup,3\nBag,4\n", ["Pen", "Cup", "Bag"]),
    ],
)
def test_rows_that_are_no_data_are_set_apart(text: str, kept: list[str]) -> None:
    assert [row[0] for row in read_text(text, "csv").rows] == kept
    assert len(read_text(text, "csv", keep_totals=True).rows) == len(text.splitlines()) - 1


ASSETS = (
    "Line,2023,2024\nCash,100,120\nStock,50,80\nTotal assets,150,200\nLoans,90,150\nEquity,60,50\n"
    "Total debt,150,200\n"
)
GROWTH = "Region,Growth\nNorth,0.05\nSouth,-0.02\nEast,1.2\n"


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (ASSETS, "What is the 2023 of Total assets?", "150"),
        (ASSETS, "What is the 2024 of the row Total debt?", "200"),
        (ASSETS, "What is the total of 2024?", "400"),
        (ASSETS, "How many lines are there?", "4"),
        (GROWTH, "How many regions have growth under 5%?", None),
        (GROWTH, "What is the growth of East in percent?", None),
    ],
)
def test_totals_in_answers(table: str, question: str, answer: str | None) -> None:
    state = Executor("tables_offline").run({"question": question, "table": read_text(table, "csv")})
    assert state.answer == answer and state.ended is not None
    assert state.ended.reason == ("answered" if answer else "declined")


def test_what_is_set_apart_stays_with_the_table_and_is_told() -> None:
    table = read_text("Ort,Umsatz\nA,10\nB,27\nSumme,37\n", "csv")
    assert table.notes == ["the row 'Summe | 37' is the sum of the 2 rows above and is left out"]
    again = Table.from_json(table.to_json()).with_caption("x")
    assert (again.apart, again.notes) == (table.apart, table.notes)
    assert again.whole.rows[2] == ("Summe", "37") and set_apart(again) is again
    assert table.take_rows([0]).notes == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "a", "Total", "b Total", "Max", "小计"]), st.sampled_from("0123456789")
        ),
        min_size=1,
    )
)
def test_no_row_is_lost(rows: list[tuple[str, str]]) -> None:
    table = set_apart(Table(["Name", "Count"], rows))
    assert table.whole.rows == tuple(rows) and table.apart is not None
    assert len(table.rows) + len(table.apart) == len(rows) and table.rows


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        ("Branch,2023,,2024,\n,Q1,Q2,Q1,Q2\nEast,1,2,3,4\n", "Branch,2023 Q1,2023 Q2,2024 Q1,2024 Q2", 1),
        ("Item,Weight,Size\n,(kg),(m)\nPen,2,3\nCup,4,5\n", "Item,Weight (kg),Size (m)", 2),
        ("Item,Weight\nUnit,kg\nPen,2\nCup,4\n", "Item,Weight (kg)", 2),
        ("A,2023,,,\n,H1,,H2,\n,Q1,Q2,Q3,Q4\nEast,1,2,3,4\n",
         "A,2023 H1 Q1,2023 H1 Q2,2023 H2 Q3,2023 H2 Q4", 1),
        ("Sales of 2024\n\nItem,Units\nPen,3\n", "Item,Units", 1),
        ("Name,,Score\nAnn,x,5\nBob,y,6\n", "Name,,Score", 2),
        ("Name,Team,Mail\nAnn,Reds,a@x.org\nBob,Blues,b@x.org\n", "Name,Team,Mail", 2),
        ("Item,Unit\nPen,kg\nCup,g\n", "Item,Unit", 2),
    ],
)  # fmt: skip
def test_rows_of_names_are_one_header(text: str, header: str, rows: int) -> None:
    table = read_text(text, "csv")
    assert (",".join(table.header), len(table.rows)) == (header, rows)


def test_the_header_is_where_the_caller_says() -> None:
    text = "Made by Ann,,\nName,Q,Q\nof it,1,2\nPen,3,4\n"
    assert read_text(text, "csv", header="2-3").header == ("Name of it", "Q 1", "Q 2")
    assert read_text(text, "csv", header="3").rows == (("Pen", "3", "4"),)
    assert read_text("Pen,3\nCup,4\n", "csv", header="0").header == ("column 1", "column 2")
    for wrong in ("x", "9"):
        with pytest.raises(InputError, match=r"header|no row of this file"):
            read_text(text, "csv", header=wrong)
    with pytest.raises(InputError, match="no rows of a header"):
        read_table(b'[{"a": 1}]', name="x.json", header="1")


def test_groups_that_are_named_once_are_filled_or_unclear() -> None:
    filled = read_text("Team,Player,Goals\nReds,Al,1\n,Bo,2\nBlues,Cy,5\n,Di,1\n", "csv")
    assert [row[0] for row in filled.rows] == ["Reds", "Reds", "Blues", "Blues"]
    assert filled.notes == ["Team: blanks are filled with the name above"]
    two = read_text("Land,Team,Player,Goals\nX,Reds,Al,1\n,,Bo,2\n,Blues,Cy,5\nY,Pinks,Di,1\n", "csv")
    assert [row[:2] for row in two.rows] == [("X", "Reds"), ("X", "Reds"), ("X", "Blues"), ("Y", "Pinks")]
    figures = read_text("Team,Goals\nReds,1\n,2\nBlues,5\n,1\n", "csv")
    assert figures.columns[0].meaning.kind == "unclear" and figures.rows[1] == ("", "2")
    missing = "Name,City,Age\nAnn,Rome,3\n,Oslo,4\nBob,Bern,5\nCy,Genf,6\nDi,Lyon,7\n"
    assert read_text(missing, "csv").rows[1][0] == ""
