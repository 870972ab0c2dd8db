"""Workbooks, databases and Parquet files: every table in them, and nothing that they ask for besides."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chameleon.documents import database_tables, duckdb_files
from chameleon.errors import InputError, MissingPackage
from tests.documents.reading import only, read, rows, written

openpyxl = pytest.importorskip("openpyxl")
duckdb = pytest.importorskip("duckdb")

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS c FROM r"


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    book.save(path)
    return path


def database(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_every_sheet_is_a_table_and_empty_ones_are_none(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "budget_2024.xlsx",
        {
            "Sheet1": [
                ["Spending of the club"],
                [],
                ["Item", "Cost"],
                ["Rent", 100],
                ["Food", 55.5],
                ["Note: net"],
            ],
            "March": [["Item", "Cost"], ["Rent", 90]],
            "Empty": [],
        },
    )
    (first, march), left_out = read(path)
    assert not left_out
    assert (first.id, march.id) == ("budget_2024.xlsx#Sheet1", "budget_2024.xlsx#March")
    assert first.name == "budget 2024: Spending of the club" and march.name == "budget 2024: March"
    assert rows(first) == [["Item", "Cost"], ["Rent", "100"], ["Food", "55.5"]]
    assert first.text == "Note: net" and march.source["sheet"] == "March"


def test_a_second_table_below_a_gap_in_a_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    cells = {"A1": "Item", "B1": "Cost", "A2": "Rent", "B2": 1}
    cells |= {"A9": "Income", "A10": "From", "B10": "Sum", "A11": "Fees", "B11": 5}
    for place, value in cells.items():
        sheet[place] = value
    book.save(tmp_path / "x.xlsx")
    (cost, income), _ = read(tmp_path / "x.xlsx")
    assert rows(cost) == [["Item", "Cost"], ["Rent", "1"]]
    assert income.name == "x: Income" and rows(income) == [["From", "Sum"], ["Fees", "5"]]


def test_a_sheet_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", {"Sums": [["a", "b"], [1, "=A2*2"]], "Plain": [["a"], [1]]})
    (plain,), (sums,) = read(path)
    assert plain.source["sheet"] == "Plain"
    assert "formula without a saved value" in sums.why and "'Sums'" in sums.where


def test_tables_and_views_of_a_database(tmp_path: Path) -> None:
    path = database(
        tmp_path / "shop.db",
        """
        CREATE TABLE "we""ird; DROP TABLE sold" (a INTEGER, "b""c" TEXT, d BLOB, e REAL);
        INSERT INTO "we""ird; DROP TABLE sold" VALUES (1, 'x', x'00ff', 2.0), (2, NULL, NULL, 0.1);
        CREATE TABLE sold_items (item TEXT, sold INTEGER);
        INSERT INTO sold_items VALUES ('Tea', 3);
        CREATE VIEW twice AS SELECT item, sold * 2 AS doubled FROM sold_items;
        CREATE TABLE empty (a);
        CREATE VIRTUAL TABLE words USING fts5(text);
        INSERT INTO words VALUES ('one two');
        """,
    )
    before = path.read_bytes()
    documents, left_out = read(path)
    by_id = {document.id: document for document in documents}
    assert rows(by_id['shop.db#we"ird; DROP TABLE sold']) == [
        ["a", 'b"c', "d", "e"],
        ["1", "x", "(2 bytes)", "2"],
        ["2", "", "", "0.1"],
    ]
    assert rows(by_id["shop.db#twice"]) == [["item", "doubled"], ["Tea", "6"]]
    assert by_id["shop.db#sold_items"].name == "shop: sold items"
    assert by_id["shop.db#sold_items"].source == {"file": "shop.db", "table": "sold_items"}
    assert [one.why for one in left_out] == ["has no rows"]
    assert not any("words_" in id for id in by_id)  # what FTS keeps for itself
    assert path.read_bytes() == before and sorted(entry.name for entry in tmp_path.iterdir()) == ["shop.db"]


def test_what_a_program_has_not_yet_written_into_the_file_is_read_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);")
        assert rows(only(tmp_path / "x.db")) == [["a"], ["1"], ["2"]]


def test_a_view_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_tables, "SECONDS", 0.2)
    script = f"CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE VIEW v AS {ENDLESS};"
    (table,), (endless,) = read(database(tmp_path / "x.db", script))
    assert table.source["table"] == "t" and "takes more than 0.2 s" in endless.why
    with closing(duckdb.connect(str(tmp_path / "x.duckdb"))) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW v AS {ENDLESS}")
    (table,), (endless,) = read(tmp_path / "x.duckdb")
    assert table.source["table"] == "t" and "takes more than 0.2 s" in endless.why


def test_a_table_with_too_much_text_is_left_out_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = database(
        tmp_path / "x.db",
        "CREATE TABLE small (a); INSERT INTO small VALUES (1);"
        "CREATE VIEW large AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 100000)"
        " SELECT n, n AS m FROM r;",
    )
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "0.5")
    (small,), (large,) = read(path)
    assert small.source["table"] == "small"
    assert "more than 0.5 MB of text" in large.why and "CHAMELEON_MAX_TABLE_MB" in large.why


@pytest.mark.parametrize("name", ["x.db", "x.csv", "x.xlsx", "x.parquet", "x.html"])
def test_too_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "0.001")
    with pytest.raises(InputError, match="more than the limit"):
        read(written(tmp_path, name, b"x" * 2000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.db", b"hello" * 100),
        ("x.db", b"SQLite format 3\x00" + b"\xff" * 2000),
        ("x.duckdb", b"\0" * 8 + b"DUCK" + b"\xff" * 5000),
        ("x.parquet", b"PAR1 and nothing"),
        ("x.parquet", b""),
        ("x.xlsx", b"PK\x03\x04[Content_Types].xml xl/"),
    ],
)
def test_broken_files_are_told_of(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, name, content))
    assert caught.value.where == name and "\n" not in str(caught.value)
    assert "/chameleon-" not in str(caught.value)


def test_tables_of_a_duckdb_database(tmp_path: Path) -> None:
    secret = written(tmp_path, "secret.csv", "a\nkey\n")
    with closing(duckdb.connect(str(tmp_path / "lab.duckdb"))) as connection:
        connection.execute(
            """CREATE TABLE "odd""name" AS SELECT 1 AS a, DATE '2024-05-01' AS d, 1.50::DECIMAL(8, 2) AS p,
            2.0::DOUBLE AS f, TIMESTAMP '2024-05-01' AS t, [1, 2] AS l, NULL AS n, '\\xFF'::BLOB AS b"""
        )
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.runs AS SELECT 7 AS run")
        connection.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{secret}')")
    (odd, runs), (leak,) = read(tmp_path / "lab.duckdb")
    assert rows(odd) == [
        ["a", "d", "p", "f", "t", "l", "n", "b"],
        ["1", "2024-05-01", "1.50", "2", "2024-05-01", "[1, 2]", "", "(bytes)"],
    ]
    assert runs.id == "lab.duckdb#s.runs" and rows(runs) == [["run"], ["7"]]
    assert "'leak'" in leak.where and "Permission Error" in leak.why


def test_a_parquet_file_whose_name_stands_for_others(tmp_path: Path) -> None:
    for name, value in (("a.parquet", 1), ("*.parquet", 2)):
        with closing(duckdb.connect()) as connection:
            connection.execute(
                f"COPY (SELECT {value} AS v, 'it''s' AS w) TO '{tmp_path}/{name}' (FORMAT parquet)"
            )
    assert rows(only(tmp_path / "*.parquet")) == [["v", "w"], ["2", "it's"]]
    assert rows(only(tmp_path / "a.parquet")) == [["v", "w"], ["1", "it's"]]


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingPackage, match="need the package duckdb") as caught:
        read(written(tmp_path, "x.parquet", b"PAR1"))
    assert "chameleon-compose[corpus]" in caught.value.hint
    assert duckdb_files.is_duckdb(b"\0" * 8 + b"DUCK")
