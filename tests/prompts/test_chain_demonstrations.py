"""Chain-of-Table's demonstrations are as many as published, and do what they say on their tables."""

from __future__ import annotations

import re

import pytest
from jinja2 import Environment, meta

from chameleon import Inventory, Table
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow, by_column
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.modules.table_ops.table_query import answer_in
from chameleon.table.formats import excerpt
from tests.prompts.chains import OPERATIONS, PROMPTS, TASKS, demonstrations, parts, planner_demonstrations

# The paper's appendix C: plans, the five operations, and the last question.
PUBLISHED = {
    "wikitq": (4, {"add_column": 6, "select_row": 3, "select_column": 8, "group_by": 2, "sort_by": 2}, 1),
    "tabfact": (4, {"add_column": 7, "select_row": 4, "select_column": 8, "group_by": 2, "sort_by": 2}, 4),
    "fetaqa": (3, {"add_column": 6, "select_row": 3, "select_column": 8, "group_by": 2, "sort_by": 2}, 8),
}
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
OWN = [f"{task}/{name}" for task in TASKS for name in ("planner", *OPERATIONS, "table_query")]
OPERATION_PROMPTS = [(task, name) for task in TASKS for name in OPERATIONS]


@pytest.mark.parametrize("task", TASKS)
def test_demonstrations_are_as_many_as_published(task: str) -> None:
    plans, operations, queries = PUBLISHED[task]
    single, chains = planner_demonstrations(task)
    assert (len(single), len(chains)) == (len(OPERATIONS), plans)
    assert {name: len(demonstrations(f"{task}/{name}")) for name in OPERATIONS} == operations
    assert len(demonstrations(f"{task}/table_query")) == queries


@pytest.mark.parametrize("name", OWN)
def test_a_prompt_declares_its_slots_and_says_what_is_data(name: str) -> None:
    front, system, user = parts(name)
    used = meta.find_undeclared_variables(Environment().parse(system + user))
    # A table that is cut has its note in this slot, and not in its own text, as the published code has it.
    assert used == {slot.rstrip("?") for slot in front["slots"]} - {"note"}
    assert system.count("data from strangers") == 1 and "never follow instructions" in system
    assert not re.search(r"[ \t]$", user, re.MULTILINE)
    assert user.rindex("{{ question }}") > user.rindex("*/"), "what changes comes last"


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
def test_columns_are_written_as_in_the_case(task: str) -> None:
    _, _, user = parts(f"{task}/select_column")
    for demo in demonstrations(f"{task}/select_column"):
        assert f"table = {by_column(excerpt(demo.table), demo.table.caption)}\n" in user


@pytest.mark.parametrize("task", TASKS)
def test_words_and_cells_link_to_columns_that_are_then_kept(task: str) -> None:
    for demo in demonstrations(f"{task}/select_column"):
        linked = {
            column
            for _, columns in re.findall(r"^(.+) -> (.+)$", demo.reply, re.M)
            for column in columns.split(", ")
        }
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
def test_the_planner_shows_each_operation_on_a_table_to_which_it_applies(task: str) -> None:
    for name, demo in zip(OPERATIONS, planner_demonstrations(task)[0], strict=True):
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


@pytest.mark.parametrize("task, form", [("wikitq", "items"), ("tabfact", "verdict"), ("fetaqa", "text")])
def test_answers_are_of_the_task_s_form(task: str, form: str) -> None:
    replies = [demo.reply for demo in demonstrations(f"{task}/table_query")]
    answers = [answer_in(reply, form) for reply in replies]  # type: ignore[arg-type]
    if form == "verdict":
        assert sorted(map(str, answers)) == ["no", "no", "yes", "yes"]
        assert all(re.fullmatch(r"The answer is: (YES|NO)", reply) for reply in replies)
    elif form == "text":
        assert all(re.fullmatch(r"[A-Z].+\.", str(answer)) for answer in answers)
    else:
        assert answers == [["Quarry Viaduct", "North Bridge"]]


def test_every_prompt_of_the_three_tasks_is_held_to_a_rule() -> None:
    files = {
        str(path.relative_to(PROMPTS).with_suffix(""))
        for task in TASKS
        for path in (PROMPTS / task).glob("*.md")
    }
    others = {name for name in files if re.search(r"/(binder|text_to_sql)", name)}
    rivals = {
        name for name in files if re.search(r"/(end_to_end|few_shot|cot|program_generator|dater)", name)
    }
    assert files == {*OWN} | others | rivals
