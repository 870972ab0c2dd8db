"""CSV, TSV, Markdown and JSON as people keep them: titles, notes, several tables, odd marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.documents.found import Note
from chameleon.documents.sections import sections
from chameleon.documents.table_files import file_tables
from chameleon.documents.text_files import markdown_tables, unmarked, windows_text
from chameleon.errors import InputError
from chameleon.table.records import Origin
from tests.documents.reading import only, read, rows, written


def test_a_plain_file_is_one_table_called_by_its_name(tmp_path: Path) -> None:
    document = only(written(tmp_path, "q3_sales-2024.csv", "\ufeffShop;Sold\nAlm;3\nBram;4\n"))
    assert document.id == "q3_sales-2024.csv"
    assert document.source == {"file": "q3_sales-2024.csv"}
    assert document.name == "q3 sales 2024"
    assert rows(document) == [["Shop", "Sold"], ["Alm", "3"], ["Bram", "4"]]


def test_lines_above_and_below_a_table_belong_to_it(tmp_path: Path) -> None:
    text = "Rainfall in the north\nStation: all\n\nTown,Jan,Feb\nAlm,10,20\n\nBram,30,5\n"
    text += "\nSource: our gauge\n* a wet"
    document = only(written(tmp_path, "rain.csv", text))
    assert document.name == "rain: Rainfall in the north: Station: all"
    assert document.text == "Source: our gauge\n* a wet"
    assert rows(document)[1:] == [["Alm", "10", "20"], ["Bram", "30", "5"]]


def test_what_an_export_says_of_itself_is_no_header(tmp_path: Path) -> None:
    text = "Report,Sales\nDate,2024-01-05\n\nShop,Sold,Left\nAlm,1,2\n"
    document = only(written(tmp_path, "x.csv", text))
    assert document.name == "x: Report Sales: Date 2024-01-05"
    assert rows(document) == [["Shop", "Sold", "Left"], ["Alm", "1", "2"]]


def test_two_tables_under_titles_in_one_file(tmp_path: Path) -> None:
    text = "Ferries,,\nRoute,Time,Price\nA,10:00,5\n,,\nBuses,,\nLine,Stops,Price\n1,12,2\n"
    (ferries, buses), left_out = read(written(tmp_path, "travel.csv", text))
    assert not left_out
    assert [ferries.id, buses.id] == ["travel.csv", "travel.csv#2"]
    assert [ferries.name, buses.name] == ["travel: Ferries", "travel: Buses"]
    assert rows(buses) == [["Line", "Stops", "Price"], ["1", "12", "2"]]


def test_a_line_between_rows_is_no_new_table(tmp_path: Path) -> None:
    text = "Town,Jan,Feb\nAlm,10,20\n\nSouth,,\nBram,30,5\n"
    assert rows(only(written(tmp_path, "x.csv", text)))[1:] == [
        ["Alm", "10", "20"],
        ["South", "", ""],
        ["Bram", "30", "5"],
    ]


@pytest.mark.parametrize("text", ["Name\nLee\nKim\n", "Name\n\nLee\n\nKim\n"])
def test_a_list_is_a_table_of_one_column(tmp_path: Path, text: str) -> None:
    assert rows(only(written(tmp_path, "names.csv", text))) == [["Name"], ["Lee"], ["Kim"]]


def test_a_header_that_lost_its_comma_is_no_title(tmp_path: Path) -> None:
    documents, left_out = read(written(tmp_path, "x.csv", "Name\nSmith,John\nDoe,Jane\n"))
    assert not documents and "2 cells found, but the header has 1" in left_out[0].why


def test_columns_of_one_name_are_told_apart_and_nameless_ones_kept(tmp_path: Path) -> None:
    document = only(written(tmp_path, "x.csv", "Team,Points,,Points\nA,1,2,3\n"))
    assert rows(document)[0] == ["Team", "Points", "", "Points (2)"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("x.csv", b"a,b\n1,\x81\n", "is not UTF-8"),
        ("x.csv", b"a,b\n1,\xe4\x01\n", "is not UTF-8"),
        ("x.csv", "a,b\n\u00fc,".encode() + b"\xe4\n", "is not UTF-8"),
        ("x.json", b'[{"a": "\xe4"}]', "is not UTF-8"),
        ("x.csv", b"a,b\n1,2,3\n", "3 cells found"),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"%PDF-1.4", "is a PDF document"),
        ("x.json", b"{", "is not valid JSON"),
        ("x.json", b"[[", "is not valid JSON"),
        ("x.jsonl", b'{"a": 1}\n{"a": [2]}', "'a' holds a list"),
        ("x.xls", b"old", "is an old Excel workbook"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    path = written(tmp_path, name, content)
    try:
        documents, left_out = read(path)
    except InputError as error:
        assert why in error.what
    else:
        assert not documents and why in left_out[0].why


@given(st.text(alphabet="abc ;\u00e4\u00df\u00e9\u00fc\u00d6", max_size=30))
def test_text_that_old_programs_wrote_is_read_as_they_meant_it(text: str) -> None:
    assert windows_text(text.encode("cp1252")) == text


def test_a_table_that_an_old_program_wrote(tmp_path: Path) -> None:
    text = "Town;Price\nK\u00f6ln;3 \u20ac\nZ\u00fcrich;4 \u20ac\n"
    path = written(tmp_path, "towns.csv", text.encode("cp1252"))
    note = next(file_tables(path, "towns.csv"))
    assert isinstance(note, Note) and note.where == "towns.csv" and "Windows-1252" in note.what
    assert rows(only(path))[1:] == [["K\u00f6ln", "3 \u20ac"], ["Z\u00fcrich", "4 \u20ac"]]


def test_every_table_of_a_markdown_text_has_the_heading_above_it(tmp_path: Path) -> None:
    text = (
        "---\ntitle: x\n---\n# Report\n\nIntro.\n## **Prices**\n\n| Item | Price |\n|---|---:|\n"
        "| **Tea** | [2.5](http://x.example) |\n| Cake |\n| Bun | 1 | 9 |\n\n"
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n"
        "Stock\n-----\nItem | Left\n--- | ---\n`Tea` | 4\n\n| Item | Sold |\n|---|---|\n| Tea | 1 |\n"
    )
    (prices, stock, sold), left_out = read(written(tmp_path, "shop.md", text))
    assert not left_out
    assert rows(prices) == [["Item", "Price"], ["Tea", "2.5"], ["Cake", ""], ["Bun", "1"]]
    assert prices.source == {"file": "shop.md", "heading": "Prices"}
    assert [document.id for document in (prices, stock, sold)] == [
        "shop.md#Prices",
        "shop.md#Stock",
        "shop.md#Stock 2",
    ]
    assert prices.name == "shop: Prices" and rows(stock)[1] == ["Tea", "4"]


@given(st.text(alphabet="|-: \n#`*[]()ab1~=\\", max_size=200))
def test_no_markdown_breaks_the_reader(text: str) -> None:
    for _ in markdown_tables(text, Origin("x")):
        pass


@pytest.mark.parametrize(
    ("marked", "plain"),
    [("**a** b", "a b"), ("[a](b)", "a"), ("![a](b)", "a"), ("2 * 3 * 4", "2 * 3 * 4"), ("`x`", "x")],
)
def test_marks_inside_a_line(marked: str, plain: str) -> None:
    assert unmarked(marked) == plain


def test_json_of_several_tables(tmp_path: Path) -> None:
    more = '{"columns": ["q"], "data": [["1"]]}'
    keyed = f'{{"teams": [{{"n": 1, "a": "x"}}, {{"n": 2}}], "made": "today", "more": {more}}}'
    (teams, other), left_out = read(written(tmp_path, "k.json", keyed))
    assert not left_out and (teams.id, other.id) == ("k.json#teams", "k.json#more")
    assert rows(teams) == [["n", "a"], ["1", "x"], ["2", ""]]
    listed = '[{"title": "One", "header": ["a"], "rows": [["1"]]}, {"header": ["b"], "rows": [[{}]]}]'
    (one,), (second,) = read(written(tmp_path, "l.json", listed))
    assert one.name == "l: One" and "holds an object" in second.why and "table 2" in second.where


def test_json_tables_below_several_keys(tmp_path: Path) -> None:
    text = """{"shops": [{"n": 1}], "towns": {"Alm": {"mayor": "Lee", "streets": [{"name": "Elm", "km": 2}]},
      "Bram": {"streets": [{"name": "Oak", "km": 3}], "more": {"header": ["q"], "rows": [["1"]]}}},
      "colours": ["red", "blue"], "size": {"w": 1}}"""
    found, left_out = read(written(tmp_path, "k.json", text))
    assert not left_out
    assert {document.id: document.name for document in found} == {
        "k.json#shops": "k: shops",
        "k.json#towns.Alm.streets": "k: towns: Alm: streets",
        "k.json#towns.Bram.streets": "k: towns: Bram: streets",
        "k.json#towns.Bram.more": "k: towns: Bram: more",
    }
    assert rows(found[2]) == [["name", "km"], ["Oak", "3"]]
    only_below = only(written(tmp_path, "b.json", '{"b": {"c": [{"k": "v"}]}}'))
    assert only_below.source == {"file": "b.json", "table": "b.c"}


def test_a_json_table_below_keys_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    (one,), (other,) = read(written(tmp_path, "k.json", '{"a": {"x": [{"k": 1}], "y": [{"k": {}}]}}'))
    assert one.id == "k.json#a.x" and other.where == "k.json, 'a.y', row 1"


def test_deep_json_breaks_nothing(tmp_path: Path) -> None:
    depth = 400
    assert len(read(written(tmp_path, "d.json", '{"a":' * depth + '[{"k": 1}]' + "}" * depth))[0]) == 1


def test_json_lines_of_rows_and_of_tables(tmp_path: Path) -> None:
    assert rows(only(written(tmp_path, "r.jsonl", '{"a": 1}\n\n{"a": 2}\n'))) == [["a"], ["1"], ["2"]]
    tables = '{"caption": "A", "header": ["a"], "rows": [["1"]]}\n{"header": ["b"], "rows": [["2"]]}\n'
    (first, second), _ = read(written(tmp_path, "t.jsonl", tables))
    assert (first.name, first.id, second.id) == ("t: A", "t.jsonl", "t.jsonl#2")


cell = st.sampled_from(["", "", "a", "1", "Source: x", "b c"])


@given(st.lists(st.lists(cell, min_size=1, max_size=4), max_size=12))
def test_sections_lose_nothing(records: list[list[str]]) -> None:
    numbered = list(enumerate(records, 1))
    kept: list[str] = []
    for section in sections(numbered):
        kept += section.titles + section.notes
        kept += [text for _, cells in section.records for text in cells if text]
    found = " ".join(kept).split()
    assert sorted(found) == sorted(" ".join(text for cells in records for text in cells if text).split())
