"""Which rows and columns a program or a query is said to read."""

import ast

import pytest

from chameleon import Table
from chameleon.modules.documents.read_rows import Reads, parts_read

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
    assert parts_read(Reads.of_program(ast.parse(program)), TABLES, "branches") == read


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
    assert parts_read(Reads.of_query(query), TABLES, "branches") == read
