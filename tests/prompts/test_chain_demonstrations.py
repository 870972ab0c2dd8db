"""The demonstrations of Chain-of-Table and its rivals do what they say on their tables, and are right."""

from __future__ import annotations

import re
from typing import Any

import pytest

from chameleon import Inventory, State, Table
from chameleon.modules.program.programs import TableAnswer, program_in, run_code
from chameleon.modules.sql.dater import GAP, cloze_of, filled, queries_in
from chameleon.modules.sql.query import run_sql
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow, by_column
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.modules.table_ops.table_query import Form, answer_in
from chameleon.sandbox.sealed_process import why_unusable
from chameleon.table.bars import split_rows
from chameleon.table.formats import excerpt
from tests.prompts.demonstrations import OPERATIONS, TASKS, parts, planner_demonstrations
from tests.prompts.demonstrations import chain_demonstrations as demonstrations

MAKES: dict[str, TableOperation] = {
    "add_column": AddColumn(rows_shown=3),
    "select_row": SelectRow(),
    "select_column": SelectColumn(),
    "group_by": GroupBy(),
    "sort_by": SortBy(),
}
CALLS = {
    "select_row": "f_row([{}])",
    "select_column": "f_col([{}])",
    "group_by": "f_group({})",
    "sort_by": "f_sort({})",
}
COUNTRY = re.compile(r"\((\w{3})\)$", re.IGNORECASE)
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
COUNTED = {"wikitq": [["3", "2"], ["3", "2"], None, ["2"]], "tabfact": [["3", "2"], ["3", "2"], None, ["2"]]}


@pytest.mark.parametrize("task, name", OPERATION_PROMPTS)
def test_replies_are_read_and_apply_to_their_tables(task: str, name: str) -> None:
    for demo in demonstrations(f"{task}/{name}"):
        operation = MAKES[name]
        args = operation.read_args(demo.reply, demo.table)
        after = operation.apply(demo.table, {key: args[key] for key in args if key != "explained"})
        assert after != demo.table or args == {"rows": "*"}, demo.question
        if listed := re.match(r"The existing columns are: (.+)\.\n", demo.reply):
            assert listed[1] == ", ".join(demo.table.header)


@pytest.mark.parametrize("task", TASKS)
def test_columns_are_written_as_in_the_case_linked_and_then_kept(task: str) -> None:
    _, _, user = parts(f"{task}/select_column")
    for demo in demonstrations(f"{task}/select_column"):
        assert f"table = {by_column(excerpt(demo.table), demo.table.caption)}\n" in user
        links = re.findall(r"^(.+) -> (.+)$", demo.reply, re.M)
        linked = {column for _, columns in links for column in columns.split(", ")}
        kept = set(SelectColumn().read_args(demo.reply, demo.table)["columns"])
        assert linked <= set(demo.table.header) and kept >= linked, demo.question
        for cells, column in re.findall(r"^(.+) -> (.+)$", demo.reply.partition("cell values")[2], re.M):
            index = demo.table.header.index(column)
            values = {row[index].lower() for row in demo.table.rows}
            assert all(any(cell.lower() in value for value in values) for cell in cells.split(", ")), cells


@pytest.mark.parametrize("task", TASKS)
def test_chains_keep_the_grammar_and_can_be_applied(task: str) -> None:
    follows = Inventory.load(task).planner.follows  # type: ignore[attr-defined]
    for demo in planner_demonstrations(task)[1]:
        *calls, end = demo.reply.removeprefix("Function Chain: ").split(" -> ")
        assert end == "<END>"
        table, last = demo.table, "start"
        for call in calls:
            match = re.fullmatch(r"f_(\w+)\((.+)\)", call)
            assert match and match[1] in follows[last], call
            table, last = applied(table, match[1], match[2]), match[1]
        assert "end" in follows[last] and table != demo.table


@pytest.mark.parametrize("task", TASKS)
def test_the_planner_shows_as_many_chains_as_published_and_each_operation_where_it_applies(task: str) -> None:
    single, chains = planner_demonstrations(task)
    assert len(chains) == {"fetaqa": 3}.get(task, 4)
    for name, demo in zip(OPERATIONS, single, strict=True):
        match = re.match(rf"Function: f_{name}\((.+)\)\nExplanation: \S", demo.reply)
        assert match, demo.reply
        assert applied(demo.table, name, match[1]) != demo.table


def applied(table: Table, name: str, written: str) -> Table:
    """A table after an operation as a chain shows it; an added column holds what stands in brackets."""
    if name == "add_column":
        found = [[match[1] for cell in row if (match := COUNTRY.search(cell))] for row in table.rows]
        return MAKES[name].apply(table, {"column": written, "values": [values[0] for values in found]})
    operation = MAKES[name]
    return operation.apply(table, operation.read_args(CALLS[name].format(written), table))


def test_answers_are_of_the_task_s_form() -> None:
    replies = {task: [demo.reply for demo in demonstrations(f"{task}/table_query")] for task in TASKS}
    answers = {task: [answer_in(reply, FORMS[task]) for reply in replies[task]] for task in TASKS}
    assert answers["wikitq"] == [["Quarry Viaduct", "North Bridge"]]
    assert sorted(map(str, answers["tabfact"])) == ["no", "no", "yes", "yes"]
    assert all(re.fullmatch(r"The answer is: (YES|NO)", reply) for reply in replies["tabfact"])
    assert all(re.fullmatch(r"[A-Z].+\.", str(answer)) for answer in answers["fetaqa"])


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith("program_generator")])
def test_replies_end_with_the_right_answer(name: str) -> None:
    form = FORMS[name.partition("/")[0]]
    answers = [answer_in(demo.reply, form) for demo in demonstrations(name)]
    assert answers == ANSWERS[name]


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("cot")] + ["fetaqa/cot"])
def test_reasoning_comes_first_and_calculates_rightly(name: str) -> None:
    for demo in demonstrations(name):
        assert re.fullmatch(r"Explanation: .+\. The answer is: .+", demo.reply)
        for left, right, difference in re.findall(r"([\d,]+) - ([\d,]+) = ([\d,]+)", demo.reply):
            first, second, third = (int(each.replace(",", "")) for each in (left, right, difference))
            assert first - second == third, demo.reply


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
def test_programs_run_in_the_sandbox_and_give_the_right_answer(name: str) -> None:
    for demo, answer in zip(demonstrations(name), ANSWERS[name], strict=True):
        program = program_in(demo.reply)
        result = run_code(program, demo.table, 30)
        if result.error_type == "ModuleNotFoundError":
            pytest.skip("pandas is not here")
        assert result.status == "ok", result.message
        given = TableAnswer(FORMS[name.partition("/")[0]]).run(State(cache={"program_result": result.value}))
        assert given == answer


@pytest.mark.parametrize("task", TASKS)
def test_sub_questions_keep_the_published_condition_and_what_was_counted_is_told_first(task: str) -> None:
    for demo in demonstrations(f"{task}/dater"):
        assert re.fullmatch(r"(In the table: .+\.\n)?The answer is: .+", demo.reply)
    for demo in demonstrations(f"{task}/dater_cloze"):
        lines = demo.reply.removeprefix("Sub-questions:\n").split("\n")
        assert lines == ["none"] or cloze_of(["\n".join(lines)]) == lines, demo.reply


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


def test_filled_sub_questions_read_like_those_of_the_answer() -> None:
    for task in ("wikitq", "tabfact"):
        answered = {demo.question: demo.reply for demo in demonstrations(f"{task}/dater")}
        for demo, numbers in zip(demonstrations(f"{task}/dater_cloze"), COUNTED[task], strict=True):
            lines = [line for line in demo.reply.split("\n")[1:] if GAP.search(line)]
            evidence = " ".join(filled(lines, numbers or []))
            assert evidence in answered.get(demo.question, evidence)
