"""Measure the model-free reader: the effect of each of its costs, and faults and seconds over many tables.

Run: python perf/reader.py FOLDER [--every N]

FOLDER has `everyday`, whose development questions judge each cost, halved and doubled, and the tables of
`wikitq`, `tabfact` and `hybridqa`, each with questions generated from its header and cells.
"""

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from small_models import problems

from chameleon import Declined, Executor, Table
from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.judge import answer

ALL = 10**6
FILES = ("wikitq/tables", "tabfact/tables", "hybridqa/dev")
FORMS = (
    "How many {0}s are there?",
    "What is the {1} of {cell}?",
    "Which {0} has the highest {1}?",
    "What is the total {1} by {0}?",
    "How many {0}s have more than {number} {1}?",
    "Who was the first {0}?",
    "How much higher is the {1} of {cell} than that of {other}?",
    "Did {cell} or {other} have more {1}?",
    "List the {0}s with {1} {other}.",
)


def everyday(folder: Path) -> str:
    """Return how many of the everyday development questions are right, wrong and declined."""
    executor = Executor("tables_offline")
    asked = problems(folder.parent, "everyday", ALL)
    counts = Counter(each.judged(executor.run(each.problem.input).answer) for each in asked)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def costs(folder: Path) -> None:
    """Print the results on the everyday questions with each cost unchanged, halved and doubled."""
    print(f"as they are: {everyday(folder)}")
    for name, value in list(vars(Cost).items()):
        if name.isupper() and name not in ("UNKNOWN", "DOUBT"):
            for factor in (0.5, 2):
                setattr(Cost, name, factor * value)
                print(f"{name} {value:g} × {factor:g}: {everyday(folder)}")
            setattr(Cost, name, value)


def tables_in(folder: Path, name: str) -> Iterator[Table]:
    """Yield the tables of a file of JSON lines, each once."""
    seen = set()
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found = row.get("table", row)
            id = row.get("table_id") or row.get("id")
            if isinstance(found, dict) and id not in seen and {"header", "rows"} <= found.keys():
                seen.add(id)
                rows = map(_texts, found["rows"])
                yield Table(_texts(found["header"]), rows, str(found.get("caption") or ""))


def _texts(cells: list[Any]) -> list[str]:
    return [str(cell[0] if isinstance(cell, list) else cell) for cell in cells]


def timed(question: str, table: Table) -> tuple[str, float]:
    """Return the outcome of a question, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        answer(question, table)
        came = "answered"
    except Declined:
        came = "declined"
    except Exception as problem:  # counted as a fault
        came = f"{type(problem).__name__}: {problem}"[:200]
    return came, time.perf_counter() - begun


def over_tables(folder: Path, name: str, every: int) -> None:
    """Print the figures of one file."""
    chance, counts, slowest, spent = Random(20), Counter[str](), (0.0, "", ""), 0.0
    for table in list(tables_in(folder, name))[::every]:
        cells = [cell[:60] for row in table.rows[:50] for cell in row if cell.strip()] or ["x"]
        for form in FORMS:
            names = [each.lower()[:60] or "row" for each in chance.choices(table.header, k=2)]
            cell, other = chance.choices(cells, k=2)
            question = form.format(*names, cell=cell, other=other, number=chance.randrange(1, 100))
            came, seconds = timed(question, table)
            counts[came], spent = counts[came] + 1, spent + seconds
            slowest = max(slowest, (seconds, question, table.caption))
    print(f"{name}: {dict(counts)}, {1000 * spent / counts.total():.0f} ms each, slowest {slowest}")


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every N-th table")
    options = parser.parse_args()
    costs(options.folder / "everyday")
    for name in FILES:
        over_tables(options.folder, name, options.every)


if __name__ == "__main__":
    main()
