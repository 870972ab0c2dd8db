"""The report of a run: its facts (sentences and table rows), and how prompts show them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from chameleon import State, Table
from chameleon.table import to_text
from chameleon.text import beginning

_MAX_TOKENS = 6000  # for the text before the table, and again for the text after it


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence or a row of a table.

    Attributes:
        text: compared with the question.
        passage: counted from 1; 0 for a row of the report's main table.
        row: counted from 1; 0 for a sentence.
        name: the first cell of the row.
        columns: the header of the table.
    """

    text: str
    passage: int = 0
    row: int = 0
    name: str = ""
    columns: str = field(default="", compare=False)

    @property
    def source(self) -> dict[str, int]:
        """Return its place as written to the state: {"row": 2}, {"passage": 5}, or both."""
        places = {"passage": self.passage, "row": self.row}
        return {key: place for key, place in places.items() if place}

    @property
    def series(self) -> tuple[bool, int]:
        """Return its group: the sentences, or the rows of one table."""
        return self.row > 0, self.passage if self.row else 0


class ReportTable(NamedTuple):
    """A table of a report, with the number (or 0) and the headings of the passage that holds it."""

    table: Table
    passage: int = 0
    title: str = ""

    @property
    def above(self) -> list[str]:
        """Return the headings and the caption, unless the headings end with it."""
        caption = self.table.caption.strip()
        return [each for each in (self.title, "" if self.title.endswith(caption) else caption) if each]

    def facts(self) -> Iterator[Fact]:
        """Yield the rows; in a passage's table, each is prefixed by the headings and the caption."""
        table = self.table
        above = "".join(f"{each}: " for each in self.above) if self.passage else ""
        for number, (name, *cells) in enumerate(table.rows, 1):
            pairs = [pair for pair in zip(table.header[1:], cells, strict=True) if pair[1].strip()]
            parts = (f"{column} is {cell}" if column.strip() else cell for column, cell in pairs)
            text = f"{above}{name}: {'; '.join(parts)}"
            yield Fact(text, self.passage, number, name, " ".join(table.header))


class Report:
    """The main table of a report, and its passages, which are texts or have a "table".

    `tables` maps the number of a passage to its table; the main table comes first, as 0.
    """

    def __init__(self, table: Table | None, passages: Iterable[Any] = ()) -> None:
        self.table, self.passages = table, list(passages)
        self.tables = {} if table is None else {0: ReportTable(table)}
        for number, passage in enumerate(self.passages, 1):
            passage_table = passage.get("table") if isinstance(passage, Mapping) else None
            if isinstance(passage_table, Table) and passage_table.rows and passage_table.header:
                title = str(passage.get("title") or "").strip()
                self.tables[number] = ReportTable(passage_table, number, title)

    @classmethod
    def of(cls, state: State) -> Self:
        """Return the report of a run."""
        return cls(state.table, state.input.get("passages") or ())

    @property
    def every_table(self) -> list[Table]:
        """Return all tables."""
        return [entry.table for entry in self.tables.values()]

    def facts(self) -> list[Fact]:
        """Return the rows of the main table, then the rows or the text of each passage that is not blank."""
        facts = list(self.tables[0].facts()) if 0 in self.tables else []
        for number, passage in enumerate(self.passages, 1):
            if number in self.tables:
                facts += self.tables[number].facts()
            elif any(map(str.isalnum, text := text_of(passage))):
                facts.append(Fact(text, number))
        return facts


def text_of(passage: Any) -> str:
    """Return the title and text of a passage."""
    if not isinstance(passage, Mapping):
        return str(passage).strip()
    title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
    return f"{title}: {text}" if title and text else title or text


def report_slots(state: State) -> dict[str, Any]:
    """Return the slots `before` and `after`: the passages around the table, one per line, cut if long.

    A passage with a table is shown as its headings, caption and rows, one per line. Passages without a
    `place` come before the main table. `rows` are the names of the relevant rows that `report_retriever`
    found.
    """
    report = Report.of(state)
    context: dict[str, list[str]] = {"before": [], "after": []}
    for number, passage in enumerate(report.passages, 1):
        is_after = isinstance(passage, Mapping) and passage.get("place") == "after"
        lines = [text_of(passage)]
        if entry := report.tables.get(number):
            lines = [*entry.above, *to_text(entry.table, style="pipe").splitlines()]
        shown = (" ".join(line.split()) for line in lines if any(map(str.isalnum, line)))
        context["after" if is_after else "before"].extend(shown)
    slots = {place: beginning("\n".join(lines), _MAX_TOKENS) for place, lines in context.items()}
    return slots | {"rows": " | ".join(str(state.cache.get("relevant_rows") or "").splitlines())}
