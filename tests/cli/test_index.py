"""`chameleon index` and `ask --index` as a user runs them, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, spawn
from tests.e2e.mixed_folder import mixed_folder
from tests.retrieval.hashed import Hashed

for package in ("tantivy", "duckdb", "openpyxl", "python_calamine", "lxml"):
    pytest.importorskip(package)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str, str]:
    """The folder, its index, and what the command that made it said."""
    root = tmp_path_factory.mktemp("corpus")
    folder = mixed_folder(root / "papers")
    done = spawn("index", str(folder), "--out", str(root / "index"))
    assert done.code == 0, done.err
    return folder, root / "index", done.out, done.err


@pytest.mark.slow
def test_the_summary_says_what_was_read_and_what_was_not(made: tuple[Path, Path, str, str]) -> None:
    _, index, out, err = made
    assert "Read 17 tables with 66 rows and 3 passages in 12 files" in out
    assert "Skipped, as layout of a page: 1 table." in out
    assert f"The index {index} holds 17 tables and 3 passages." in out
    assert "2 warnings: not read\n  shop/broken.csv, line 2: 3 cells found" in err
    assert "\n  town/plan.pdf: " in err


def test_a_reason_of_several_files_is_told_once(command: Command, tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.docx").write_bytes(b"no document")
    (tmp_path / "kites.csv").write_text("kite,minutes\nred,12\n")
    told = command("index", str(tmp_path), "--out", str(tmp_path / "index")).err
    assert "7 warnings: not read\n  0.docx, 1.docx, 2.docx, 3.docx, 4.docx and 2 more: " in told


def test_again_and_as_json(made: tuple[Path, Path, str, str], command: Command) -> None:
    folder, index, _, _ = made
    done = command("index", str(folder), "--out", str(index), "--json")
    told = json.loads(done.out)
    assert done.code == 0 and told["unchanged"] == 12 and told["files"] == 0 and told["held"]["tables"] == 17
    assert told["warnings"][0]["where"] == "shop/broken.csv, line 2"
    assert "layout" in told["layout"][0]["why"]


# fmt: off
QUESTIONS = [
    ("How many points did Tidewater get in 2024?", "42", "club/league_2024.csv, row 1, columns Team and"),
    ("Who joined first?", "Dora Klein", "club/members.tsv, row 4, columns Name and"),
    ("Who is the warden of Gull Rock?", "Petra Voss", "club/hiking.xlsx, sheet Huts, row 1"),
    ("Which month had the least rainfall at the hill station?", "June", "town/rainfall.csv, row 6, columns"),
    ("How much is an adult ticket at the Seafront Lido?", "$6.00", "heading Swimming pools, row 2"),
    ("Who is the councillor of Hillside?", "Tom Garrick", "town/council.md, heading Wards, row 2"),
    ("How much more was spent on schools in 2024 than in 2022?", "95", "row 2, columns Item, 2022 and 2024"),
    ("When does the Lakeside branch close?", "17:30", "shop/opening_hours.json, row 3"),
    ("How many boxes did Hotel Anker order?", "20", "shop/orders.jsonl, rows 1 and 3, columns"),
    ("Who wrote Maps of Nowhere?", "Pavel Dorn", "town/library.sqlite, table books, row 5"),
    ("What is the price of the stone oven?", "2890.0", "shop/machines.duckdb, table ovens, row 2"),
    ("How many parcels are there in total?", "128", "shop/deliveries.parquet, all 3 rows, column parcels"),
]
# fmt: on


@pytest.mark.parametrize(("question", "answer", "source"), QUESTIONS)
def test_a_question_to_each_kind_of_file(
    made: tuple[Path, Path, str, str], command: Command, question: str, answer: str, source: str
) -> None:
    done = command("ask", question, "--index", str(made[1]))
    assert done.code == 0, done.out + done.err
    assert done.out == f"{answer}\n"
    assert source in done.err.partition("From: ")[2]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How many points did Quarry Lane get?", "it is not clear which table is meant (league 202"),
        ("How many seats does the cinema have?", "not understood: cinema"),
        ("Who is the mayor?", "nothing in the index"),
        ("How many teams are there?", "which table is meant"),  # in both years
    ],
)
def test_what_no_single_table_tells_is_declined(
    made: tuple[Path, Path, str, str], command: Command, question: str, why: str
) -> None:
    done = command("ask", question, "--index", str(made[1]))
    assert done.code == 3 and not done.out and "From:" not in done.err
    assert why in done.err and "--inventory corpus --model" in done.err


def test_sources_as_json(made: tuple[Path, Path, str, str], command: Command) -> None:
    done = command("ask", "Who wrote Maps of Nowhere?", "--index", str(made[1]), "--json")
    told = json.loads(done.out)
    assert told["answer"] == "Pavel Dorn"
    assert told["sources"] == [
        {
            "id": "town/library.sqlite#books",
            "table": "books",
            "file": "town/library.sqlite",
            "of": 5,
            "rows": [5],
            "columns": ["title", "author"],
            "cells": [[5, "author"]],
        }
    ]


def test_the_trace_shows_tables_with_scores(made: tuple[Path, Path, str, str], command: Command) -> None:
    out = command("ask", "How many points did Tidewater get in 2024?", "--index", str(made[1]), "--trace").err
    found = out.partition("1. table_retriever")[2].partition("2. index_reader")[0]
    assert "id: club/league_2024.csv, name: league 2024, score: " in found and "league_2023" in found


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--table", "is given with something else, and is searched alone"),
        ("--text", "is given with something else, and is searched alone"),
        ("-i", "the inventory tables_offline takes no index. Leave it out, or name one that takes it"),
    ],
)
def test_an_index_is_taken_alone(
    made: tuple[Path, Path, str, str], command: Command, option: str, told: str
) -> None:
    given = "tables_offline" if option == "-i" else str(made[0] / "club/league_2024.csv")
    done = command("ask", "Who?", "--index", str(made[1]), option, given)
    shown = " ".join(done.err.replace("│", " ").split())
    assert done.code == (1 if option == "-i" else 2) and told in shown


@pytest.mark.parametrize("retriever", ["bm25", "{first: blend, embeddings: NAME}"])
def test_an_index_is_asked_by_the_retriever_that_it_was_built_for(
    command: Command, hashed: Hashed, tmp_path: Path, retriever: str
) -> None:
    retriever = retriever.replace("NAME", json.dumps(hashed.name))
    (tmp_path / "data").mkdir()
    for town in ("Lakeside", "Marsh End", "Quarry Lane"):
        text = f"{town} bakery,seats\nmorning,3\nevening,7\n"
        (tmp_path / "data" / f"{town}.csv").write_text(text)
    out = str(tmp_path / "index")
    assert command("index", str(tmp_path / "data"), "--out", out, "--retriever", retriever).code == 0
    asked = command("ask", "How many seats in the morning at Marsh End bakery?", "--index", out, "--trace")
    assert asked.code in (0, 3) and "Marsh End.csv" in asked.err, asked.err
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"query": "Lakeside bakery", "table_id": "Lakeside.csv"}')
    for more in ((), ("--retriever", retriever)):
        assert "recall@1    1.0000" in command("recall", out, str(queries), *more).out
