"""SQL over tables: how tables are typed, how a query is found in a reply, what it gives, how it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Inventory, State, StepRejected
from chameleon.errors import InputError, SandboxUnavailable
from chameleon.modules.sql.database import SqlTable, safe_names
from chameleon.modules.sql.query import SqlResult, run_sql
from chameleon.modules.sql.query_faults import fault_of
from chameleon.modules.sql.quoted_names import with_quoted_names
from chameleon.modules.sql.sql_query import SqlQuery
from chameleon.modules.sql.text_to_sql import SqlGenerator
from chameleon.sandbox import Sandbox, make_sandbox
from chameleon.table import Table
from tests.sandbox.conftest import sealed

__all__ = ["sealed"]

Ask = Callable[..., SqlResult]

_ROWS = ["Ann|12,467|$5|May 4, 2024|9:45|x|1", "Bob|-3|$2.50|June 1, 2023|10:30|-|b", "Zoë|-|$10||8:00|y|"]
TABLE = Table(
    ["Name", "Points", "Price", "Day", "Start", "Name", ""], [row.split("|") for row in _ROWS], "Games"
)


@pytest.fixture
def ask(sealed: Sandbox) -> Ask:
    return lambda table, sql, **options: run_sql(table, sql, executor=sealed, **options)


def test_columns_are_typed_by_what_their_cells_say(ask: Ask) -> None:
    columns = {"Name": "TEXT", "Points": "INTEGER", "Price": "REAL", "Day": "DATE", "Start": "TIME"}
    assert SqlTable.of(TABLE).columns == columns | {"Name_2": "TEXT", "column_7": "TEXT"}
    result = ask(TABLE, "SELECT * FROM w")
    assert result.ok and list(result.columns) == SqlTable.of(TABLE).header
    assert result.rows == (
        ("Ann", 12467, 5.0, "2024-05-04", "09:45", "x", "1"),
        ("Bob", -3, 2.5, "2023-06-01", "10:30", None, "b"),
        ("Zoë", None, 10.0, None, "08:00", "y", None),
    )


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["2,114 m", "1,987 m"], "INTEGER"),
        (["12 June", "5 September"], "TEXT"),
        (["1e99", "1e-99"], "REAL"),
        (["9223372036854775807", "-9223372036854775808"], "REAL"),
        (["3:41", "x"], "TEXT"),
    ],
)
def test_numbers_are_typed_where_they_can_be_compared(cells: list[str], kind: str) -> None:
    assert SqlTable.of(Table(["a"], [[cell] for cell in cells])).columns == {"a": kind}


def test_common_tables_windows_and_comments_are_at_home(ask: Ask) -> None:
    for sql in (
        "WITH a AS (SELECT points AS p FROM w) SELECT COUNT(*), MAX(p) FROM a",
        "SELECT COUNT(*) OVER (), points FROM w ORDER BY points DESC LIMIT 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT MAX(i), 12467 FROM n",
        "/* a comment */ SELECT COUNT(*), MAX(points) FROM w; -- the end",
        "SELECT 3, points FROM w WHERE name = 'ANN'",
    ):
        assert ask(TABLE, sql).rows == ((3, 12467),), sql


def test_a_mistake_is_told_in_sqlite_s_words_and_no_rows_are_none(ask: Ask) -> None:
    result = ask(TABLE, "SELECT rank FROM w")
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
        run_sql(TABLE, "SELECT 1", executor=sandbox)


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


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ('SELECT "City" FROM w ORDER BY "Sale" DESC LIMIT 1', 'no such column: "Sale". '),
        ('SELECT COUNT(DISTINCT "Cities") FROM w', 'no such column: "Cities". '),
        ('SELECT "Town" FROM w', 'no such column: "Town". '),
        ('SELECT "City", "Town" AS t FROM w', 'no such column: "Town". '),
        ('SELECT * FROM w WHERE NOT "Sale" BETWEEN 1 AND 2', 'no such column: "Sale". '),
        ('SELECT * FROM (SELECT * FROM w WHERE "x y" IS NOT NULL)', 'no such column: "x y". '),
        ('SELECT \'a "b\' , "Town" FROM w -- "City"', 'no such column: "Town". '),
        ("SELECT Region, avg( city ) FROM w GROUP BY Region", "holds no numbers"),
        ('SELECT "City" FROM w ORDER BY "Net Sales" DESC LIMIT 1', "holds no numbers"),
        ("SELECT MAX([Net Sales]) FROM w", "holds no numbers"),
        ('SELECT COUNT(*) FROM w WHERE "Net Sales" > 500', "holds no numbers"),
        ('SELECT COUNT(*) FROM w WHERE 500 < "Net Sales"', "holds no numbers"),
        ('SELECT SUM(w."Net Sales") FROM w', "holds no numbers"),
        ('SELECT SUM(CAST("Net Sales" AS REAL)) FROM w', "holds no numbers"),
        ('SELECT "Net Sales" + 0 FROM w', "holds no numbers"),
        ('SELECT AVG("Day") FROM w', "holds no numbers"),
        ("SELECT COUNT(*) FROM w WHERE \"Paid\" = 'TRUE'", "holds 1 for true"),
    ],
)
def test_a_name_that_is_no_column_and_a_column_without_an_order_are_told(sql: str, told: str) -> None:
    assert told in fault_of(sql, COLUMNS, {"City": "", "Day": "", "Net Sales": "cell <5 cannot be read"})


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "city" FROM w WHERE Region IN ("North", "South") AND "Net Sales" > 5',
        'SELECT CASE WHEN "Net Sales" > 5 THEN "high" ELSE "low" END FROM w',
        'SELECT COUNT(*) "n" FROM w ORDER BY "n"',
        'WITH "a" AS (SELECT "City" AS c FROM w) SELECT "c" FROM "a" ORDER BY "c"',
        'SELECT COALESCE("City", "none") FROM w WHERE "City" LIKE "A%" OR "City" BETWEEN "a" AND "b"',
        'SELECT w."City" FROM "w" WHERE "City" != "it""s"',
        'SELECT MAX("City"), SUM(CAST("City" AS REAL)) FROM w ORDER BY "City"',
        'SELECT SUM("Net Sales") AS \'Total\' FROM w ORDER BY "Total"',
        'SELECT "Net Sales"*2 "dbl", CASE WHEN 1 THEN 2 END "big" FROM w ORDER BY "dbl", "big"',
        'WITH t("R","S") AS (SELECT Region, City FROM w) SELECT "R" FROM t ORDER BY "S"',
        'SELECT COUNT(*) FROM w WHERE "2024-06-01" < "Day"',
        "SELECT COUNT(*) FROM w WHERE Paid = TRUE AND Paid IS NOT NULL",
    ],
)
def test_texts_and_names_of_the_query_itself_stay(sql: str) -> None:
    assert fault_of(sql, COLUMNS, {"City": ""}) == ""


def test_names_of_several_words_need_no_quotes_and_may_be_joined() -> None:
    told = with_quoted_names("SELECT Net_Sales, net sales FROM w WHERE City = 'Net Sales'", COLUMNS)
    assert told == """SELECT "Net Sales", "Net Sales" FROM w WHERE City = 'Net Sales'"""
    query = "SELECT Net_Sales FROM w"
    assert with_quoted_names(query, {**COLUMNS, "Net_Sales": "REAL"}) == query
