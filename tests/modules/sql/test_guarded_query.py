"""Queries that want more than reading, or more than their share: refused or stopped, and nothing is left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.query import SqlResult, run_sql
from chameleon.sandbox import Limits, Sandbox, make_sandbox
from chameleon.table import Table
from tests.sandbox.conftest import sealed

__all__ = ["sealed"]

TABLE = SqlTable.of(Table(["a", "b"], [[str(n), f"cell {n}"] for n in range(20)]))
WALL = 0.15

_REFUSED = """
EXPLAIN SELECT 1 | ATTACH DATABASE '@/stolen.db' AS s | ATTACH 'file:@/stolen.db?mode=rwc' AS s | DETACH main
VACUUM INTO '@/stolen.db' | VACUUM | SELECT load_extension('@/evil.so')
SELECT load_extension('@/evil', 'main') | SELECT fts3_tokenizer('simple')
SELECT fts3_tokenizer('simple', x'4141414141414141') | PRAGMA writable_schema = ON | PRAGMA database_list
SELECT * FROM pragma_database_list | SELECT * FROM pragma_table_info('w') | PRAGMA hard_heap_limit = 0
SELECT sql FROM sqlite_master | SELECT COUNT(*) FROM sqlite_schema
SELECT a FROM w WHERE EXISTS (SELECT 1 FROM sqlite_master) | SELECT * FROM dbstat
SELECT * FROM json_each('[1, 2]') | INSERT INTO w VALUES (1, 'x') | REPLACE INTO w VALUES (1, 'x')
UPDATE w SET a = 0 | DELETE FROM w | WITH x AS (SELECT 1) DELETE FROM w | DELETE FROM w RETURNING *
DROP TABLE w | ALTER TABLE w RENAME TO x | CREATE TABLE x (a) | CREATE TABLE x AS SELECT * FROM w
CREATE TEMP TABLE x (a) | CREATE TRIGGER t AFTER INSERT ON w BEGIN SELECT 1; END | CREATE VIEW v AS SELECT 1
CREATE VIRTUAL TABLE v USING fts5(x) | CREATE INDEX i ON w (a) | REINDEX | ANALYZE | BEGIN EXCLUSIVE
SAVEPOINT s | SELECT 1; SELECT 2 | SELECT 1; /* */ DROP TABLE w | -- SELECT 1 | /* SELECT 1 | SELECT x'00ff'
SELECT CAST(b AS BLOB) FROM w | SELECT readfile('@/secret') | SELECT writefile('@/stolen', 'x')
SELECT edit('x', 'sh -c true') | SELECT LENGTH(randomblob(2000000000)) | SELECT LENGTH(zeroblob(2147483647))
SELECT random()
"""
REFUSED = [sql for line in _REFUSED.strip().splitlines() for sql in line.split(" | ")]
REFUSED += ["; -- why\n/* so */ explain query plan SELECT * FROM w", "SELECT 1\0; DROP TABLE w"]
REFUSED += ["\0", "SELECT '\ud83d'", ""]
COUNTING = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r"
MANY = "FROM w, w x, w y, w z, w p, w q, w r"
STOPPED = [
    f"{COUNTING}) SELECT MAX(n) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
    # A billion rows: counted, shown, sorted and grouped.
    f"SELECT COUNT(*) {MANY} WHERE w.a + x.a + q.a < 0",
    f"SELECT * {MANY}",
    f"SELECT w.b {MANY} ORDER BY x.b || q.b, w.b LIMIT 1",
    "SELECT group_concat(w.b || x.b || p.b) FROM w, w x, w y, w z, w p, w q",
    # Text that grows.
    "WITH RECURSIVE r(s) AS (SELECT 'aaaaaaaa' UNION ALL SELECT s || s FROM r) SELECT LENGTH(s) FROM r",
    "WITH RECURSIVE r(i, s) AS (SELECT 0, 'aaaaaaaa' UNION ALL SELECT i + 1, CASE WHEN LENGTH(s) < 2000000"
    " THEN s || s ELSE s || i END FROM r) SELECT COUNT(DISTINCT s) FROM r",
    f"{COUNTING} LIMIT 50000000) SELECT LENGTH(group_concat(n, '{'x' * 50}')) FROM r",
    "SELECT LENGTH(replace(replace(replace(hex(printf('%1000000d', 1)), '2', '2222222222'), '2',"
    " '2222222222'), '2', '2222222222'))",
    "SELECT LENGTH(printf('%.*c', 9e8, 'x')), format('a %-5.900000000c', 'x')",
    # Patterns that take long.
    f"{COUNTING} LIMIT 10000000) SELECT COUNT(*) FROM r WHERE printf('%01000d', n) LIKE '%{'0%' * 22}a'",
    f"{COUNTING} LIMIT 10000000) SELECT COUNT(*) FROM r WHERE printf('%01000d', n) GLOB '*{'0*' * 22}a'",
    f"SELECT '{'a' * 3000}' LIKE '{'%a' * 1000}b'",
    "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' REGEXP '(a+)+$b'",
    # Long queries.
    f"SELECT {'(' * 5000}1{')' * 5000}",
    f"SELECT {'1+' * 20_000}1",
    f"SELECT {'NOT ' * 5000}1",
    f"SELECT {'(SELECT ' * 500}1{')' * 500}",
    f"SELECT 1{' UNION ALL SELECT 1' * 5000}",
    f"SELECT COUNT(*) FROM w{', w' * 100}",
    f"SELECT a{', a' * 4999} FROM w",
    f"SELECT max(1{', 1' * 499})",
    f"SELECT '{'x' * 300_000}'",
    "SELECT ?1",
]


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canary")
    (folder / "secret").write_text("secret")
    folder.chmod(0o777)
    return folder


def run(sealed: Sandbox, sql: str, canary: Path, seconds: float = 2) -> SqlResult:
    result = run_sql(TABLE, sql.replace("@", str(canary)), executor=sealed, timeout=seconds)
    assert result.wall_ms < 1000 * (seconds + 2), "the query was not stopped"
    assert [path.name for path in canary.iterdir()] == ["secret"]
    assert result.rows == () or result.ok
    count = run_sql(TABLE, "SELECT COUNT(*), SUM(a) FROM w", executor=sealed)
    assert count.rows == ((20, 190),), "the next query is not what it should be"
    return result


@pytest.mark.parametrize("sql", REFUSED)
def test_more_than_reading_is_refused(sealed: Sandbox, canary: Path, sql: str) -> None:
    result = run(sealed, sql, canary)
    assert result.message and (result.status == "refused" or "no such" in result.message), result


@pytest.mark.parametrize("sql", STOPPED, ids=range(len(STOPPED)))
def test_more_than_its_share_is_stopped(sealed: Sandbox, canary: Path, sql: str) -> None:
    result = run(sealed, sql, canary, WALL)
    assert result.message and result.status in ("timeout", "too_large", "memory", "error", "refused"), result


def test_what_sqlite_bounds_by_itself_stays_small(sealed: Sandbox, canary: Path) -> None:
    for what in ("printf('%*d', 2000000000, 1)", "printf('%.*f', 100000000, 1.5)", "9e999"):
        result = run(sealed, f"SELECT {what}", canary)
        assert not result.ok or len(str(result.rows)) < 100


def test_a_refusal_names_what_was_written(sealed: Sandbox, canary: Path) -> None:
    assert "use CREATE" in run(sealed, " /* x */ create table x (a)", canary).message
    assert "may only read" in run(sealed, "WITH x AS (SELECT 1) UPDATE w SET a = 0", canary).message


def test_no_value_of_one_query_is_there_for_the_next(sealed: Sandbox, canary: Path) -> None:
    run(sealed, "CREATE TEMP TABLE left_behind AS SELECT 'secret'", canary)
    assert run(sealed, "SELECT * FROM left_behind", canary).message == "no such table: left_behind"


WORDS = """
SELECT FROM w WHERE a b ( ) , * ; -- /* */ ' " ` = < LIKE UNION ALL WITH RECURSIVE r AS JOIN ATTACH PRAGMA
VACUUM INTO 'x' 1 9e999 -1 NULL x'00' GROUP BY ORDER LIMIT count( max( load_extension( printf( zeroblob( 1) ?1
sqlite_master pragma_table_info( EXPLAIN DELETE INSERT VALUES DROP TABLE CAST( CASE WHEN THEN END OVER ||
"""


@settings(max_examples=80)
@given(st.one_of(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join), st.text(max_size=40)))
@example(sql=".")
def test_any_text_is_a_result_or_a_reason(sealed: Sandbox, sql: str) -> None:
    result = run_sql(TABLE, sql, executor=sealed)
    assert result.ok or (result.message and not result.rows)


def test_many_threads_get_their_own_answers(sealed: Sandbox) -> None:
    with make_sandbox("sealed", workers=2) as sandbox, ThreadPoolExecutor(16) as pool:
        asked = [f"SELECT {n} + COUNT(*) FROM w" for n in range(64)]
        results = list(pool.map(lambda sql: run_sql(TABLE, sql, executor=sandbox), asked))
    assert [result.rows for result in results] == [((n + 20,),) for n in range(64)]


def test_memory_is_bounded_by_the_sandbox_s_limit(sealed: Sandbox) -> None:
    greedy = f"{COUNTING} LIMIT 3000000) SELECT COUNT(DISTINCT printf('%0200d', n)) FROM r"
    with make_sandbox("sealed", limits=Limits(memory_mb=32)) as sandbox:
        result = run_sql(TABLE, greedy, executor=sandbox, timeout=20)
        assert result.status == "memory", result
        assert run_sql(TABLE, "SELECT COUNT(*) FROM w", executor=sandbox).rows == ((20,),)
