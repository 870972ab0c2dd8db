"""SQL over tables: types, queries in replies, faults; and queries that want more than reading."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chameleon import Inventory, State, StepRejected, Table
from chameleon.errors import InputError, SandboxUnavailable
from chameleon.modules.sql.database import SqlTable, safe_names
from chameleon.modules.sql.query import SqlResult, run_sql
from chameleon.modules.sql.query_faults import fault_of
from chameleon.modules.sql.quoted_names import with_quoted_names
from chameleon.modules.sql.sql_query import SqlQuery
from chameleon.modules.sql.text_to_sql import SqlGenerator
from chameleon.sandbox import Limits, Sandbox, make_sandbox
from tests.modules.text_rows import grouped, lines_of
from tests.sandbox.conftest import sealed

__all__ = ["sealed"]

Ask = Callable[..., SqlResult]

_ROWS = ["Ann|12,467|$5|May 4, 2024|9:45|x|1", "Bob|-3|$2.50|June 1, 2023|10:30|-|b", "Zoë|-|$10||8:00|y|"]
_HEADER = ["Name", "Points", "Price", "Day", "Start", "Name", ""]
GAMES = Table(_HEADER, [row.split("|") for row in _ROWS], "Games")


@pytest.fixture
def ask(sealed: Sandbox) -> Ask:
    return lambda table, sql, **options: run_sql(table, sql, executor=sealed, **options)


def test_columns_are_typed_by_what_their_cells_say(ask: Ask) -> None:
    columns = {"Name": "TEXT", "Points": "INTEGER", "Price": "REAL", "Day": "DATE", "Start": "TIME"}
    assert SqlTable.of(GAMES).columns == columns | {"Name_2": "TEXT", "column_7": "TEXT"}
    result = ask(GAMES, "SELECT * FROM w")
    assert result.ok and list(result.columns) == SqlTable.of(GAMES).header
    assert result.rows == (
        ("Ann", 12467, 5.0, "2024-05-04", "09:45", "x", "1"),
        ("Bob", -3, 2.5, "2023-06-01", "10:30", None, "b"),
        ("Zoë", None, 10.0, None, "08:00", "y", None),
    )


TYPED = {"2,114 m|1,987 m": "INTEGER", "12 June|5 September": "TEXT", "1e99|1e-99": "REAL", "3:41|x": "TEXT"}
TYPED["9223372036854775807|-9223372036854775808"] = "REAL"


@pytest.mark.parametrize(("cells", "kind"), TYPED.items())
def test_numbers_are_typed_where_they_can_be_compared(cells: str, kind: str) -> None:
    assert SqlTable.of(Table(["a"], [[cell] for cell in cells.split("|")])).columns == {"a": kind}


def test_common_tables_windows_and_comments_are_at_home(ask: Ask) -> None:
    for sql in (
        "WITH a AS (SELECT points AS p FROM w) SELECT COUNT(*), MAX(p) FROM a",
        "SELECT COUNT(*) OVER (), points FROM w ORDER BY points DESC LIMIT 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT MAX(i), 12467 FROM n",
        "/* a comment */ SELECT COUNT(*), MAX(points) FROM w; -- the end",
        "SELECT 3, points FROM w WHERE name = 'ANN'",
    ):
        assert ask(GAMES, sql).rows == ((3, 12467),), sql


def test_a_mistake_is_told_in_sqlite_s_words_and_no_rows_are_none(ask: Ask) -> None:
    result = ask(GAMES, "SELECT rank FROM w")
    assert (result.status, result.rows) == ("error", ())
    assert result.message.startswith("no such column: rank. There are: ")
    named = Table(["Total", "Total visitors", "Max (visitors)", "Visitors"], [["1", "2", "3", "4"]])
    found: dict[str, Any] = {"Total visitors": 2, "SUM(w.Total  VISITORS)": 2, "MAX (Visitors)": 4}
    found |= {"Max (visitors) + 0 AS m": 4, "Total AS visitors": 1, "'Total visitors'": "Total visitors"}
    for what, cell in found.items():
        assert ask(named, f"SELECT {what} FROM w").rows == ((cell,),), what
    assert ask(Table(["a"]), "SELECT COUNT(*), MAX(a) FROM w").rows == ((0, None),)


@pytest.mark.parametrize("text", ["it's", 'a "b"', "a\0b", "\ud800", "a – b", "9" * 5000, "x" * 100_000])
def test_every_cell_comes_back_as_it_went_in(ask: Ask, text: str) -> None:
    kept = text.encode("utf-8", "replace").decode()
    assert ask(Table(["a", "b"], [[text, "x"]]), "SELECT a FROM w").rows == ((kept,),)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=12), st.data())
def test_any_table_becomes_a_database_with_names_of_its_own(header: list[str], data: st.DataObject) -> None:
    names = safe_names(header)
    assert len(names) == len(header) == len({name.lower() for name in names})
    row = st.lists(st.text(max_size=8), min_size=len(header), max_size=len(header))
    try:
        assert SqlTable.of(Table(header, data.draw(st.lists(row, max_size=4)))).alone.image
    except InputError as error:  # letters that only SQLite takes for the same
        assert "duplicate column" in str(error)


def test_what_sql_cannot_hold_is_refused_before_it_runs_and_monty_has_no_sql() -> None:
    with pytest.raises(InputError, match="too many columns"):
        assert SqlTable.of(Table([f"c{n}" for n in range(2001)])).alone.image
    with make_sandbox("monty") as sandbox, pytest.raises(SandboxUnavailable, match="sealed sandbox"):
        run_sql(GAMES, "SELECT 1", executor=sandbox)


TOWNS = Table(["City", "Visitors"], [["Lisbon", "4,200"], ["Porto", "2,900"]])


def test_a_query_may_call_the_only_table_what_it_likes() -> None:
    for query, cell in (
        ("SELECT COUNT(*) FROM city WHERE City = 'city' OR City > 'P'", "1"),
        ("SELECT Visitors.Visitors FROM Visitors WHERE City = 'Porto'", "2900"),
        ("WITH x AS (SELECT * FROM t) SELECT MIN(Visitors) FROM x", "2900"),
    ):
        assert SqlQuery().run(State(input={"table": TOWNS}), query=query).rows == ((cell,),)
    with pytest.raises(StepRejected, match="no such table: prices"):
        SqlQuery().run(State(input={"table": TOWNS}), query="SELECT City FROM w JOIN prices USING (City)")


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("SQL: SELECT 1;", "SELECT 1"),
        ("So:\n```sql\nWITH a AS (SELECT 1)\nSELECT * FROM a\n```", "WITH a AS (SELECT 1)\nSELECT * FROM a"),
        ("I would write\nSELECT a FROM w\n\nas it says what is asked.", "SELECT a FROM w"),
        ("```sql {.x}\nSELECT a FROM w\n\nWHERE b = 1\n```", "SELECT a FROM w\n\nWHERE b = 1"),
        ("SELECT a FROM w\n\nORDER BY b\n\nThis gives a.", "SELECT a FROM w\nORDER BY b"),
        ("Select the rows of a:\nselect t.a from w t", "select t.a from w t"),
        ("SELECT a FROM w WHERE b = 'x;y'; -- end", "SELECT a FROM w WHERE b = 'x;y'"),
        ("WITH n AS (SELECT 1\n\n) SELECT * FROM n", "WITH n AS (SELECT 1\n) SELECT * FROM n"),
    ],
)
def test_a_query_is_found_in_a_reply(reply: str, query: str) -> None:
    assert SqlGenerator().parse(reply) == query
    with pytest.raises(StepRejected):
        SqlGenerator().parse("I cannot tell.")


def test_a_machine_without_the_seal_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.modules.sql.query.why_unusable", lambda: "this is another system")
    for name, module in (("wikitq_text_to_sql", "sql_executor"), ("tabfact_binder", "binder_executor")):
        with pytest.raises(SandboxUnavailable, match="this is another system"):
            Inventory.load(name).modules[module].check()


COLUMNS = {"Region": "TEXT", "City": "TEXT", "Net Sales": "TEXT", "Paid": "BOOLEAN", "Day": "DATE"}


NO_COLUMN = """
"Sale" | SELECT "City" FROM w ORDER BY "Sale" DESC LIMIT 1 | SELECT * FROM w WHERE NOT "Sale" BETWEEN 1 AND 2
"Cities" | SELECT COUNT(DISTINCT "Cities") FROM w
"Town" | SELECT "City", "Town" AS t FROM w | SELECT 'a "b' , "Town" FROM w -- "City"
"x y" | SELECT * FROM (SELECT * FROM w WHERE "x y" IS NOT NULL)
"""
NO_NUMBERS = """
SELECT Region, avg( city ) FROM w GROUP BY Region | SELECT "City" FROM w ORDER BY "Net Sales" DESC LIMIT 1
SELECT MAX([Net Sales]) FROM w | SELECT COUNT(*) FROM w WHERE "Net Sales" > 500 | SELECT AVG("Day") FROM w
SELECT COUNT(*) FROM w WHERE 500 < "Net Sales" | SELECT SUM(w."Net Sales") FROM w
SELECT SUM(CAST("Net Sales" AS REAL)) FROM w | SELECT "Net Sales" + 0 FROM w
"""
FAULTS = [(sql, f"no such column: {name}. ") for sql, name in grouped(NO_COLUMN)]
FAULTS += [(sql, "has no numbers") for line in lines_of(NO_NUMBERS) for sql in line]
FAULTS += [("SELECT COUNT(*) FROM w WHERE \"Paid\" = 'TRUE'", "holds 1 for true")]


@pytest.mark.parametrize(("sql", "told"), FAULTS)
def test_a_name_that_is_no_column_and_a_column_without_an_order_are_told(sql: str, told: str) -> None:
    assert told in fault_of(sql, COLUMNS, {"City": "", "Day": "", "Net Sales": "cell <5 cannot be read"})


STAY = """
SELECT "city" FROM w WHERE Region IN ("North", "South") AND "Net Sales" > 5
SELECT CASE WHEN "Net Sales" > 5 THEN "high" ELSE "low" END FROM w
SELECT COUNT(*) "n" FROM w ORDER BY "n"
WITH "a" AS (SELECT "City" AS c FROM w) SELECT "c" FROM "a" ORDER BY "c"
SELECT COALESCE("City", "none") FROM w WHERE "City" LIKE "A%" OR "City" BETWEEN "a" AND "b"
SELECT w."City" FROM "w" WHERE "City" != "it""s"
SELECT MAX("City"), SUM(CAST("City" AS REAL)) FROM w ORDER BY "City"
SELECT SUM("Net Sales") AS 'Total' FROM w ORDER BY "Total"
SELECT "Net Sales"*2 "dbl", CASE WHEN 1 THEN 2 END "big" FROM w ORDER BY "dbl", "big"
WITH t("R","S") AS (SELECT Region, City FROM w) SELECT "R" FROM t ORDER BY "S"
SELECT COUNT(*) FROM w WHERE "2024-06-01" < "Day"
SELECT COUNT(*) FROM w WHERE Paid = TRUE AND Paid IS NOT NULL
"""


@pytest.mark.parametrize("sql", STAY.strip().splitlines())
def test_texts_and_names_of_the_query_itself_stay(sql: str) -> None:
    assert fault_of(sql, COLUMNS, {"City": ""}) == ""


def test_names_of_several_words_need_no_quotes_and_may_be_joined() -> None:
    told = with_quoted_names("SELECT Net_Sales, net sales FROM w WHERE City = 'Net Sales'", COLUMNS)
    assert told == """SELECT "Net Sales", "Net Sales" FROM w WHERE City = 'Net Sales'"""
    query = "SELECT Net_Sales FROM w"
    assert with_quoted_names(query, {**COLUMNS, "Net_Sales": "REAL"}) == query


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
REFUSED = [sql for line in lines_of(_REFUSED) for sql in line]
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


def guarded(sealed: Sandbox, sql: str, canary: Path, seconds: float = 2) -> SqlResult:
    result = run_sql(TABLE, sql.replace("@", str(canary)), executor=sealed, timeout=seconds)
    assert result.wall_ms < 1000 * (seconds + 2), "the query was not stopped"
    assert [path.name for path in canary.iterdir()] == ["secret"]
    assert result.rows == () or result.ok
    count = run_sql(TABLE, "SELECT COUNT(*), SUM(a) FROM w", executor=sealed)
    assert count.rows == ((20, 190),), "the next query is not what it should be"
    return result


@pytest.mark.parametrize("sql", REFUSED)
def test_more_than_reading_is_refused(sealed: Sandbox, canary: Path, sql: str) -> None:
    result = guarded(sealed, sql, canary)
    assert result.message and (result.status == "refused" or "no such" in result.message), result


@pytest.mark.parametrize("sql", STOPPED, ids=range(len(STOPPED)))
def test_more_than_its_share_is_stopped(sealed: Sandbox, canary: Path, sql: str) -> None:
    result = guarded(sealed, sql, canary, WALL)
    assert result.message and result.status in ("timeout", "too_large", "memory", "error", "refused"), result


def test_what_sqlite_bounds_by_itself_stays_small(sealed: Sandbox, canary: Path) -> None:
    for what in ("printf('%*d', 2000000000, 1)", "printf('%.*f', 100000000, 1.5)", "9e999"):
        result = guarded(sealed, f"SELECT {what}", canary)
        assert not result.ok or len(str(result.rows)) < 100


def test_a_refusal_names_what_was_written_and_leaves_nothing(sealed: Sandbox, canary: Path) -> None:
    assert "use CREATE" in guarded(sealed, " /* x */ create table x (a)", canary).message
    assert "may only read" in guarded(sealed, "WITH x AS (SELECT 1) UPDATE w SET a = 0", canary).message
    guarded(sealed, "CREATE TEMP TABLE left_behind AS SELECT 'secret'", canary)
    assert guarded(sealed, "SELECT * FROM left_behind", canary).message == "no such table: left_behind"


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


def test_memory_is_bounded_by_the_sandbox_s_limit(sealed: Sandbox) -> None:
    greedy = f"{COUNTING} LIMIT 3000000) SELECT COUNT(DISTINCT printf('%0200d', n)) FROM r"
    with make_sandbox("sealed", limits=Limits(memory_mb=32)) as sandbox:
        result = run_sql(TABLE, greedy, executor=sandbox, timeout=20)
        assert result.status == "memory", result
        assert run_sql(TABLE, "SELECT COUNT(*) FROM w", executor=sandbox).rows == ((20,),)
