"""The reader without a model over every table of four data sets: exceptions, and how long it takes.

Run: python perf/reader.py FOLDER [--every N]

FOLDER has `wikitq`, `tabfact`, `fetaqa` and `hybridqa` with their tables. Each is asked questions filled from
its own header and cells. A table of 100,000 rows is asked as well, and questions that the words alone refuse.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from chameleon import Declined, Table
from chameleon.modules.offline.judge import answer
from chameleon.modules.offline.sheet import Sheet

FILES = ("wikitq/tables", "tabfact/tables", "tabfact/corpus", "fetaqa/tables", "hybridqa/dev")
FORMS = (
    "How many {0}s are there?",
    "What is the {1} of {cell}?",
    "Which {0} has the highest {1}?",
    "Which {0} has the lowest {1}?",
    "What is the average {1}?",
    "What is the total {1}?",
    "How many {0}s have more than {number} {1}?",
    "How many {0}s have {cell}?",
    "Who was the first {0}?",
    "What is the last {1}?",
    "When was {cell}?",
    "Is the {1} of {cell} {other}?",
    "How much higher is the {1} of {cell} than that of {other}?",
    "What percentage of {0}s have {cell}?",
    "What is the most common {1}?",
    "What is the average {1} by {0}?",
    "Which {0} comes after {cell}?",
    "Did {cell} or {other} have more {1}?",
    "List the {0}s with {1} {other}.",
    "Which {0} is between {cell} and {other} in {1}?",
)


def tables_in(folder: Path, name: str) -> Iterator[Table]:
    """Yield the tables of a file of JSON lines, each once."""
    file = folder / f"{name}.jsonl.gz"
    if not file.exists():
        return
    seen = set()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found = row.get("table", row)
            id = row.get("table_id") or row.get("id")
            if isinstance(found, dict) and id not in seen and {"header", "rows"} <= found.keys():
                seen.add(id)
                yield Table(
                    _texts(found["header"]), map(_texts, found["rows"]), str(found.get("caption") or "")
                )


def _texts(cells: list[Any]) -> list[str]:
    return [str(cell[0] if isinstance(cell, list) else cell) for cell in cells]


def questions_about(table: Table, chance: Random) -> Iterator[str]:
    """Yield a question of each form, filled from the table."""
    cells = [cell for row in table.rows[:50] for cell in row if cell.strip()] or ["x"]
    for form in FORMS:
        names = [name.lower()[:60] or "row" for name in chance.choices(table.header, k=2)]
        cell, other = (each[:60] for each in chance.choices(cells, k=2))
        yield form.format(*names, cell=cell, other=other, number=chance.randrange(1, 100))


def timed(question: str, sheet: Sheet) -> tuple[str, float]:
    """Return what came of a question, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        answer(question, sheet)
        came = "answered"
    except Declined:
        came = "declined"
    except Exception as problem:  # the figure that is looked for
        came = f"{type(problem).__name__}: {problem}"[:200]
    return came, time.perf_counter() - begun


def over_tables(folder: Path, name: str, every: int) -> None:
    """Print the figures of one file."""
    chance, counts, slowest, spent, tables = Random(20), Counter[str](), (0.0, "", ""), 0.0, 0
    for place, table in enumerate(tables_in(folder, name)):
        if place % every or not table.header:
            continue
        tables += 1
        for question in questions_about(table, chance):
            came, seconds = timed(question, Sheet(table))
            counts[came] += 1
            spent += seconds
            slowest = max(slowest, (seconds, question, table.caption))
    asked = sum(counts.values())
    faults = asked - counts["answered"] - counts["declined"]
    each, (most, question, caption) = 1000 * spent / max(asked, 1), slowest
    print(f"{name}: {tables:,} tables, {asked:,} questions, {counts['answered']:,} answered, {faults} faults")
    print(f"  {each:.0f} ms each, slowest {most:.2f} s: {question!r} ({caption})")
    for came, count in counts.most_common():
        if came not in ("answered", "declined"):
            print(f"  {count} × {came}")


def over_a_long_table(rows: int = 100_000) -> None:
    """Print how long a table of so many rows takes, and a refusal from the words alone."""
    cities = ("Leeds", "York", "Hull", "Bath", "Ely")
    cells = [
        (f"K{i}", cities[i % 5], f"2024-03-{i % 31 + 1:02}", str(i % 7), f"${i % 1000}.25")
        for i in range(rows)
    ]
    table = Table(["Order ID", "City", "Date", "Quantity", "Price"], cells, "orders")
    for question in (
        "How many orders are there?",
        "What is the total quantity in Leeds?",
        "What is the average price by city?",
        "What is the price of order K4321?",
        "How many orders cost more than $900?",
    ):
        came, seconds = timed(question, Sheet(table))
        print(f"{rows:,} rows: {seconds:.2f} s, {came}: {question}")
    small = Sheet(Table(["City", "Nights"], [["Oslo", "3"], ["Riga", "2"]], "trips"))
    timed("Which city has the most nights?", small)
    for question in (
        "Why did the harbour close?",
        "Wie viele Nächte in Oslo?",
        "Please write a poem about the sea",
    ):
        came, seconds = timed(question, small)
        print(f"refused in {1000 * seconds:.1f} ms ({came}): {question}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every N-th table")
    options = parser.parse_args()
    over_a_long_table()
    for name in FILES:
        over_tables(options.folder, name, options.every)


if __name__ == "__main__":
    main()
