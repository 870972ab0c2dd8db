"""Questions and statements over invented tables, with what is to come of them: read from two files.

`tables.txt` has a line `= name = caption` before each table. `questions.tsv` has a line a question:

- `reader`: "grammar" (`write_program`), or the inventory that is asked.
- `table`: a name in `tables.txt`, or a CSV file, from this folder or from the checkout.
- `rule`: "answered", "declined", or "not wrong": answered rightly or declined.
- `expected`: the answer as JSON; for "declined", words of the reason.

The answers were computed apart from the readers.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chameleon import Table
from chameleon.table import read_table

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]


@dataclass(frozen=True)
class Asked:
    """A line of `questions.tsv`."""

    reader: str
    table: str
    question: str
    rule: str
    expected: str


@cache
def questions() -> tuple[Asked, ...]:
    with (_HERE / "questions.tsv").open(encoding="utf-8", newline="") as lines:
        return tuple(Asked(**row) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def table(name: str) -> Table:
    if name.endswith(".csv"):
        return read_table(next(at for at in (_HERE / name, _ROOT / name) if at.exists()))
    return _tables()[name]


@cache
def _tables() -> dict[str, Table]:
    found = {}
    for block in (_HERE / "tables.txt").read_text("utf-8").strip("\n").split("\n\n"):
        title, *lines = block.split("\n")
        _, name, *caption = (part.strip() for part in title.split("=", 2))
        header, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
        found[name] = Table(header, rows, "".join(caption))
    return found
