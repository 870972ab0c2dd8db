"""docs/experiments.md: no row is empty, what it names is there, and its counts are those of its rows."""

import re
import shlex
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
KNOWN = {"compare": shipped_grids(), "eval": shipped_inventories(), "list": ["modules"]}


def test_every_row_has_a_command_and_a_state_and_the_page_counts_them() -> None:
    runs = [row[2] for row in ROWS]
    for what, how, state in ROWS:
        assert what and re.match(r"(no: .|(yes|model)([:;,] .|$))", state), what
        assert (how == "–") == state.startswith("no"), what
    yes, model, no = (sum(state.startswith(each) for state in runs) for each in ("yes", "model", "no"))
    scripted, of_a_run = (sum(each in state for state in runs) for each in ("scripted", "of a run with"))
    told = f"Of {len(ROWS)} rows {yes} run without a model ({scripted} over scripted replies, which we wrote,"
    told += f" and {of_a_run} of a run with a model), {model} with one, and {no} cannot be run."
    assert told in " ".join(PAGE.split()) and len(TABLES) == 4, told


@pytest.mark.parametrize("line", sorted(text for text in NAMED if text.startswith("chameleon ")))
def test_a_command_is_one_that_there_is(line: str, command: Command) -> None:
    _, name, *words = shlex.split(line)
    shown = command(name, "--help")
    assert shown.code == 0 and all(each in shown.out for each in words if each.startswith("-")), line
    assert name not in KNOWN or words[0] in KNOWN[name], line


def test_files_and_tests_are_there_and_all_experiments_are_named() -> None:
    for text in (each for each in NAMED if each.startswith(("tests/", "prompts/", "inventories/"))):
        file, _, test = text.partition("::")
        assert (ROOT / file).exists(), text
        assert not test or f"def {test}(" in (ROOT / file).read_text("utf-8"), text
    assert all(f"`chameleon compare {name}" in PAGE for name in shipped_grids())
