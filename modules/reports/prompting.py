"""What prompts about a report show: the sentences before and after the table, and which rows matter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chameleon import State
from chameleon.modules.reports.facts import placed, text_of
from chameleon.table import to_text
from chameleon.text import beginning

_MOST_TOKENS = 6000


def texts_of(state: State) -> list[str]:
    """The passages of a state as texts."""
    return [text_of(passage) for passage in state.input.get("passages") or ()]


def report_slots(state: State) -> dict[str, Any]:
    """The slots `before` and `after`: the passages beside the table, a line each; of long ones the beginning.

    A passage that holds a table is its heading, its caption and its rows, a line each. Passages that do not
    say where they stand come before the report's own table. `rows` are the names of the rows that matter,
    as `report_retriever` found them.
    """
    passages = state.input.get("passages") or ()
    places = [str(each.get("place") or "") if hasattr(each, "get") else "" for each in passages]
    told = list(zip(places, map(_lines_of, passages), strict=True))
    rows = str(state.cache.get("relevant_rows") or "")
    return {
        "before": _shown(lines for place, lines in told if place != "after"),
        "after": _shown(lines for place, lines in told if place == "after"),
        "rows": " | ".join(rows.splitlines()),
    }


def _lines_of(passage: Any) -> list[str]:
    held = placed(passage, 0)
    if held is None:
        return [text_of(passage)]
    return [*held.above, *to_text(held.table, style="pipe").splitlines()]


def _shown(passages: Iterable[Iterable[str]]) -> str:
    lines = (" ".join(line.split()) for lines in passages for line in lines)
    return beginning("\n".join(line for line in lines if any(map(str.isalnum, line))), _MOST_TOKENS)
