"""What prompts about a report show: the sentences before and after the table, and which rows matter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chameleon import State
from chameleon.modules.reports.facts import text_of
from chameleon.tokens import beginning

_MOST_TOKENS = 6000


def texts_of(state: State) -> list[str]:
    """The passages of a state as texts."""
    return [text_of(passage) for passage in state.input.get("passages") or ()]


def report_slots(state: State) -> dict[str, Any]:
    """The slots `before` and `after`: the passages beside the table, a line each; of long ones the beginning.

    Passages that do not say where they stand come before it. `rows` are the names of the rows that matter,
    as `report_retriever` found them.
    """
    passages = state.input.get("passages") or ()
    places = [str(each.get("place") or "") if hasattr(each, "get") else "" for each in passages]
    told = list(zip(places, map(text_of, passages), strict=True))
    rows = str(state.cache.get("relevant_rows") or "")
    return {
        "before": _lines(text for place, text in told if place != "after"),
        "after": _lines(text for place, text in told if place == "after"),
        "rows": " | ".join(rows.splitlines()),
    }


def _lines(texts: Iterable[str]) -> str:
    lines = (" ".join(text.split()) for text in texts)
    return beginning("\n".join(line for line in lines if any(map(str.isalnum, line))), _MOST_TOKENS)
