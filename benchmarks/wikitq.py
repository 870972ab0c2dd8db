"""WikiTableQuestions: questions over a Wikipedia table each (Pasupat and Liang, 2015)."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.binder import BinderRule
from chameleon.benchmarks.scorers.denotation import DenotationRule
from chameleon.benchmarks.scorers.tablecot import TableCotRule
from chameleon.benchmarks.tables.benchmark import SIZES, TableBenchmark, text_in, wrong
from chameleon.benchmarks.tables.cells import cells_with
from chameleon.benchmarks.tables.escapes import unescaped, unescaped_list
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer


class Wikitq(TableBenchmark):
    """WikiTableQuestions with the official rule, and those of TableCoT and Binder.

    Rows are those of the original release (`data/*.tsv`; `tagged/data/*.tagged` has the canonical values of
    the answers too, and the tables lie in `csv/`), of JSON lines (`question`, `table_id`, `answer`,
    `answer_canon`), of recorded runs, whose answers are called `gold`, and TableRAG's (`wikitq_id`,
    `answers`), which hold their tables.
    """

    name = "wikitq"
    about = "Questions over a Wikipedia table each, with lists of answers (Pasupat and Liang, 2015)"
    columns = SIZES
    scorers: ClassVar[Mapping[str, type[Scorer]]] = MappingProxyType(
        {"official": DenotationRule, "tablecot": TableCotRule, "binder": BinderRule}
    )
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "../csv", "../../csv", "csv")

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """The rows; TableRAG's under the names that others have."""
        for row in found:
            if {"wikitq_id", "answers", "table"} <= row.keys():
                named = {"id": row["wikitq_id"], "answer": row["answers"]}
                yield {key: row.get(key) for key in ("question", "table_id", "table")} | named
            else:
                yield row

    def recognises(self, row: Row) -> bool:
        """Whether the row has a question, a table and a list of answers."""
        if {"utterance", "context", "targetValue"} <= row.keys():
            return True
        answer = row.get("answer", row.get("gold"))
        return {"question", "table_id"} <= row.keys() and isinstance(answer, list)

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """The problem in a row. `gold` are the answers; `detail` has their canonical values as `canon`.

        `canon` is None where they are not known: then "12,467" is a text and not a number.
        """
        id = self.id_of(row)
        if not id:
            raise InputError('a problem of WikiTableQuestions needs its id as "id"')
        if "targetValue" in row:
            question = unescaped(text_in(row, "utterance"))
            table_id = text_in(row, "context")
            gold = unescaped_list(text_in(row, "targetValue"))
            canon = unescaped_list(text_in(row, "targetCanon")) if "targetCanon" in row else None
        else:
            question, table_id = text_in(row, "question"), text_in(row, "table_id")
            gold = _texts(row, "answer" if "answer" in row else "gold")
            canon = _texts(row, "answer_canon") if "answer_canon" in row else None
        if canon is not None and len(canon) != len(gold):
            raise InputError(f"there are {len(gold)} answers and {len(canon)} canonical values")
        if isinstance(row.get("table"), Mapping):
            tables = {table_id: row["table"]}
        found = self.table(table_id, tables)
        return Problem(
            id=id,
            input={"question": question, "table": found[0]} if found else {},
            gold=gold,
            columns=(found[1],) if found else (),
            detail={"canon": canon, "question": question},
            table_id=table_id,
        )

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """The cells that have the answers; None where an answer is in no cell, such as a count."""
        table = problem.input.get("table")
        return None if table is None else cells_with(problem.gold, table)

    def read_table(self, file: Path) -> Row:
        """The table in `csv/NNN-csv/N.csv`, from the .tsv beside it if there is one.

        The caption is the page's title, where `page/` lies beside `csv/`.
        """
        separated = file.with_suffix(".tsv")
        lines = _tab_separated(separated) if separated.is_file() else _comma_separated(file)
        if not lines:
            raise InputError("the table is empty", where=str(file))
        return {"header": lines[0], "rows": lines[1:], "caption": _title(file)}


def _texts(row: Row, key: str) -> list[str]:
    value = row.get(key)
    if not (isinstance(value, list) and value and all(isinstance(item, str) for item in value)):
        raise wrong(row, key, "a list of texts")
    return value


def _tab_separated(file: Path) -> list[list[str]]:
    lines = file.read_text("utf-8").rstrip("\n").split("\n")
    return [[unescaped(cell) for cell in line.split("\t")] for line in lines]


def _comma_separated(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as text:
        try:
            return list(csv.reader(text, doublequote=False, escapechar="\\"))
        except csv.Error as problem:
            raise InputError(f"this is no table: {problem}", where=str(file)) from problem


def _title(file: Path) -> str:
    """The title of the page that a table is from: `page/204-page/590.json` for `csv/204-csv/590.csv`."""
    page = file.parents[2] / "page" / file.parent.name.replace("-csv", "-page") / f"{file.stem}.json"
    if not page.is_file():
        return ""
    try:
        return str(json.loads(page.read_text("utf-8")).get("title") or "")
    except (ValueError, AttributeError) as problem:
        raise InputError("this does not describe a page", where=str(page)) from problem
