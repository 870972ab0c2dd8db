"""docs/experiments.md: no row is empty, what it names is there, and its counts are those of its rows."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from chameleon.inventory.source import shipped_grids, shipped_inventories
from tests.e2e.commands import Command
from tests.e2e.conftest import command as command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "experiments.md").read_text("utf-8")
TABLES = re.findall(r"\| what \| command \| runs \|\n\|---\|---\|---\|\n((?:\|.*\n?)+)", PAGE)
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in "".join(TABLES).splitlines()]
NAMED = {text for row in ROWS for text in re.findall(r"`([^`]+)`", " ".join(row))}
PLACES = ("tests/", "prompts/", "inventories/")


def test_every_row_has_a_command_and_a_state_and_the_page_counts_them() -> None:
    states = [re.match(r"(yes|model|no)(?:[:;,] .+)?$", runs) for _, _, runs in ROWS]
    assert all(what and how for what, how, _ in ROWS) and len(TABLES) == 4
    for row, state in zip(ROWS, states, strict=True):
        assert state and (state[1] == "no") == (row[1] == "–") and (state[1] != "no" or ": " in row[2]), row
    counts = Counter(state[1] for state in states if state)
    figures = re.search(
        r"Of (\d+) rows (\d+) run without a model \((\d+) over scripted replies, which we wrote, and (\d+) "
        r"of a run with a model\), (\d+) with one, and (\d+)\scannot be run",
        PAGE,
    )
    within = [
        sum(text in row[2] for row in ROWS) for text in ("over scripted replies", "of a run with a model")
    ]
    known = [len(ROWS), counts["yes"], *within, counts["model"], counts["no"]]
    assert figures and [*map(int, figures.groups())] == known, known


@pytest.mark.parametrize("line", sorted(text for text in NAMED if text.startswith("chameleon ")))
def test_a_command_is_one_that_there_is(line: str, command: Command) -> None:
    _, name, *words = shlex.split(line)
    shown = command(name, "--help")
    assert shown.code == 0 and all(each in shown.out for each in words if each.startswith("-")), line
    known = {"compare": shipped_grids(), "eval": shipped_inventories(), "list": ["modules"]}
    assert name not in known or words[0] in known[name], line


def test_files_tests_and_experiments_that_are_named_are_there(command: Command) -> None:
    for text in (each for each in NAMED if each.startswith(PLACES)):
        file, _, test = text.partition("::")
        assert (ROOT / file).exists(), text
        assert not test or f"def {test}(" in (ROOT / file).read_text("utf-8"), text
    listed = command("list", "experiments").out
    assert {line.split()[0] for line in listed.splitlines()} == {*shipped_grids()}
    assert all(f"compare {name} DATA" in PAGE or f"compare {name}`" in PAGE for name in shipped_grids())
