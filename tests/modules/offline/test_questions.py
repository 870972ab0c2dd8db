"""What `questions.tsv` asks is answered rightly or declined: an answer may be lost, none may be wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import counts, groups, lookups, rows, selection, write_program
from chameleon.sandbox import Sandbox, make_sandbox
from tests.modules.offline.asked import Asked, questions, table

_READERS = ("tabfact_offline", "wikitq_offline")
_LEAST_ANSWERED = {"tabfact_offline": 0.75, "wikitq_offline": 0.7}
_DECIDED = [each for each in questions() if each.rule != "not wrong"]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


@cache
def _executor(inventory: str) -> Executor:
    return Executor(Inventory.load(inventory))


def _outcome(asked: Asked, sandbox: Sandbox) -> tuple[str, Any]:
    """Return "answered" and the answer, or "declined" and why."""
    data = table(asked.table)
    if asked.reader == "grammar":
        try:
            program = write_program(asked.question, data)
        except Declined as reason:
            return "declined", str(reason)
        result = sandbox.run(program.code, {"table": data.to_program_input()})
        assert result.ok, f"{result.message} in\n{program.code}"
        return "answered", result.plain
    state = _executor(asked.reader).run({"question": asked.question, "table": data})
    assert state.ended is not None
    if state.ended.reason == "declined":
        assert state.ended.error is not None
        return "declined", state.ended.error.message
    return state.ended.reason, list(state.answer) if isinstance(state.answer, tuple) else state.answer


def _fits(asked: Asked, outcome: tuple[str, Any]) -> bool:
    reason, said = outcome
    if reason != asked.rule:
        return False
    if reason == "declined":
        return bool(said) and asked.expected in said
    expected = json.loads(asked.expected)
    return bool(said == (pytest.approx(expected) if isinstance(expected, float) else expected))


@pytest.mark.parametrize(
    ("reader", "name"),
    sorted({(each.reader, each.table) for each in _DECIDED}),
    ids=lambda value: value.rpartition("/")[2],
)
def test_questions_are_answered_or_declined_as_the_file_says(
    reader: str, name: str, sandbox: Sandbox
) -> None:
    asked = [each for each in _DECIDED if (each.reader, each.table) == (reader, name)]
    outcomes = [(each, _outcome(each, sandbox)) for each in asked]
    assert [pair for pair in outcomes if not _fits(*pair)] == []


@pytest.mark.parametrize("reader", _READERS)
def test_the_rest_is_never_answered_wrongly_and_most_is_answered(reader: str, sandbox: Sandbox) -> None:
    asked = [each for each in questions() if each.reader == reader and each.rule == "not wrong"]
    outcomes = [(each, _outcome(each, sandbox)) for each in asked]
    answered = [
        (each, ", ".join(map(str, said)) if isinstance(said, list) else said)
        for each, (reason, said) in outcomes
        if reason == "answered"
    ]
    assert [(each, said) for each, said in answered if said != json.loads(each.expected)] == []
    assert len(answered) > _LEAST_ANSWERED[reader] * len(asked)


def test_programs_that_read_the_table_find_the_same(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions that a program states as code choose the same rows as those that it lists."""
    for module in (selection, counts, groups, lookups, rows):
        monkeypatch.setattr(module, "LITERAL_LIMIT", 0)
    asked = [each for each in questions() if each.table.endswith(".csv") and each.rule == "answered"]
    assert [each for each in asked[::3] if not _fits(each, _outcome(each, sandbox))] == []
