"""Samples are asked for one after the other, so that each gets its own reply; and recorded vectors."""

import json
from typing import Any

import pytest

from tests.benchmarks.shared_data import DATA


@pytest.fixture(autouse=True)
def _in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.llm.pipeline._MAX_PARALLEL_REQUESTS", 1)


def vectors(name: str, key: str = "", *wanted: str) -> list[Any]:
    """Return what was recorded of published code as parameters; one that is skipped without the data."""
    if not (file := DATA / "vectors" / f"{name}.jsonl").is_file():
        return [pytest.param(None, marks=pytest.mark.skip("the shared test data is not here"))]
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows if not wanted or row[key] in wanted]
