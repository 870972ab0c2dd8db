"""The facts of a report: its sentences and the rows of its tables, and how prompts show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from chameleon import State, Table
from chameleon.table import to_text
from chameleon.text import beginning

_MOST_TOKENS = 6000  # of the text before the table, and of that after it


class ReportTable(NamedTuple):
    """A table of a report, the place of the passage that holds it, and the headings above that passage.

    `passage` counts from 0; it is None for the report's own table.
    """

    table: Table
    passage: int | None = None
    title: str = ""

    @property
    def above(self) -> list[str]:
        """Return the headings and the caption, which may be the last of the headings already."""
        caption = self.table.caption.strip()
        return [each for each in (self.title, "" if self.title.endswith(caption) else caption) if each]

    def facts(self) -> Iterator[Fact]:
        """Yield the rows as facts; of a table in a passage its headings and caption stand before each."""
        table = self.table
        above = "" if self.passage is None else "".join(f"{each}: " for each in self.above)
        columns = " ".join(table.header)
        for place, (name, *cells) in enumerate(table.rows):
            pairs = zip(table.header[1:], cells, strict=True)
            told = (
                f"{column} is {cell}" if column.strip() else cell for column, cell in pairs if cell.strip()
            )
            yield Fact("row", place, f"{above}{name}: {'; '.join(told)}", name, self.passage, columns)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `place` counts the rows below the header, or the passages, from 0.

    `text` is what it is compared by; `name` is the name of a row, "" for a sentence. `passage` is where the
    table of a row stands that a passage holds, and `columns` are the names of a row's columns as a text.
    """

    kind: Literal["row", "sentence"]
    place: int
    text: str
    name: str = ""
    passage: int | None = None
    columns: str = field(default="", compare=False)

    @property
    def source(self) -> dict[str, int]:
        """Return its place as states have it, counted from 1: {"row": 2}, {"passage": 5}, or both."""
        if self.kind == "sentence":
            return {"passage": self.place + 1}
        return row_source(self.passage, self.place)


def row_source(passage: int | None, row: int) -> dict[str, int]:
    """Return the place of a row, given from 0, as states have it, from 1."""
    return ({} if passage is None else {"passage": passage + 1}) | {"row": row + 1}


def table_in(passage: Any) -> Table | None:
    """Return the table that a passage holds; None for a passage of text."""
    table = passage.get("table") if isinstance(passage, Mapping) else None
    return table if isinstance(table, Table) and table.rows and table.header else None


def text_of(passage: Any) -> str:
    """Return a passage as a text, its title before it."""
    if not isinstance(passage, Mapping):
        return str(passage).strip()
    title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
    return f"{title}: {text}" if title and text else title or text


def tables_of(table: Table | None, passages: Sequence[Any]) -> list[ReportTable]:
    """Return the report's own table, and those that its passages hold as "table"."""
    found = [] if table is None else [ReportTable(table)]
    for place, passage in enumerate(passages):
        if (held := table_in(passage)) is not None:
            found.append(ReportTable(held, place, str(passage.get("title") or "").strip()))
    return found


def all_tables(state: State) -> list[Table]:
    """Return the tables of a state's report."""
    return [each.table for each in tables_of(state.table, state.input.get("passages") or ())]


def facts_of(table: Table | None, passages: Sequence[Any]) -> list[Fact]:
    """Return the rows of the table, and then the passages that say something, rows of their tables included.

    Pages cut into sentences have some that are nothing but a full stop: these are no facts.
    """
    tables = tables_of(table, passages)
    rows = {held.passage: list(held.facts()) for held in tables}
    found = rows.get(None, [])
    for place, passage in enumerate(passages):
        if place in rows:
            found += rows[place]
        elif any(map(str.isalnum, text := text_of(passage))):
            found.append(Fact("sentence", place, text))
    return found


def report_slots(state: State) -> dict[str, Any]:
    """Return the slots `before` and `after`: the passages beside the table, a line each, cut where long.

    A passage that holds a table is its heading, its caption and its rows, a line each. Passages that do not
    say where they stand come before the report's own table. `rows` are the names of the rows that matter,
    as `report_retriever` found them.
    """
    before, after = list[str](), list[str]()
    for passage in state.input.get("passages") or ():
        is_after = isinstance(passage, Mapping) and passage.get("place") == "after"
        lines = [text_of(passage)]
        for held in tables_of(None, [passage]):
            lines = [*held.above, *to_text(held.table, style="pipe").splitlines()]
        (after if is_after else before).extend(lines)
    rows = str(state.cache.get("relevant_rows") or "")
    return {
        "before": _shown(before),
        "after": _shown(after),
        "rows": " | ".join(rows.splitlines()),
    }


def _shown(lines: Iterable[str]) -> str:
    lines = (" ".join(line.split()) for line in lines)
    return beginning("\n".join(line for line in lines if any(map(str.isalnum, line))), _MOST_TOKENS)
