"""The contents of a file: its tables, the parts left out, and the assumptions made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from chameleon.errors import ChameleonError, InputError
from chameleon.table.records import Origin, Record, bounded
from chameleon.table.structure import header_rows, joined_header
from chameleon.table.table import Table, distinct_names
from chameleon.text import counted, one_line
from chameleon.values import from_json, to_json

_MAX_CAPTION_CHARS, _MAX_NOTE_CHARS = 300, 60  # characters


@dataclass(frozen=True, slots=True)
class Found:
    """A table in a file.

    Attributes:
        table: its caption is the file's own name for it, or "".
        place: its location in the file, by "sheet", "heading" or "table".
        notes: the text that belongs to it, such as the lines below it.
        name, others, warnings: set by `choose_table`.
    """

    table: Table
    place: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""
    name: str = ""
    others: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Return the place of the table in the file, or ""."""
        return next(iter(self.place.values()), "")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file, or the whole file, that is not read as a table, and why.

    Attributes:
        is_fault: False if nobody would miss the part, such as a layout table.
        is_picture: marks pages that another OCR engine may read.
    """

    where: str
    why: str
    is_fault: bool = True
    is_picture: bool = False

    @classmethod
    def of(cls, error: ChameleonError, where: str = "") -> Self:
        """Make it from an error, with the place in the error or else `where`."""
        why = f"{error.what.rstrip('.')}. {error.hint}" if error.hint else error.what
        return cls(error.where or where, " ".join(why.split()))


@dataclass(frozen=True, slots=True)
class Note:
    """How a file was read if its reader had a choice."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Unread:
    """The name of a sheet, or a table of a database, that was not requested."""

    label: str


Finding = Found | LeftOut | Note | Unread
_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in (Found, LeftOut, Note, Unread)}


def finding_to_json(finding: Finding) -> list[Any]:
    """Write a reader's finding as JSON: the name of its class, then its fields."""
    return [type(finding).__name__, *(to_json(getattr(finding, each.name)) for each in fields(finding))]


def finding_from_json(data: Sequence[Any]) -> Finding:
    """Read what `finding_to_json` wrote."""
    kind, *values = data
    finding: Finding = _KINDS[kind](*map(from_json, values))
    return finding


def table_of(
    records: Iterable[Record],
    origin: Origin,
    place: Mapping[str, str] | None = None,
    caption: str = "",
    notes: str = "",
    *,
    pad: bool = False,
    hint: str = "",
    heads: int | None = 1,
    decisions: Sequence[str] = (),
) -> Found | LeftOut:
    """Return the table of these records, or why it is left out.

    Records and columns without any text are left out, and duplicate names are made different.

    Args:
        place, notes: see `Found`.
        pad: records may be shorter than the header, as in spreadsheets; otherwise they must be as long.
        hint: applies to all columns, see `meaning_of`.
        heads: how many of the first records with any text are the header; None detects it.
        decisions: the reader's decisions.
    """
    try:
        filled = [(number, cells) for number, cells in bounded(records, origin) if any(cells)]
        if not filled:
            raise origin.error("has no text", hint="A table needs a header and at least one row.")
        if len(filled) == 1 and heads != 0:
            raise origin.error("has a header but no rows", hint="Add at least one row below the header.")
        width = len(filled[0][1])
        rows = [_fit_row(number, cells, width, origin, pad=pad) for number, cells in filled]
    except InputError as error:
        return LeftOut.of(error)
    above = header_rows(rows) if heads is None else heads
    header = joined_header(rows[:above]) if above else [f"column {n}" for n in range(1, width + 1)]
    rows = rows[above:]
    columns = [n for n, name in enumerate(header) if name or any(row[n] for row in rows)] or [0]
    if len(columns) < width:
        header, rows = [header[n] for n in columns], [[row[n] for n in columns] for row in rows]
    joined = [f"the first {above} rows are the header: {in_short(header)}"] if above > 1 else []
    hints, how_read = [hint] * len(header) if hint else (), (*decisions, *joined)
    table = Table(distinct_names(header), rows, caption[:_MAX_CAPTION_CHARS], hints=hints, decisions=how_read)
    return Found(table, place or {}, notes)


def notes_on_lines(titles: Sequence[str], notes: Sequence[str]) -> list[str]:
    """Say which lines above and below a table are not part of it."""
    above = [f"the text above the table is its title: {in_short(titles, '; ')}"] if titles else []
    below = [f"the text below the table is not a row: {in_short(notes, '; ')}"] if notes else []
    return above + below


def in_short(texts: Sequence[str], joint: str = ", ") -> str:
    """Shorten texts from a file for a note."""
    return one_line(joint.join(texts), _MAX_NOTE_CHARS)


def _fit_row(number: int, cells: Sequence[str], width: int, origin: Origin, *, pad: bool) -> Sequence[str]:
    """Return the cells of a row at the width of the header. Raises `InputError`."""
    extra = len(cells) - width
    if extra > 0 and not any(cells[width:]):
        return cells[:width]
    if extra < 0 and pad:
        return (*cells, *[""] * -extra)
    if not extra:
        return cells
    hint = "Write an empty cell for each missing value."
    if extra > 0:
        hint = "Put quotes around a cell that holds the delimiter."
    what = f"{counted(len(cells), 'cell')} found, but the header has {width:,}"
    raise origin.error(what, at=number, hint=f"{hint} If the file is prose, give it as a text.")
