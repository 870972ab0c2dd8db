"""Names in double quotes that are no columns, and sums of texts, are faults of a query."""

from __future__ import annotations

import pytest

from chameleon.modules.sql.query_faults import fault_of, with_quoted_names

COLUMNS = {"Region": "TEXT", "City": "TEXT", "Net Sales": "TEXT", "Paid": "BOOLEAN", "Day": "DATE"}


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ('SELECT "City" FROM w ORDER BY "Sale" DESC LIMIT 1', "Sale"),
        ('SELECT COUNT(DISTINCT "Cities") FROM w', "Cities"),
        ('SELECT "City" FROM w WHERE "Regoin" = \'North\'', "Regoin"),
        ('SELECT "Town" FROM w', "Town"),
        ('SELECT "City", "Town" AS t FROM w', "Town"),
        ('SELECT "Region", COUNT(*) FROM w GROUP BY "Regions"', "Regions"),
        ('SELECT * FROM w WHERE NOT "Sale" BETWEEN 1 AND 2', "Sale"),
        ('SELECT * FROM (SELECT * FROM w WHERE "x y" IS NOT NULL)', "x y"),
        ('SELECT \'a "b\' , "Town" FROM w -- "City"', "Town"),
    ],
)
def test_a_name_that_is_no_column_is_told(sql: str, name: str) -> None:
    assert fault_of(sql, COLUMNS, {}).startswith(f'no such column: "{name}". ')


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "City" FROM w WHERE "Region" = "North"',
        'SELECT "city" FROM w WHERE Region IN ("North", "South") AND "Net Sales" > 5',
        'SELECT CASE WHEN "Net Sales" > 5 THEN "high" ELSE "low" END FROM w',
        'SELECT SUM("Net Sales") AS "total" FROM w GROUP BY "Region" ORDER BY "total" DESC',
        'SELECT COUNT(*) "n" FROM w ORDER BY "n"',
        'WITH "a" AS (SELECT "City" AS c FROM w) SELECT "c" FROM "a" ORDER BY "c"',
        'SELECT COALESCE("City", "none") FROM w WHERE "City" LIKE "A%" OR "City" BETWEEN "a" AND "b"',
        'SELECT w."City" FROM "w" WHERE "City" != "it""s"',
        'SELECT COUNT("Net Sales"), SUM(1) FROM w WHERE "Net Sales" = \'<5\'',
        'SELECT MAX("City"), SUM(CAST("City" AS REAL)) FROM w ORDER BY "City"',
        "SELECT '\"Town\"' FROM w",
        'SELECT SUM("Net Sales") AS \'Total\' FROM w ORDER BY "Total"',
        'SELECT Region, COUNT(*) n FROM w GROUP BY Region ORDER BY "n"',
        'SELECT "Net Sales"*2 "dbl", CASE WHEN 1 THEN 2 END "big" FROM w ORDER BY "dbl", "big"',
        'SELECT City, RANK() OVER (ORDER BY "Net Sales") rn FROM w ORDER BY "rn"',
        'WITH t("R","S") AS (SELECT Region, City FROM w) SELECT "R" FROM t ORDER BY "S"',
        'SELECT COUNT(*) FROM w WHERE "2024-06-01" < "Day"',
        "SELECT COUNT(*) FROM w WHERE Paid = TRUE AND Paid IS NOT NULL",
    ],
)
def test_texts_and_names_of_the_query_itself_stay(sql: str) -> None:
    assert fault_of(sql, COLUMNS, {"City": ""}) == ""


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT SUM("City") FROM w',
        "SELECT Region, avg( city ) FROM w GROUP BY Region",
        'SELECT "City" FROM w ORDER BY "Net Sales" DESC LIMIT 1',
        "SELECT MAX([Net Sales]) FROM w",
        'SELECT COUNT(*) FROM w WHERE "Net Sales" > 500',
        'SELECT COUNT(*) FROM w WHERE 500 < "Net Sales"',
        'SELECT SUM(w."Net Sales") FROM w',
        'SELECT SUM(CAST("Net Sales" AS REAL)) FROM w',
        'SELECT "Net Sales" + 0 FROM w',
        'SELECT AVG("Day") FROM w',
    ],
)
def test_texts_are_not_added_up_and_what_is_unclear_has_no_order(sql: str) -> None:
    said = fault_of(sql, COLUMNS, {"City": "", "Day": "", "Net Sales": "cell <5 cannot be read"})
    assert said.startswith('the column "') and "holds no numbers" in said


def test_truth_is_not_compared_with_a_text() -> None:
    assert "holds 1 for true" in fault_of("SELECT COUNT(*) FROM w WHERE \"Paid\" = 'TRUE'", COLUMNS, {})


def test_names_of_several_words_need_no_quotes_and_may_be_joined() -> None:
    told = with_quoted_names("SELECT Net_Sales, net sales FROM w WHERE City = 'Net Sales'", COLUMNS)
    assert told == """SELECT "Net Sales", "Net Sales" FROM w WHERE City = 'Net Sales'"""
    query = "SELECT Net_Sales FROM w"
    assert with_quoted_names(query, {**COLUMNS, "Net_Sales": "REAL"}) == query
