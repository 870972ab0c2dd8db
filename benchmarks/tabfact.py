"""TabFact: is a statement entailed by a Wikipedia table (Chen et al., 2020)."""

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

_CHANNELS = ("simple", "complex")
_LINK = re.compile(r"#([^#;]*);-?\d+,-?\d+#")  # "#text;row,column#" in tokenized statements
_SEPARATOR = "#"  # between the cells of a table


class Tabfact(TableBenchmark):
    """Is a statement entailed or refuted by a Wikipedia table (Chen et al., 2020).

    Data are JSON lines (`statement`, `table_id`, `label`, `channel`), recorded runs, Chain-of-Table's packed
    `test.jsonl`, TableRAG's rows (`query`, `label`, `table`), or a file of the release's `tokenized_data/`,
    with tables in `data/all_csv/`; lists of tables in `data/` give the channel of a statement.
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

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row per statement: the release groups the statements of a table."""
        name = path.name.partition(".")[0]
        channels: Mapping[str, str] | None = None
        for number, row in enumerate(rows):
            if "table_text" in row:
                table = {"lines": row["table_text"], "caption": row.get("table_caption")}
                yield {"id": f"{name}-{number}", "table": table, **row}
            elif {"query", "label", "table"} <= row.keys() and row["label"] in ("0", "1"):  # TableRAG's
                yield {**row, "statement": row["query"], "label": int(row["label"])}
            elif row.keys() == {"id"}:
                hint = "Name a file of the release's tokenized_data/, such as test_examples.json."
                raise InputError("this is a list of tables, without statements", where=str(path), hint=hint)
            elif self.is_packed(row):
                channels = self.channels_near(path) if channels is None else channels
                yield from self.unpacked(str(row["id"]), row["prediction"], channels)
            else:
                yield row

    def id_of(self, row: Row) -> str | None:
        """Return the row's id, or else its table and statement."""
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
        """Return the table in `all_csv/ID.csv`: cells are separated by #, without any escape."""
        lines = file.read_text("utf-8").split("\n")
        return {"lines": [line.split(_SEPARATOR) for line in lines if line]}

    @staticmethod
    def is_packed(row: Row) -> bool:
        """Recognize a table of the release: statements, labels, perhaps parts of speech, caption."""
        packed = row.get("prediction")
        if not (set(row) == {"id", "prediction"} and isinstance(packed, list) and len(packed) in (3, 4)):
            return False
        statements, labels, caption = packed[0], packed[1], packed[-1]
        lists = isinstance(statements, list) and isinstance(labels, list) and isinstance(caption, str)
        return lists and len(statements) == len(labels)

    @staticmethod
    def unpacked(table: str, packed: list[Any], channels: Mapping[str, str]) -> Iterator[Row]:
        """Yield the statements of one table, without the links to cells in tokenized ones."""
        for number, (statement, label) in enumerate(zip(packed[0], packed[1], strict=True)):
            yield {
                "id": f"{table}.{number}",
                "table_id": table,
                "statement": _LINK.sub(r"\1", statement) if isinstance(statement, str) else statement,
                "label": label,
                "caption": packed[-1],
                "channel": channels.get(table),
            }

    @staticmethod
    def channels_near(data: Path) -> dict[str, str]:
        """Return the channel of each table in the lists in the release's `data/`."""
        channels: dict[str, str] = {}
        for channel in _CHANNELS:
            for name in (f"{channel}_ids.json", f"{channel}_test_id.json"):
                if file := beside(data, name, f"../data/{name}"):
                    channels |= dict.fromkeys((str(row["id"]) for row in DataFile(file)), channel)
        return channels
