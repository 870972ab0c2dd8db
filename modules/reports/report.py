"""A report as a run has it: its facts, which are sentences and rows of tables, and how prompts show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chameleon import State, Table
from chameleon.table import to_text
from chameleon.text import beginning

_MOST_TOKENS = 6000  # of the text before the table, and of that after it


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence, or a row of a table: `text` is what it is compared by.

    `passage` and `row` say where it stands, counted from 1: a sentence is a passage and no row (0), a row
    stands in the table of a passage, or in the report's own (0). `name` is the row's first cell, `columns`
    the table's header.
    """

    text: str
    passage: int = 0
    row: int = 0
    name: str = ""
    columns: str = field(default="", compare=False)

    @property
    def source(self) -> dict[str, int]:
        """Return its place as states have it: {"row": 2}, {"passage": 5}, or both."""
        places = {"passage": self.passage, "row": self.row}
        return {key: place for key, place in places.items() if place}

    @property
    def series(self) -> tuple[bool, int]:
        """Return what it is one of: the sentences, or the rows of one table."""
        return self.row > 0, self.passage if self.row else 0


class ReportTable(NamedTuple):
    """A table of a report, and the passage that holds it, by number (0 for none) and headings."""

    table: Table
    passage: int = 0
    title: str = ""

    @property
    def above(self) -> list[str]:
        """Return the headings and the caption, which may be the last of the headings already."""
        caption = self.table.caption.strip()
        return [each for each in (self.title, "" if self.title.endswith(caption) else caption) if each]

    def facts(self) -> Iterator[Fact]:
        """Yield the rows; of a table in a passage its headings and caption stand before each."""
        table = self.table
        above = "".join(f"{each}: " for each in self.above) if self.passage else ""
        for number, (name, *cells) in enumerate(table.rows, 1):
            pairs = [pair for pair in zip(table.header[1:], cells, strict=True) if pair[1].strip()]
            told = (f"{column} is {cell}" if column.strip() else cell for column, cell in pairs)
            text = f"{above}{name}: {'; '.join(told)}"
            yield Fact(text, self.passage, number, name, " ".join(table.header))


class Report:
    """The table of a report and its passages, which are texts or hold tables of their own as "table".

    `tables` are all tables by the number of their passage, the report's own, by 0, first.
    """

    def __init__(self, table: Table | None, passages: Iterable[Any] = ()) -> None:
        self.table, self.passages = table, list(passages)
        self.tables = {} if table is None else {0: ReportTable(table)}
        for number, passage in enumerate(self.passages, 1):
            held = passage.get("table") if isinstance(passage, Mapping) else None
            if isinstance(held, Table) and held.rows and held.header:
                title = str(passage.get("title") or "").strip()
                self.tables[number] = ReportTable(held, number, title)

    @classmethod
    def of(cls, state: State) -> Report:
        """Return the report that a run is about."""
        return cls(state.table, state.input.get("passages") or ())

    @property
    def every_table(self) -> list[Table]:
        """Return all tables."""
        return [held.table for held in self.tables.values()]

    def facts(self) -> list[Fact]:
        """Return the rows of the table, then the passages that hold a letter or digit, and their rows."""
        found = list(self.tables[0].facts()) if 0 in self.tables else []
        for number, passage in enumerate(self.passages, 1):
            if number in self.tables:
                found += self.tables[number].facts()
            elif any(map(str.isalnum, text := text_of(passage))):
                found.append(Fact(text, number))
        return found


def text_of(passage: Any) -> str:
    """Return a passage as a text, its title before it."""
    if not isinstance(passage, Mapping):
        return str(passage).strip()
    title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
    return f"{title}: {text}" if title and text else title or text


def report_slots(state: State) -> dict[str, Any]:
    """Return the slots `before` and `after`: the passages beside the table, a line each, cut where long.

    A passage that holds a table is its heading, its caption and its rows, a line each. Passages that do not
    say where they stand come before the report's own table. `rows` are the names of the rows that matter,
    as `report_retriever` found them.
    """
    report = Report.of(state)
    beside: dict[str, list[str]] = {"before": [], "after": []}
    for number, passage in enumerate(report.passages, 1):
        is_after = isinstance(passage, Mapping) and passage.get("place") == "after"
        lines = [text_of(passage)]
        if held := report.tables.get(number):
            lines = [*held.above, *to_text(held.table, style="pipe").splitlines()]
        shown = (" ".join(line.split()) for line in lines if any(map(str.isalnum, line)))
        beside["after" if is_after else "before"].extend(shown)
    slots = {place: beginning("\n".join(lines), _MOST_TOKENS) for place, lines in beside.items()}
    return slots | {"rows": " | ".join(str(state.cache.get("relevant_rows") or "").splitlines())}
