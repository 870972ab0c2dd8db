"""`chameleon index` and `ask --index` as a user runs them, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome, spawn
from tests.e2e.mixed_folder import mixed_folder
from tests.retrieval.hashed import Hashed

for package in ("tantivy", "duckdb", "openpyxl", "python_calamine", "lxml"):
    pytest.importorskip(package)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """The folder above the index, and what the command that made it said."""
    root = tmp_path_factory.mktemp("corpus")
    mixed_folder(root / "papers")
    done = spawn("index", f"{root}/papers", "--out", f"{root}/index")
    assert done.code == 0, done.err
    return root, done


@pytest.fixture
def ask(made: tuple[Path, Outcome], command: Command) -> Command:
    """Ask the index."""
    return lambda question, *more: command("ask", question, "--index", f"{made[0]}/index", *more)


@pytest.mark.slow
def test_the_summary_says_what_was_read_and_what_was_not(made: tuple[Path, Outcome]) -> None:
    root, done = made
    assert "Read 17 tables with 66 rows and 3 passages in 12 files" in done.out
    assert "Skipped, as layout of a page: 1 table." in done.out
    assert f"The index {root}/index holds 17 tables and 3 passages." in done.out
    assert "2 warnings: not read\n  shop/broken.csv, line 2: 3 cells found" in done.err
    assert "\n  town/plan.pdf: " in done.err


def test_again_and_as_json(made: tuple[Path, Outcome], command: Command) -> None:
    done = command("index", f"{made[0]}/papers", "--out", f"{made[0]}/index", "--json")
    told = done.json
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
def test_a_question_to_each_kind_of_file(ask: Command, question: str, answer: str, source: str) -> None:
    done = ask(question)
    assert (done.code, done.out) == (0, f"{answer}\n"), done
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
def test_what_no_single_table_tells_is_declined(ask: Command, question: str, why: str) -> None:
    done = ask(question)
    assert done.code == 3 and not done.out and "From:" not in done.err
    assert why in done.err and "--inventory corpus --model" in done.err


def test_sources_are_told_as_json_and_the_trace_shows_tables_with_scores(ask: Command) -> None:
    told = ask("Who wrote Maps of Nowhere?", "--json").json
    source = {"id": "town/library.sqlite#books", "table": "books", "file": "town/library.sqlite", "of": 5}
    source |= {"rows": [5], "columns": ["title", "author"], "cells": [[5, "author"]]}
    assert (told["answer"], told["sources"]) == ("Pavel Dorn", [source])
    trace = ask("How many points did Tidewater get in 2024?", "--trace").err
    found = trace.partition("1. table_retriever")[2].partition("2. index_reader")[0]
    assert "id: club/league_2024.csv, name: league 2024, score: " in found and "league_2023" in found


@pytest.mark.parametrize(
    ("option", "code", "told"),
    [
        ("--table", 2, "is given with something else, and is searched alone"),
        ("--text", 2, "is given with something else, and is searched alone"),
        ("-i", 1, "the inventory tables_offline takes no index. Leave it out, or name one that takes it"),
    ],
)
def test_an_index_is_taken_alone(
    made: tuple[Path, Outcome], ask: Command, option: str, code: int, told: str
) -> None:
    done = ask("Who?", option, "tables_offline" if code == 1 else f"{made[0]}/papers/club/league_2024.csv")
    assert done.code == code and told in done.told


@pytest.mark.parametrize("retriever", ["bm25", "{first: blend, embeddings: NAME}"])
def test_an_index_is_asked_by_the_retriever_that_it_was_built_for(
    sh: Command, hashed: Hashed, tmp_path: Path, retriever: str
) -> None:
    by = ("--retriever", retriever.replace("NAME", json.dumps(hashed.name)))
    (tmp_path / "data").mkdir()
    for town in ("Lakeside", "Marsh End", "Quarry Lane"):
        (tmp_path / f"data/{town}.csv").write_text(f"{town} bakery,seats\nmorning,3\nevening,7\n")
    assert sh("index data --out index", *by).code == 0
    asked = sh("ask 'How many seats in the morning at Marsh End bakery?' --index index --trace")
    assert asked.code in (0, 3) and "Marsh End.csv" in asked.err, asked.err
    (tmp_path / "q.jsonl").write_text('{"query": "Lakeside bakery", "table_id": "Lakeside.csv"}')
    for more in ((), by):
        assert "recall@1    1.0000" in sh("recall index q.jsonl", *more).out
