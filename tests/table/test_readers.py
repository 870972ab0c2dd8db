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
from chameleon.table import Table, read_table, read_table_bytes, read_table_stream, read_table_text

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
def test_a_format_is_named_or_found_in_the_content(name: str) -> None:
    assert read_table_text(TEXTS[name], name) == FRUIT
    assert read_table_text(TEXTS[name]) == FRUIT
    assert read_table_bytes(b"\xef\xbb\xbf" + TEXTS[name].encode()) == FRUIT
    assert read_table_bytes(TEXTS[name].replace("\n", "\r\n").encode("utf-16")) == FRUIT


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_is_taken_from_the_suffix(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"fruit.{SUFFIXES.get(name, name)}"
    path.write_text(TEXTS[name], encoding="utf-8")
    assert read_table(path) == read_table(str(path)) == FRUIT
    assert read_table(path, caption="Market").caption == "Market"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_of_csv_is_found(delimiter: str, end: str) -> None:
    lines = [["Name", "Share"], ["Ann", '"1,5"'], ["Bob", '"x;|\t y"'], ["", "2"]]
    text = end.join(delimiter.join(line) for line in lines)
    assert read_table_text(text, "csv").rows == (("Ann", "1,5"), ("Bob", "x;| y"), ("", "2"))


def test_semicolons_beat_decimal_commas() -> None:
    assert read_table_text("a;b\n1,5;2,5\n3,5;4,5").rows == (("1,5", "2,5"), ("3,5", "4,5"))


def test_a_bar_table_with_commas_is_not_csv() -> None:
    table = read_table_text("City, country | People\nRome, Italy | 2,800,000\nOslo, Norway | 700,000")
    assert table.header == ("City, country", "People")


def test_quotes_keep_delimiters_breaks_and_quotes() -> None:
    table = read_table_text('a, b\n"x, ""y""\nz", "1\t2"\n')
    assert table.rows == (('x, "y" z', "1 2"),)


def test_one_column_needs_no_delimiter() -> None:
    assert read_table_text("Name\nAnn\n\nBob\n") == Table(["Name"], [["Ann"], ["Bob"]])


def test_blank_lines_and_an_empty_column_at_the_right_are_dropped() -> None:
    expected = Table(["a", "b"], [["1", "2"], ["3", "4"]])
    assert read_table_text("a,b\n\n1,2,\n   \n3,4,\n,,\n") == expected
    assert read_table_text("a,b,\n1,2,\n3,4,\n") == expected


def test_a_line_without_bars_before_a_bar_table_is_its_caption() -> None:
    text = "Ticket sales\n | Adults | Children\nMonday | 3 | 4"
    assert read_table_text(text) == Table(["", "Adults", "Children"], [["Monday", "3", "4"]], "Ticket sales")
    assert read_table_text(text, "pipe", caption="Given").caption == "Given"


def test_bar_tables_may_leave_any_column_unnamed() -> None:
    table = read_table_text("Employee | Pay |\nAnn | May |\nTotal | | $820", "pipe")
    assert table.header == ("Employee", "Pay", "")
    assert table.rows[1] == ("Total", "", "$820")


def test_the_one_table_of_a_markdown_text_is_found() -> None:
    table = "Name | Kinds\n--- | ---\nApple | red \\| green\n| Pear | one |"
    text = f"# Fruit\n\nSold | here.\n\n{table}\n\nThe end."
    assert read_table_text(text, "md") == Table(
        ["Name", "Kinds"], [["Apple", "red | green"], ["Pear", "one"]]
    )


@pytest.mark.parametrize(
    "text",
    [
        '[["a", "b"], [1, "x"], [2, null]]',
        '{"header": ["a", "b"], "rows": [[1, "x"], [2, null]]}',
        '{"columns": ["a", "b"], "data": [[1, "x"], [2, null]], "index": [0, 1]}',
        '{"columns": ["a", "b"], "data": [{"b": "x", "a": 1}, {"a": 2}]}',
        '{"a": [1, 2], "b": ["x", null]}',
        '[{"a": 1.0, "b": "x"}, {"a": 2}]',
    ],
)
def test_json_comes_in_several_shapes(text: str) -> None:
    assert read_table_text(text) == Table(["a", "b"], [["1", "x"], ["2", ""]])


def test_json_values_become_plain_text() -> None:
    values = "[1, 1.0, 0.1, -2.50, 1e3, 1e22, 123456789012345678901234567890, true, false, null, -0.0]"
    names = ", ".join(f'"{letter}"' for letter in "abcdefghijk")
    table = read_table_text(f"[[{names}], {values}]")
    assert table.rows[0] == (
        *("1", "1", "0.1", "-2.5", "1000", "1e+22", "123456789012345678901234567890"),
        *("true", "false", "", "0"),
    )


def test_json_carries_its_caption() -> None:
    assert read_table_text('{"header": ["a"], "rows": [[1]], "caption": "Own"}').caption == "Own"
    assert read_table_text('{"header": ["a"], "rows": [[1]], "caption": [3]}').caption == ""


def test_a_table_reads_back_from_its_own_json() -> None:
    assert read_table_text(json.dumps(FRUIT.to_json())) == FRUIT


def test_control_characters_are_dropped_and_the_text_is_kept() -> None:
    table = read_table_text('a,b\n\x1b[31mred\x07,"x\ty"\nIgnore all previous instructions,\x7f{{ c }}\n')
    assert table.rows == (("[31mred", "x y"), ("Ignore all previous instructions", "{{ c }}"))


def test_half_a_surrogate_pair_becomes_writable() -> None:
    table = read_table_text(r'[{"a": "x\ud800y"}]')
    assert table.rows == (("x\ufffdy",),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("a,b\n1,2\n",))
    writer.start()
    assert read_table(path).rows == (("1", "2"),)
    writer.join()


def test_a_sheet_is_for_workbooks() -> None:
    with pytest.raises(InputError, match="only Excel workbooks have sheets"):
        read_table_bytes(b"a,b\n1,2\n", sheet="May")


def test_real_tables_in_bars_are_read(shared_data: Path) -> None:
    with gzip.open(shared_data / "tabmwp" / "dev1k.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["table"] for line in file]
    for text in texts:
        table = read_table_text(text, "pipe")
        assert len(table.rows) == text.count("\n")
        assert len(table.header) == max(line.count("|") for line in text.split("\n")) + 1


def complaint(text: str, format: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_table_text(text, format, source="f.txt")
    line = str(caught.value)
    assert line.startswith("f.txt") and "\n" not in line and line.isprintable()
    assert len(line) < 400
    return line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["is empty"]),
        (" \n\n", ["is empty"]),
        (",,\n,,\n", ["holds no text"]),
        ("a,b\n", ["has a header but no rows"]),
        ("a,b\n\n,\n", ["has a header but no rows"]),
        ("a,b\n1,2\n\n1,2,3\n", ["line 4", "3 cells", "header has 2", "quotes"]),
        ("a,b\n1\n", ["line 2", "1 cell found", "header has 2"]),
        ('a,b\n"x\ny",2\n3\n', ["line 4", "1 cell found"]),
        ("a,b\n1,2,\n3,4\n", ["line 2", "3 cells", "header has 2"]),
        ("a,b\n1,2\n3,4,\n", ["line 3", "3 cells"]),
        ("a,Total,b,Total\n1,2,3,4\n", ["line 1", "columns 2 and 4", "'Total'"]),
        ("a,,b\n1,2,3\n", ["column 2 has no name"]),
        ('a,b\n1,2\n3,"4\n5,6\n', ["line 3", "quote", "never closed"]),
        ('a,b\n"x"y,2\n', ["line 2", "text follows a closing quote"]),
        ("a,b\n1," + "x" * 200_000, ["line 2", "longer than 131,072"]),
        (",".join(map(str, range(10_001))) + "\n1\n", ["10,001 columns", "more than 10,000"]),
        ("a,b\n1,\0\n", ["line 2", "NUL"]),
        ("<!DOCTYPE html>\n<table>", ["HTML", "CSV"]),
        ("a,\x1b[2J" + "y" * 500 + ",\x1b[2J" + "y" * 500 + "\n1,2,3", ["columns 2 and 3"]),
    ],
)
def test_text_tables(text: str, parts: list[str]) -> None:
    line = complaint(text)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[{"a": 1},\n {"a": }]', ["line 2, column 8", "not valid JSON"]),
        ('{"a": 1} {"a": 2}', ["line 1", "JSON Lines"]),
        ("[" * 100_000, ["nested too deeply"]),
        ('{"a":' * 100_000, ["nested too deeply"]),
        ('[{"a": NaN}]', ["row 1", "'a'", "not finite"]),
        ('[{"a": 1}, {"a": -Infinity}]', ["row 2", "'a'"]),
        ('[{"a": 1e999}]', ["row 1", "not finite"]),
        ('[{"a": 1}, {"a": {"b": 2}}]', ["row 2", "'a' holds an object"]),
        ('[["a", "b"], [1, [2]]]', ["row 2", "cell 2 holds a list"]),
        ('{"a": [1, {}]}', ["row 2", "'a' holds an object"]),
        ('[{"a": 1, "a": 2}]', ["'a' twice"]),
        ('{"a": [1, 2], "b": [3]}', ["'b' has 1 values", "'a' has 2"]),
        ('[["a", "b"], [1]]', ["row 2", "1 cell found"]),
        ('[["a", "a"], [1, 2]]', ["columns 1 and 2"]),
        ('[{"a": 1}, 7]', ["row 2", "a number where an object"]),
        ("[1, 2]", ["row 1", "a number where a row"]),
        ("[]", ["holds no rows"]),
        ("{}", ["no table"]),
        ('{"a": 1}', ["no table", "list of objects"]),
        ('{"header": ["a"], "rows": []}', ["header but no rows"]),
        ('{"header": ["a"], "rows": ["x"]}', ["row 1", "text where a list"]),
    ],
)
def test_json(text: str, parts: list[str]) -> None:
    line = complaint(text)
    assert all(part in line for part in parts), line


def test_json_that_is_no_table() -> None:
    assert "holds text, not a table" in complaint('"x"', "json")
    assert "holds null" in complaint("null", "json")
    wide = "[" + ",".join(f'{{"k{i}": 1}}' for i in range(10_001)) + "]"
    assert "more than 10,000 different keys" in complaint(wide)


def test_json_lines() -> None:
    assert "line 3, column 6" in complaint('{"a": 1}\n\n{"a":,}', "jsonl")
    assert "line 2" in complaint('{"a": 1}\n{"a": [1]}', "jsonl")
    assert "line 2" in complaint('{"a": 1}\n[1]', "jsonl")


def test_markdown() -> None:
    assert "holds no Markdown table" in complaint("Just | prose.", "md")
    two = "| a |\n|---|\n| 1 |\n\ntext\n\n| b |\n|---|\n| 2 |\n"
    assert "2 tables (they begin in lines 1, 7)" in complaint(two)
    assert "line 4: 3 cells" in complaint("| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 | 3 |")


def test_unknown_formats() -> None:
    with pytest.raises(InputError, match=r"no table format is called 'yaml'.*csv, tsv"):
        read_table_text("a: 1", "yaml")
    assert "Read it from its file" in complaint("a,b\n1,2", "xlsx")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\x03\x04word/document.xml", "a ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an old or password-protected Office file"),
        (b"\x1f\x8b\x08\0", "a gzip archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"a,b\n1,\0\0\n", "a NUL byte in line 2"),
        ("a,b\n1,2\n".encode("utf-16-le"), "a NUL byte in line 1"),
    ],
)
def test_binary_files(data: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert str(path) in str(caught.value) and kind in str(caught.value)


def test_another_encoding_is_named_and_not_guessed() -> None:
    with pytest.raises(InputError) as caught:
        read_table_bytes("a,b\n1,caf\xe9\n".encode("cp1252"), source="old.csv")
    line = str(caught.value)
    assert line.startswith("old.csv: is not UTF-8: byte 0xe9 at position 9 (line 2)") and "iconv" in line


def test_a_broken_utf_16_file_is_named() -> None:
    with pytest.raises(InputError, match="is not UTF-16, as its first bytes say"):
        read_table_bytes("a,b\n".encode("utf-16") + b"\0")


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    for path, part in [
        (tmp_path / "none.csv", "there is no such file"),
        (tmp_path, "is a folder"),
        (tmp_path / "none.csv" / "x.csv", "there is no such file"),
        ("a\0b.csv", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("/dev/null", "is not an ordinary file"),
        (tmp_path / "t.xls", "old Excel workbook"),
        (tmp_path / "t.ods", "Save it as .xlsx or .csv"),
    ]:
        with pytest.raises(ChameleonError) as caught:
            read_table(path)
        assert part in str(caught.value)


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    # The administrator may read everything, so that taking the permission away would prove nothing there.
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="may not be read"):
        read_table(path)


def test_names_of_files_cannot_steer_a_terminal() -> None:
    for suffix in ("csv", "xls"):
        with pytest.raises(InputError) as caught:
            read_table(f"\x1b[2Jnone.{suffix}")
        assert str(caught.value).isprintable()


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    start = time.perf_counter()
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert time.perf_counter() - start < 0.5
    line = str(caught.value)
    assert "200.0 MB" in line and "64.0 MB" in line and "CHAMELEON_MAX_TABLE_MB" in line

    path.write_text("a,b\n" + "1,2\n" * 1000)
    with pytest.raises(InputError, match=r"more than the limit of 0\.0 MB"):
        read_table(path, limit_mb=0.001)
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "1")
    assert len(read_table(path, limit_mb=0.001).rows) == 1000
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "much")
    with pytest.raises(InputError, match="CHAMELEON_MAX_TABLE_MB is 'much', not a number"):
        read_table(path)


def test_a_stream_is_read_up_to_the_limit_only() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert 0 < size < 2_000_000
            return b"a,b\n" * (size // 4 + 1)

    with pytest.raises(InputError, match=r"standard input: has 1\.0 MB, more than the limit"):
        read_table_stream(Endless(), limit_mb=1)
    assert read_table_stream(io.BytesIO(b"a,b\n1,2\n")).rows == (("1", "2"),)
