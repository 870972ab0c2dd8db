"""On the TabMWP development problems the grammar answers most, and almost none wrongly."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import write_program
from chameleon.sandbox import make_sandbox

_PROBLEMS = (Path(__file__).parents[3] / "../shared/data/tabmwp/dev1k.jsonl.gz").resolve()


@pytest.mark.skipif(not _PROBLEMS.exists(), reason="the TabMWP problems are not in this checkout")
@pytest.mark.parametrize(
    ("titled", "each"), [(True, 2), (False, 4)], ids=["half with title and unit", "a quarter without"]
)
def test_development_problems(titled: bool, each: int) -> None:
    with gzip.open(_PROBLEMS, "rt", encoding="utf-8") as lines:
        problems = [json.loads(line) for line in lines][::each]
    answered = right = 0
    with make_sandbox(libraries=()) as executor:
        for problem in problems:
            table = _table(problem["table"], (problem["table_title"] or "") if titled else "")
            unit = (problem["unit"] or "") if titled else ""
            try:
                program = write_program(problem["question"], table, problem["choices"] or (), unit)
            except Declined:
                continue
            result = executor.run(program.code, {"table": table.to_program_input()})
            answered += 1
            right += result.ok and _equal(result.value, problem["answer"])
    assert right >= 0.97 * len(problems)
    assert right >= 0.995 * answered


def _table(text: str, title: str) -> Table:
    lines = [[cell.strip() for cell in line.split("|")] for line in text.split("\n")]
    width = max(map(len, lines))
    header, *rows = ([*line, *[""] * (width - len(line))] for line in lines)
    return Table(header, rows, title)


def _equal(value: Any, gold: str) -> bool:
    """Texts in any case, numbers to the cent; "3/4" is a number as well."""
    try:
        return abs(Fraction(str(value)) - Fraction(gold.replace(",", ""))) < Fraction(1, 200)
    except ValueError:
        return str(value).lower() == gold.lower()
