"""Which rows a query or a program reads: through aliases, subqueries, other names for columns, and joins."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from chameleon import Table
from chameleon.modules.documents.program_reads import reads_of_program
from chameleon.modules.documents.query_reads import reads_of_query
from chameleon.modules.documents.read_rows import parts_read

_STAFF = [["Inga", "Lone", "2"], ["Lars", "Arvik", "1"], ["Ola", "Lone", "3"]]
STAFF = Table(["Name", "Town", "Rank"], _STAFF, "staff")
SHIFTS = Table(
    ["Who", "Rank", "Hours"], [["Lars", "2", "8"], ["Inga", "1", "7"], ["Ola", "3", "2"]], "shifts"
)
BOTH = {"staff": STAFF, "shifts": SHIFTS}


def rows(reads: Any, tables: dict[str, Table] = BOTH) -> dict[str, Any]:
    return {name: kept for name, (kept, _) in parts_read(reads, tables, "staff").items()}


@pytest.mark.parametrize(
    ("sql", "staff", "shifts"),
    [
        ("SELECT t.Hours FROM staff AS s, shifts AS t WHERE s.Name = t.Who AND s.Rank = 2", [0], [1]),
        ("SELECT t.Hours FROM staff s JOIN shifts t ON s.Name = t.Who WHERE t.Rank = 2", [1], [0]),
        ("SELECT Hours FROM staff INNER JOIN shifts ON Name = Who WHERE Town = 'lone'", [0, 2], [1, 2]),
        ("SELECT Town FROM staff WHERE Name = (SELECT Who FROM shifts WHERE Hours = 7)", [0], [1]),
        (
            "SELECT Town FROM staff WHERE Name IN (SELECT Who FROM shifts WHERE Rank IN (2, 3))",
            [1, 2],
            [0, 2],
        ),
        ("SELECT Town FROM staff s WHERE 'inga' = LOWER(s.Name)", [0], ...),
        ('SELECT Town FROM staff WHERE "Name" = "Ola" OR Name IN ("Lars")', [1, 2], ...),
        ("SELECT s.Town FROM staff s JOIN shifts t USING (Rank) WHERE s.Name = 'Ola'", [2], [2]),
        ("SELECT s.Town FROM staff s JOIN shifts t ON s.Name = t.Who WHERE t.Hours > 5", None, None),
        ("SELECT s.Town FROM staff s JOIN shifts t ON s.Name = t.Who WHERE t.Who = 'Eva'", None, None),
        ("SELECT Town, Hours FROM staff, shifts WHERE Name = 'Ola' AND Hours = 8", [2], [0]),
        ("WITH x AS (SELECT * FROM shifts WHERE Who = 'Ola') SELECT Hours, 'a' || Rank FROM x", ..., [2]),
        ("SELECT REPLACE(Town, 'o', '0'), 'Lars' FROM staff WHERE Name = 'Ola'", [2], ...),
        ("SELECT Town FROM staff WHERE Name = 'Ola' OR Town = 'Arvik'", [1, 2], ...),
        ("SELECT a.Town FROM staff a JOIN staff b ON a.Town = b.Town WHERE b.Name = 'Ola'", [2], ...),
        ("SELECT", None, None),
    ],
)
def test_rows_that_a_query_reads(sql: str, staff: Any, shifts: Any) -> None:
    expected = {"staff": staff, "shifts": shifts}
    columns = {name.lower() for table in BOTH.values() for name in table.header}
    read = {name: each for name, each in expected.items() if each is not ...}
    assert rows(reads_of_query(sql, columns)) == read


@pytest.mark.parametrize(
    ("program", "staff", "shifts"),
    [
        ('who = df[df["Rank"] == 2]["Name"].iloc[0]\ns = tables["shifts"]\n'
         'ans = s.loc[s["Who"] == who, "Hours"].item()', [0], [1]),
        ('j = pd.merge(tables["staff"], tables["shifts"], left_on="Name", right_on="Who")\n'
         'ans = j[j["Town"] == "Lone"]["Hours"].sum()', [0, 2], [1, 2]),
        ('lone = df.loc[df["Town"].str.lower() == "lone", "Name"]\n'
         'ans = tables["shifts"][tables["shifts"]["Who"].isin(lone)]["Hours"].sum()', [0, 2], [1, 2]),
        ('a = df[df["Name"] == "Ola"]["Rank"].iloc[0]\nb = df[df["Name"] == "Inga"]["Rank"].iloc[0]\n'
         'ans = "Ola" if a > b else "Inga"', [0, 2], ...),
        ('ans = df[df["Rank"] > 1]["Name"].tolist()', None, ...),
        ('ans = df.set_index("Name").loc["Ola", "Town"]', [2], ...),
        ("ans = 1", None, None),
        ("ans = (", None, None),
    ],
)  # fmt: skip
def test_rows_that_a_program_reads(program: str, staff: Any, shifts: Any) -> None:
    try:
        tree = ast.parse(program)
    except SyntaxError:
        tree = ast.Module([], [])
    expected = {"staff": staff, "shifts": shifts}
    assert rows(reads_of_program(tree)) == {name: each for name, each in expected.items() if each is not ...}


BRANCHES = Table(["Branch", "City"], [["North", "Oslo"], ["South", "Bergen"], ["East", "Oslo"]], "branches")
SALES = Table(["Branch", "Year", "Sold"], [["North", "2023", "$120"], ["South", "2023", "95"]], "sales")
TABLES = {"branches": BRANCHES, "sales": SALES}
JOIN = "m = tables['branches'].merge(tables['sales'], on='Branch')\nans = m.loc[m['City'] {} 'Oslo', 'Sold']"


@pytest.mark.parametrize(
    ("program", "read"),
    [
        ("ans = df[df['City'] == 'Oslo']['Branch']", {"branches": ([0, 2], [0, 1])}),
        ("ans = df.City.nunique()", {"branches": (None, [1])}),
        ("ans = df[df['City'] != 'Oslo']['Branch']", {"branches": (None, [0, 1])}),
        ("ans = df[df['City'].str.contains('Os')]", {"branches": (None, [1])}),
        ("ans = len([r for r in table['rows'] if r[1] == 'Rome'])", {"branches": (None, [])}),
        (JOIN.format("=="), {"branches": ([0, 2], [0, 1]), "sales": ([0], [0, 2])}),
        (JOIN.format(">"), {"branches": (None, [0, 1]), "sales": (None, [0, 2])}),
        ("s = tables['sales']\nans = s[s['Sold'] == 120]['Branch']", {"sales": ([0], [0, 2])}),
        (
            "s = tables['sales']\nans = s[(s['Year'] == 2023) & (s['Branch'] == 'South')]['Sold']",
            {"sales": ([1], [0, 1, 2])},
        ),
    ],
)
def test_of_a_program(program: str, read: object) -> None:
    assert parts_read(reads_of_program(ast.parse(program)), TABLES, "branches") == read


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("SELECT Branch FROM branches WHERE City = 'Oslo'", {"branches": ([0, 2], [0, 1])}),
        ("SELECT COUNT(*) FROM sales WHERE Year = 2023", {"sales": ([0, 1], [1])}),
        ("SELECT COUNT(*) FROM sales WHERE Sold > 100", {"sales": (None, [2])}),
        (
            "SELECT s.Sold FROM branches b JOIN sales s ON b.Branch = s.Branch WHERE b.City = 'bergen'",
            {"branches": ([1], [0, 1]), "sales": ([1], [0, 2])},
        ),
        ("SELECT SUM(Sold) FROM sales", {"sales": (None, [2])}),
    ],
)
def test_of_a_query(query: str, read: object) -> None:
    assert parts_read(reads_of_query(query), TABLES, "branches") == read
