"""How fast SQL over tables runs in the sealed sandbox, and in our own process, which contains nothing.

    python perf/sql.py [--queries 300]

The table of 20 rows is what most questions are about, those of 1,000 and 100,000 rows what the largest are.
"made" is the time to type the columns and write the database, once for a table. "idle" queries come 40 ms
apart, as they do behind calls of a model; "back to back" without a pause. Other load on the machine shows in
the figures; compare those of one table with each other.
"""

from __future__ import annotations

import argparse
import base64
import sqlite3
import statistics
import time
from collections.abc import Callable
from contextlib import closing

from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.query import run_sql
from chameleon.sandbox import make_sandbox
from chameleon.table import Table

SIZES = (20, 1_000, 100_000)
QUERIES = (
    "SELECT name FROM w ORDER BY points DESC LIMIT 1",
    "SELECT club, COUNT(*), SUM(points) FROM w GROUP BY club ORDER BY 2 DESC LIMIT 3",
    "SELECT COUNT(*) FROM w WHERE points > (SELECT AVG(points) FROM w) AND name LIKE '%7'",
)
IDLE_SECONDS = 0.04


def table_of(rows: int) -> Table:
    header = ["Name", "Club", "Points", "Price", "Year"]
    return Table(
        header,
        [[f"player {n}", f"club {n % 7}", str(n * 37 % 1009), f"{n / 7:.2f}", "1998"] for n in range(rows)],
    )


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def times(ask: Callable[[str], object], count: int, pause: float = 0.0) -> str:
    """Median and 95th percentile of a query."""
    taken = []
    for number in range(count):
        time.sleep(pause)
        taken.append(milliseconds(lambda n=number: ask(QUERIES[n % len(QUERIES)])))
    return f"{statistics.median(taken):8.2f} /{statistics.quantiles(taken, n=20)[-1]:8.2f}"


def measure(rows: int, count: int) -> None:
    table = table_of(rows)
    typed: list[SqlTable] = []
    made = milliseconds(lambda: (typed.append(SqlTable.of(table)), typed[0].image))
    few = max(30, count if rows < 50_000 else count // 5)
    print(f"\n{rows:,} rows (made in {made:.1f} ms)                     p50 /     p95 ms")
    with make_sandbox("sealed") as executor:

        def ask(sql: str) -> None:
            result = run_sql(typed[0], sql, executor=executor)
            if not result.ok:
                raise SystemExit(f"a query of this file failed: {result}")

        ask(QUERIES[0])
        print(f"  sealed, idle                {times(ask, few // 3, IDLE_SECONDS)}")
        print(f"  sealed, back to back        {times(ask, few)}")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(base64.b64decode(typed[0].image))
        print(f"  sqlite3 in our own process  {times(lambda sql: connection.execute(sql).fetchall(), few)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=300, help="queries per figure")
    options = parser.parse_args()
    for rows in SIZES:
        measure(rows, options.queries)


if __name__ == "__main__":
    main()
