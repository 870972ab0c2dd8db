"""Errors of the engine speak of no option; the command line says which one gives what they ask for."""

from __future__ import annotations

import re

from chameleon.cli.hints import IN_OPTIONS
from tests.e2e.commands import ROOT, Command

ENGINE = [
    file
    for folder in ("benchmarks", "chameleon", "modules", "planners")
    for file in (ROOT / folder).rglob("*.py")
    if not file.is_relative_to(ROOT / "chameleon/cli") and not file.is_symlink()
]
MADE = re.compile(r"Give '\w+'( or '\w+')? in the input\.")  # of the keys of an inventory


def test_no_error_of_the_engine_names_an_option() -> None:
    named = {
        f"{file.name}: {found}"
        for file in ENGINE
        for found in re.findall(r"[\"' (`](--[a-z][a-z-]+)", file.read_text("utf-8"))
        if file.name not in ("weights.py", "manifest.py")  # they name whole commands
    }
    assert named == set()


def test_the_engine_says_what_is_put_in_options() -> None:
    text = " ".join("".join(re.split(r'"\s*f?"', file.read_text("utf-8"))) for file in ENGINE)
    assert [said for said in IN_OPTIONS if said not in text and not MADE.fullmatch(said)] == []


def test_a_run_that_waits_for_something_says_how_to_give_it(command: Command) -> None:
    outcome = command("ask", "What is the adult fare?", "--inventory", "pictures_offline")
    assert outcome.code == 3 and "Give one with --image FILE or --text FILE." in outcome.err
