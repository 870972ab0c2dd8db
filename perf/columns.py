"""What the columns of a large table mean, beside pandas; and ten questions over one table.

Run: python perf/columns.py [--rows 100000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from random import Random
from typing import Any

import pandas

from chameleon import Executor, Table

CHANCE = Random(7)
CELLS: dict[str, Callable[[], str]] = {
    "plain figures": lambda: f"{CHANCE.random() * 1000:.2f}",
    "money": lambda: f"${CHANCE.random() * 10_000:,.2f}",
    "dates": lambda: f"{CHANCE.randrange(1, 29)}/{CHANCE.randrange(1, 13)}/{CHANCE.randrange(1990, 2025)}",
    "texts": lambda: CHANCE.choice(("Bergen", "Oslo", "Riga", "Graz")),
}
BY_PANDAS: dict[str, Callable[[Any], Any]] = {
    "plain figures": pandas.to_numeric,
    "money": lambda cells: pandas.to_numeric(cells.str.replace(r"[$,]", "", regex=True)),
    "dates": lambda cells: pandas.to_datetime(cells, format="%d/%m/%Y"),
    "texts": lambda cells: cells,
}
QUESTIONS = ("total", "average", "highest", "lowest")


def timed(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    count = parser.parse_args().rows
    print(f"ten columns of {count:,} rows, in seconds: Chameleon, pandas told the kind")
    for name, make in CELLS.items():
        table = Table(
            [f"c{place}" for place in range(10)], [[make() for _ in range(10)] for _ in range(count)]
        )
        frame = pandas.DataFrame(table.rows, columns=table.header)
        ours = timed(lambda table=table: [column.meaning for column in table.columns])
        theirs = timed(lambda frame=frame, name=name: [BY_PANDAS[name](frame[each]) for each in frame])
        print(f"{name:15}{ours:8.2f}{theirs:8.2f}")
    makes = ["texts", "dates", "money", "plain figures", "texts", "plain figures", "texts", "dates", "texts"]
    header = ["City", "Day", "Price", "Weight", "Shop", "Score", "Kind", "Due", "Team"]
    table = Table(header, [[CELLS[each]() for each in makes] for _ in range(count // 2)])
    executor = Executor("tables_offline")
    asked = [f"What is the {how} {what}?" for what in ("price", "weight", "score") for how in QUESTIONS][:10]
    took = [timed(lambda asked=each: executor.run({"question": asked, "table": table})) for each in asked]
    print(
        f"ten questions over {count // 2:,} × 9: first {took[0]:.2f}, the others at most {max(took[1:]):.2f}"
    )


if __name__ == "__main__":
    main()
