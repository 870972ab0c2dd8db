"""Benchmark files in every form that they are kept in, and what is told of those that cannot be read."""

import gzip
import json
import re
import string
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.benchmarks.scorers.own_answers import ValueRule
from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems, recognized
from chameleon.evaluation.run import read_run
from tests.e2e.commands import Command
from tests.engine.files import TOOL, write
from tests.evaluation.asking import MINE
from tests.evaluation.rows import Row, make_rows, write_rows


def lines(rows: Sequence[Row], end: str = "\n") -> bytes:
    return "".join(json.dumps(row) + end for row in rows).encode()


def by_id(rows: Sequence[Row], indent: int | None = None) -> bytes:
    """The form of the original release: each problem under its id, which it does not repeat."""
    found = {row["pid"]: {key: row[key] for key in row if key != "pid"} for row in rows}
    return json.dumps(found, indent=indent).encode()


FORMS: dict[str, Callable[[Sequence[Row]], bytes]] = {
    "JSON lines": lines,
    "JSON lines in UTF-8": lambda rows: "\n".join(json.dumps(r, ensure_ascii=False) for r in rows).encode(),
    "no line feed at the end": lambda rows: lines(rows).rstrip(),
    "blank lines": lambda rows: b"\n  \n" + lines(rows, "\n\n \n"),
    "CRLF": lambda rows: lines(rows, "\r\n"),
    "a byte order mark": lambda rows: b"\xef\xbb\xbf" + lines(rows),
    "gzip": lambda rows: gzip.compress(lines(rows)),
    "gzip in two parts": lambda rows: gzip.compress(lines(rows[:1])) + gzip.compress(lines(rows[1:])),
    "a list": lambda rows: json.dumps(rows).encode(),
    "an indented list": lambda rows: json.dumps(rows, indent=2).encode(),
    "a list with a byte order mark": lambda rows: b"\xef\xbb\xbf" + json.dumps(rows).encode(),
    "the release": by_id,
    "the release, indented": lambda rows: by_id(rows, indent=4),
    "the release as gzip": lambda rows: gzip.compress(by_id(rows)),
}


def written(folder: Path, content: bytes, name: str = "problems.json") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_every_form_is_recognized(tmp_path: Path) -> None:
    benchmark = find_benchmark("tabmwp")
    for form, count in product(FORMS.values(), (1, 3)):
        rows = make_rows(count)
        path = written(tmp_path, form(rows))
        assert recognized(path).name == "tabmwp"
        expected = [benchmark.problem(row, {}) for row in rows]
        assert list(read_problems(benchmark, DataFile(path, benchmark.id_key))) == expected


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=3), scalars, max_size=3)
ids = st.text(string.ascii_letters + string.digits, min_size=1, max_size=5)
keys = st.text(max_size=4).filter(lambda key: key not in ("pid", "id"))
rows_by_id = st.dictionaries(ids, st.dictionaries(keys, values, max_size=4), min_size=1, max_size=5)


@given(rows_by_id, st.sampled_from(list(FORMS)))
def test_whatever_rows_are_written_come_back(content: Mapping[str, Row], form: str) -> None:
    rows = [{"pid": name, **row} for name, row in content.items()]
    try:
        data = FORMS[form](rows)
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8
        return
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), data)
        assert list(DataFile(path, "pid")) == rows


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_lines_are_read_one_by_one(name: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / name, ({"id": str(number), "text": "x" * 1_000} for number in range(3_000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in DataFile(path)) == 3_000
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


GOOD = lines(make_rows(3))
NO_JSON, NEITHER = ", line 4: this is not JSON: ", ": this is neither JSON nor JSON lines: "
FAULTS: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", ": the file is empty"),
    "gzip of nothing": (gzip.compress(b""), ": the file is empty"),
    "a gzip cut short": (gzip.compress(GOOD)[:-30], ": the file cannot be read: "),
    "a damaged gzip": (gzip.compress(GOOD)[:40] + b"\0" * 40, ": the file cannot be read: "),
    "gzip in name alone": (b"\x1f\x8b and no more of it", ": the file cannot be read: "),
    "a broken line": (GOOD + b'{"pid": "9", \n', NO_JSON),
    "a broken first line": (b'{"pid": "9", "answer": }\n' + GOOD, ", line 1: this is not JSON: "),
    "bytes that are no UTF-8": (GOOD + b'{"pid": "\xe9"}', NO_JSON),
    "a line that is a list": (GOOD + b"[1]\n", ", line 4: each line must be a JSON object"),
    "text": (b"pid,answer\n1,2\n", NEITHER),
    "half a list": (b'[{"pid": "1"},', NEITHER),
    "a list of numbers": (b"[1, 2]", ": this JSON has no rows"),
    "deep nesting": (b"[" * 100_000, f"{NEITHER}it is nested too deeply"),
    "a deep line": (GOOD + b'{"pid":' * 100_000, f"{NO_JSON}it is nested too deeply"),
}


def test_what_cannot_be_read_is_told_with_the_place(tmp_path: Path) -> None:
    for content, told in FAULTS.values():
        path = written(tmp_path, content)
        for reads in (recognized, lambda path: list(DataFile(path, "pid"))):
            with pytest.raises(InputError) as error:
                reads(path)
            assert str(error.value).startswith(f"{path}{told}")


def test_a_folder_and_a_missing_file_are_told(command: Command, tmp_path: Path) -> None:
    for name in ("dev.jsonl", "test.json.gz", "tables.jsonl.gz", "notes.md"):
        (tmp_path / name).touch()
    complaint = command("eval", "tables_offline", str(tmp_path)).complaint
    assert complaint == f"{tmp_path}: this is a folder. Name a file in it: dev.jsonl, test.json.gz."
    good = str(written(tmp_path, GOOD))
    for place, told in ((tmp_path, "this is a folder"), (tmp_path / "none.json", "there is no such file")):
        tables = ("--tables", str(place), "--benchmark", f"{__name__}:Apart")
        asked = [("eval", "tables_offline", str(place)), ("eval", "tables_offline", good, *tables)]
        for line in (*asked, ("score", "tabmwp", good, str(place))):
            assert f"{place}: {told}" in command(*line).complaint


def test_a_row_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    first, second, *others = make_rows(4)
    for change, told in [
        ({"answer": 3}, 'problem 1001: the key "answer" is 3'),
        ({"choices": "a"}, "problem 1001: the key \"choices\" is 'a'"),
        ({"pid": None}, 'problem number 2: a problem of tabmwp needs an id in "pid"'),
        ({"pid": int(first["pid"])}, "problem 1000: the id 1000 occurs twice"),
    ]:
        path = written(tmp_path, lines([first, {**second, **change}, *others]))
        with pytest.raises(InputError, match=re.escape(f"{path}, {told}")):
            list(read_problems(find_benchmark("tabmwp"), DataFile(path, "pid")))


def test_a_benchmark_is_named_or_told_from_the_data_and_listed(tmp_path: Path, command: Command) -> None:
    strange = written(tmp_path, lines([{"id": "1", "question": "?", "gold": "a"}]))
    with pytest.raises(InputError, match=r"matches no known benchmark\. .* the columns question and answer"):
        recognized(strange)
    with pytest.raises(ChameleonError, match="Did you mean 'tabmwp'"):
        find_benchmark("tabmpw")
    for none in ("tests.evaluation.rows:Row", "chameleon.evaluation.benchmark:Benchmark", "pathlib:Path"):
        with pytest.raises(ChameleonError):
            find_benchmark(none)
    benchmark, text = find_benchmark("tabmwp"), command("list", "benchmarks")
    assert text.code == 0 and not text.err
    columns = ["ALL", *benchmark.columns]
    assert f"tabmwp: {benchmark.about}\n  columns {' '.join(columns)}" in text.out
    for name, scorer in benchmark.scorers.items():
        assert f"--scorer {name}" in text.out and scorer.about in text.out
    listed = {row["name"]: row for row in json.loads(command("list", "benchmarks", "--json").out)}
    assert list(listed["tabmwp"]["scorers"]) == ["chameleon", "pot", "promptpg"]
    assert listed["tabmwp"]["columns"] == columns


class Apart(Benchmark):
    name, about = "apart", "tables apart"
    scorers = {"equal": ValueRule}  # noqa: RUF012
    takes_tables = True

    def recognizes(self, row: Mapping[str, Any]) -> bool:
        return "table_id" in row

    def problem(self, row: Mapping[str, Any], tables: Mapping[str, Any]) -> Problem:
        if row["table_id"] not in tables:
            raise InputError(f"there is no table {row['table_id']!r}", hint="Look at --tables.")
        return Problem(str(row["id"]), {"question": row["q"], "cells": tables[row["table_id"]]["cells"]}, "7")


QUESTIONS: list[Row] = [{"id": str(n), "q": "How?", "table_id": name} for n, name in enumerate("aba")]
TABLES: dict[str, Row] = {"a": {"cells": [1]}, "b": {"cells": [2]}}


def test_tables_that_lie_apart_are_found_by_id_and_others_refused(tmp_path: Path, command: Command) -> None:
    data = DataFile(written(tmp_path, lines(QUESTIONS)))
    as_lines = lines([{"table_id": name, **table} for name, table in TABLES.items()])
    for tables in (json.dumps(TABLES).encode(), as_lines):
        file = written(tmp_path, tables, "tables.json")
        assert [each.input["cells"] for each in read_problems(Apart(), data, file)] == [[1], [2], [1]]
    with pytest.raises(InputError, match=r"problem 1: there is no table 'b'\. Look at --tables\."):
        list(read_problems(Apart(), data, written(tmp_path, b'{"a": {"cells": []}}', "tables.json")))
    good = str(written(tmp_path, GOOD))
    for command_line in (("eval", "tables_offline", good), ("score", "tabmwp", good, good)):
        told = command(*command_line, "--tables", good).complaint
        assert told == "problems of tabmwp include tables. Leave out the tables."


def test_a_benchmark_of_ones_own_is_found_again(command: Command, tmp_path: Path) -> None:
    write(tmp_path, TOOL.replace("return 1", "return '7'"), "tools.py")
    inventory, out = write(tmp_path, MINE.replace("table: Table, ", "")), tmp_path / "out"
    data, tables = written(tmp_path, lines(QUESTIONS)), tmp_path / "t.json"
    tables.write_text(json.dumps(TABLES))
    options = ("--benchmark", f"{__name__}:Apart", "--tables", str(tables), "--out", str(out), "--json")
    asked = ("eval", str(inventory), str(data), *options)
    for _ in range(2):
        ran = command(*asked)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["benchmark"] == "apart" and json.loads(ran.out)["correct"] == 3
    assert read_run(out).tally.all.correct == 3
    tables.write_text(json.dumps({**TABLES, "c": {}}))
    assert "the content of tables (t.json) has changed" in command(*asked).err
