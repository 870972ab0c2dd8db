"""Tables in every format come out the same; whatever is wrong with a file is said in one line."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import time
from pathlib import Path

import pytest

from chameleon.errors import ChameleonError, InputError
from chameleon.table import Table, choose_table, found, read_table, readers
from chameleon.table.records import read_within
from tests.table.strategies import read_text

FRUIT = Table(["Fruit", "Price"], [["Apple", "$1,200.50"], ["Pear, ripe", ""]])

TEXTS = {
    "csv": 'Fruit,Price\nApple,"$1,200.50"\n"Pear, ripe",\n',
    "tsv": "Fruit\tPrice\nApple\t$1,200.50\nPear, ripe\t\n",
    "pipe": "Fruit | Price\nApple | $1,200.50\nPear, ripe | \n",
    "markdown": "| Fruit | Price |\n|:---|---:|\n| Apple | $1,200.50 |\n| Pear, ripe |  |\n",
    "json": '[{"Fruit": "Apple", "Price": "$1,200.50"}, {"Fruit": "Pear, ripe", "Price": null}]',
    "jsonl": '{"Fruit": "Apple", "Price": "$1,200.50"}\n\n{"Fruit": "Pear, ripe"}\n',
}
KEYED = {
    "shops": "shops",
    "towns.Alm.streets": "towns: Alm: streets",
    "towns.Bram.streets": "towns: Bram: streets",
    "towns.Bram.more": "towns: Bram: more",
}
SUFFIXES = {"markdown": "md", "pipe": "txt"}


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_is_named_or_found_in_the_content(name: str) -> None:
    assert read_text(TEXTS[name], name) == FRUIT
    assert read_text(TEXTS[name]) == FRUIT
    assert read_table(b"\xef\xbb\xbf" + TEXTS[name].encode()) == FRUIT
    assert read_table(TEXTS[name].replace("\n", "\r\n").encode("utf-16")) == FRUIT


HARMLESS = Table("ab", [["[31mred", "x y"], ["Ignore all", "{{ c }}"]])
AB = Table(["a", "b"], [["1", "x"], ["2", ""]])
VALUES = "[1, 1.0, 0.1, -2.50, 1e3, 1e22, 123456789012345678901234567890, true, false, null, -0.0]"
WRITTEN = [
    *("1", "1", "0.1", "-2.5", "1000", "1e+22", "123456789012345678901234567890"),
    *("true", "false", "", "0"),
]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ('[["a", "b"], [1, "x"], [2, null]]', AB),
        ('{"header": ["a", "b"], "rows": [[1, "x"], [2, null]]}', AB),
        ('{"columns": ["a", "b"], "data": [[1, "x"], [2, null]], "index": [0, 1]}', AB),
        ('{"columns": ["a", "b"], "data": [{"b": "x", "a": 1}, {"a": 2}]}', AB),
        ('{"a": [1, 2], "b": ["x", null]}', AB),
        ('[{"a": 1.0, "b": "x"}, {"a": 2}]', AB),
        ('{"header": ["a"], "rows": [[1]], "caption": "Own"}', Table("a", ["1"], "Own")),
        ('{"header": ["a"], "rows": [[1]], "caption": [3]}', Table("a", ["1"])),
        (f"[{json.dumps(list('abcdefghijk'))}, {VALUES}]", Table("abcdefghijk", [WRITTEN])),
        ('[{"a": {"x": "ü"}, "b": [], "b": 2}]', Table(["a", "b", "b (2)"], [['{"x": "ü"}', "[]", "2"]])),
        (r'[{"a": "x\ud800y"}]', Table("a", [["x\ufffdy"]])),
        (json.dumps(FRUIT.to_json()), FRUIT),
        ('a,b\n\x1b[31mred\x07,"x\ty"\nIgnore all,\x7f{{ c }}\n', HARMLESS),
    ],
)
def test_what_a_text_is_read_as(text: str, table: Table) -> None:
    assert read_text(text) == table


def test_json_of_several_tables_below_keys_and_in_lines() -> None:
    text = """{"shops": [{"n": 1}], "towns": {"Alm": {"mayor": "Lee", "streets": [{"name": "Elm", "km": 2}]},
      "Bram": {"streets": [{"name": "Oak", "km": 3}], "more": {"header": ["q"], "rows": [["1"]]}}},
      "colours": ["red", "blue"], "size": {"w": 1}}"""
    assert {name: choose_table(text.encode(), sheet=name).table.caption for name in KEYED} == KEYED
    found = choose_table(text.encode())
    assert [found.name, *found.others] == list(KEYED)
    lines = b'{"caption": "A", "header": ["a"], "rows": [["1"]]}\n{"header": ["b"], "rows": [["2"]]}\n'
    assert choose_table(lines).table.caption == "A" and choose_table(lines, sheet="2").table.header == ("b",)
    deep = '{"a":' * 400 + '[{"k": 1}]' + "}" * 400
    assert read_text(deep).rows == (("1",),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("a,b\n1,2\n",))
    writer.start()
    assert read_table(path).rows == (("1", "2"),)
    writer.join()


def complaint(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_text(text, name="f.txt")
    line = str(caught.value)
    assert line.startswith("f.txt") and "\n" not in line and line.isprintable()
    assert len(line) < 400
    return line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["is empty"]),
        (" \n\n", ["is empty"]),
        (",,\n,,\n", ["holds no table"]),
        ("a,b\n", ["has a header but no rows"]),
        ("a,b\n\n,\n", ["has a header but no rows"]),
        ("a,b\n1,2\n3,4\n1,2,3\n", ["line 4", "3 cells", "header has 2", "quotes"]),
        ("a,b,c\n1,2\n", ["line 2", "2 cells found", "header has 3"]),
        ('a,b,c\n"x\ny",2,3\n3,4\n', ["line 4", "2 cells found"]),
        ("Name\nSmith,John\nDoe,Jane\n", ["2 cells found, but the header has 1"]),
        ('a,b\n1,2\n3,"4\n5,6\n', ["line 3", "quote", "never closed"]),
        ("a,b\n1," + "x" * 200_000, ["line 2", "longer than 131,072"]),
        (",".join(map(str, range(10_001))) + "\n1\n", ["10,001 columns", "more than 10,000"]),
        ("a,b\n1,\0\n", ["line 2", "NUL"]),
        ("<!DOCTYPE html>\n<table>", ["holds no table"]),
        ('[{"a": 1},\n {"a": }]', ["line 2, column 8", "not valid JSON"]),
        ('{"a": 1} {"a": 2}', ["line 1", "JSON Lines"]),
        ("[" * 100_000, ["nested too deeply"]),
        ('{"a":' * 100_000, ["nested too deeply"]),
        ('[{"a": ' + "9" * 5_000 + "}]", ["more than 4,300 digits"]),
        ('{"a": [1, 2], "b": [3]}', ["differ in length", "'a' has 2", "'b' has 1"]),
        ('[["a", "b"], [1]]', ["row 2", "1 cell found"]),
        ('[{"a": 1}, 7]', ["row 2", "is not an object as the first row is"]),
        ("[1, 2]", ["holds no table"]),
        ("{}", ["holds no table"]),
        ('{"header": ["a"], "rows": []}', ["header but no rows"]),
        ('{"header": ["a"], "rows": ["x"]}', ["holds no rows", "list of objects"]),
        ('{"a": 1}\n{"a":,}', ["line 2, column 6"]),
        ('{"a": 1}\n[1]', ["line 2"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, parts: list[str]) -> None:
    line = complaint(text)
    assert all(part in line for part in parts), line


def test_objects_of_many_different_keys_are_refused_before_they_fill_the_memory() -> None:
    wide = "[" + ",".join(f'{{"k{i}": 1}}' for i in range(10_001)) + "]"
    assert "more than 10,000 keys" in complaint(wide)
    begun = time.perf_counter()
    square = "[" + ",".join(f'{{"k{i}":1}}' for i in range(9_999)) + "]"
    assert "more than 5,000,000 cells" in complaint(square)
    assert time.perf_counter() - begun < 5


def test_unknown_sheets() -> None:
    with pytest.raises(InputError, match=r"no sheet or table is named 'May'\. There are: 'table 1'"):
        read_table(b"a,b\n1,2\n", sheet="May")
    assert read_text("a;b\n1,5;2", "csv").header == ("a", "b")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "is a picture, not a table"),
        (b"%PDF-1.7\n", "is a PDF document, not a table"),
        (b"PK\x03\x04word/document.xml", "is a Word document, not a table"),
        (b"PK\x03\x04xl/workbook.xml", "cannot be read as a spreadsheet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "cannot be read as a spreadsheet"),
        (b"\x1f\x8b\x08\0", "damaged gzip archive"),
        ("a,b\n1,2\n".encode("utf-16-le"), "a NUL byte"),
    ],
)
def test_binary_files(data: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert str(path) in str(caught.value) and kind in str(caught.value)


def test_what_is_found_is_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Large and packed files are read there: tables, notes, and what is left out."""
    page = "<table><caption>Pears</caption><tr><th>Sort<th>Price<tr><td>Abb\u00e9<td>3</table><table></table>"
    for name, data in (
        ("a.html", page.encode()),
        ("b.csv.gz", gzip.compress("Sort;Preis\nBirne\u00e9;3\n".encode("cp1252"))),
        ("c.json.gz", gzip.compress(b'{"good": [{"a": 1}], "bad": [{"a": 1}, 2]}')),
        ("d.csv", b"a,b\n" + b"1,2\n" * 300_000),
    ):
        (path := tmp_path / name).write_bytes(data)
        here = list(readers.read_tables(path, name))
        assert list(readers.tables_in(path, name)) == list(readers.tables_in(data, name)) == here
        told = readers.tables_as_json(data, name, {})
        assert [found.finding_from_json(json.loads(json.dumps(each))) for each in told] == here
        assert any(isinstance(each, found.Found) for each in here) and (len(here) > 1) == (name < "d")


def test_what_gzip_packs_is_read_within_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in TEXTS.items():
        path = tmp_path / f"fruit.{SUFFIXES.get(name, name)}"
        path.write_text(text, encoding="utf-8")
        packed = path.with_name(f"{path.name}.gz")
        packed.write_bytes(gzip.compress(text.encode()))
        assert read_table(path) == read_table(str(path)) == read_table(packed) == FRUIT
        assert read_table(path, caption="Market").caption == "Market"
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "1")
    with pytest.raises(InputError, match=r"unpacks to more than the limit of 1\.0 MB"):
        read_table(gzip.compress(bytes(50_000_000)))


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    for path, part in [
        (tmp_path / "none.csv", "there is no such file"),
        (tmp_path, "is a folder"),
        (tmp_path / "none.csv" / "x.csv", "there is no such file"),
        ("a\0b.csv", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("/dev/null", "is not an ordinary file"),
        ("\x1b[2Jnone.csv", "there is no such file"),
    ]:
        with pytest.raises(ChameleonError) as caught:
            read_table(path)
        assert part in str(caught.value) and str(caught.value).isprintable()


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(InputError) as caught:
        read_table(path)
    line = str(caught.value)
    assert "200.0 MB" in line and "64.0 MB" in line and "CHAMELEON_MAX_TABLE_MB" in line

    path.write_text("a,b\n" + "1,2\n" * 1000)
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "0.001")
    with pytest.raises(InputError, match=r"more than the limit of 0\.0 MB"):
        read_table(path)
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "1")
    assert len(read_table(path).rows) == 1000
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "much")
    with pytest.raises(InputError, match="CHAMELEON_MAX_TABLE_MB is 'much', not a number"):
        read_table(path)


def test_a_stream_is_read_up_to_the_limit_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "1")

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert 0 < size < 2_000_000
            return b"a,b\n" * (size // 4 + 1)

    with pytest.raises(InputError, match=r"standard input: has more than the limit of 1\.0 MB"):
        read_within(Endless(), "standard input")
    assert read_within(io.BytesIO(b"a,b\n"), "standard input") == b"a,b\n"
