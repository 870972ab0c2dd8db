"""A stranger's first questions on their own files: answered rightly, or declined with a useful sentence.

`everyday/questions.tsv` holds table, question and answer as JSON; without an answer it is to be declined.
The answers were computed apart from the grammar.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import counts, groups, lookups, rows, selection, write_program
from chameleon.sandbox import Sandbox, make_sandbox
from chameleon.table import read_table

_HERE = Path(__file__).parent / "everyday"
_DEMOS = Path(__file__).parents[2] / "demos/data"

with (_HERE / "questions.tsv").open(encoding="utf-8", newline="") as lines:
    _QUESTIONS = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
ANSWERED = [(row["table"], row["question"], json.loads(row["answer"])) for row in _QUESTIONS if row["answer"]]
DECLINED = [(row["table"], row["question"]) for row in _QUESTIONS if not row["answer"]]


def _table(name: str) -> Table:
    demo = name.removeprefix("demo ")
    return read_table((_HERE if demo == name else _DEMOS) / f"{demo}.csv")


@pytest.fixture(scope="module")
def executor() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


@pytest.mark.parametrize(
    ("name", "question", "expected"), ANSWERED, ids=[f"{name}: {question}" for name, question, _ in ANSWERED]
)
def test_an_everyday_question_is_answered(executor: Sandbox, name: str, question: str, expected: Any) -> None:
    table = _table(name)
    result = executor.run(write_program(question, table).code, {"table": table.to_program_input()})
    assert result.ok, result.message
    assert result.value == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(
    ("name", "question"), DECLINED, ids=[f"{name}: {question}" for name, question in DECLINED]
)
def test_what_the_table_does_not_tell_is_declined(name: str, question: str) -> None:
    with pytest.raises(Declined) as declined:
        write_program(question, _table(name))
    assert declined.value.what


def test_programs_that_read_the_table_find_the_same(
    executor: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions that a program states as code choose the same rows as those that it lists."""
    for module in (selection, counts, groups, lookups, rows):
        monkeypatch.setattr(module, "LITERAL_LIMIT", 0)
    for name, question, expected in ANSWERED:
        table = _table(name)
        program = write_program(question, table)
        result = executor.run(program.code, {"table": table.to_program_input()})
        assert result.ok, f"{question}: {result.message} in\n{program.code}"
        same = pytest.approx(expected) if isinstance(expected, float) else expected
        assert result.value == same, f"{question}\n{program.code}"
