"""Figures on labelled data beside the checkout: floors below what was measured; skipped without the data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, Table
from chameleon.benchmarks.scorers.denotation import answers, items, same_denotation

DATA = (Path(__file__).parents[3] / "../shared/data").resolve()
pytestmark = pytest.mark.skipif(not (DATA / "tabfact").is_dir(), reason="the shared data are not here")


def _lines(name: str) -> list[dict[str, Any]]:
    packed = (DATA / name).read_bytes()
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    return [json.loads(line) for line in text.splitlines()]


@cache
def _tables(folder: str) -> dict[str, Table]:
    return {
        row["table_id"]: Table(row["header"], row["rows"], row["caption"])
        for row in _lines(f"{folder}/tables.jsonl.gz")
    }


def _answers(inventory: str, folder: str, problems: Iterable[tuple[str, str]]) -> list[Any]:
    """The answer to each text over the table of that name; None where it is declined."""
    inputs = [{"question": text, "table": _tables(folder)[table]} for text, table in problems]
    return [state.answer for state in Executor(Inventory.load(inventory)).batch(inputs)]


def test_tabfact_dev_is_answered_well_or_declined() -> None:
    rows = _lines("tabfact/dev.jsonl")
    said = _answers("tabfact_offline", "tabfact", [(row["statement"], row["table_id"]) for row in rows])
    told = [(answer, row["label"]) for answer, row in zip(said, rows, strict=True) if answer is not None]
    right = sum((answer == "yes") == bool(label) for answer, label in told)
    assert len(told) / len(rows) > 0.5
    assert right / len(told) > 0.8


def test_wikitq_dev_is_answered_or_declined() -> None:
    rows = _lines("wikitq/dev.jsonl")
    said = _answers("wikitq_offline", "wikitq", [(row["question"], row["table_id"]) for row in rows])
    told = [(answer, row) for answer, row in zip(said, rows, strict=True) if answer is not None]
    right = sum(
        same_denotation(answers(row["answer"], row["answer_canon"]), answers(items(_listed(answer))))
        for answer, row in told
    )
    assert len(told) / len(rows) > 0.37
    assert right / len(told) > 0.70


def _listed(answer: Any) -> Any:
    return list(answer) if isinstance(answer, tuple) else answer
