"""Whatever is wrong with a file is said in one line: where, what, and what to do."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from chameleon.errors import ChameleonError, InputError
from chameleon.table import read_table, read_table_bytes, read_table_stream, read_table_text


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
