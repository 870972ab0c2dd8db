"""What the readers of databases share: tables by name, rows as texts, limits on time and size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chameleon.documents.found import Found, LeftOut, table_of
from chameleon.table.files import LIMIT_VARIABLE, limit_in_bytes
from chameleon.table.records import Origin, shown

SECONDS = 20.0
"""How long the first table or view may take to be read; views are programs, and one may never end."""


class Patience:
    """How long the next table may take; after each that takes longer, half as long, so that it has an end."""

    def __init__(self) -> None:
        self.seconds = SECONDS

    def exhausted(self, where: Origin) -> LeftOut:
        """What is said of a table that took longer."""
        found = LeftOut(where.name, f"takes more than {self.seconds:.1f} s to be read")
        self.seconds /= 2
        return found


class TooMuch(Exception):
    """A table that has more text than a file may have; `rows` is how many were read."""

    def __init__(self, rows: int) -> None:
        self.rows = rows


def bounded(rows: Iterable[Sequence[str]], limit: int) -> list[tuple[int, Sequence[str]]]:
    """The rows with their numbers. Raises `TooMuch` when as CSV they would have more characters than that."""
    kept: list[tuple[int, Sequence[str]]] = []
    size = 0
    for number, row in enumerate(rows, 1):
        size += sum(map(len, row)) + len(row)
        if size > limit:
            raise TooMuch(number)
        kept.append((number, row))
    return kept


def database_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    where: Origin,
    place: Mapping[str, str],
    caption: str = "",
) -> Found | LeftOut:
    """The table of these rows, or why it is left out: too large, empty or without columns."""
    limit = limit_in_bytes()
    try:
        records = bounded(rows, limit)
    except TooMuch as problem:
        more = f"more than {limit / 1e6:,.1f} MB of text (in the first {problem.rows:,} rows)"
        hint = f"Set {LIMIT_VARIABLE} to a larger number of megabytes."
        return LeftOut(where.name, f"has {more}, and a part would give wrong answers. {hint}")
    if not records:
        return LeftOut(where.name, "has no rows")
    return table_of([(0, header), *records], where, place, caption)


def place_of(name: str, origin: Origin) -> Origin:
    """The place, for errors, of the table of that name."""
    return Origin(f"{origin.name}, table {shown(name)}", "row")


def in_words(name: str) -> str:
    """The name of a table as words: `exam_results` as "exam results"."""
    return " ".join(name.replace("_", " ").split())
