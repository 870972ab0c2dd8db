"""WikiTableQuestions: questions over a Wikipedia table each (Pasupat and Liang, 2015)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.binder_rule import BinderRule
from chameleon.benchmarks.scorers.denotation import DenotationRule, TableCotRule
from chameleon.benchmarks.tables.cells import cells_with
from chameleon.benchmarks.tables.table_benchmark import (
    SIZES,
    TableBenchmark,
    read_csv,
    read_object,
    text_in,
    texts_in,
    wrong,
)
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer

# \n is a new line, \p a bar, \\ a backslash.
_ESCAPE = re.compile(r"\\([np\\])")
_UNESCAPED_CHARS = {"n": "\n", "p": "|", "\\": "\\"}


class Wikitq(TableBenchmark):
    """Questions over a Wikipedia table each, with lists of answers (Pasupat and Liang, 2015).

    Rows come from the original release (`data/*.tsv`, with tables in `csv/`; `tagged/data/*.tagged` also has
    the canonical values of the answers), JSON lines (`question`, `table_id`, `answer`, `answer_canon`),
    recorded runs, whose answers are called `gold`, or TableRAG (`wikitq_id`, `answers`), whose rows include
    their tables.
    """

    name = "wikitq"
    columns = SIZES
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "official": DenotationRule,
        "tablecot": TableCotRule,
        "binder": BinderRule,
    }
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "../csv", "../../csv", "csv")

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows, with the fields of the release and of TableRAG renamed as in JSON lines."""
        for row in rows:
            if {"utterance", "context", "targetValue"} <= row.keys():
                answers = {"answer": "targetValue", "answer_canon": "targetCanon"}
                lists = {key: unescaped_list(str(row[of])) for key, of in answers.items() if of in row}
                question = unescaped(str(row["utterance"]))
                yield {"id": row.get("id"), "question": question, "table_id": row["context"], **lists}
            elif {"wikitq_id", "answers", "table"} <= row.keys():
                yield {**row, "id": row["wikitq_id"], "answer": row["answers"]}
            else:
                yield row

    def recognizes(self, row: Row) -> bool:
        """Return whether the row has a question, a table and a list of answers."""
        answer = row.get("answer", row.get("gold"))
        return {"question", "table_id"} <= row.keys() and isinstance(answer, list)

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the problem in a row. `gold` are the answers; `detail` has their canonical values as `canon`.

        If they are unknown, `canon` is None: then "12,467" is a text and not a number.
        """
        gold = texts_in(row, "answer", "gold")
        if not gold:
            raise wrong(row, "answer" if "answer" in row else "gold", "a list of texts")
        canon = texts_in(row, "answer_canon") if "answer_canon" in row else None
        if canon is not None and len(canon) != len(gold):
            raise InputError(f"there are {len(gold)} answers but {len(canon)} canonical values")
        return self.over_table(row, tables, gold, canon=canon, question=text_in(row, "question"))

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells with the answers, or None if an answer, such as a count, is in no cell."""
        return cells_with(problem.gold, problem)

    def read_table(self, file: Path) -> Row:
        """Return the table in `csv/N-csv/M.csv`; its caption is the title in `page/N-page/M.json`, if any."""
        lines = read_csv(file, doublequote=False, escapechar="\\")  # a quote in a cell is \"
        home = file.resolve().parent.parent.parent  # the root if the folder is less deep
        page = home / "page" / file.parent.name.replace("-csv", "-page") / f"{file.stem}.json"
        return {"lines": lines, "caption": read_object(page).get("title") if page.is_file() else ""}


def unescaped(text: str) -> str:
    """Return the text of an escaped field; a backslash before any other character is kept."""
    return _ESCAPE.sub(lambda match: _UNESCAPED_CHARS[match[1]], text)


def unescaped_list(text: str) -> list[str]:
    """Return the items of a field that is a list separated by bars."""
    return [unescaped(item) for item in text.split("|")]
