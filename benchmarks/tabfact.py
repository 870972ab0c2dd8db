"""TabFact: is a statement entailed by a Wikipedia table (Chen et al., 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.tablerag import LabelRule
from chameleon.benchmarks.scorers.verdicts import (
    NO,
    YES,
    MentionedVerdictRule,
    StrictVerdictRule,
    VerdictRule,
    WeightedVerdictRule,
)
from chameleon.benchmarks.tables.benchmark import SIZES, TableBenchmark, row_of, text_in, wrong
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Row, Scorer
from chameleon.evaluation.data import DataFile

_CHANNELS = ("simple", "complex")
_LINK = re.compile(r"#([^#;]*);-?\d+,-?\d+#")
_SEPARATOR = "#"


class Tabfact(TableBenchmark):
    """TabFact with the rules of its authors, of Chain-of-Table, TabSQLify and TableRAG.

    Data are JSON lines (`statement`, `table_id`, `label`, `channel`), recorded runs, Chain-of-Table's packed
    `test.jsonl`, TableRAG's rows (`query`, `label`, `table`), or the original release: a file of
    `tokenized_data/` or `collected_data/`, or a list of tables such as `data/small_test_id.json`, which
    stands for their statements of the test set. Tables of the release lie in `data/all_csv/`; its lists of
    tables tell which channel a statement is of.
    """

    name = "tabfact"
    about = "Is a statement entailed or refuted by a Wikipedia table (Chen et al., 2020)"
    columns = (*_CHANNELS, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "official": VerdictRule,
        "chain_of_table": StrictVerdictRule,
        "chain_of_table_weighted": WeightedVerdictRule,
        "tabsqlify": MentionedVerdictRule,
        "tablerag": LabelRule,
    }
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "all_csv", "../data/all_csv")

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row a statement: the release has a table's statements together, or names tables alone."""
        name = path.name.partition(".")[0]
        near = _Release(path)
        for number, row in enumerate(found):
            if "table_text" in row:
                yield {"id": f"{name}-{number}", **row}
            elif {"query", "label", "table"} <= row.keys() and row["label"] in ("0", "1"):
                yield _of_tablerag(row)
            elif set(row) == {"id"}:
                yield from _unpacked(str(row["id"]), near.statements(str(row["id"])), near)
            elif _is_packed(row):
                yield from _unpacked(str(row["id"]), row["prediction"], near)
            else:
                yield row

    def id_of(self, row: Row) -> str | None:
        """Return the row's id; where it has none, its table and statement."""
        id = super().id_of(row)
        if id is None and isinstance(statement := row.get("statement"), str):
            return f"{_table_id(row)}: {statement}"
        return id

    def recognises(self, row: Row) -> bool:
        """Return whether the row has a statement and a label."""
        return "statement" in row and ("label" in row or {"gold", "table_id"} <= row.keys())

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row: the statement is its question, and `gold` is "yes" or "no"."""
        id, statement = self.id_of(row), text_in(row, "statement")
        assert id is not None
        key = "label" if "label" in row else "gold"
        if isinstance(label := row.get(key), bool) or label not in (0, 1):
            raise wrong(row, key, "1 for entailed or 0 for refuted")
        if "table_text" in row:
            inline = {"header": row["table_text"][0], "rows": row["table_text"][1:]}
            tables = {id: {**inline, "caption": row.get("table_caption", "")}}
        table = self.table(id if "table_text" in row else _table_id(row), tables)
        input: dict[str, Any] = {}
        if table:
            caption = table[0].caption or str(row.get("caption") or "")
            input = {"question": statement, "table": table[0].with_caption(caption)}
        channel = (row["channel"],) if row.get("channel") in _CHANNELS else ()
        return Problem(
            id=id,
            input=input,
            gold=YES if label else NO,
            columns=(*channel, *([table[1]] if table else [])),
            detail={"statement": statement},
            table_id=str(row.get("table_id") or "") if "table_text" in row else _table_id(row),
        )

    def read_table(self, file: Path) -> Row:
        """Return the table in `all_csv/ID.csv`: cells are parted by #, without any escape."""
        lines = [line.split(_SEPARATOR) for line in file.read_text("utf-8").split("\n") if line]
        return row_of(lines, file)


def _table_id(row: Row) -> str:
    return text_in(row, "table_id" if "table_id" in row else "gold_table_id")


def _is_packed(row: Row) -> bool:
    """Return whether it is a table of the release: statements, labels, perhaps parts of speech, caption."""
    packed = row.get("prediction")
    if not (set(row) == {"id", "prediction"} and isinstance(packed, list) and len(packed) in (3, 4)):
        return False
    statements, labels, caption = packed[0], packed[1], packed[-1]
    lists = isinstance(statements, list) and isinstance(labels, list) and isinstance(caption, str)
    return lists and len(statements) == len(labels)


def _of_tablerag(row: Row) -> Row:
    table = row["table"] if isinstance(row["table"], Mapping) else {}
    return {
        "id": row.get("id"),
        "table_id": row.get("table_id"),
        "statement": row["query"],
        "label": int(row["label"]),
        "table_text": [table.get("header"), *(table.get("rows") or [])],
        "table_caption": table.get("caption") or "",
    }


def _unpacked(table: str, packed: list[Any], near: _Release) -> Iterator[Row]:
    """Yield the statements of one table, without the links to cells that tokenized ones have."""
    for number, (statement, label) in enumerate(zip(packed[0], packed[1], strict=True)):
        yield {
            "id": f"{table}.{number}",
            "table_id": table,
            "statement": _LINK.sub(r"\1", statement) if isinstance(statement, str) else statement,
            "label": label,
            "caption": packed[-1],
            "channel": near.channels.get(table),
        }


class _Release:
    """What the release keeps beside a data file: the lists of tables by channel, and the test set."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def channels(self) -> Mapping[str, str]:
        """The channel of each table that the lists name; collected data tell it by their file's name."""
        found: dict[str, str] = {}
        for channel, first in zip(_CHANNELS, ("r1_", "r2_"), strict=True):
            for name in (f"{channel}_ids.json", f"{channel}_test_id.json"):
                if (file := self._find(name)) is not None:
                    found |= dict.fromkeys((str(row["id"]) for row in DataFile(file)), channel)
            if self.path.name.startswith(first):
                found |= dict.fromkeys((str(row["id"]) for row in DataFile(self.path)), channel)
        return found

    def statements(self, table: str) -> list[Any]:
        """Return the statements of a table of the test set. Raises `InputError` where they are not there."""
        if table not in self._test_set:
            told = f"there are no statements about the table {table!r:.80}"
            raise InputError(
                told, hint="They are read from tokenized_data/test_examples.json of the release."
            )
        return self._test_set[table]

    @cached_property
    def _test_set(self) -> Mapping[str, list[Any]]:
        file = self._find("test_examples.json")
        rows = DataFile(file) if file is not None else ()
        return {str(row["id"]): row["prediction"] for row in rows if _is_packed(row)}

    def _find(self, name: str) -> Path | None:
        here = self.path.parent
        places = (here, here.parent / "data", here.parent / "tokenized_data")
        return next((place / name for place in places if (place / name).is_file()), None)
