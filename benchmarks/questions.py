"""Your own questions with their answers, over your own files."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.own_answers import TextRule, ValueRule, read_tolerance
from chameleon.documents.reading import text_inputs, text_passages
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import FAULT, Benchmark, Problem, Row, Scorer
from chameleon.run.ask import as_table
from chameleon.table import Table, read_table
from chameleon.table.records import read_file
from chameleon.text import did_you_mean

DECLINE = "DECLINE"
"""The gold answer of a question that should be declined."""
_COLUMNS = (
    "question",
    "answer",
    "table",
    "text",
    "image",
    "index",
    "id",
    "tags",
    "choices",
    "unit",
    "tolerance",
)
_MAX_FILES = 64  # of a kind, kept in memory at once


class Questions(Benchmark):
    """Your own questions with their answers: CSV, Excel or JSON lines.

    Rows have `question` and `answer`, and usually `table`, a path relative to the file (several with
    semicolons), or `text`, `image` or `index`. `answer` is a text, a number, a date, a list (with
    semicolons), or DECLINE. `id`, `tags` (shown as columns), `choices`, `unit` and `tolerance` are optional.
    A row that cannot be used is reported and skipped.
    """

    name = "questions"
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"value": ValueRule, "text overlap": TextRule}
    skips_bad_rows = True

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows with their `line` and the `folder` of the file, under lower-case names.

        Rows without a file, an empty `path`, have None as folder: they may name any file.
        """
        for number, row in enumerate(rows, 1):
            cells = {str(name).strip().casefold(): value for name, value in row.items()}
            yield {"line": number, **cells, "folder": path.parent if path.name else None}

    def id_of(self, row: Row) -> str | None:
        """Return the id of a row, or else its line: "3", or "line 3" if there is an id column."""
        return super().id_of(row) or (f"line {row['line']}" if self.id_key in row else str(row["line"]))

    def files_of(self, data: Iterable[Row], path: Path) -> Collection[Path]:
        """Return the tables, texts and pictures that rows name, and the files that describe an index."""
        paths = set()
        for row in self.rows(data, path):
            for name in chain.from_iterable(
                _file_names(row.get(key)) for key in ("table", "text", "image", "index")
            ):
                with suppress(InputError):  # its row is skipped
                    paths.add(_place(row, name))
        files = {file for file in paths if file.is_file()}
        return files.union(*(each.rglob("manifest.json") for each in paths if each.is_dir()))

    def advice(self, row: Row) -> Iterator[str]:
        """Warn about unused columns with names similar to used ones."""
        missing = [name for name in _COLUMNS if name not in row]
        for name in row:
            if name not in (*_COLUMNS, "line", "folder", FAULT) and (hint := did_you_mean(name, missing)):
                yield f"column {name!r} is not used; {hint[0].lower()}{hint[1:]}"

    def place_of(self, row: Row, number: int) -> str:
        """Name the line of a row."""
        return f"line {row['line']}"

    def recognizes(self, row: Row) -> bool:
        return FAULT in row or {"question", "answer"} <= row.keys()

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the problem in a row. Raises `InputError` for a file that cannot be read."""
        if fault := row.get(FAULT):
            raise InputError(str(fault))
        question = row.get("question")
        if not isinstance(question, str) or not question.strip():
            raise InputError("it has no question")
        input = {"question": question.strip(), **_files(row)}
        for key, value in (("choices", _items(row.get("choices"))), ("unit", row.get("unit"))):
            if value:
                input[key] = value
        gold = row.get("answer")
        if isinstance(gold, str):
            items = _items(gold)
            gold = items if len(items) > 1 else gold.strip()
        hint = f"Write {DECLINE} for a question that should be declined."
        if gold is None or gold in ("", []):
            raise InputError("it has no answer", hint=hint)
        if isinstance(gold, str) and gold != DECLINE and gold.casefold() in ("decline", "declined"):
            raise InputError(f"its answer is {gold!r}", hint=hint)
        options = {key: str(row[key]).strip() for key in ("tolerance", "unit") if row.get(key) is not None}
        if (tolerance := options.get("tolerance")) and read_tolerance(tolerance) is None:
            raise InputError(f"tolerance {tolerance!r} is not a number", hint="Write 0.5 or 1%.")
        return Problem(
            self.required_id(row),
            input,
            gold,
            columns=tuple(_items(row.get("tags"))),
            detail={"tolerance": "", "unit": "", **options, "choices": input.get("choices", [])},
            to_decline=gold == DECLINE,
        )


def _files(row: Row) -> dict[str, Any]:
    """Read the files that a row names."""
    inputs: dict[str, Any] = {}
    cell = row.get("table")
    names = _file_names(cell)
    tables = [_read(_read_table, _place(row, name)) for name in names]
    if not names and cell is not None and not isinstance(cell, str):
        tables = [as_table(cell)]
    if tables:
        inputs["table"] = tables[0]
    if len(tables) > 1:
        inputs["tables"] = tables[1:]
    if text := row.get("text"):
        inputs |= _read(_read_text, _place(row, str(text)))
    for key in ("image", "index"):
        if value := row.get(key):
            file = _place(row, str(value))
            if not file.exists():
                raise InputError("there is no such file", where=str(file))
            inputs[key] = str(file)
    return inputs


def _place(row: Row, name: str) -> Path:
    """Return the file that a row names. Raises `InputError` if a row of a file leaves that file's folder."""
    folder: Path | None = row["folder"]
    path = (folder or Path()) / Path(name).expanduser()
    if folder is not None and not path.resolve().is_relative_to(folder.resolve()):
        hint = "Move it there, or name one for all questions on the command line."
        raise InputError(f"{name} is not in the folder of the questions", hint=hint)
    return path


def _read_text(path: Path) -> dict[str, Any]:
    data = text_inputs(read_file(path), path.name)
    return data if "passages" in data else {**data, "passages": text_passages(data["text"], path.name)}


def _read_table(path: Path) -> Table:
    table = read_table(path)
    return table if table.caption.strip() else table.with_caption(path.stem)


_read_cached = lru_cache(_MAX_FILES)(lambda reader, path, _: reader(path))  # _ is the file's time and size


def _read(reader: Callable[[Path], Any], path: Path) -> Any:
    """Read a file once, until it changes."""
    if not path.is_file():
        return reader(path)
    now = path.stat()
    return _read_cached(reader, path, (now.st_mtime_ns, now.st_size))


def _file_names(cell: Any) -> list[str]:
    """Return the file names in a row: a text with semicolons, or a list."""
    are_names = isinstance(cell, str) or (isinstance(cell, list) and all(isinstance(n, str) for n in cell))
    return _items(cell) if are_names else []


def _items(value: Any) -> list[str]:
    """Return a list, or the parts of a text between semicolons."""
    if value is None:
        return []
    items = value if isinstance(value, list) else str(value).split(";")
    return [text for item in items if (text := str(item).strip())]
