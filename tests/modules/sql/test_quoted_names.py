"""Names in double quotes that are no columns are faults where no text makes sense."""

from __future__ import annotations

import pytest

from chameleon.modules.sql.quoted_names import unknown_name

COLUMNS = ["Region", "City", "Net Sales"]


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ('SELECT "City" FROM w ORDER BY "Sale" DESC LIMIT 1', "Sale"),
        ('SELECT MAX("Net_Sales") FROM w', "Net_Sales"),
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
    assert unknown_name(sql, COLUMNS).startswith(f'no such column: "{name}". ')


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
        "SELECT '\"Town\"' FROM w",
    ],
)
def test_texts_and_names_of_the_query_itself_stay(sql: str) -> None:
    assert unknown_name(sql, COLUMNS) == ""
