"""Names in double quotes that are no columns, and sums of texts, are faults of a query."""

from __future__ import annotations

import pytest

from chameleon.modules.sql.query_faults import fault_of, with_quoted_names

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
