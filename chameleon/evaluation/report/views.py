"""Values as a page shows them: texts cut, tables in excerpt, mappings and lists as named parts."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from chameleon.evaluation.report.text import LONGEST, Shown, brief, shown
from chameleon.table import Table
from chameleon.values import to_json

MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 50, 500, 3_000
MOST_PARTS, DEEPEST = 50, 3
LARGEST_PICTURE = 2_000_000
_SHORT = 40
_TABLE_TEXT = 200_000  # characters, shared by the cells of one table
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True)
class TextView:
    kind: ClassVar[str] = "text"
    text: Shown


@dataclass(frozen=True)
class TableView:
    """An excerpt of a table; `note` says what is left out. A short header stays in sight over long tables."""

    kind: ClassVar[str] = "table"
    caption: Shown
    header: list[Shown]
    rows: list[list[Shown]]
    note: str

    @property
    def short_header(self) -> bool:
        return max(map(len, self.header)) <= _SHORT


@dataclass(frozen=True)
class PartsView:
    """A mapping or a list: its parts by name or number; `note` says how many are left out."""

    kind: ClassVar[str] = "parts"
    parts: list[tuple[Shown, View]]
    note: str


View = TextView | TableView | PartsView


def view_of(value: Any, depth: int = 0) -> View:
    """How a value of a run is shown."""
    if isinstance(value, Table):
        return table_view(value)
    if isinstance(value, str):
        return TextView(shown(value))
    named = isinstance(value, Mapping)
    if depth < DEEPEST and (named or (isinstance(value, tuple | list) and any(map(_is_large, value)))):
        items = list(value.items()) if named else list(enumerate(value, 1))
        left_out = f"… {len(items) - MOST_PARTS:,} more" if len(items) > MOST_PARTS else ""
        parts = [(brief(str(key), 80), view_of(item, depth + 1)) for key, item in items[:MOST_PARTS]]
        return PartsView(parts, left_out)
    return TextView(shown(value_text(value)))


def _is_large(item: Any) -> bool:
    return isinstance(item, Table | Mapping) or (isinstance(item, str) and "\n" in item)


def value_text(value: Any) -> str:
    """A value in one text: as it is, or as JSON. A list of texts is parted by semicolons."""
    if isinstance(value, str):
        return value
    if isinstance(value, Table):
        return f"a table of {len(value.rows):,} × {len(value.header):,}"
    if isinstance(value, tuple | list):
        part = value[:LONGEST]
        if all(isinstance(item, str) for item in part):
            return "; ".join(part)
        return json.dumps(to_json(part), ensure_ascii=False)
    return "none" if value is None else json.dumps(to_json(value), ensure_ascii=False)


def table_view(table: Table) -> TableView:
    """The first rows and columns: 50 rows, fewer of a wide table; cells share what room there is."""
    width = min(len(table.header), MOST_COLUMNS)
    height = min(len(table.rows), MOST_ROWS, max(5, MOST_CELLS // width))
    most = max(200, min(LONGEST, _TABLE_TEXT // (width * (height + 1))))
    notes = []
    if height < len(table.rows):
        notes.append(f"the first {height:,} of {len(table.rows):,} rows")
    if width < len(table.header):
        notes.append(f"the first {width:,} of {len(table.header):,} columns")
    return TableView(
        caption=shown(table.caption),
        header=[shown(name, most) for name in table.header[:width]],
        rows=[[shown(cell, most) for cell in row[:width]] for row in table.rows[:height]],
        note=f"Only {' and '.join(notes)} are shown." if notes else "",
    )


@dataclass(frozen=True)
class Picture:
    """A picture as a data: URI, or the reason why there is none."""

    uri: str = ""
    note: str = ""


def picture_view(path: str) -> Picture | None:
    """The picture in a file; None where a problem has none.

    A file is embedded when it is a PNG or JPEG by its first bytes and has at most 2 MB.
    """
    if not path:
        return None
    file, name = Path(path), brief(Path(path).name, 80)
    try:
        if not file.is_file():  # nor is a device or a pipe, which might never end
            return Picture(note=f"The picture {name} is not there.")
        with file.open("rb") as opened:
            data = opened.read(LARGEST_PICTURE + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        return Picture(note=f"The picture {name} cannot be read: {reason}.")
    kind = next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), None)
    if kind is None:
        return Picture(note=f"The picture {name} is not shown: it is neither PNG nor JPEG.")
    if len(data) > LARGEST_PICTURE:
        return Picture(note=f"The picture {name} is not shown: it is larger than 2 MB.")
    return Picture(uri=f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}")
