"""Properties of chains: nothing is changed in place, a chain can be applied again, and a run resumed."""

from __future__ import annotations

import copy
import random
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, Module, State, Table
from chameleon.core.llm_module import asking_of, configure
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.aggregate import Aggregate, GroupBy
from chameleon.modules.table_ops.filter_rows import FilterRows
from chameleon.modules.table_ops.join import Join
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy
from chameleon.planners.dynamic import Dynamic
from tests.engine.doubles import Does
from tests.engine.random_runs import end
from tests.table.strategies import tables

OTHER = Table(["key", "more"], [["a", "x"], ["12", "y"], ["12", "z"], ["", "-7"]], "other")
_KINDS = (AddColumn, SelectRow, SelectColumn, GroupBy, SortBy, FilterRows, Aggregate, Join)
OPERATIONS = {kind.name: kind for kind in _KINDS}
NAMES = tuple(OPERATIONS)
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
    modules: dict[str, Module] = {name: made() for name, made in OPERATIONS.items()}
    planner = Dynamic(
        {"start": [*NAMES, "end"], **{name: [*NAMES, "end"] for name in NAMES}}, ["last"], max_operations=6
    )
    for name, owner in [*modules.items(), ("planner", planner)]:
        (folder / f"{name}.md").write_text(
            f"---\nslots: [table, 'chain?']\n---\n# user\n{name}\n{{{{ table }}}} {{{{ chain }}}}"
        )
        owner.prompt = name
        configure(owner, replace(asking_of(owner), folders=(folder,)))
    modules["last"] = Does(lambda state: state.input["table"])
    return Executor(Inventory("mine", planner, modules), LLM.connect(ScriptedModel(Guesses(table, seed))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompts")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(min_rows=1, min_columns=2), st.integers(0, 10**6), st.floats(0, 1))
def test_a_chain_applied_again_gives_the_last_table(
    folder: Path, table: Table, seed: int, cut: float
) -> None:
    before, given_input = copy.deepcopy(table.to_json()), {"question": "?", "table": table, "tables": [OTHER]}
    events = list(_executor(table, seed, folder).stream(given_input))
    state = State.fold(events)
    assert table.to_json() == before
    assert state.ended is not None and state.ended.reason == "answered"
    again = table
    for link in state.cache.get("chain", ()):
        if "refused" not in link:
            again = OPERATIONS[link["operation"]]().applied({"table": again, "tables": [OTHER]}, link["args"])
    assert again == state.answer
    outputs = [(record, record.output) for record in state.executed if isinstance(record.output, dict)]
    refused = [record for record, output in outputs if "refused" in output]
    assert all(not record.input_changes for record in refused)
    names = [record.step.module for record in refused]
    assert len(names) == len(set(names)), "a refused operation was tried again"
    first = events[: round(cut * len(events))]
    rest = _executor(table, seed, folder).stream(given_input, first)
    assert end(State.fold([*first, *rest])) == end(state)
