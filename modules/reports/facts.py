"""The facts of a report: its sentences, and the rows of its tables as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from chameleon import State, Table

Kind = Literal["row", "sentence"]


class PlacedTable(NamedTuple):
    """A table of a report, and the place of the passage that holds it, from 0; None for the report's own.

    `title` are the headings above such a passage; `before` is the text that stands before the table.
    """

    table: Table
    passage: int | None = None
    title: str = ""
    before: str = ""

    @property
    def above(self) -> list[str]:
        """The headings and the caption, which may be the last of the headings already."""
        caption = self.table.caption.strip()
        return [each for each in (self.title, "" if self.title.endswith(caption) else caption) if each]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `place` counts the rows below the header, or the passages, from 0.

    `text` is what it is compared by; `name` is the name of a row, "" for a sentence. `passage` is where the
    table of a row stands that a passage holds, and `columns` are the names of a row's columns as a text.
    """

    kind: Kind
    place: int
    text: str
    name: str = ""
    passage: int | None = None
    columns: str = field(default="", compare=False)

    @property
    def source(self) -> dict[str, int]:
        """Its place as states have it, counted from 1: {"row": 2}, {"passage": 5}, or both."""
        if self.kind == "sentence":
            return {"passage": self.place + 1}
        return source_of_row(self.passage, self.place)


def source_of_row(passage: int | None, row: int) -> dict[str, int]:
    """The place of a row, from 0, as states have it, from 1."""
    return ({} if passage is None else {"passage": passage + 1}) | {"row": row + 1}


def tables_of(table: Table | None, passages: Sequence[Any]) -> list[PlacedTable]:
    """The report's own table, and those that its passages hold as "table", as papers are read."""
    found = [] if table is None else [PlacedTable(table, before=_before(passages))]
    for place, passage in enumerate(passages):
        if each := placed(passage, place):
            beside = passages[place - 1] if place else ""
            found.append(each._replace(before="" if table_in(beside) else _told(beside)))
    return found


def _before(passages: Sequence[Any]) -> str:
    """The last text that stands before the report's own table, where that is known."""
    texts = [
        _told(each)
        for each in passages
        if isinstance(each, Mapping) and each.get("place") == "before" and table_in(each) is None
    ]
    return next((text for text in reversed(texts) if any(map(str.isalnum, text))), "")


def _told(passage: Any) -> str:
    return str(passage.get("text") or "").strip() if isinstance(passage, Mapping) else str(passage).strip()


def placed(passage: Any, place: int) -> PlacedTable | None:
    """The table that a passage holds, with where it stands; None for a passage of text."""
    table = table_in(passage)
    return None if table is None else PlacedTable(table, place, str(passage.get("title") or "").strip())


def all_tables(state: State) -> list[Table]:
    """The tables of a state's report."""
    return [each.table for each in tables_of(state.table, state.input.get("passages") or ())]


def table_in(passage: Any) -> Table | None:
    """The table that a passage is; None for a passage of text."""
    table = passage.get("table") if isinstance(passage, Mapping) else None
    return table if isinstance(table, Table) and table.rows and table.header else None


def facts_of(table: Table | None, passages: Sequence[Any]) -> list[Fact]:
    """The rows of the table, in their order, and then the passages that say something.

    A passage is a text, or has one as "text", with a "title"; of one that holds a table the rows are facts.
    Pages cut into sentences have some that are nothing but a full stop: these are no facts.
    """
    found = [] if table is None else list(_rows(PlacedTable(table)))
    for place, passage in enumerate(passages):
        if held := placed(passage, place):
            found += _rows(held)
        elif any(map(str.isalnum, text := text_of(passage))):
            found.append(Fact("sentence", place, text))
    return found


def text_of(passage: Any) -> str:
    """A passage as a text, its title before it."""
    if not isinstance(passage, Mapping):
        return str(passage).strip()
    title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
    return f"{title}: {text}" if title and text else title or text


def _rows(held: PlacedTable) -> Iterator[Fact]:
    """The rows as facts; of a table in a passage its headings and caption stand before each."""
    table = held.table
    above = "" if held.passage is None else "".join(f"{each}: " for each in held.above)
    columns = " ".join(table.header)
    for place, (name, *cells) in enumerate(table.rows):
        pairs = zip(table.header[1:], cells, strict=True)
        told = (f"{column} is {cell}" if column.strip() else cell for column, cell in pairs if cell.strip())
        text = f"{above}{name}: {'; '.join(told)}"
        yield Fact("row", place, text, name, held.passage, columns)
