"""The demonstrations of Chain-of-Table and its rivals do what they say on their tables, and are right."""

from __future__ import annotations

import re
from typing import Any

import pytest

from chameleon import State, Table
from chameleon.modules.program.programs import TableAnswer, program_in, run_code
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
from tests.prompts.demonstrations import OPERATIONS, TASKS, parts
from tests.prompts.demonstrations import chain_demonstrations as demonstrations

MAKES: dict[str, TableOperation] = {
    "add_column": AddColumn(rows_shown=3),
    "select_row": SelectRow(),
    "select_column": SelectColumn(),
    "group_by": GroupBy(),
    "sort_by": SortBy(),
}
OPERATION_PROMPTS = [(task, name) for task in TASKS for name in OPERATIONS]
FORMS: dict[str, Form] = {"wikitq": "items", "tabfact": "verdict", "fetaqa": "text"}
# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[Any]] = {
    "wikitq/few_shot": [["Quarry Viaduct", "North Bridge"], ["3"], ["Silent Orchard"], ["Lone Isles"]],
    "wikitq/cot": [["2"], ["Tarn City", "Upper Weir"], ["Jonas Eik"], ["7"]],
    "wikitq/program_generator": [["Varnia", "Lone Isles"], ["105"], ["North Bridge"], ["Redgate"]],
    "wikitq/dater": [["Sweden"], ["Silent Orchard"], ["Quarry Viaduct", "North Bridge"], ["2"]],
    "tabfact/cot": ["yes", "no", "no", "yes"],
    "tabfact/program_generator": ["yes", "no", "yes", "yes"],
    "tabfact/dater": ["yes", "no", "yes", "no"],
}


@pytest.mark.parametrize("task, name", OPERATION_PROMPTS)
def test_replies_are_read_and_apply_to_their_tables(task: str, name: str) -> None:
    for demo in demonstrations(f"{task}/{name}"):
        operation = MAKES[name]
        args = operation.read_args(demo.reply, demo.table)
        after = operation.apply(demo.table, {key: args[key] for key in args if key != "explained"})
        assert after != demo.table or args == {"rows": "*"}, demo.question
        if listed := re.match(r"The existing columns are: (.+)\.\n", demo.reply):
            assert listed[1] == ", ".join(demo.table.header)


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith("program_generator")])
def test_replies_end_with_the_right_answer(name: str) -> None:
    form = FORMS[name.partition("/")[0]]
    answers = [answer_in(demo.reply, form) for demo in demonstrations(name)]
    assert answers == ANSWERS[name]


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
def test_programs_run_in_the_sandbox_and_give_the_right_answer(name: str) -> None:
    for demo, answer in zip(demonstrations(name), ANSWERS[name], strict=True):
        program = program_in(demo.reply)
        result = run_code(program, [demo.table] if demo.table else [], 30)
        if result.error_type == "ModuleNotFoundError":
            pytest.skip("pandas is not here")
        assert result.status == "ok", result.message
        given = TableAnswer(FORMS[name.partition("/")[0]]).run(State(cache={"program_result": result.value}))
        assert given == answer


@pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
def test_queries_of_sub_questions_run_and_count_rightly() -> None:
    _, _, user = parts("wikitq/dater_sql")
    shown = re.findall(r"/\*\n((?:.+\n)+?)\*/\nSub-questions:\n((?:\d: .+\n)+)SQL:\n((?:\d: .+\n)+)", user)
    counted = []
    for lines, questions, queries in shown:
        header, *rows = split_rows(lines.rstrip("\n").split("\n"))
        count = len(questions.splitlines())
        for query in queries_in(queries, count):
            result = run_sql(Table(header, rows), query)
            assert result.ok, result.message
            counted.append(result.rows)
    assert counted == [((3,),), ((2,),), ((2,),), ((2,),), ((3,),)]
