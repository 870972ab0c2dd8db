"""The facts of a report: its sentences, and the rows of its table as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chameleon import Table

Kind = Literal["row", "sentence"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `place` counts the rows below the header, or the passages, from 0.

    `text` is what it is compared by; `name` is the name of a row, "" for a sentence.
    """

    kind: Kind
    place: int
    text: str
    name: str = ""


def facts_of(table: Table | None, passages: Sequence[Any]) -> list[Fact]:
    """The rows of the table, in their order, and then the passages that say something.

    A passage is a text, or has one as "text", with a "title". Pages cut into sentences have some that are
    nothing but a full stop: these are no facts.
    """
    found = [] if table is None else [_row(table, place) for place in range(len(table.rows))]
    said = ((place, text_of(passage)) for place, passage in enumerate(passages))
    found += (Fact("sentence", place, text) for place, text in said if any(map(str.isalnum, text)))
    return found


def text_of(passage: Any) -> str:
    """A passage as a text, its title before it."""
    if not isinstance(passage, Mapping):
        return str(passage).strip()
    title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
    return f"{title}: {text}" if title and text else title or text


def _row(table: Table, place: int) -> Fact:
    name, *cells = table.rows[place]
    pairs = zip(table.header[1:], cells, strict=True)
    told = (f"{column} is {cell}" if column.strip() else cell for column, cell in pairs if cell.strip())
    return Fact("row", place, f"{name}: {'; '.join(told)}", name)
