"""`Document`: the unit of search: a table, a passage, or a table with text about it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self

from chameleon.table import Table

Kind = Literal["table", "passage"]


@dataclass(frozen=True, slots=True)
class Document:
    """A document to search for, with an id that is unique in its index.

    Attributes:
        title: a passage's title; a table has a caption instead.
        text: the passage, or text about the table in addition to its cells, such as a summary.
        source: where it came from, for readers of an answer: "file", and if they apply "sheet", "heading",
            "page", "table" (the name in a database).
    """

    id: str
    table: Table | None = None
    title: str = ""
    text: str = ""
    source: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def kind(self) -> Kind:
        """Return "table", or "passage" for a text without one."""
        return "table" if self.table is not None else "passage"

    @property
    def name(self) -> str:
        """Return the document's name: its title, else its table's caption, else its id."""
        caption = self.table.caption if self.table else ""
        return self.title.strip() or caption.strip() or self.id

    def to_json(self) -> dict[str, Any]:
        """Return the document as JSON, without empty values."""
        data: dict[str, Any] = {"id": self.id, "title": self.title, "text": self.text}
        data |= {"source": dict(self.source), "table": self.table.to_json() if self.table else None}
        return {key: value for key, value in data.items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote. Raises KeyError, TypeError or `InputError` for anything else."""
        table = Table.from_json(data["table"]) if data.get("table") else None
        source = MappingProxyType(dict(data.get("source", {})))
        return cls(data["id"], table, data.get("title", ""), data.get("text", ""), source)

    def to_line(self) -> bytes:
        """Write the document as the index keeps it."""
        text = json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")
