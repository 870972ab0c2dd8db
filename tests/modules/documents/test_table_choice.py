"""What a reply to a list of tables chooses, which rows a query or program reads, whence an answer came."""

import ast
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Declined, State, StepRejected, Table
from chameleon.core.sources import sources_in_words
from chameleon.documents.indexing import index_files
from chameleon.errors import NoModel
from chameleon.modules.documents.program_reads import reads_of_program
from chameleon.modules.documents.query_reads import reads_of_query
from chameleon.modules.documents.read_rows import parts_read
from chameleon.modules.documents.table_choice import TableChoice, retrieved
from chameleon.modules.documents.table_sources import TableRegion, TableSources, region_kept
from chameleon.modules.tablerag.table_retriever import TableRetriever
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index
from tests.modules.text_rows import grouped

pytest.importorskip("tantivy")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    folder = tmp_path_factory.mktemp("harbour")
    for year in (2023, 2024):
        (folder / f"fees_{year}.csv").write_text("Berth,Fee\nA1,40\nB2,30\n")
    (folder / "rules.txt").write_text("The fee of a berth is due in May.")
    index_files([folder], folder / "index")
    asked = State(input={"question": "What is the fee of the berth A1?", "index": str(folder / "index")})
    return State(input=asked.input, cache={"retrieved": TableRetriever().run(asked)["retrieved"]})


CHOSEN = """
table | 2 | Table: 2. | **Table 2**, not the passages
passages | passages | Table: passages | The passage. | 1 passage
declined | none | Table: none | Answer: None of the passages
rejected | 7 | I cannot say. | nonetheless 2
"""


@pytest.mark.parametrize(("reply", "chosen"), grouped(CHOSEN))
def test_replies(state: State, reply: str, chosen: str) -> None:
    problem = {"declined": Declined, "rejected": StepRejected}.get(chosen)
    with pytest.raises(problem) if problem else nullcontext():
        found = TableChoice().interpret(reply, state)
        assert ("passages" in found) == (chosen == "passages")
        assert found.get("id", "").startswith("fees_") == (chosen == "table")


@pytest.mark.parametrize("reply", ["1, passages", "Table: 1 and the passages", "passages and table 1"])
def test_a_table_is_read_with_the_passages(state: State, reply: str) -> None:
    table, rules = TableChoice().interpret(reply, state)["passages"]
    assert table["text"].splitlines()[:2] == ["Berth | Fee", "A1 | 40"] and "due in May" in rules["text"]
    assert table["source"]["of"] == 2 and table["source"]["columns"] == ["Berth", "Fee"]


def test_only_a_table_that_is_clearly_ahead_is_taken_without_asking(state: State) -> None:
    table, *_, rules = sorted(state.cache["retrieved"], key=lambda each: each["name"])
    alone = State(input=state.input, cache={"retrieved": [table, rules]})
    [found], [(_, score)] = retrieved(alone)
    assert TableChoice(0.99 * found.score / score).run(alone)["why"] == "it is clearly ahead"
    with pytest.raises(NoModel):
        TableChoice(1.01 * found.score / score).run(alone)


LEAGUE = Table(["Team", "Points", "Lost"], [["Nord", "40", "2"], ["Sud", "38", "4"], ["West", "31", "9"]])


def test_with_a_model_the_rows_that_lookups_kept_and_of_a_broken_program_all(tmp_path: Path) -> None:
    build_index(tmp_path / "index", [Document("league", LEAGUE, source={"file": "a.csv"})])
    cut = LEAGUE.take_rows([1]).take_columns([0, 1])
    found = ({"id": "league", "name": "league", "score": 1.0, "source": {"file": "a.csv"}},)
    given = {"question": "Who has 38 points?", "index": str(tmp_path / "index"), "table": cut}
    (source,) = TableSources().run(State(input=given, cache={"retrieved": found, "answer": "Sud"}))
    assert (source["rows"], source["columns"]) == ([2], ["Team", "Points"])
    assert source["cells"] == [[2, "Team"]]
    broken = {"retrieved": found, "answer": 9, "program_result": 9, "program": 'df["Lost"].max() + "not code'}
    (source,) = TableSources().run(State(input={**given, "table": LEAGUE}, cache=broken))
    assert (source["rows"], source["columns"]) == ([1, 2, 3], ["Team", "Points", "Lost"])


ODD = Table(["Team", "", "Points", "Lost"], [[*"ax12"], [*"bx34"], [*"ax12"]])


def test_rows_are_counted_from_one_and_a_nameless_column_has_a_number() -> None:
    told = TableRegion([0, 2], [0, 1]).to_json(ODD, [(2, 1)])
    assert told == {"of": 3, "rows": [1, 3], "columns": ["Team", "column 2"], "cells": [[3, "column 2"]]}
    assert region_kept(ODD, Table(["Team"], [["c"]])) is None
    assert region_kept(ODD, ODD.with_caption("other")) == TableRegion()
    assert TableRegion().to_json(Table(["a"], [["x"]] * 1001)) == {"of": 1001, "columns": ["a"]}


@settings(max_examples=30)
@given(st.sets(st.integers(0, 2), min_size=1).map(list), st.sets(st.integers(0, 3), min_size=1).map(list))
def test_what_a_part_keeps_is_found_again(rows: list[int], columns: list[int]) -> None:
    part = ODD.take_rows(rows).take_columns(columns)
    kept = region_kept(ODD, part)
    assert kept is not None
    again = ODD if kept.rows is None else ODD.take_rows(kept.rows)
    again = again if kept.columns is None else again.take_columns(kept.columns)
    assert (again.header, again.rows) == (part.header, part.rows)
    assert len(set(kept.rows or range(3))) == len(rows)


@pytest.mark.parametrize(
    ("answer", "part", "cells"),
    [
        ("a", TableRegion(), []),  # two rows have it
        ("a", TableRegion([1, 2]), [(2, 0)]),
        ("a, b", TableRegion(), [(0, 0), (1, 0), (2, 0)]),
        (("a", "b"), TableRegion([0, 1]), [(0, 0), (1, 0)]),
        ("b", TableRegion([0], [0]), []),
        (True, TableRegion(), []),
        ("", TableRegion(), []),
    ],
)
def test_cells_in_which_an_answer_stands(answer: object, part: TableRegion, cells: object) -> None:
    assert part.answer_cells(answer, ODD, "Which team?") == cells


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ({"id": "a.csv", "table": "a", "file": "a.csv", "of": 5, "rows": [3, 5], "columns": ["T", "P"]},
         "a.csv, rows 3 and 5, columns T and P"),
        ({"id": "a.csv#2", "table": "b", "file": "a.csv", "of": 9, "rows": [1, 2, 3, 7], "columns": ["x"]},
         "a.csv, table b, rows 1 to 3 and 7, column x"),
        ({"file": "b.xlsx", "sheet": "S", "of": 1, "rows": [1]}, "b.xlsx, sheet S, its one row"),
        ({"file": "c.md", "heading": "H", "of": 2000, "cells": [[7, "x"]]},
         "c.md, heading H, all 2,000 rows, the answer in row 7"),
        ({"id": "t", "table": "named", "of": 2, "rows": [1, 2]}, "named, all 2 rows"),
        ({"table": "x\x1b[2J", "columns": list("abcdefghi")}, "x[2J, columns a, b, c, d, e and 4 more"),
    ],
)  # fmt: skip
def test_a_source_in_words(source: dict[str, object], line: str) -> None:
    assert sources_in_words([source]) == [line]


_STAFF = [["Inga", "Lone", "2"], ["Lars", "Arvik", "1"], ["Ola", "Lone", "3"]]
STAFF = Table(["Name", "Town", "Rank"], _STAFF, "staff")
SHIFTS = Table(["Who", "Rank", "Hours"], [["Lars", *"28"], ["Inga", *"17"], ["Ola", *"32"]], "shifts")
BOTH = {"staff": STAFF, "shifts": SHIFTS}


def reads_of(written: str) -> Any:
    """Return what a query or a program reads; nothing of a program that cannot be parsed."""
    if written.startswith(("SELECT", "WITH")):
        columns = {name.lower() for table in (STAFF, SHIFTS, *TABLES.values()) for name in table.header}
        return reads_of_query(written, columns)
    with suppress(SyntaxError):
        return reads_of_program(ast.parse(written))
    return reads_of_program(ast.Module([], []))


@pytest.mark.parametrize(
    ("written", "staff", "shifts"),
    [
        ("SELECT t.Hours FROM staff AS s, shifts AS t WHERE s.Name = t.Who AND s.Rank = 2", [0], [1]),
        ("SELECT Hours FROM staff INNER JOIN shifts ON Name = Who WHERE Town = 'lone'", [0, 2], [1, 2]),
        ("SELECT Town FROM staff WHERE Name = (SELECT Who FROM shifts WHERE Hours = 7)", [0], [1]),
        ("SELECT Town FROM staff WHERE Name IN (SELECT Who FROM shifts WHERE Rank IN (2,3))", [1, 2], [0, 2]),
        ("SELECT Town FROM staff s WHERE 'inga' = LOWER(s.Name)", [0], ...),
        ("SELECT shifts.Town FROM staff AS shifts WHERE shifts.Name = 'Ola'", [2], ...),
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
def test_rows_that_a_query_or_a_program_reads(written: str, staff: Any, shifts: Any) -> None:
    expected = {"staff": staff, "shifts": shifts}
    kept = {name: found for name, (found, _) in parts_read(reads_of(written), BOTH, "staff").items()}
    assert kept == {name: each for name, each in expected.items() if each is not ...}


BRANCHES = Table(["Branch", "City"], [["North", "Oslo"], ["South", "Bergen"], ["East", "Oslo"]], "branches")
SALES = Table(["Branch", "Year", "Sold"], [["North", "2023", "$120"], ["South", "2023", "95"]], "sales")
TABLES = {"branches": BRANCHES, "sales": SALES}
JOINED = {"branches": ([0, 2], [0, 1]), "sales": ([0], [0, 2])}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("m = df.merge(tables['sales'], on='Branch')\nans = m.loc[m['City'] == 'Oslo', 'Sold']", JOINED),
        ("ans = df.City.nunique()", {"branches": (None, [1])}),
        ("ans = len([r for r in table['rows'] if r[1] == 'Rome'])", {"branches": (None, [])}),
        ("s = tables['sales']\nans = s[s['Sold'] == 120]['Branch']", {"sales": ([0], [0, 2])}),
        ("SELECT s.Sold FROM branches b JOIN sales s USING (Branch) WHERE b.City = 'oslo'", JOINED),
        ("SELECT COUNT(*) FROM sales WHERE Year = 2023", {"sales": ([0, 1], [1])}),
        ("SELECT COUNT(*) FROM sales WHERE Sold > 100", {"sales": (None, [2])}),
    ],
)
def test_columns_that_a_query_or_a_program_reads(written: str, read: object) -> None:
    assert parts_read(reads_of(written), TABLES, "branches") == read
