"""Read a benchmark's problems: JSON lines, a JSON list or object, tab-separated, CSV or a workbook."""

import gzip
import hashlib
import json
import logging
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import isabstract
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import IO, Any, cast

from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import FAULT, Benchmark, Problem, Row
from chameleon.inventory.resolve import find_class, shipped
from chameleon.lazy import cached_property
from chameleon.table import read_table
from chameleon.table.records import Origin, kind_of_bytes, read_file
from chameleon.table.text_files import decode, delimited_records, delimiter_of
from chameleon.text import nearest, one_line

_TAB_SEPARATED = (".tsv", ".tagged")
_SHEETS = (".csv", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ENDINGS = (".jsonl", ".json", *_TAB_SEPARATED, *_SHEETS)
_TABLE_ENDINGS = (".csv", ".tsv", ".json")
_MAX_NAMES = 8
OWN = "questions"
"""The benchmark for your own questions, tried when no other one matches."""
_log = logging.getLogger("chameleon")
_OBJECT = re.compile(rb"(\xef\xbb\xbf)?\{.+\}")  # a whole object on a line, as in JSON lines


def find_benchmark(name: str) -> Benchmark:
    """Find a benchmark by name: a shipped one, an entry point, or "package.module:Class"."""
    cls = find_class(name, "benchmarks")
    if not issubclass(cls, Benchmark) or isabstract(cls):
        raise InputError(f"{name!r} is not a benchmark")
    if missing := [each for each in ("name", "scorers") if not hasattr(cls, each)]:
        raise InputError(f"the benchmark {name} sets no {missing[0]}", hint="docs/benchmark_data.md has one.")
    return cast(Benchmark, cls())


def full_name(benchmark: Benchmark) -> str:
    """Name a benchmark as `find_benchmark` finds it: by its name, or as "package.module:Class"."""
    cls = type(benchmark)
    is_shipped = cls.__module__.startswith("chameleon.benchmarks.")
    return benchmark.name if is_shipped else f"{cls.__module__}:{cls.__qualname__}"


def recognized(path: Path) -> Benchmark:
    """Recognize the shipped benchmark from the first rows. Raises `InputError` if none or several match."""
    benchmarks = [find_benchmark(name) for name in shipped("benchmarks") if name != OWN]
    keys = sorted({each.id_key for each in benchmarks})  # rows by id get their id under one of them
    rows = {key: list(islice(DataFile(path, key, keeps_bad=True), 20)) for key in keys}
    first = {key: [row for row in each if FAULT not in row] for key, each in rows.items()}
    matches = [each for each in benchmarks if _looks_like(each, first[each.id_key], path)]
    own = find_benchmark(OWN)
    bad_rows = [row for row in rows[own.id_key] if FAULT in row]
    if not matches and _looks_like(own, first[own.id_key], path):
        return own
    if bad_rows:
        raise InputError(bad_rows[0][FAULT], where=f"{path}, line {bad_rows[0]['line']}")
    if len(matches) != 1:
        names = " or ".join(benchmark.name for benchmark in matches)
        reason = f"may be of {names}" if matches else "matches no known benchmark"
        head = ", ".join(name for name in chain(*first[own.id_key][:1]) if name not in ("line", FAULT))
        hint = f"Questions of your own need the columns question and answer; it has {one_line(head, 200)}. "
        hint += "Else name the benchmark; `chameleon list benchmarks` shows all."
        raise InputError(f"the data {reason}", where=str(path), hint=hint)
    return matches[0]


def _looks_like(benchmark: Benchmark, data: list[Row], path: Path) -> bool:
    try:
        rows = list(islice(benchmark.rows(data, path), 20))
    except InputError:  # rows of some other benchmark
        return False
    return bool(rows) and all(map(benchmark.recognizes, rows))


class DataFile:
    """A file of rows.

    In .tsv, .tagged and CSV files and workbooks (first sheet only) a line of names is followed by one line
    per row; all others are JSON. Rows of CSV files and workbooks have their number as `line`. In original
    releases a JSON object may hold the rows by id, or a list may hold only ids: the row then gets its id as
    `id_key`.

    Args:
        one_is_a_row: a single object without an id is a row; otherwise it holds rows, or predictions, by id.
        keeps_bad: an unreadable line becomes a row that says why; rows of JSON lines get their `line`, too.

    Raises:
        InputError: with the file and line if something cannot be read.
    """

    def __init__(
        self, path: str | Path, id_key: str = "id", *, one_is_a_row: bool = False, keeps_bad: bool = False
    ) -> None:
        self.path, self.id_key = Path(path), id_key
        self.one_is_a_row, self.keeps_bad = one_is_a_row, keeps_bad

    @cached_property
    def sha256(self) -> str:
        """The digest of the unpacked content; for a folder, of its tables' names and digests."""
        if self.path.is_dir():
            digest = hashlib.sha256()
            for table in sorted(path for path in self.path.rglob("*") if path.suffix in _TABLE_ENDINGS):
                name = table.relative_to(self.path).as_posix()
                digest.update(f"{name} {DataFile(table).sha256}\n".encode())
            return digest.hexdigest()
        with readable(self.path), self._open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Row]:
        if self.path.name.lower().endswith(_SHEETS) and self.path.is_file():
            yield from self._sheet()
            return
        with readable(self.path), self._open() as file:
            lines = _lines_of(file)
            if self.path.name.removesuffix(".gz").endswith(_TAB_SEPARATED):
                yield from self._tab_separated(lines)
                return
            first, second = [*islice(filter(bytes.strip, lines), 2), b"", b""][:2]
            file.seek(0)
            # Two lines, the first a whole object, are JSON lines; so is a single one if the name says so.
            is_lines = second or self.path.name.removesuffix(".gz").endswith(".jsonl")
            if is_lines and _OBJECT.fullmatch(first.strip()):
                yield from self._lines(_lines_of(file))
                return
            text = file.read()
        if not text.strip():
            raise InputError("the file is empty", where=str(self.path))
        try:
            data = _json(text)
        except ValueError as problem:
            what = f"this is neither JSON nor JSON lines: {problem}"
            raise InputError(what, where=str(self.path)) from problem
        del text  # may be large: free it before the rows are used
        yield from self._json_rows(data)

    def _open(self) -> IO[bytes]:
        if not self.path.is_file():
            if not self.path.is_dir():
                what = "is not a regular file" if self.path.exists() else "there is no such file"
                siblings = self.path.parent.iterdir() if self.path.parent.is_dir() else ()
                hint = nearest(self.path.name, [each.name for each in siblings])
                raise InputError(what, where=str(self.path), hint=hint)
            file_names = (file.name for file in self.path.iterdir() if file.is_file())
            data = [name for name in file_names if name.removesuffix(".gz").endswith(_ENDINGS)]
            data = sorted(name for name in data if name.partition(".")[0] != "tables")
            names = ", ".join(data[:_MAX_NAMES])
            hint = f"Name a file in it: {names}." if names else ""
            raise InputError("this is a folder", where=str(self.path), hint=hint)
        with self.path.open("rb") as file:
            is_gzip = file.read(2) == b"\x1f\x8b"
        return cast(IO[bytes], gzip.open(self.path)) if is_gzip else self.path.open("rb")

    def _lines(self, lines: Iterable[bytes]) -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = _json(line)
            except ValueError as problem:
                row, what = None, f"this is not JSON: {problem}"
            else:
                what = "each line must be a JSON object with the fields of one problem"
            if self.keeps_bad:
                yield {"line": number, **(row if isinstance(row, dict) else {FAULT: what})}
            elif isinstance(row, dict):
                yield row
            else:
                raise InputError(what, where=f"{self.path}, line {number}")

    def _tab_separated(self, lines: Iterable[bytes]) -> Iterator[Row]:
        names: list[str] = []
        for number, line in enumerate(lines, 1):
            where = f"{self.path}, line {number}"
            try:
                cells = line.decode("utf-8").split("\t")
            except UnicodeDecodeError as problem:
                raise InputError("this is not UTF-8 text", where=where) from problem
            names = names or cells
            if len(cells) != len(names):
                what = f"this line has {len(cells)} fields, but the first line names {len(names)}"
                raise InputError(what, where=where)
            if number > 1:
                yield dict(zip(names, cells, strict=True))

    def _sheet(self) -> Iterator[Row]:
        data, origin = read_file(self.path), Origin(str(self.path))
        if kind_of_bytes(data):
            table = read_table(self.path, header="1", keep_totals=True)
            records: Iterable[tuple[int, Sequence[str]]] = enumerate([table.header, *table.rows], 1)
        else:
            text, _ = decode(data, origin)
            records = delimited_records(text, delimiter_of(text), origin)
        filled = ((line, cells) for line, cells in records if any(cells))
        _, names = next(filled, (0, ()))
        if duplicates := [name for name, count in Counter(filter(None, names)).items() if count > 1]:
            raise InputError(f"the column {duplicates[0]} occurs twice", where=str(self.path))
        line = 0
        for line, cells in filled:
            row = {**dict(zip_longest(names, cells[: len(names)], fillvalue="")), "line": line}
            if any(cells[len(names) :]):
                what = f"this line has {len(cells)} cells, but the first line names {len(names)}"
                if not self.keeps_bad:
                    raise InputError(what, where=f"{self.path}, line {line}")
                row[FAULT] = what
            yield row
        if not line:
            raise InputError("there are no rows below the header", where=str(self.path))

    def _json_rows(self, data: Any) -> Iterator[Row]:
        if isinstance(data, dict) and (self.one_is_a_row or self.id_key in data or "id" in data):
            data = [data]
        if isinstance(data, dict):
            rows = {name: row if isinstance(row, dict) else {"prediction": row} for name, row in data.items()}
            data = [{self.id_key: name, **row} for name, row in rows.items()]
        if isinstance(data, list) and all(isinstance(row, str) for row in data):
            data = [{self.id_key: row} for row in data]
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            what = "this JSON has no rows: write a list of objects, or an object with an object for each id"
            raise InputError(what, where=str(self.path))
        yield from data


def read_problems(
    benchmark: Benchmark,
    data: DataFile,
    tables: Path | None = None,
    *,
    on_skip: Callable[[InputError], object] = lambda problem: _log.warning("skipped: %s", problem),
) -> Iterator[Problem]:
    """Read the problems of a file in order.

    Args:
        tables: the file or folder of tables, if they are separate; by default one next to the data.
        on_skip: called with the error of each row that is skipped, if the benchmark skips bad rows.

    Raises:
        InputError: with the problem for a row that cannot be used and for a repeated id, if not skipped.
    """
    if tables is not None and not benchmark.takes_tables:
        raise InputError(f"problems of {benchmark.name} include tables", hint="Leave out the tables.")
    by_id: Mapping[str, Row] = {}
    if (place := tables or beside(data.path, *benchmark.tables_beside)) is not None:
        if place.is_dir():
            by_id = benchmark.tables_in(place)
        else:
            by_id = {str(row.get("table_id")): row for row in DataFile(place, "table_id")}
    ids = set[str]()
    for number, row in enumerate(benchmark.rows(data, data.path), 1):
        try:
            problem = benchmark.problem(row, by_id)
            if problem.id in ids:
                raise InputError(f"the id {problem.id} occurs twice")
        except ChameleonError as error:
            where = f"{data.path}, {benchmark.place_of(row, number)}"
            what = f"{error.where}: {error.what}" if error.where and benchmark.skips_bad_rows else error.what
            failure = InputError(what, where=where, hint=error.hint)
            if not benchmark.skips_bad_rows:
                raise failure from error
            on_skip(failure)
            continue
        ids.add(problem.id)
        picture = _picture(problem.id, benchmark.picture_named(row), benchmark, data.path.parent)
        if picture is not None:
            extra = {benchmark.picture_key: str(picture)} if benchmark.picture_key else {}
            problem = replace(problem, picture=picture, input={**problem.input, **extra})
        yield problem


def warn_of_columns(benchmark: Benchmark, rows: Iterable[Row], path: Path) -> None:
    """Warn about columns of the first row that look like misspelled names."""
    for row in islice(benchmark.rows(rows, path), 1):
        for advice in benchmark.advice(row):
            _log.warning(advice)


def beside(file: Path, *places: str) -> Path | None:
    """Return the first of these places, relative to a file's folder, that exists."""
    return next((place.resolve() for name in places if (place := file.parent / name).exists()), None)


def _picture(id: str, file_name: str, benchmark: Benchmark, home: Path) -> Path | None:
    """Find the picture of a problem: the file that its row names, else `ID.png` or `ID/image.png`.

    Rows are untrusted: neither a name nor an id may lead out of the data's folder.
    """
    paths = []
    if file_name and not Path(file_name).anchor and ".." not in Path(file_name).parts:
        paths.append(home / file_name)
    if Path(id).name == id:
        places = (home / folder for folder in benchmark.picture_folders)
        paths += [place / name for place in places for name in (f"{id}.png", f"{id}/image.png")]
    for path in paths:
        with suppress(OSError, ValueError):  # a name too long for the system, or with a null byte
            if path.is_file():
                return path.resolve()
    return None


def _json(text: bytes) -> Any:
    """Read the value of a JSON text. Raises ValueError, also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem


def _lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; a carriage return also ends a line."""
    return chain.from_iterable(map(bytes.splitlines, file))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors of the system, gzip or UTF-8 about a file as an `InputError`."""
    try:
        yield
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"the file cannot be read: {reason}", where=str(path)) from problem
