"""TabFact: is a statement entailed by a Wikipedia table (Chen et al., 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.predictions import NO, YES
from chameleon.benchmarks.scorers.verdicts import (
    MentionedVerdictRule,
    StrictVerdictRule,
    TableragLabelRule,
    VerdictRule,
    WeightedVerdictRule,
)
from chameleon.benchmarks.tables.table_benchmark import SIZES, TableBenchmark, text_in, wrong
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Row, Scorer
from chameleon.evaluation.data import DataFile, beside
from chameleon.lazy import cached_property

_CHANNELS = ("simple", "complex")
_LINK = re.compile(r"#([^#;]*);-?\d+,-?\d+#")
_SEPARATOR = "#"


class Tabfact(TableBenchmark):
    """Is a statement entailed or refuted by a Wikipedia table (Chen et al., 2020).

    Data are JSON lines (`statement`, `table_id`, `label`, `channel`), recorded runs, Chain-of-Table's packed
    `test.jsonl`, TableRAG's rows (`query`, `label`, `table`), or the original release: a file of
    `tokenized_data/` or `collected_data/`, or a list of tables such as `data/small_test_id.json`, which
    stands for their statements of the test set. Tables of the release lie in `data/all_csv/`; its lists of
    tables tell which channel a statement is of.
    """

    name = "tabfact"
    columns = (*_CHANNELS, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "official": VerdictRule,
        "chain_of_table": StrictVerdictRule,
        "chain_of_table_weighted": WeightedVerdictRule,
        "tabsqlify": MentionedVerdictRule,
        "tablerag": TableragLabelRule,
    }
    known_by = ({"statement", "label"}, {"statement", "gold", "table_id"})
    question_key = "statement"
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "all_csv", "../data/all_csv")

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row a statement: the release has a table's statements together, or names tables alone."""
        name, near = path.name.partition(".")[0], _Release(path)
        for number, row in enumerate(found):
            if "table_text" in row:
                table = {"lines": row["table_text"], "caption": row.get("table_caption")}
                yield {"id": f"{name}-{number}", "table": table, **row}
            elif {"query", "label", "table"} <= row.keys() and row["label"] in ("0", "1"):
                yield {**row, "statement": row["query"], "label": int(row["label"])}
            elif set(row) == {"id"}:
                yield from near.unpacked(str(row["id"]), near.statements(str(row["id"])))
            elif _is_packed(row):
                yield from near.unpacked(str(row["id"]), row["prediction"])
            else:
                yield row

    def id_of(self, row: Row) -> str | None:
        """Return the row's id; where it has none, its table and statement."""
        id = super().id_of(row)
        if id is None and isinstance(statement := row.get("statement"), str):
            return f"{text_in(row, 'table_id', 'gold_table_id')}: {statement}"
        return id

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row: the statement is its question, and `gold` is "yes" or "no"."""
        key = "label" if "label" in row else "gold"
        if isinstance(label := row.get(key), bool) or label not in (0, 1):
            raise wrong(row, key, "1 for entailed or 0 for refuted")
        row = {**row, "table_id": row.get("table_id", row.get("gold_table_id"))}
        channel = (row["channel"],) if row.get("channel") in _CHANNELS else ()
        return self.over_table(row, tables, YES if label else NO, channel)

    def read_table(self, file: Path) -> Row:
        """Return the table in `all_csv/ID.csv`: cells are parted by #, without any escape."""
        lines = file.read_text("utf-8").split("\n")
        return {"lines": [line.split(_SEPARATOR) for line in lines if line]}


def _is_packed(row: Row) -> bool:
    """Return whether it is a table of the release: statements, labels, perhaps parts of speech, caption."""
    packed = row.get("prediction")
    if not (set(row) == {"id", "prediction"} and isinstance(packed, list) and len(packed) in (3, 4)):
        return False
    statements, labels, caption = packed[0], packed[1], packed[-1]
    lists = isinstance(statements, list) and isinstance(labels, list) and isinstance(caption, str)
    return lists and len(statements) == len(labels)


class _Release:
    """What the release keeps beside a data file: the lists of tables by channel, and the test set."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def channels(self) -> Mapping[str, str]:
        """The channel of each table that the lists name; collected data tell it by their file's name."""
        found: dict[str, str] = {}
        for channel, first in zip(_CHANNELS, ("r1_", "r2_"), strict=True):
            lists = [self._find(name) for name in (f"{channel}_ids.json", f"{channel}_test_id.json")]
            own = self.path if self.path.name.startswith(first) else None
            for file in filter(None, (*lists, own)):
                found |= dict.fromkeys((str(row["id"]) for row in DataFile(file)), channel)
        return found

    def unpacked(self, table: str, packed: list[Any]) -> Iterator[Row]:
        """Yield the statements of one table, without the links to cells that tokenized ones have."""
        for number, (statement, label) in enumerate(zip(packed[0], packed[1], strict=True)):
            yield {
                "id": f"{table}.{number}",
                "table_id": table,
                "statement": _LINK.sub(r"\1", statement) if isinstance(statement, str) else statement,
                "label": label,
                "caption": packed[-1],
                "channel": self.channels.get(table),
            }

    def statements(self, table: str) -> list[Any]:
        """Return the statements of a table of the test set. Raises `InputError` where they are not there."""
        if table not in self._test_set:
            reason = f"there are no statements about the table {table!r:.80}"
            hint = "They are read from tokenized_data/test_examples.json of the release."
            raise InputError(reason, hint=hint)
        return self._test_set[table]

    @cached_property
    def _test_set(self) -> Mapping[str, list[Any]]:
        file = self._find("test_examples.json")
        rows: Iterable[Row] = DataFile(file) if file else ()
        return {str(row["id"]): row["prediction"] for row in rows if _is_packed(row)}

    def _find(self, name: str) -> Path | None:
        return beside(self.path, name, f"../data/{name}", f"../tokenized_data/{name}")
