"""What the published code does with scripted replies, and where we depart from it on purpose."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Inventory, State, Step, Table
from chameleon.core.events import StepRecord
from chameleon.core.llm_module import asking_of, configure, votes, weights_of
from chameleon.core.module import copy_with
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.planners.dynamic import Dynamic
from tests.engine.doubles import Does
from tests.modules.conftest import vectors
from tests.modules.table_ops.doubles import column, run

CROWDS, RUNNERS = "32,092 | 34,186 | 17,503", "Olga T. (KAZ) | Manjeet K. (IND) | Asami T. (JPN)"
PLAIN = "---\nslots: [question, table]\n---\n# user\n{{ table }}\n{{ question }}\n"
OPTIONS = "---\nslots: [names]\n---\n# user\n{{ names | join(' ') }}\n"
_IN_ORDER = ["add_column", "select_row", "select_column", "group_column", "sort_column", "end"]
PUBLISHED = {"start": _IN_ORDER[:-1]} | {each: _IN_ORDER[n:] for n, each in enumerate(_IN_ORDER[:-1], 1)}
DEPARTURES = {
    "cot-010": "row 0 is no row: the original copies the header into the table",
    "cot-014": "a reply with two calls that differ is refused; the original keeps the rows of the first",
    "cot-022": "a reply with a name that no column has is refused; the original leaves the name out",
    "cot-024": "a reply that names no column is refused; the original notes f_select_column(*)",
    "cot-026": "names are compared in any case; the original finds lower-case ones only",
    "cot-030": "a name may hold a comma",
    "cot-038": "a name may hold parentheses",
    "cot-040": "grouping changes the table; the original keeps it, and the groups beside it",
    "cot-042": "f_group_column is read as f_group",
    "cot-048": "a cell's first number counts; the original glues all digits (w 20-7 is 207)",
    "cot-050": "rows that stand in an order can be sorted; the original skips that, in either direction",
    "cot-052": "text and dates are sorted too",
    "cot-054": '"ascending" is an order',
    "cot-058": "the full stop after the order may be missing",
    "cot-062": "the argument with the most votes wins, not the one with the fewest",
}


def _operation(name: str, replies: list[list[str]], folder: Path) -> tuple[TableOperation, ScriptedModel]:
    """The operation as published: votes by rank, one row a call, and all samples in one go."""
    kinds: dict[str, Any] = {"select_row": SelectRow, "select_column": SelectColumn, "add_column": AddColumn}
    kinds |= {"group_column": GroupBy, "sort_column": SortBy}
    few: dict[str, Any] = {"rows_shown": 3, "rows_per_call": 1} if name == "add_column" else {}
    operation: TableOperation = copy_with(kinds[name](weights="rank", **few), name=name)
    (folder / "plain.md").write_text(PLAIN)
    operation.prompt = "plain"
    configure(operation, replace(asking_of(operation), folders=(folder,)))
    operation.samples = len(replies[0])
    client = ScriptedModel([reply for of_call in replies for reply in of_call])
    return operation.with_llm(LLM.connect(client)), client


def _table(rows: list[list[str]], caption: str = "") -> Table:
    return Table(rows[0], rows[1:], caption)


def _start(row: dict[str, Any]) -> Table:
    """The table on which the operation is tried: the original after the chain so far."""
    table = _table(row["table"], row.get("caption", ""))
    for link in row["prior_chain"]:
        assert link["operation_name"] == "select_row"
        numbers = ast.literal_eval(link["parameter_and_conf"][0][0])
        table = SelectRow().apply(table, {"rows": [int(number) for number in numbers]})
    return table


@pytest.mark.parametrize("row", vectors("chain_of_table_ops"))
def test_operations_do_what_the_published_code_does(row: dict[str, Any], tmp_path: Path) -> None:
    table = _start(row)
    operation, client = _operation(row["op"], row["responses"], tmp_path)
    state = State(input={"question": row["statement"], "table": table}, step=Step(row["op"]))
    output = operation.run(state)
    after = operation.update_input(state.input, output).get("table", table)
    came_out = [list(after.header), *map(list, after.rows)], "refused" in output
    expected = row["after"]["table"], row["after"]["act_chain"][-1].startswith("skip")
    if row["id"] in DEPARTURES:
        assert came_out != expected, f"no departure any more: {DEPARTURES[row['id']]}"
        return
    assert came_out == expected
    refused_early = output.get("refused") == "a count cannot be added as a column"
    assert len(client.requests) == (1 if refused_early else sum(map(len, row["responses"])))


@pytest.mark.parametrize("row", vectors("chain_of_table_ops", "op", "select_row", "select_column"))
def test_votes_count_as_published(row: dict[str, Any], tmp_path: Path) -> None:
    if row["id"] in ("cot-010", "cot-014", "cot-022", "cot-030"):
        return  # other arguments are read there, so that other votes are counted: see DEPARTURES
    operation, _ = _operation(row["op"], row["responses"], tmp_path)
    state = State(input={"question": row["statement"], "table": _start(row)})
    replies = operation.ask(state)
    read = [operation._value_or_rejection(reply, state) for reply in replies]
    counted = [weight for _, weight in votes(read, weights_of(replies, "rank"))]
    assert counted == pytest.approx([weight for _, weight in row["parameter_and_conf"]])


@pytest.mark.parametrize("task", ["wikitq", "tabfact", "fetaqa"])
def test_inventories_have_the_published_grammar_and_prompts_of_their_own(task: str) -> None:
    inventory = Inventory.load(task)
    operations = ("add_column", "select_row", "select_column", "group_by", "sort_by")
    follows = inventory.planner.follows  # type: ignore[attr-defined]
    for position, name in enumerate(["start", *operations]):
        assert follows[name] == [*operations[position:], *(["end"] if position else [])]
    asking = [inventory.planner, *inventory.modules.values()]
    assert {getattr(each, "prompt", "").partition("/")[0] for each in asking} == {task}


# A selection that names no column is refused, so that it is no candidate and no link.
PLAN_DEPARTURE = "plan-020"


def _record(link: dict[str, Any]) -> StepRecord:
    """What is known of an operation that ran: its arguments, or that the original skipped it."""
    name = link["operation_name"]
    refused = {} if link["parameter_and_conf"] else {"refused": "it does not apply"}
    return StepRecord(Step(name), output={"operation": name, "call": f"f_{name}(…)", **refused})


@pytest.mark.parametrize("row", vectors("chain_of_table_plan"))
def test_the_planner_chooses_as_published(row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "plain.md").write_text(OPTIONS)
    replies = row["responses"] or []
    planner = Dynamic(PUBLISHED, ["table_query"], samples=max(1, len(replies)))
    planner.prompt = "plain"
    configure(planner, replace(asking_of(planner), folders=(tmp_path,)))
    client = ScriptedModel(replies)
    modules = {name: Does(lambda state: {}) for name in [*PUBLISHED, "table_query"] if name != "start"}
    inventory = Inventory("published", planner, modules)
    history = tuple(map(_record, row["prior_chain"]))
    state = State(input={"question": "?", "table": _table(row["table"])}, history=history)
    plan = planner.with_llm(LLM.connect(client)).propose(state, inventory)
    chosen = plan.names[0] if plan.names != ("table_query",) else "<END>"
    if row["id"] == PLAN_DEPARTURE:
        assert chosen == "select_row" != row["next_operation"]
        return
    assert chosen == row["next_operation"]
    assert bool(client.requests) == row["called_llm"]
    if client.requests:
        assert client.requests[0][0][1] == " ".join(row["candidates"]).replace("<END>", "end")


@pytest.mark.parametrize("values", ["shown", "any"])
@pytest.mark.parametrize(
    ("cells", "given", "refused"),
    [
        (CROWDS, "32092 | 34186 | 17503", ""),
        (RUNNERS, "KAZ | IND | JPN", ""),
        (CROWDS, "0.32 | 0.34 | 0.18", "no column shows these values"),
        (CROWDS, CROWDS, "a column already has these values"),
    ],
)
def test_values_are_shown_or_computed(cells: str, given: str, refused: str, values: Any) -> None:
    """The values of the paper's figure 10, and computed ones ("intermediate results", appendix A.1)."""
    reply = f'We extract the value from column "V". f_add_column(New). The value: {given}'
    output, _ = run(AddColumn(values=values), column(cells), [reply])
    is_taken = not refused or (values == "any" and refused.startswith("no column"))
    assert output.get("refused") == (None if is_taken else refused)
    if is_taken:
        assert " | ".join(row[1] for row in output["table"].rows) == given


@pytest.mark.parametrize(
    ("settings", "given", "calls"),
    [({}, [50, 10], 2), ({"rows_shown": 3, "rows_per_call": 1}, [3, *[1] * 57], 58)],
)
def test_values_of_many_rows_come_in_one_reply(settings: Any, given: list[int], calls: int) -> None:
    """The published code asks once for three rows, and once more for every row from the fourth on."""
    lanes = [str(number % 7) for number in range(60)]
    table = Table(["Crew"], [[f"crew {number} ({lane})"] for number, lane in enumerate(lanes)])
    values = iter(lanes)
    replies = [" | ".join(next(values) for _ in range(count)) for count in given]
    replies[0] = f"We extract the value from Crew: f_add_column(Lane). The value: {replies[0]}"
    output, client = run(AddColumn(**settings), table, replies)
    assert [row[1] for row in output["table"].rows] == lanes and len(client.requests) == calls
