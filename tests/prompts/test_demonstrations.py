"""The demonstrations in prompts are right, and TabFact's prompts end as the published code's do."""

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

import pytest
import yaml

from chameleon import Inventory, State, Step, Table
from chameleon.core.events import StepRecord
from chameleon.llm import LLM, Reply, ScriptedModel
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
from chameleon.modules.table_ops.table_query import Form, TableQuery, answer_in
from chameleon.sandbox.sealed_process import why_unusable
from chameleon.table.bars import split_rows
from tests.prompts.demonstrations import PROMPTS, TASKS, chain_demonstrations, parts, problem_demonstrations

needs_sandbox = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
_ALL = (AddColumn(rows_shown=3), SelectRow(), SelectColumn(), GroupBy(), SortBy())
OPERATIONS: dict[str, TableOperation] = {operation.name: operation for operation in _ALL}
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


VECTORS = (Path(__file__).parents[2] / "../shared/data/vectors").resolve()
STATEMENT = "there are two athletes from ind"
DEPARTURES = {
    "plan-020": "a selection that names no column is refused, and is no link of the chain",
    "query-002": "grouping changes the table; the groups do not stand beside it",
}


def vectors(name: str) -> pytest.MarkDecorator:
    """Give a test the rows of a file of vectors; none where the shared vectors are not here."""
    path = VECTORS / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    return pytest.mark.parametrize("row", rows, ids=lambda row: f"{row['id']} {row['name']}")


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return Inventory.load(Path(__file__).with_name("aliases.yaml"))


def table_after(row: dict[str, Any], caption: str) -> Table:
    table = Table(row["table"][0], row["table"][1:], caption)
    for link in row["prior_chain"]:
        if link["operation_name"] == "select_row" and link["parameter_and_conf"]:
            numbers = ast.literal_eval(link["parameter_and_conf"][0][0])
            table = SelectRow().apply(table, {"rows": [int(number) for number in numbers]})
    return table


def check(id: str, asked: str, tail: str) -> None:
    """Check that a prompt ends so, but for blanks, which the providers ask to trim."""
    assert asked.endswith(tail.rstrip()) == (id not in DEPARTURES), f"{asked[-len(tail) :]}\n---\n{tail}"


@vectors("chain_of_table_ops")
def test_operations(row: dict[str, Any], inventory: Inventory) -> None:
    module = inventory.modules[row["op"]]
    state = State(input={"question": row["statement"], "table": table_after(row, row["caption"])})
    check(row["id"], module.messages(state)[-1][1], row["prompt_tail_first_call"])
    if "prompt_tail_second_call" in row:
        client = ScriptedModel([reply for replies in row["responses"] for reply in replies])
        module.with_llm(LLM.connect(client)).run(state)
        later = [request[-1][1] for request in client.requests[1:]]
        assert later == [] or any(text.endswith(row["prompt_tail_second_call"]) for text in later)


@vectors("chain_of_table_plan")
def test_the_planner(row: dict[str, Any], inventory: Inventory) -> None:
    history = tuple(map(record, row["prior_chain"]))
    state = State(input={"question": STATEMENT, "table": table_after(row, "race")}, history=history)
    client, planner = ScriptedModel(["<END>"]), cast(Any, inventory.planner)
    planner.with_llm(LLM.connect(client)).propose(state, inventory)
    assert bool(client.requests) == row["called_llm"]
    if client.requests:
        check(row["id"], client.requests[0][-1][1], row["prompt_tail"])
        assert planner._template.stop == (row["stop"],)


def record(link: dict[str, Any]) -> StepRecord:
    """An operation that ran: the published chain renumbers the rows that it kept."""
    name, known = link["operation_name"], link["parameter_and_conf"]
    if not known:
        return StepRecord(Step(name), output={"call": f"f_{name}()", "refused": "it does not apply"})
    rows = ast.literal_eval(known[0][0]) if name == "select_row" else []
    call = f"f_{name}({', '.join(f'row {number}' for number, _ in enumerate(rows, 1))})"
    return StepRecord(Step(name), output={"call": call})


@vectors("chain_of_table_query")
def test_the_last_question(row: dict[str, Any], inventory: Inventory) -> None:
    module = inventory.modules["table_query"]
    assert isinstance(module, TableQuery)
    state = State(input={"question": STATEMENT, "table": table_after(row, "race")})
    check(row["id"], module.messages(state)[-1][1], row["full_prompt_tail"])
    assert module.parse(row["response"]).upper() == row["answer"]
