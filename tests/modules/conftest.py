"""Samples are asked for one after the other, so that each gets its own reply of a script."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.llm.pipeline._MAX_PARALLEL_REQUESTS", 1)
