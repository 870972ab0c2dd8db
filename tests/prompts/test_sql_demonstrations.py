"""The demonstrations of Text-to-SQL and Binder are as many as stated, and each program is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from chameleon.llm import Reply
from chameleon.modules.sql.binder_programs import Answerer, MapQuestion, ProgramRun, Question
from chameleon.modules.sql.binder_repair import repaired
from chameleon.modules.sql.database import Cell, SqlTable, SqlType
from chameleon.modules.sql.query import run_sql
from chameleon.sandbox.sealed_process import why_unusable

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[list[Cell]]] = {
    "wikitq/text_to_sql": [
        *([each] for each in ("Mollo Head", 43, "Frost Club", 1, "Jon Pike")),
        ["Wool Fair", "Bread Day"],
        ["Long Sister", "Short Sister"],
        ["yes"],
    ],
    "tabfact/text_to_sql": [[int(each)] for each in "11010010"],
    "wikitq/binder": [
        *([each] for each in ("mollo head", 2, 43, 9, "old harbour", "salt", "frost club", "goose", 89)),
        ["castor", "dione"],
        [1],
        ["jon pike"],
        ["wool fair", "bread day"],
        ["short sister"],
    ],
    "tabfact/binder": [[int(each)] for each in "111010101001101100"],
}
# What a reader of the cells says, by the question.
READ = {
    "in which year was the artist born?": ["1948", "1961", "1957"],
    "what is the first number of the score?": ["3", "0", "4", "2"],
    "how many days is it from the first to the last day, both counted?": ["5", "22", "5"],
    "is the city in africa?": ["no", "yes", "yes", "no"],
    "in which month is it?": ["june", "june", "september"],
    "what is the number of the frequency?": ["91.3", "96.5", "104.7"],
    "who won?": ["tarn rovers", "none", "tarn rovers"],
    "is it in europe?": ["yes", "no", "yes"],
    "what is the sum?": ["138", "142", "143"],
    "how many strokes under par?": ["6", "2", "1"],
    "was the second world war going on in this year?": ["no", "no", "no"],
}
METRES = {"2,114 m": "2114", "1,987 m": "1987", "2,302 m": "2302", "2,250 m": "2250"}
METRES |= {"48 m": "48", "22 m": "22", "61 m": "61"}
SAID = {"which of these animals is a bird?": "goose", "in which year did it end?": "1918"}

SHOT = re.compile(
    r"<database>\n(?P<database>.+?)\n</database>\n(?:Question|Statement): (?P<asked>[^\n]+)\n"
    r"(?:Program|SQL): (?P<program>[^\n]+)\n",
    re.DOTALL,
)
DATABASE = re.compile(
    r"Title: (?P<title>.+)\nCREATE TABLE w \(\n(?P<columns>.+)\n\)\n/\* (?P<told>.+), tab-separated:\n"
    r"(?P<lines>.+)\n\*/",
    re.DOTALL,
)


def shots(name: str) -> list[dict[str, str]]:
    text = (PROMPTS / f"{name}.md").read_text("utf-8")
    blocks = re.split(r"^(?=<database>$)", text.split("\nHere is the ")[0], flags=re.MULTILINE)[1:]
    found = [SHOT.match(block) for block in blocks]
    assert all(found), f"{name}: an odd demonstration"
    return [match.groupdict() for match in found if match]


def table_in(text: str) -> SqlTable:
    """The table that a prompt shows, which is told to be all of it (or to be cut) as it is."""
    match = DATABASE.fullmatch(text)
    assert match is not None, text
    columns: dict[str, SqlType] = {}
    for line in match["columns"].split(",\n"):
        name, kind = re.fullmatch(r'\t"(.+)" (\w+)', line).groups()  # type: ignore[union-attr]
        assert kind in get_args(SqlType)
        columns[name] = kind
    header, *rows = (line.split("\t") for line in match["lines"].split("\n"))
    assert header == list(columns)
    cells = [tuple(map(cell_of, row, columns.values())) for row in rows]
    return SqlTable(columns, cells)


def cell_of(text: str, kind: SqlType) -> Cell:
    if not text:
        return None
    read: dict[str, Any] = {"INTEGER": int, "REAL": float}
    return read.get(kind, str)(text)  # type: ignore[no-any-return]


def reader(questions: Sequence[Question], again: bool) -> list[Reply]:
    assert not again, "a demonstration asks what nobody has read"
    return [Reply(read(question)) for question in questions]


def read(question: Question) -> str:
    if not isinstance(question, MapQuestion):
        return SAID[question.asked]
    metres = question.asked == "how many metres is it?"
    answers = [METRES[item[0]] for item in question.items] if metres else READ[question.asked]
    assert len(answers) == len(question.items)
    return "\n".join(f"{number} | {answer}" for number, answer in enumerate(answers, 1))


@pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
@pytest.mark.parametrize("name", ANSWERS)
def test_every_program_gives_the_right_answer(name: str) -> None:
    for shot, answer in zip(shots(name), ANSWERS[name], strict=True):
        program, table = shot["program"], table_in(shot["database"])
        if name.endswith("binder"):
            assert repaired(program, table) == program, "a demonstration needs no repair"
        if "of the" in shot["database"].split("tab-separated")[0].rpartition("/*")[2]:
            continue  # the first rows alone do not give the answer
        run = ProgramRun(table, run_sql, Answerer(reader))
        assert run.cells(program) == answer, shot["asked"]


def test_the_answers_of_the_map_prompt_are_read_as_meant() -> None:
    text = (PROMPTS / "wikitq/binder_map.md").read_text("utf-8").split("\nHere is the ")[0]
    found = re.findall(r"<values>\n.+\n((?:\d \| .+\n)+)</values>\nAnswers:\n((?:\d \| .+\n?)+)", text)
    assert len(found) == 8
    for values, answers in found:
        count = len(values.splitlines())
        question = MapQuestion("?", ("a",), tuple((str(number),) for number in range(count)))
        assert set(question.read(Reply(answers))) == set(question.items)
