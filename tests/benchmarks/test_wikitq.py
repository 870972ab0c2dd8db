"""Reading WikiTableQuestions: JSON lines, recorded runs, and the original release with its escapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.wikitq import Wikitq, unescaped, unescaped_list
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised

ROW: dict[str, Any] = {
    "id": "nu-7",
    "question": "which kites flew 15 minutes or more?",
    "table_id": "csv/204-csv/7.csv",
    "answer": ["red", "blue"],
    "answer_canon": ["red", "blue"],
    "canon_type": "string",
}
TABLE: dict[str, Any] = {
    "table_id": "csv/204-csv/7.csv",
    "caption": "Kites",
    "header": ["Kite", "Minutes\nin the air"],
    "rows": [["red", "15"], ["blue|green", '20 "about"'], ["short"]],
}
QUESTIONS = (
    "id\tutterance\tcontext\ttargetValue\n"
    "nt-1\twhich flew \\p longest?\tcsv/204-csv/7.csv\tblue\\pgreen|a\\\\n\n"
)
TAGGED = (
    "id\tutterance\tcontext\ttargetValue\ttokens\ttargetCanon\ttargetCanonType\n"
    "nt-1\thow many?\tcsv/204-csv/7.csv\t1,200\thow|many|?\t1200.0\tnumber\n"
)


def problem(**changes: Any) -> Problem:
    return Wikitq().problem({**ROW, **changes}, {TABLE["table_id"]: TABLE})


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with one table, as a folder."""
    for folder in ("data", "tagged/data", "csv/204-csv", "page/204-page"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data/some.tsv").write_text(QUESTIONS)
    (tmp_path / "tagged/data/some.tagged").write_text(TAGGED)
    (tmp_path / "csv/204-csv/7.csv").write_text(
        '"Kite","Minutes\nin the air"\n"red","15"\n"blue|green","20 \\"about\\""\n"short"\n'
    )
    (tmp_path / "page/204-page/7.json").write_text(json.dumps({"title": "Kites", "tableIndex": 1}))
    return tmp_path


def test_a_row() -> None:
    read = problem()
    assert (read.id, read.gold, read.columns) == ("nu-7", ["red", "blue"], ("small",))
    assert read.input["question"] == ROW["question"]
    table = read.input["table"]
    assert table.caption == "Kites" and table.rows[2] == ("short", "")
    assert read.detail == {"canon": ["red", "blue"], "question": ROW["question"]}
    assert "answer" not in str(read.input)


def test_a_row_without_canonical_values() -> None:
    row = {key: value for key, value in ROW.items() if not key.startswith(("answer_c", "canon"))}
    assert Wikitq().problem(row, {}).detail["canon"] is None


def test_a_recorded_row_without_its_table_can_be_scored() -> None:
    recorded = {"id": "nu-7", "table_id": "t", "question": "who?", "gold": ["red"], "output": "red"}
    read = Wikitq().problem(recorded, {})
    assert (read.input, read.columns, read.gold) == ({}, (), ["red"])
    assert Wikitq().recognises(recorded)


@pytest.mark.parametrize(
    ("cells", "size"), [(499, "small"), (500, "medium"), (999, "medium"), (1000, "large")]
)
def test_sizes(cells: int, size: str) -> None:
    table = {**TABLE, "header": ["a"], "rows": [["b"]] * cells}  # a line is four tokens with its end
    assert Wikitq().problem(ROW, {TABLE["table_id"]: table}).columns == (size,)


@pytest.mark.parametrize(
    "table", [{**TABLE, "rows": None}, {**TABLE, "header": "a"}, {**TABLE, "rows": [[1]]}]
)
def test_what_is_no_table_is_told(table: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Wikitq().problem(ROW, {TABLE["table_id"]: table})


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_the_release(release: Path, form: str) -> None:
    if form == "tsv":
        lines = ["Kite\tMinutes\\nin the air", "red\t15", 'blue\\pgreen\t20 "about"', "short"]
        (release / "csv/204-csv/7.tsv").write_text("\n".join(lines) + "\n")
    data = release / "data/some.tsv"
    assert recognised(data).name == "wikitq"
    (read,) = read_problems(Wikitq(), DataFile(data))
    assert read.input["question"] == "which flew | longest?"
    assert read.gold == ["blue|green", "a\\n"] and read.detail["canon"] is None
    rows = [*TABLE["rows"][:2], ["short", ""]]
    assert read.input["table"] == Table(TABLE["header"], rows, "Kites")


def test_tagged_files_have_canonical_values(release: Path) -> None:
    (read,) = read_problems(Wikitq(), DataFile(release / "tagged/data/some.tagged"))
    assert (read.gold, read.detail["canon"]) == (["1,200"], ["1200.0"])
    assert read.input["table"].caption == "Kites"
    assert Wikitq.scorers["official"]().right("1200", read)


@pytest.mark.parametrize("folder", ["csv", "."])
def test_tables_of_the_release_for_rows_elsewhere(release: Path, folder: str, tmp_path: Path) -> None:
    data = tmp_path / "elsewhere.jsonl"
    data.write_text(json.dumps(ROW) + "\n")
    (read,) = read_problems(Wikitq(), DataFile(data), release / folder)
    assert read.input["table"].header == ("Kite", "Minutes\nin the air")


def test_a_folder_of_tables_has_a_digest(release: Path) -> None:
    folder = DataFile(release / "csv")
    before = folder.sha256
    (release / "csv/204-csv/8.csv").write_text("a\n1\n")
    assert before != DataFile(release / "csv").sha256


@pytest.mark.parametrize(
    "id", ["../data/some.tsv", "/etc/hostname", "csv/../../x.csv", "csv/204-csv/9.csv", "\0"]
)
def test_ids_do_not_lead_out_of_the_folder(release: Path, id: str, tmp_path: Path) -> None:
    data = tmp_path / "hostile.jsonl"
    data.write_text(json.dumps({**ROW, "table_id": id}) + "\n")
    (read,) = read_problems(Wikitq(), DataFile(data), release / "csv")
    assert read.input == {} and read.columns == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id\tutterance\nnt-1\n", "some.tsv, line 2: this line has 1 fields, and the first line names 2"),
        ("id\tutterance\nnt-1\t\udcff\n", "some.tsv, line 2: this is no UTF-8 text"),
    ],
)
def test_broken_lines_are_told(release: Path, text: str, told: str) -> None:
    data = release / "data/some.tsv"
    data.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as caught:
        list(read_problems(Wikitq(), DataFile(data)))
    assert str(caught.value).endswith(told)


@given(st.lists(st.text(), min_size=1))
def test_escapes_come_back(items: list[str]) -> None:
    escaped = [item.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p") for item in items]
    assert unescaped_list("|".join(escaped)) == items
    assert [unescaped(item) for item in escaped] == items
