"""The demonstrations in prompts, of problems in blocks, of chains over tables and in SQL, are right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from chameleon import State, Table
from chameleon.llm import Reply
from chameleon.modules.program.programs import TableAnswer, program_in, run_code
from chameleon.modules.sql.binder_programs import Answerer, MapQuestion, ProgramRun, Question
from chameleon.modules.sql.binder_repair import repaired
from chameleon.modules.sql.database import SqlTable, SqlType
from chameleon.modules.sql.dater import queries_in
from chameleon.modules.sql.query import run_sql
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.modules.table_ops.table_query import Form, answer_in
from chameleon.sandbox.sealed_process import why_unusable
from chameleon.table.bars import split_rows
from tests.prompts.demonstrations import PROMPTS, TASKS, chain_demonstrations, parts, problem_demonstrations

needs_sandbox = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
OPERATIONS: dict[str, TableOperation] = {
    "add_column": AddColumn(rows_shown=3),
    "select_row": SelectRow(),
    "select_column": SelectColumn(),
    "group_by": GroupBy(),
    "sort_by": SortBy(),
}
FORMS: dict[str, Form] = {"wikitq": "items", "tabfact": "verdict", "fetaqa": "text"}
ANSWERS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", ANSWERS["problems"])
@pytest.mark.parametrize("pandas", [True, False])
def test_programs_of_problems_run_and_set_the_right_answer(name: str, pandas: bool) -> None:
    for demo, answer in zip(
        problem_demonstrations(name, pandas=pandas), ANSWERS["problems"][name], strict=True
    ):
        program = program_in(demo.reply)
        assert demo.reply == f"```python\n{program}\n```" and re.search(r"^ans = ", str(program), re.M)
        result = run_code(program, [demo.table] if demo.table else [], 30)
        if result.error_type != "ModuleNotFoundError":  # pandas need not be here
            assert result.value == pytest.approx(answer) and (not demo.choices or answer in demo.choices)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_read_and_apply_to_their_tables(task: str, name: str) -> None:
    operation = OPERATIONS[name]
    for demo in chain_demonstrations(f"{task}/{name}"):
        args = operation.read_args(demo.reply, demo.table)
        after = operation.apply(demo.table, {key: args[key] for key in args if key != "explained"})
        assert after != demo.table or args == {"rows": "*"}, demo.question
        if listed := re.match(r"The existing columns are: (.+)\.\n", demo.reply):
            assert listed[1] == ", ".join(demo.table.header)


@pytest.mark.parametrize("name", ANSWERS["chains"])
def test_replies_and_programs_of_chains_give_the_right_answer(name: str) -> None:
    form = FORMS[name.partition("/")[0]]
    for demo, answer in zip(chain_demonstrations(name), ANSWERS["chains"][name], strict=True):
        if not name.endswith("program_generator"):
            assert answer_in(demo.reply, form) == answer
            continue
        result = run_code(program_in(demo.reply), [demo.table] if demo.table else [], 30)
        if result.error_type == "ModuleNotFoundError":
            pytest.skip("pandas is not here")
        assert result.status == "ok", result.message
        assert TableAnswer(form).run(State(cache={"program_result": result.value})) == answer


@needs_sandbox
def test_queries_of_sub_questions_run_and_count_rightly() -> None:
    _, _, user = parts("wikitq/dater_sql")
    shown = re.findall(r"/\*\n((?:.+\n)+?)\*/\nSub-questions:\n((?:\d: .+\n)+)SQL:\n((?:\d: .+\n)+)", user)
    counted = []
    for lines, questions, queries in shown:
        header, *rows = split_rows(lines.rstrip("\n").split("\n"))
        for query in queries_in(queries, len(questions.splitlines())):
            result = run_sql(Table(header, rows), query)
            assert result.ok, result.message
            counted.append(result.rows)
    assert counted == [((3,),), ((2,),), ((2,),), ((2,),), ((3,),)]


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
    """Return the table that a prompt shows."""
    match = DATABASE.fullmatch(text)
    assert match is not None, text
    lines = match["columns"].split(",\n")
    columns: dict[str, Any] = dict(re.fullmatch(r'\t"(.+)" (\w+)', line).groups() for line in lines)
    header, *rows = (line.split("\t") for line in match["lines"].split("\n"))
    assert header == list(columns) and {*columns.values()} <= {*get_args(SqlType)}
    return SqlTable(columns, [tuple(map(cell_of, row, columns.values())) for row in rows])


def cell_of(text: str, kind: str) -> Any:
    return {"INTEGER": int, "REAL": float}.get(kind, str)(text) if text else None


def reader(questions: Sequence[Question], again: bool) -> list[Reply]:
    assert not again, "a demonstration asks what nobody has read"
    return [Reply(read(question)) for question in questions]


def read(question: Question) -> str:
    if not isinstance(question, MapQuestion):
        return ANSWERS["said"][question.asked]
    metres = [re.sub(r"\D", "", item[0]) for item in question.items]
    answers = metres if question.asked == "how many metres is it?" else ANSWERS["read"][question.asked]
    assert len(answers) == len(question.items)
    return "\n".join(f"{number} | {answer}" for number, answer in enumerate(answers, 1))


@needs_sandbox
@pytest.mark.parametrize("name", ANSWERS["sql"])
def test_programs_in_sql_give_the_right_answer(name: str) -> None:
    for shot, answer in zip(shots(name), ANSWERS["sql"][name], strict=True):
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
