"""CSV, TSV, Markdown and `a | b` lines as people keep them: encodings, dialects, titles, notes."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table import Table, choose_table, read_table
from chameleon.table.found import Found, LeftOut
from chameleon.table.readers import tables_in
from chameleon.table.text_files import sections
from tests.table.strategies import read_text


def found(text: str, name: str = "x.csv") -> list[Found]:
    """The tables of a text in which nothing is left out."""
    findings = list(tables_in(text.encode(), name))
    assert not any(isinstance(each, LeftOut) for each in findings), findings
    return [each for each in findings if isinstance(each, Found)]


def cells(text: str, name: str = "x.csv") -> list[list[str]]:
    (one,) = found(text, name)
    return [list(one.table.header), *map(list, one.table.rows)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_of_csv_is_found(delimiter: str, end: str) -> None:
    lines = [["Name", "Share"], ["Ann", '"1,5"'], ["Bob", '"x;|\t y"'], ["", "2"]]
    text = end.join(delimiter.join(line) for line in lines)
    assert cells(text)[1:] == [["Ann", "1,5"], ["Bob", "x;| y"], ["", "2"]]


_CELL = st.sampled_from(["Alm", "rope, thick", "a; b", "x|y", '5" nail', "12", "-1,5", "2.25", "10:30", ""])


@given(
    st.sampled_from(",;\t|"),
    st.lists(st.tuples(_CELL, _CELL, _CELL), min_size=3, max_size=20),
    st.sampled_from(["", "Sales in 2024\n\n", "Report\nStation: all\n\n"]),
)
def test_any_dialect_is_told_from_the_lines_below_the_titles(
    delimiter: str, rows: list[tuple[str, ...]], above: str
) -> None:
    rows = [("Town", "Price", "Sold"), *rows, ("Zell", "1", "2")]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert cells(above + text.getvalue())[0] == list(rows[0])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5", [["a", "b"], ["1,5", "2,5"], ["3,5", "4,5"]]),
        ('a, b\n"x, ""y""\nz", "1\t2"\n', [["a", "b"], ['x, "y" z', "1 2"]]),
        ('a,b\n"Bolt" ,"Usain"  \n"Gay"  , "Tyson" \n', [["a", "b"], ["Bolt", "Usain"], ["Gay", "Tyson"]]),
        ('Nail,Price\n5" nail,2\n6" nail,3\n', [["Nail", "Price"], ['5" nail', "2"], ['6" nail', "3"]]),
        ("PAR1,PAR2\n3,4\n", [["PAR1", "PAR2"], ["3", "4"]]),  # as a Parquet file begins
        ("a,b\n\n1,2,\n   \n3,4,\n,,\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("a,,b,\n1,,2,\n3,,4,\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("A,P,,A,A\nA,1,2,B,C\n", [["A", "P", "", "A (2)", "A (3)"], ["A", "1", "2", "B", "C"]]),
        ("Name\nLee\nKim\n", [["Name"], ["Lee"], ["Kim"]]),
        ("Name\n\nLee\n\nKim\n", [["Name"], ["Lee"], ["Kim"]]),
        # A line between rows begins no other table.
        ("A,B\nX,10\n\nS,\nY,3\n", [["A", "B"], ["X", "10"], ["S", ""], ["Y", "3"]]),
    ],
)
def test_what_a_csv_text_is_read_as(text: str, lines: list[list[str]]) -> None:
    assert cells(text) == lines


def test_lines_above_and_below_a_table_belong_to_it() -> None:
    text = "Rainfall in the north\nStation: all\n\nTown,Jan,Feb\nAlm,10,20\n\nBram,30,5\n"
    (one,) = found(text + "\nSource: our gauge\n* a wet")
    assert one.table.caption == "Rainfall in the north: Station: all"
    assert one.notes == "Source: our gauge\n* a wet"
    assert one.table.rows == (("Alm", "10", "20"), ("Bram", "30", "5"))
    (export,) = found("Report,Sales\nDate,2024-01-05\n\nShop,Sold,Left\nAlm,1,2\n")
    assert export.table.caption == "Report Sales: Date 2024-01-05" and export.table.header[0] == "Shop"


def test_two_tables_under_titles_in_one_file() -> None:
    text = "Ferries,,\nRoute,Time,Price\nA,10:00,5\n,,\nBuses,,\nLine,Stops,Price\n1,12,2\n"
    ferries, buses = found(text)
    assert (ferries.table.caption, buses.table.caption) == ("Ferries", "Buses")
    assert buses.table.rows == (("1", "12", "2"),)
    assert choose_table(text.encode()).others == ["table 2"]
    assert choose_table(text.encode(), sheet="2").table == buses.table


_WORDS = st.sampled_from(["", "", "a", "1", "Source: x", "b c"])


@given(st.lists(st.lists(_WORDS, min_size=1, max_size=4), max_size=12))
def test_sections_lose_nothing(records: list[list[str]]) -> None:
    kept: list[str] = []
    for section in sections(enumerate(records, 1)):
        kept += section.titles + section.notes
        kept += [text for _, row in section.records for text in row if text]
    words = " ".join(text for row in records for text in row if text).split()
    assert sorted(" ".join(kept).split()) == sorted(words)


@pytest.mark.parametrize(
    ("encoding", "read_as", "text"),
    [
        ("cp1252", "Windows-1252", "Town;Price\nKöln;3 €\nZürich;4 €\n"),
        ("cp1251", "cp1251", "Город;Цена\nМосква;3\nКазань;4\n"),
        ("cp932", "cp932", "都市,人口,県\n横浜市,3700000,神奈川県\n大阪市,2700000,大阪府\n"),
        ("gb18030", "gb18030", "城市,人口,省份\n广州市,15300000,广东省\n成都市,16300000,四川省\n"),
        ("utf-16", "", "Town;Price\nKöln;3 €\n"),
        ("utf-32", "", "Town;Price\nKöln;3 €\n"),
    ],
)
def test_texts_of_other_encodings(encoding: str, read_as: str, text: str) -> None:
    if read_as.startswith(("cp", "gb")):
        pytest.importorskip("charset_normalizer")
    read = choose_table(text.encode(encoding), name="towns.csv")
    assert read.table == read_text(text)
    told = [note for note in read.table.notes if "UTF-8" in note]
    assert told == ([f"towns.csv is not UTF-8, and was read as {read_as}"] if read_as else [])


@pytest.mark.parametrize("data", [b"a,b\n1,\x81x\n", b"a,b\n1,\xe4\x01\n", "a,b\nü,".encode() + b"\xe4\n"])
def test_a_damaged_text_is_not_guessed(data: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.csv: is not UTF-8: byte 0x\w\w in line 2\. It is damaged"):
        read_table(data, name="x.csv")
    with pytest.raises(InputError, match="is not UTF-16"):
        read_table("a,b\n".encode("utf-16") + b"\0")


def test_every_table_of_a_markdown_text_has_the_heading_above_it() -> None:
    text = (
        "---\ntitle: x\n---\n# Report\n\nIntro.\n## **Prices**\n\n| Item | Price |\n|---|---:|\n"
        "| **Tea** | [2.5](http://x.example) |\n| Cake |\n| Bun | 1 | 9 |\n\n"
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n"
        "Stock\n-----\nItem | Left\n--- | ---\n`Tea` | 4 \\| 5\n"
    )
    prices, stock = found(text, "shop.md")
    assert prices.table == Table(["Item", "Price"], [["Tea", "2.5"], ["Cake", ""], ["Bun", "1"]], "Prices")
    assert prices.place == {"heading": "Prices"} and stock.place == {"heading": "Stock"}
    assert stock.table.rows == (("Tea", "4 | 5"),)


@given(st.text(alphabet="|-: \n#`*[]()ab1~=\\", max_size=200))
def test_no_markdown_breaks_the_reader(text: str) -> None:
    for each in tables_in(b"x" + text.encode(), "x.md"):
        assert isinstance(each, Found | LeftOut)


def test_bar_tables() -> None:
    table = read_text("City, country | People\nRome, Italy | 2,800,000\nOslo, Norway | 700,000")
    assert table.header == ("City, country", "People")
    text = "Ticket sales\n | Adults | Children\nMonday | 3 | 4"
    assert read_text(text) == Table(["", "Adults", "Children"], [["Monday", "3", "4"]], "Ticket sales")
    unnamed = read_text("Employee | Pay |\nAnn | May |\nTotal | | $820", "pipe")
    assert unnamed.header == ("Employee", "Pay", "") and unnamed.rows[1] == ("Total", "", "$820")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Item;Price\nCake;1.310,50 €\nTea;2,50\nJam;1.310\n", [1310.5, 2.5, 1310]),
        ("Item;Sold;Price\nCake;1.310;2,50\nTea;2.405;3,10\n", [1310, 2405]),  # as the file
        ('Item,Price\nCake,"7,125"\nTea,"2,50"\n', [7.125, 2.5]),
        ('Item,Price,Pair\nCake,"7,125","1,2"\nTea,"2,405","3,4"\n', [7125, 2405]),
        ("Item;Price\nCake;1.310\nTea;2.405\n", ["1.310", "2.405"]),  # either: it is told
        ("Item;Price\nCake;1.310,50\nTea;2,405.75\n", ["1.310,50", "2,405.75"]),  # they contradict each other
        ("Item;Day;Price\nCake;01.05.2024;2,50\n", ["2024-05-01"]),
        ("Item | Price\nCake | 1.310\nTea | 0,50\n", [1310, 0.5]),
        ("| Item | Price |\n|--|--|\n| Cake | 1.310 |\n| Tea | -2,5 |\n", [1310, -2.5]),
        ("<table><tr><th>A<th>B<tr><td>x<td>7,125<tr><td>y<td>2,50</table>", [7.125, 2.5]),
    ],
)
def test_figures_of_a_column_share_one_decimal_mark(text: str, numbers: list[float | str]) -> None:
    assert read_table(text.encode()).columns[1].meaning.plain == numbers
