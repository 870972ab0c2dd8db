"""What a reader finds in a file: tables with their places, and what it leaves out with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from chameleon.documents.sections import sections
from chameleon.errors import ChameleonError, InputError
from chameleon.table import Table
from chameleon.table.records import Origin, Record, bounded, build_table

NOWHERE: Mapping[str, str] = MappingProxyType({})
_LONGEST_CAPTION = 300


@dataclass(frozen=True, slots=True)
class Found:
    """A table of a file.

    Its caption is what the file itself calls it, "" for nothing. `place` says where it stands, by "sheet",
    "heading" or "table"; `notes` is the text that goes with it, such as the lines below it.
    """

    table: Table
    place: Mapping[str, str] = field(default_factory=lambda: NOWHERE)
    notes: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file, or the whole of it, that gives no table, and why.

    `is_fault` is False for what nobody would miss: a table that only lays out a page.
    """

    where: str
    why: str
    is_fault: bool = True

    @classmethod
    def of(cls, error: ChameleonError, where: str = "") -> LeftOut:
        """What an error says, of the place that it names or else of `where`."""
        why = f"{error.what.rstrip('.')}. {error.hint}" if error.hint else error.what
        return cls(error.where or where, " ".join(why.split()))


@dataclass(frozen=True, slots=True)
class Note:
    """How a file was read, where its reader had to choose."""

    where: str
    what: str


def tables_of(
    records: Iterable[Record],
    origin: Origin,
    place: Mapping[str, str] = NOWHERE,
    caption: str = "",
    *,
    pad: bool = False,
) -> Iterator[Found | LeftOut]:
    """The tables that the records of a file or sheet make, cut by `sections`; `pad` as in `build_table`."""
    try:
        kept = list(bounded(records, origin))
    except InputError as error:
        yield LeftOut.of(error)
        return
    for section in sections(kept):
        own = ": ".join(filter(None, [caption, *section.titles]))
        found = table_of(section.records, origin, place, own, pad=pad)
        yield replace(found, notes="\n".join(section.notes)) if isinstance(found, Found) else found


def table_of(
    records: Iterable[Record], origin: Origin, place: Mapping[str, str], caption: str, *, pad: bool = False
) -> Found | LeftOut:
    """The one table of these records; names that its columns share are told apart by numbers."""
    try:
        filled = [record for record in records if any(record[1])]
        if filled:
            number, header = filled[0]
            filled[0] = number, told_apart(header)
        table = build_table(filled, origin, caption=caption[:_LONGEST_CAPTION], pad=pad, blank_names=True)
    except InputError as error:
        return LeftOut.of(error)
    return Found(table, place)


def told_apart(names: Sequence[str]) -> list[str]:
    """Names of columns, the second "Total" as "Total (2)"; blank ones stay blank."""
    used: list[str] = []
    for name in names:
        own, number = name, 2
        while own and own in used:
            own, number = f"{name} ({number})", number + 1
        used.append(own)
    return used
