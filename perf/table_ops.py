"""What an operation on a table costs, beside lists that are deep-copied, plain lists, and polars.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/table_ops.py [--rows 10 1000 100000] [--seconds 0.5]

Each operation is applied to the same made-up table of six columns, cold: to a table that has read none of its
cells yet, with the cache of cells empty. All results of one case are compared before anything is timed.

- Chameleon: `apply` on a `Table`, which also refuses what does not apply (values that no column shows, a
  sort by a type that no cell is of) and reads numbers and dates in many forms.
- deep copies: a dictionary with the table as lists and the chain so far, copied in depth by every operation,
  as in the published code of Chain-of-Table. It replays the chain whenever the table is needed.
- plain lists: the fastest loops we know that give the same rows and refuse the same. They find columns and
  read numbers and dates in the one form that this table has.
- polars, rows: from rows to a frame, the operation, and back to rows: what somebody with rows has to do.
- polars, frame: the operation on a frame that is there already, with a frame as the result, for who keeps
  frames and never looks at rows.

"ours / rows' best" compares with the faster of the two that begin and end with rows, as Chameleon does: plain
lists, and polars with rows. "ours / frames' too" compares with the fastest of all three.

The last table is a chain of four operations, with the table looked at after each of them.
"""

from __future__ import annotations

import argparse
import calendar
import copy
import gc
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from timings import Figure, surroundings, table

from chameleon import Table
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.table.amounts import read_amount

HEADER = ["Rank", "Rider (country)", "Team", "Points", "Date", "Remark"]
MONTH = {name: number for number, name in enumerate(calendar.month_name) if name}
Rows = list[list[str]]
Args = Mapping[str, Any]
Info = dict[str, Any]


def made_up(rows: int) -> Rows:
    """Results of races: the same for the same number of rows, with the header as the first row."""
    chance = random.Random(rows)
    teams = [f"Team {number}" for number in range(min(40, rows // 2))]
    return [
        HEADER,
        *(
            [
                str(rank),
                f"Rider {chance.randrange(rows)} ({chance.choice(['ESP', 'ITA', 'FRA', 'RUS'])})",
                chance.choice(teams),
                f"{chance.randrange(10_000):,}",
                f"{chance.choice(list(MONTH))} {chance.randint(1, 28)}, {chance.randint(1990, 2025)}",
                chance.choice(["", "won the sprint", "fell"]),
            ]
            for rank in range(1, rows + 1)
        ),
    ]


def day_of(cell: str) -> tuple[int, int, int]:
    month, day, year = cell.split()
    return int(year), MONTH[month], int(day[:-1])


def plain_rows(rows: Rows, args: Args) -> Rows:
    most = len(rows)
    return [rows[0], *[rows[number] for number in sorted(set(args["rows"])) if 1 <= number < most]]


def plain_columns(rows: Rows, args: Args) -> Rows:
    wanted = set(args["columns"])
    kept = [index for index, name in enumerate(rows[0]) if name in wanted]
    return [[row[index] for index in kept] for row in rows]


def plain_added(rows: Rows, args: Args) -> Rows:
    name, values = args["column"], args["values"]
    body = rows[1:]
    if name in rows[0] or name.lower().startswith("number of") or not all(values):
        raise ValueError(name)
    if values.count(values[0]) == len(values):
        raise ValueError("all equal")
    showing = [
        index
        for index in range(len(rows[0]))
        if all(value in row[index] for row, value in zip(body, values, strict=True))
    ]
    if not showing or any([row[index] for row in body] == values for index in showing):
        raise ValueError("nothing new")
    return [[*row, value] for row, value in zip(rows, [name, *values], strict=True)]


def plain_groups(rows: Rows, args: Args) -> Rows:
    index = rows[0].index(args["column"])
    counted = Counter([row[index].strip() for row in rows[1:]])
    filled = len(rows) - 1 - counted[""]
    if not filled or (len(counted) - ("" in counted)) / filled > 0.8:
        raise ValueError("nearly all different")
    groups = sorted(counted.items(), key=lambda group: (-group[1], group[0]))
    return [[args["column"], "Count"], *[[value, str(count)] for value, count in groups]]


KEYS: dict[str, Callable[[str], Any]] = {
    "number": lambda cell: float(cell.replace(",", "")),
    "date": day_of,
    "text": lambda cell: cell.casefold().strip(),
}


def plain_sorted(rows: Rows, args: Args) -> Rows:
    index, key = rows[0].index(args["column"]), KEYS[args["datatype"]]
    descending = args["order"] == "large to small"
    return [rows[0], *sorted(rows[1:], key=lambda row: key(row[index]), reverse=descending)]


def polars_rows(frame: pl.DataFrame, args: Args) -> pl.DataFrame:
    return frame[sorted({number - 1 for number in args["rows"] if 1 <= number <= len(frame)})]


def polars_columns(frame: pl.DataFrame, args: Args) -> pl.DataFrame:
    wanted = set(args["columns"])
    return frame.select([name for name in frame.columns if name in wanted])


def polars_added(frame: pl.DataFrame, args: Args) -> pl.DataFrame:
    return frame.with_columns(pl.Series(args["column"], args["values"]))


def polars_groups(frame: pl.DataFrame, args: Args) -> pl.DataFrame:
    groups = frame.group_by(args["column"]).agg(pl.len().alias("Count"))
    groups = groups.sort(pl.col("Count"), pl.col(args["column"]), descending=[True, False])
    return groups.with_columns(pl.col("Count").cast(pl.String))


def polars_sorted(frame: pl.DataFrame, args: Args) -> pl.DataFrame:
    column = pl.col(args["column"])
    key = {
        "number": column.str.replace_all(",", "", literal=True).cast(pl.Float64),
        "date": column.str.to_date("%B %-d, %Y"),
        "text": column.str.to_lowercase(),
    }[args["datatype"]]
    return frame.sort(key, descending=args["order"] == "large to small", maintain_order=True)


Plain = Callable[[Rows, Args], Rows]
Framed = Callable[[pl.DataFrame, Args], pl.DataFrame]
WAYS: dict[str, tuple[TableOperation, Plain, Framed]] = {
    "select_row": (SelectRow(), plain_rows, polars_rows),
    "select_column": (SelectColumn(), plain_columns, polars_columns),
    "add_column": (AddColumn(), plain_added, polars_added),
    "group_by": (GroupBy(), plain_groups, polars_groups),
    "sort_by": (SortBy(), plain_sorted, polars_sorted),
}


def deep_copied(info: Info, chain: Sequence[tuple[str, Args]]) -> Info:
    """The published way: each operation copies all in depth, changes the copy, and notes itself in it."""
    for name, args in chain:
        info = copy.deepcopy(info)
        info["table"] = WAYS[name][1](info["table"], args)
        info["chain"].append(name)
    return info


def framed(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows[1:], schema=rows[0], orient="row")


@dataclass(frozen=True)
class Case:
    """One operation with its arguments, on one table."""

    title: str
    operation: str
    args: Args
    rows: Rows

    def ways(self) -> dict[str, Callable[[Any], Any]]:
        """What is timed, each a function of what `before` prepares for it."""
        ours, plain, framed_ = WAYS[self.operation]
        return {
            "Chameleon": lambda given: ours.apply(given, self.args),
            "deep copies": lambda info: deep_copied(info, [(self.operation, self.args)]),
            "plain lists": lambda rows: plain(rows, self.args),
            "polars, rows": lambda rows: framed_(framed(rows), self.args).rows(),
            "polars, frame": lambda frame: framed_(frame, self.args),
        }

    def before(self) -> dict[str, Callable[[], Any]]:
        """What each way begins with, made anew for every call and not timed."""
        given, frame = Table(self.rows[0], self.rows[1:], "Races"), framed(self.rows)
        info = {"table": self.rows, "caption": "Races", "chain": []}
        return {
            "Chameleon": lambda: (read_amount.cache_clear(), given.with_caption("Races"))[1],
            "deep copies": lambda: info,
            "plain lists": lambda: self.rows,
            "polars, rows": lambda: self.rows,
            "polars, frame": lambda: frame,
        }

    def check(self) -> None:
        """All ways must give the same rows."""
        before = self.before()
        results = {name: way(before[name]()) for name, way in self.ways().items()}
        expected = [tuple(row) for row in results["plain lists"][1:]]
        assert list(results["Chameleon"].rows) == expected
        assert [tuple(row) for row in results["deep copies"]["table"][1:]] == expected
        assert results["polars, rows"] == results["polars, frame"].rows() == expected

    def times(self, seconds: float) -> dict[str, Figure]:
        """Microseconds of each way, called in turns for about `seconds` each, nine times at least.

        Small tables are timed in batches of calls, as nobody's clock tells single microseconds.
        """
        batch = max(1, 500 // len(self.rows))
        before, found = self.before(), {name: list[float]() for name in self.ways()}
        for name, way in self.ways().items():
            way(before[name]())
        gc.collect()
        chance = random.Random(0)  # the turns change: what a way leaves behind slows the next one
        ends = time.perf_counter() + seconds * len(found)
        while time.perf_counter() < ends or len(found["Chameleon"]) < 9:
            for name, way in chance.sample(list(self.ways().items()), len(found)):
                batched = [before[name]() for _ in range(batch)]
                begun = time.perf_counter()
                for given in batched:
                    way(given)
                found[name].append((time.perf_counter() - begun) * 1e6 / batch)
        return {name: Figure(values) for name, values in found.items()}


def cases(rows: Rows) -> list[Case]:
    count = len(rows) - 1
    countries = [row[1][-4:-1] for row in rows[1:]]
    by = {"number": "Points", "date": "Date", "text": HEADER[1]}
    sorts = [
        Case(
            f"sort_by {datatype}",
            "sort_by",
            {"column": column, "order": "large to small", "datatype": datatype},
            rows,
        )
        for datatype, column in by.items()
    ]
    return [
        Case("select_row, a third", "select_row", {"rows": list(range(1, count + 1, 3))}, rows),
        Case("select_column, two of six", "select_column", {"columns": ["Rank", "Points"]}, rows),
        Case("add_column", "add_column", {"column": "Country", "values": countries}, rows),
        Case("group_by", "group_by", {"column": "Team"}, rows),
        *sorts,
    ]


def chain_times(rows: Rows, seconds: float) -> tuple[Figure, Figure]:
    """Microseconds of a chain of four, for Chameleon and for deep copies replayed at each link."""
    by_name = {case.operation: case.args for case in cases(rows)[:4]}
    chain = [*list(by_name.items())[:1], ("add_column", {"column": "Country", "values": []})]
    kept = plain_rows(rows, by_name["select_row"])
    chain[1][1]["values"] = [row[1][-4:-1] for row in kept[1:]]  # type: ignore[index]
    chain += [("select_column", {"columns": ["Rank", "Country"]}), ("group_by", {"column": "Country"})]
    given, info = Table(rows[0], rows[1:]), {"table": rows, "caption": "", "chain": []}
    ours: list[float] = []
    copied: list[float] = []
    ends = time.perf_counter() + 2 * seconds
    while time.perf_counter() < ends or len(ours) < 5:
        current = given.with_caption("Races")
        begun = time.perf_counter()
        for name, args in chain:
            current = WAYS[name][0].apply(current, args)
        ours.append((time.perf_counter() - begun) * 1e6)
        begun = time.perf_counter()
        for length in range(1, len(chain) + 1):
            replayed = deep_copied(info, chain[:length])
        copied.append((time.perf_counter() - begun) * 1e6)
        assert [tuple(row) for row in replayed["table"][1:]] == list(current.rows)
    return Figure(ours), Figure(copied)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 1_000, 100_000])
    parser.add_argument("--seconds", type=float, default=0.5, help="about how long each way is timed")
    options = parser.parse_args()
    chains = []
    for count in options.rows:
        rows, lines = made_up(count), []
        for case in cases(rows):
            case.check()
            took = {name: figure.median for name, figure in case.times(options.seconds).items()}
            ours, by_rows = took["Chameleon"], min(took["plain lists"], took["polars, rows"])
            ratios = took["deep copies"] / ours, ours / by_rows, ours / min(by_rows, took["polars, frame"])
            lines.append(
                [case.title, *(f"{t:,.1f}" for t in took.values()), *(f"{ratio:,.2f}" for ratio in ratios)]
            )
        header = ["µs, median", *took, "copies / ours", "ours / rows' best", "ours / frames' too"]
        table(f"{count:,} rows", header, lines)
        chain, copied = chain_times(rows, options.seconds)
        chains.append(
            [f"{count:,} rows", chain.shown(), copied.shown(), f"{copied.median / chain.median:,.1f}"]
        )
    header = ["µs", "Chameleon", "deep copies, replayed: median (least–most)", "copies / ours"]
    table("A chain of four operations", header, chains)
    print(surroundings("polars"))


if __name__ == "__main__":
    main()
