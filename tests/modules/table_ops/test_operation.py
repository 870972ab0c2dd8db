"""Operations in a chain: applied once, with mangled arguments, and as prompts show them."""

import copy
import json
import random
import re
import zlib
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, Module, State, StepRejected, Table
from chameleon.core.llm_module import asking_of, configure
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import Aggregate, GroupBy
from chameleon.modules.table_ops.filter_rows import FilterRows
from chameleon.modules.table_ops.join import Join
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.planners.dynamic import Dynamic
from chameleon.planners.fixed import Fixed
from chameleon.table.bars import split_rows
from tests.engine.doubles import Does
from tests.engine.random_runs import end
from tests.table.strategies import tables


def test_a_refused_step_leaves_nothing() -> None:
    modules: dict[str, Any] = {"first": SelectRow(), "second": GroupBy(), "third": SelectRow()}
    modules["end"] = Does(lambda state: state.input["table"])
    replies = ["f_row([row 2, row 3])", "f_group(a)", "f_row([row 2])"]
    executor = Executor(Inventory("mine", Fixed(list(modules)), modules), LLM.connect(ScriptedModel(replies)))
    state = executor.run({"question": "?", "table": Table(["a"], [["1"], ["2"], ["3"]])})
    told = [(link["call"], "refused" in link) for link in state.cache["chain"]]
    assert told == [("f_first(row 2, row 3)", False), ("f_second(a)", True), ("f_third(row 2)", False)]
    assert state.answer.rows == (("3",),)


PAGE = Path(__file__).resolve().parents[3] / "docs" / "table_operations.md"
RIDERS = Table(["Rider", "Points"], [["Brandt", "12"], ["Ek", "60"], ["Holm", "31"], ["Paki", "48"]])


@pytest.mark.parametrize("reply", ["f_keep_first(2)", "f_keep_first(0)"])
def test_one_of_your_own_stands_in_a_chain_with_the_others_and_may_refuse(reply: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^`(mine\.\w+)`.*?:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert [name for name, _ in blocks] == ["mine.py", "mine.md", "mine.yaml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text, "utf-8")
    mine = Inventory.load(str(tmp_path / "mine.yaml"))
    mine.check()
    said = 'The datatype is Numerical. f_sort(Points), the order is "large to small".'
    client = ScriptedModel(["f_sort_by(Points)", said, "f_keep_first(2)", reply, "Ek | Paki"])
    state = Executor(mine, LLM.connect(client)).run({"question": "Who are the two best?", "table": RIDERS})
    assert state.answer and "Keeps the first rows of the table." in client.requests[2][-1][1]
    first, second = state.cache["chain"]
    assert first["call"] == "f_sort_by(Points, large to small)"
    is_refused = reply == "f_keep_first(0)"
    assert "'0'" in second["refused"] if is_refused else second["call"] == reply
    assert state.input["table"].rows[:2] == (("Ek", "60"), ("Paki", "48"))
    assert len(state.input["table"].rows) == (4 if is_refused else 2)


TEAMS = Table(["Rank", "Team (a, b)", "Points"], [["1", "Red", "9"], ["2", "Blue", "7"], ["3", "Ash", "7"]])
FALLING = {"column": "Points", "order": "large to small", "datatype": "number"}
ARGUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "select_row": ("f_row([row 1, row 3])", {"rows": [1, 3]}),
    "select_column": ("f_col([Rank, Team (a, b)])", {"columns": ["Rank", "Team (a, b)"]}),
    "group_by": ("f_group(Points)", {"column": "Points"}),
    "sort_by": ('f_sort(Points), the order is "large to small"', FALLING),
    "filter_rows": ("f_filter_rows(Points > 7 and Rank < 3)", {"condition": "Points > 7 and Rank < 3"}),
    "aggregate": ("f_aggregate(sum of Points)", {"function": "sum", "column": "Points", "by": None}),
}


STATE = State({"question": "Which?", "table": TEAMS})
OPERATIONS: dict[str, Any] = dict(Inventory.load("chain_of_table_extended").modules)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_mangled_arguments_are_taken_as_meant_or_refused(name: str) -> None:
    operation, chance, kept = OPERATIONS[name], random.Random(name), 0
    assert operation.structured == "auto" and operation.schema(STATE)["additionalProperties"] is False
    said, meant = ARGUMENTS[name]
    for _ in range(500):
        text = chance.choice([said, json.dumps(meant), json.dumps(meant, indent=2)])
        text = chance.choice([text, f"Here it is:\n```json\n{text}\n```"])
        place = chance.randrange(len(text))
        text = chance.choice([text, text[:place], text[:place] + chance.choice("[]{},\"'9") + text[place:]])
        try:
            args = operation.interpret(text, STATE)
            table = operation.apply(TEAMS, args)
        except StepRejected:
            continue
        kept += 1
        if args != meant:  # another choice that the text states in full
            assert table.header and table.rows, text
            parts = (part if isinstance(part, list) else [part] for part in args.values())
            for value in chain.from_iterable(parts):
                assert value is None or str(value) in text or value in ("number", "text", "date"), text
    assert kept > 100


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("select_row", '{"rows": [1, 9]}', "rows.1"),
        ("select_row", '{"rows": []}', "rows"),
        ("select_row", '{"rows": [1], "why": "x"}', "why"),
        ("select_column", '{"columns": ["Rank", "Goals"]}', "columns.1"),
        ("sort_by", '{"column": "Points"}', "order"),
        ("aggregate", '{"function": "sum", "column": null, "by": "Rank"}', "no column"),
        ("filter_rows", '{"condition": "Goals > 3"}', "begins"),
        ("group_by", '{"column": "Points"', "f_group"),
        ("group_by", '{"column": "Points", "column": "Rank"}', "twice"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_place(name: str, text: str, fault: str) -> None:
    with pytest.raises(StepRejected, match=fault):
        OPERATIONS[name].interpret(text, STATE)


PROMPTS = Path(__file__).resolve().parents[3] / "prompts" / "chain_of_table"
CASE = re.compile(r"^Question: (.+)\nThe existing columns are: (.+)\.\nExplanation: (.+)\n(There.+)$", re.M)
BLOCK = re.compile(r"(?:^Other table : (.+)\n)?^/\*\n(?:table caption : (.+)\n)?((?:.+\n)+?)\*/$", re.M)
# Worked out by hand, in the order of the file: the first column of the table that comes out, and the last.
ANSWERS = {
    FilterRows: ["1|3", "Tarn City|Upper Weir", "Rivers of the North|Småfugler|Bread by Hand"],
    Aggregate: ["Nordhaven AC|Quay Harriers|Hill Road Club", "205", "Tinfoil|Redgate"],
    Join: ["1|2|3", "1041|1042|1043", "Berit Aas|Tomas Lunde|Siri Vang"],
}
LAST: dict[Any, list[str]] = {Join: ["1908|1926|1908", "$4.25|$39.50|$4.25", "4,120|6,340|2,875"]}
LAST[Aggregate] = ["156|55|48", "205", "12|7"]


def table_of(block: re.Match[str]) -> Table:
    header, *rows = split_rows([line.partition(" : ")[2] for line in block[3].splitlines()])
    return Table(header, rows, block[1] or block[2] or "")


@pytest.mark.parametrize("kind", ANSWERS)
def test_demonstrations_come_to_what_was_worked_out_by_hand(kind: type[TableOperation]) -> None:
    text = (PROMPTS / f"{kind.name}.md").read_text("utf-8").partition("{% if title %}")[0]
    operation, made, start = kind(), [], 0
    for case in CASE.finditer(text):
        first, *others = map(table_of, BLOCK.finditer(text, start, case.start()))
        assert case[2] == ", ".join(first.header)
        state = State(input={"question": case[1], "table": first, "tables": tuple(others)})
        args = operation.interpret(f"{case[3]}\n{case[4]}", state)
        made.append(operation.applied(state.input, args).rows)
        start = case.end()
    assert ["|".join(row[0] for row in rows) for rows in made] == ANSWERS[kind]
    assert kind not in LAST or ["|".join(row[-1] for row in rows) for rows in made] == LAST[kind]


OTHER = Table(["key", "more"], [["a", "x"], ["12", "y"], ["12", "z"], ["", "-7"]], "other")
_KINDS = (AddColumn, SelectRow, SelectColumn, GroupBy, SortBy, FilterRows, Aggregate, Join)
KINDS = {kind.name: kind for kind in _KINDS}
NAMES = tuple(KINDS)
REPLIES = {
    "select_row": ["f_row([{rows}])"],
    "select_column": ["f_col([{column}, {other}])"],
    "group_by": ["f_group({column})"],
    "sort_by": [
        'The datatype is Numerical. f_sort({column}), the order is "large to small".',
        'The datatype is String. f_sort({column}), the order is "small to large".',
        "f_sort({column}) in any order",
    ],
    "filter_rows": [f"f_filter_rows({{column}} {sign})" for sign in ("= a", "!= 12", "< -7", "contains 1")],
    "aggregate": [f"f_aggregate({how} of {{column}} by {{other}})" for how in ("sum", "max", "count")],
    "join": ["f_join(other, on {column} = key)", "f_join(another, on {column} = key)"],
}


class Guesses:
    """A model that makes something up for every prompt, always the same for the same one."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.seed = table, seed

    def __call__(self, messages: list[tuple[str, str]]) -> str:
        text = messages[-1][1]
        chance = random.Random(zlib.crc32(f"{self.seed}{text}".encode()))
        kind, _, rest = text.partition("\n")
        if kind == "planner":
            return chance.choice([f"f_{name}(x) -> <END>" for name in NAMES] + ["<END>", "no idea"])
        if kind == "add_column":
            lines = [line.partition(" : ")[2] for line in rest.splitlines() if " : " in line]
            values = " | ".join(line.split(" | ")[0][:2] for line in lines[1:])
            return f"We extract the value from it. f_add_column(new). The value: {values}"
        column = chance.choice([*self.table.header, "Count", "nowhere"])
        other = chance.choice(self.table.header)
        rows = ", ".join(f"row {row}" for row in chance.sample(range(7), chance.randint(0, 4)))
        return chance.choice(REPLIES[kind]).format(column=column, other=other, rows=rows)


def _executor(table: Table, seed: int, folder: Path) -> Executor:
    modules: dict[str, Module] = {name: made() for name, made in KINDS.items()}
    follows = {name: [*NAMES, "end"] for name in ("start", *NAMES)}
    planner = Dynamic(follows, ["last"], max_operations=6)
    for name, owner in [*modules.items(), ("planner", planner)]:
        head = f"---\nslots: [table, 'chain?']\n---\n# user\n{name}\n"
        (folder / f"{name}.md").write_text(head + "{{ table }} {{ chain }}")
        owner.prompt = name
        configure(owner, replace(asking_of(owner), folders=(folder,)))
    modules["last"] = Does(lambda state: state.input["table"])
    return Executor(Inventory("mine", planner, modules), LLM.connect(ScriptedModel(Guesses(table, seed))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompts")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(min_rows=1, min_columns=2), st.integers(0, 10**6), st.floats(0, 1))
def test_a_chain_gives_its_last_table_again(folder: Path, table: Table, seed: int, cut: float) -> None:
    before, given_input = copy.deepcopy(table.to_json()), {"question": "?", "table": table, "tables": [OTHER]}
    events = list(_executor(table, seed, folder).stream(given_input))
    state = State.fold(events)
    assert table.to_json() == before and state.status == "answered"
    again = table
    for link in state.cache.get("chain", ()):
        if "refused" not in link:
            again = KINDS[link["operation"]]().applied({"table": again, "tables": [OTHER]}, link["args"])
    assert again == state.answer
    ran = [record for record in state.executed if isinstance(record.output, dict)]
    refused = [record for record in ran if "refused" in record.output]
    names = [record.step.module for record in refused]
    assert len(names) == len(set(names)), "a refused operation was tried again"
    assert not any(record.input_changes for record in refused)
    first = events[: round(cut * len(events))]
    rest = _executor(table, seed, folder).stream(given_input, first)
    assert end(State.fold([*first, *rest])) == end(state)
