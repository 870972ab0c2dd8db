"""Errors of the engine speak of no option; the command line says which one gives what they ask for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from chameleon.cli.hints import HINTS
from chameleon.core.events import Failure
from chameleon.errors import InputError
from tests.e2e.commands import ROOT, Command

CLI = ROOT / "chameleon/cli"
FOLDERS = ("benchmarks", "chameleon", "modules", "planners")
FILES = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if not file.is_symlink()]
INPUT = "missing-input:"  # followed by keys of an inventory


def test_no_error_of_the_engine_names_an_option() -> None:
    whole_commands = ("weights.py", "manifest.py")
    engine = [each for each in FILES if CLI not in each.parents and each.name not in whole_commands]
    named = {each.name: re.findall(r"[\"' (`](--[a-z][a-z-]+)", each.read_text("utf-8")) for each in engine}
    assert not {name: found for name, found in named.items() if found}


def codes_of(value: ast.AST) -> Iterator[str]:
    """Yield the codes that the argument of an error may be; of a formatted one, its first piece."""
    for each in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
        first = each.values[0] if isinstance(each, ast.JoinedStr) else each
        if isinstance(first, ast.Constant) and first.value:
            yield INPUT if str(first.value).startswith(INPUT) else str(first.value)


def test_the_table_has_every_code_that_is_raised_and_no_other() -> None:
    nodes = chain.from_iterable(ast.walk(ast.parse(file.read_text("utf-8"))) for file in FILES)
    given = chain.from_iterable(getattr(node, "keywords", ()) for node in nodes)
    raised = {code for each in given if each.arg == "code" for code in codes_of(each.value)}
    assert raised == {INPUT if code.startswith(INPUT) else code for code in HINTS}


def test_a_code_is_kept_and_a_run_that_waits_says_how_to_give_it(sh: Command) -> None:
    failure = Failure.of(InputError("no table", code="missing-input:table").at("here"))
    assert Failure.from_json(failure.to_json()) == failure
    assert failure.exception.code == "missing-input:table"
    outcome = sh("ask 'What is the adult fare?' --inventory pictures_offline")
    assert outcome.code == 3 and "Give one with --image FILE or --text FILE." in outcome.err
