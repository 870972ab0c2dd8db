"""What a reader finds in a file: tables with their places, and what it leaves out with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chameleon.errors import ChameleonError, InputError
from chameleon.table.records import Origin, Record, bounded, build_table
from chameleon.table.sections import sections
from chameleon.table.table import Table
from chameleon.table.typed import decimal_points

_LONGEST_CAPTION = 300


@dataclass(frozen=True, slots=True)
class Found:
    """A table of a file.

    Its caption is what the file itself calls it, "" for nothing. `place` says where it stands, by "sheet",
    "heading" or "table"; `notes` is the text that goes with it, such as the lines below it.
    """

    table: Table
    place: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""

    @property
    def label(self) -> str:
        """Return what the table is called among others of its file, "" for nothing."""
        return next(iter(self.place.values()), "")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file, or the whole of it, that gives no table, and why.

    `is_fault` is False for what nobody would miss: a table that only lays out a page; `is_picture` tells of
    pages that another OCR engine may read.
    """

    where: str
    why: str
    is_fault: bool = True
    is_picture: bool = False

    @classmethod
    def of(cls, error: ChameleonError, where: str = "") -> LeftOut:
        """Return what an error says, of the place that it names or else of `where`."""
        why = f"{error.what.rstrip('.')}. {error.hint}" if error.hint else error.what
        return cls(error.where or where, " ".join(why.split()))


@dataclass(frozen=True, slots=True)
class Note:
    """How a file was read, where its reader had to choose."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A sheet or a table of a database that nobody asked for, by name."""

    label: str


Finding = Found | LeftOut | Note | Unread
_KINDS: Mapping[str, type[Finding]] = {kind.__name__: kind for kind in (Found, LeftOut, Note, Unread)}


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """Return what was found as JSON."""
    told = {name: getattr(finding, name) for name in finding.__dataclass_fields__}
    if isinstance(finding, Found):
        told |= {"table": finding.table.to_json(), "place": dict(finding.place)}
    return {"kind": type(finding).__name__, **told}


def finding_from_json(told: Mapping[str, Any]) -> Finding:
    """Return what `finding_to_json` wrote."""
    given = {key: value for key, value in told.items() if key != "kind"}
    if "table" in given:
        given["table"] = Table.from_json(given["table"])
    return _KINDS[told["kind"]](**given)


def tables_of(
    records: Iterable[Record],
    origin: Origin,
    place: Mapping[str, str] | None = None,
    *,
    pad: bool = False,
) -> Iterator[Found | LeftOut]:
    """Yield the tables of the records of a file or sheet, cut by `sections`, with lines above and below."""
    try:
        found = sections(bounded(records, origin))
    except InputError as error:
        yield LeftOut.of(error)
        return
    for each in found:
        yield table_of(each.records, origin, place, ": ".join(each.titles), "\n".join(each.notes), pad=pad)


def table_of(
    records: Iterable[Record],
    origin: Origin,
    place: Mapping[str, str] | None = None,
    caption: str = "",
    notes: str = "",
    *,
    pad: bool = False,
) -> Found | LeftOut:
    """Return the one table of these records, or why there is none."""
    try:
        table = build_table(bounded(records, origin), origin, caption[:_LONGEST_CAPTION], pad=pad)
    except InputError as error:
        return LeftOut.of(error)
    return Found(table, place or {}, notes)


def with_decimal_points(found: Found | LeftOut, *, by_table: bool = False) -> Found | LeftOut:
    """Return what was found with the figures of its table as `with_points` writes them."""
    if isinstance(found, LeftOut):
        return found
    return replace(found, table=with_points(found.table, by_table=by_table))


def with_points(table: Table, *, by_table: bool = False) -> Table:
    """Return a table of texts with its figures written as `read_value` reads them; see `decimal_points`."""
    columns = list(zip(*table.rows, strict=True))
    if (told := decimal_points(columns, by_table=by_table)) == columns:
        return table
    return Table(table.header, zip(*told, strict=True), table.caption)
