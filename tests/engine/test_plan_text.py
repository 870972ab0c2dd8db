"""Plans and arguments as models mangle them: executed as meant or refused, never with a step lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from chameleon import State, StepRejected, Table
from chameleon.errors import PlanError
from chameleon.inventory import Inventory
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.plan_text import parse_plan

NAMES = ("row_lookup", "column_lookup", "solution_generator", "program_generator", "answer_generator")
TABLE = Table(["Rank", "Team (a, b)", "Points"], [["1", "Red", "9"], ["2", "Blue", "7"], ["3", "Ash", "7"]])
Random = random.Random


def called(plan: list[str], chance: Random) -> list[Any]:
    """The steps as objects, in the spellings of APIs, with notes beside them."""
    forms: list[Callable[[str], Any]] = [
        lambda name: {"module": name},
        lambda name: {"name": name, "arguments": {}},
        lambda name: {"type": "function", "function": {"name": name, "arguments": "{}"}},
        lambda name: {"step": 1, "tool": name, "reason": "it [really] helps, see {that}"},
        lambda name: name,
    ]
    return [chance.choice(forms)(name) for name in plan]


RENDERED: dict[str, Callable[[list[str], Random], str]] = {
    "JSON": lambda plan, chance: json.dumps(called(plan, chance), indent=chance.choice([None, 2])),
    "nested": lambda plan, chance: json.dumps([plan[:1], [plan[1:]]]),
    "structured": lambda plan, chance: json.dumps({"modules": plan}),
    "steps": lambda plan, chance: json.dumps({"thought": "[why]", "steps": called(plan, chance)}),
    "Python": lambda plan, chance: repr(plan),
    "bare": lambda plan, chance: f"[{', '.join(plan)}]",
    "arrows": lambda plan, chance: " -> ".join(plan),
    "numbered": lambda plan, chance: "\n".join(f"{n}. {name}: helps" for n, name in enumerate(plan, 1)),
    "labelled": lambda plan, chance: f"Plan: {', '.join(plan)}",
}


def mangled(text: str, chance: Random) -> str:
    """What models and networks do to a reply."""
    cut = chance.randrange(len(text) + 1)
    return chance.choice(
        [
            lambda: text,
            lambda: f"Let me think [about it].\n{text}",
            lambda: f"{text}\n(Note: [answer_generator] comes last.)",
            lambda: f"{text}\nNo [row_lookup] is needed here.",
            lambda: f"```json\n{text}\n```",
            lambda: text.replace('"', "'"),
            lambda: text.replace("]", ",]", 1),
            lambda: text[:cut],
            lambda: text[cut:],
            lambda: text[:cut] + chance.choice("[]{}(),:\"'\n-") + text[cut:],
            lambda: text.replace("_", chance.choice([" ", "-", "_"])),
            lambda: text.replace('"name"', '"module"').replace("{}", '{"rows": [1, 2]}'),
        ]
    )()


@pytest.mark.parametrize("form", RENDERED)
def test_a_mangled_plan_is_read_as_meant_or_refused(form: str) -> None:
    chance, kept, refused = Random(form), 0, 0
    for _ in range(800):
        plan = chance.sample(NAMES, chance.randint(2, 4))
        text = mangled(RENDERED[form](plan, chance), chance)
        try:
            read = [step.module for step in parse_plan(text, NAMES)]
        except PlanError:
            refused += 1
            continue
        kept += 1
        whole = all(any(as_written in text for as_written in spelt(name)) for name in plan)
        assert read == plan or not whole, (plan, text)
    assert kept > 300 and refused > 20


A, B, C, D, _ = NAMES


@pytest.mark.parametrize(
    "text",
    [
        f'{{"module": "{A}"}}\n{{"module": "{B}"}}\n{{"module": "{C}"}}',
        "\n".join(
            f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>' for name in (A, B, C)
        ),
        f"[{A}(), {B}(), {C}()]",
        f"[“{A}”, “{B}”, “{C}”]",
        f'{{"3": "{C}", "1": "{A}", "2": "{B}"}}',
        f"**Plan:**\n1. **{A}**: keep rows\n2. **{B}**: keep columns\n3. **{C}**: answer",
        f'{{"reasoning": "{D} is not needed", "modules": ["{A}", "{B}", "{C}"]}}',
        f'["{A}", "{B}", "{C}"]\n\nI left out {D}, since nothing is computed.',
        f'The question is short, so no {D}.\n```json\n["{A}", "{B}", "{C}"]\n```\nThat is all.',
        f"We need {A} first and {C} last.\nModules: {A}, {B}, {C}",
    ],
)
def test_what_models_of_today_write_is_read(text: str) -> None:
    assert [step.module for step in parse_plan(text, NAMES)] == [A, B, C]


@pytest.mark.parametrize(
    "text",
    [
        f'["{A}"]\n["{B}"]',
        f'["{A}", "{B}"] -> ["{C}"]',
        f'["{A}", "{B}"] -> {C}',
        f'["{A}", "{B}"]\nthen {C}',
        f'["{A}", "{B}"]\nNot needed: ["{C}"]',
        f'{{"module": "{A}", "next": {{"module": "{B}"}}}}',
        f'{{"module": "{A}", "then": "{B}"}}',
        f'{{"module": "{A}", "modules": ["{B}"]}}',
        f'{{"tool": "{A}", "substeps": ["{B}"]}}',
        f'[{{"module": "{A}", "arguments": {{"rows": [1, 2]}}}}]',
        f'{{"module": "{A}", "module": "{B}"}}',
        f"1. {A}, {B}\n2. {C}",
        f"1. {A} ({B})",
        f"1. {A}: then {B}",
        f"- {A} - {B}",
        f"1) {A}\na) {B}\n2) {C}",
        f"1. {A}\n2. {B}\nFinally, run the {C}.",
        f"2. {A}\n3. {B}",
        f"### Step 1: {A}\nIt keeps rows.\n### Step 2: {B}",
        f"{A}\n↓\n{B}",
        f"{A} -> {B}\n\n{C} -> {D}",
        f"Plan: {A} -> {B}\nFinal step: {C}",
    ],
)
def test_a_text_of_which_a_step_might_be_lost_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_plan(text, NAMES)


def spelt(name: str) -> list[str]:
    return [name, name.replace("_", " "), name.replace("_", "-")]


ARGUMENTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "select_row": [("f_row([row 1, row 3])", {"rows": [1, 3]})],
    "select_column": [("f_col([Rank, Team (a, b)])", {"columns": ["Rank", "Team (a, b)"]})],
    "group_by": [("f_group(Points)", {"column": "Points"})],
    "sort_by": [
        (
            'f_sort(Points), the order is "large to small"',
            {"column": "Points", "order": "large to small", "datatype": "number"},
        )
    ],
    "filter_rows": [("f_filter_rows(Points > 7 and Rank < 3)", {"condition": "Points > 7 and Rank < 3"})],
    "aggregate": [("f_aggregate(sum of Points)", {"function": "sum", "column": "Points", "by": None})],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_mangled_arguments_are_taken_as_meant_or_refused(name: str) -> None:
    operation = Inventory.load("chain_of_table_extended").modules[name]
    assert isinstance(operation, TableOperation) and operation.structured == "auto"
    state, chance = State({"question": "Which?", "table": TABLE}), Random(name)
    schema = operation.schema(state)
    assert schema is not None and schema["additionalProperties"] is False
    kept = 0
    for _ in range(500):
        said, meant = chance.choice(ARGUMENTS[name])
        text = chance.choice([said, *(f"{json.dumps(meant, indent=n)}" for n in (None, 2))])
        text = chance.choice([text, f"Here it is:\n```json\n{text}\n```"])
        place = chance.randrange(len(text))
        text = chance.choice([text, text[:place], text[:place] + chance.choice("[]{},\"'9") + text[place:]])
        try:
            args = operation.interpret(text, state)
            table = operation.apply(TABLE, args)
        except StepRejected:
            continue
        kept += 1
        if args == meant:
            continue
        assert table.header and table.rows, text  # another choice that the text states in full
        for value in (
            each for part in args.values() for each in (part if isinstance(part, list) else [part])
        ):
            assert value is None or str(value) in text or value in ("number", "text", "date"), (text, args)
    assert kept > 100


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("select_row", '{"rows": [1, 9]}', "rows.1"),
        ("select_row", '{"rows": []}', "rows"),
        ("select_row", '{"rows": [1], "why": "x"}', "why"),
        ("select_column", '{"columns": ["Rank", "Goals"]}', "columns.1"),
        ("sort_by", '{"column": "Points"}', "order"),
        ("group_by", '{"column": 3}', "column"),
        ("aggregate", '{"function": "sum", "column": null, "by": "Rank"}', "no column to take the sum of"),
        ("filter_rows", '{"condition": "Goals > 3"}', "no comparison of a column begins"),
        ("group_by", '{"column": "Points"', "names no f_group"),
        ("group_by", '{"column": "Points", "column": "Rank"}', "stands twice"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_place(name: str, text: str, fault: str) -> None:
    operation = Inventory.load("chain_of_table_extended").modules[name]
    assert isinstance(operation, TableOperation)
    with pytest.raises(StepRejected, match=fault):
        operation.interpret(text, State({"question": "Which?", "table": TABLE}))
