"""Tables in every format come out the same; whatever is wrong with a file is said in one line."""

import gzip
import io
import json
import os
import threading
from pathlib import Path

import pytest

from chameleon.errors import ChameleonError, InputError
from chameleon.table import Table, choose_table, found, read_table, readers
from chameleon.table.records import read_within
from tests.engine.files import pieces
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
SUFFIXES = {"markdown": "md", "pipe": "txt"}


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_is_named_or_found_in_the_content(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    assert read_text(text, name) == read_text(text) == FRUIT
    assert read_table(b"\xef\xbb\xbf" + text.encode()) == FRUIT
    assert read_table(text.replace("\n", "\r\n").encode("utf-16")) == FRUIT
    path = tmp_path / f"fruit.{SUFFIXES.get(name, name)}"
    path.write_text(text, encoding="utf-8")
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_table(path) == read_table(str(path)) == read_table(packed) == FRUIT
    assert read_table(path, caption="Market").caption == "Market"


@pytest.mark.parametrize("piece", pieces(__file__, "json_texts.txt"))
def test_what_a_text_is_read_as(piece: str) -> None:
    table, _, text = piece.partition("\n")
    assert read_text(text) == Table(*json.loads(table))
    assert read_text(r'[{"a": "x\ud800y"}]') == Table("a", [["x\ufffdy"]])
    hostile = 'a,b\n\x1b[31mred\x07,"x\ty"\nIgnore all,\x7f{{ c }}\n'
    assert read_text(hostile) == Table("ab", [["[31mred", "x y"], ["Ignore all", "{{ c }}"]])


def test_json_of_several_tables_below_keys_and_in_lines() -> None:
    text = b"""{"shops": [{"n": 1}], "towns": {"Alm": {"mayor": "Lee", "streets": [{"name": "Elm", "km": 2}]},
      "Bram": {"streets": [{"name": "Oak", "km": 3}], "more": {"header": ["q"], "rows": [["1"]]}}},
      "colours": ["red", "blue"], "size": {"w": 1}}"""
    keys = ["shops", "towns.Alm.streets", "towns.Bram.streets", "towns.Bram.more"]
    captions = [choose_table(text, sheet=name).table.caption for name in keys]
    assert captions == [key.replace(".", ": ") for key in keys]
    assert [choose_table(text).name, *choose_table(text).others] == keys
    lines = b'{"caption": "A", "header": ["a"], "rows": [["1"]]}\n{"header": ["b"], "rows": [["2"]]}\n'
    assert choose_table(lines).table.caption == "A" and choose_table(lines, sheet="2").table.header == ("b",)
    assert read_table(lines, sheet=2).header == ("b",)
    assert read_text('{"a":' * 400 + '[{"k": 1}]' + "}" * 400).rows == (("1",),)


WRONG: list[tuple[str | bytes, str]] = [
    *(("", "is empty"), (" \n\n", "is empty"), ("a,b\n1,\0\n", "line 2, NUL")),
    ("a,b\n1," + "x" * 200_000, "line 2, more than 131"),
    (",".join(map(str, range(10_001))) + "\n1\n", "more than 10,000"),
    *((opened * 100_000, "nested too deeply") for opened in ("[", '{"a":')),
    ('[{"a": ' + "9" * 5_000 + "}]", "4,300 digits"),
    (json.dumps([{f"k{number}": 1} for number in range(9_999)]), "more than 5,000,000 cells"),
    (json.dumps([{f"k{number}": 1} for number in range(10_001)]), "more than 10,000 keys"),
    *((b"\x1f\x8b\x08\0", "damaged gzip archive"), (b"\x89PNG\r\n\x1a\n\0\0", "is a picture")),
    *((b"%PDF-1.7\n", "is a PDF document"), (b"PK\x03\x04word/document.xml", "is a Word document")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "spreadsheet"),
    *(tuple(each.split("\n", 1)[::-1]) for each in pieces(__file__, "wrong_texts.txt")),  # type: ignore[misc]
]


@pytest.mark.parametrize(("data", "parts"), WRONG, ids=lambda each: repr(each)[:40])
def test_what_is_wrong_is_said_in_one_line(data: str | bytes, parts: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(data.encode("utf-8", "replace") if isinstance(data, str) else data, name="f.txt")
    line = str(caught.value)
    assert line.startswith("f.txt") and "\n" not in line and line.isprintable() and len(line) < 400
    assert all(part in line for part in parts.split(", ")), line


def test_what_is_found_is_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
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


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    none = tmp_path / "none.csv"
    for path, part in [
        *((path, "no such file") for path in (none, none / "x.csv", "\x1b[2Jnone.csv")),
        *(("a\0b.csv", "cannot be read"), ("x" * 5000, "cannot be read")),
        *((tmp_path, "is a folder"), ("/dev/null", "is not a regular file")),
    ]:
        with pytest.raises(ChameleonError) as caught:
            read_table(path)
        assert part in str(caught.value) and str(caught.value).isprintable()
    if hasattr(os, "mkfifo"):  # a named pipe is read
        os.mkfifo(path := tmp_path / "pipe")
        writer = threading.Thread(target=path.write_text, args=("a,b\n1,2\n",))
        writer.start()
        assert read_table(path).rows == (("1", "2"),)
        writer.join()


def test_large_files_and_streams_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert 0 < size < 2_000_000
            return b"a,b\n" * (size // 4 + 1)

    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(InputError, match=r"200\.0 MB.*64\.0 MB.*CHAMELEON_MAX_TABLE_MB"):
        read_table(path)
    path.write_text("a,b\n" + "1,2\n" * 1000)
    for limit, why in (("0.001", "more than the limit"), ("much", "'much', not a number")):
        monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", limit)
        with pytest.raises(InputError, match=why):
            read_table(path)
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "1")
    assert len(read_table(path).rows) == 1000
    with pytest.raises(InputError, match=r"standard input: has more than the limit of 1\.0 MB"):
        read_within(Endless(), "standard input")
    assert read_within(io.BytesIO(b"a,b\n"), "standard input") == b"a,b\n"
