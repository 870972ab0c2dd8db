"""The demonstrations for TabMWP, tables in general and ScienceQA are right and of one form."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pytest

from chameleon import Inventory
from chameleon.modules.program.programs import program_in, run_code
from tests.prompts.demonstrations import Demonstration, problem_demonstrations

# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[Any]] = {
    "tabmwp/program_generator": ["linear", "Mill Pond", "no", "45 minutes", 13.55, 7, -18, "1/3"],
    "tabmwp/solution_generator": [
        *("no", "9", "rigging course", "26", "shortage", "32", "Bakery Conti", "1/3"),
        *("yes", "22", "55 minutes", "5", "nonlinear", "13.50", "summer", "6"),
    ],
    "tables/program_generator": [
        *("no", "Mill Pond", "45 minutes", 8.05, 15, "1/3", 7, 439.15, "Atelier Roos", 2)
    ],
    "tables/solution_generator": ["14", "102", "$335", "unknown"],
    "scienceqa/solution_generator": ["C", "B"],
    "scienceqa/cot": ["B", "A"],
}
NUMBER = r"\d[\d,]*(?:\.\d+)?"
EQUATION = re.compile(rf"{NUMBER}(?: [-+×÷] {NUMBER})+(?: = {NUMBER}(?: [-+×÷] {NUMBER})*)+")
TRIO = ["program_generator", "program_verifier", "program_executor"]
LOOKUPS = ["row_lookup", "column_lookup"]
OTHERS = ["knowledge_retrieval", "table_verbalizer", "solution_generator", "answer_generator"]
MODULES = {*TRIO, *LOOKUPS, *OTHERS}


def rows_of(demo: Demonstration) -> list[list[str]]:
    return [list(demo.table.header), *map(list, demo.table.rows)]


def test_plans_keep_the_rules_and_are_as_varied_as_the_published_ones() -> None:
    plans = [json.loads(demo.reply) for demo in problem_demonstrations("tabmwp/planner")]
    for plan in plans:
        assert set(plan) <= MODULES and len(set(plan)) == len(plan) and plan[-1] == "answer_generator"
        assert plan[-4:-1] == TRIO if set(TRIO) & set(plan) else plan[-2] == "solution_generator"
        lookups = [name for name in plan if name in LOOKUPS]
        assert plan[: len(lookups)] == lookups
    assert {module: sum(module in plan for plan in plans) for module in MODULES} == {
        **dict.fromkeys(TRIO, 11),
        **dict.fromkeys(["solution_generator", "row_lookup", "knowledge_retrieval"], 5),
        **dict.fromkeys(["table_verbalizer", "column_lookup"], 2),
        "answer_generator": 16,
    }
    ways = [json.loads(demo.reply) for demo in problem_demonstrations("tables/planner")]
    assert ways == [[way, "answer_generator"] for way in ("program_generator", "solution_generator")]


def test_plans_for_science_keep_the_rules_of_the_inventory() -> None:
    inventory, used = Inventory.load("scienceqa"), set()
    for demo in problem_demonstrations("scienceqa/planner"):
        plan = json.loads(demo.reply)
        assert plan[-2:] == ["solution_generator", "answer_generator"] and set(plan) <= set(inventory.modules)
        assert ("bing_search" in plan) == ("query_generator" in plan)
        if not demo.about.endswith(", picture"):
            assert not {"image_captioner", "text_detector"} & set(plan), demo.question
        used |= set(plan)
    assert used == set(inventory.modules)


def test_looked_up_parts_are_parts_of_the_table_in_order() -> None:
    for demo in problem_demonstrations("tabmwp/row_lookup"):
        kept = [line.split(" | ") for line in demo.reply.split("\n")]
        assert kept[0] == rows_of(demo)[0] and kept == [row for row in rows_of(demo) if row in kept]
    for demo in problem_demonstrations("tabmwp/column_lookup"):
        kept = [line.split(" | ") for line in demo.reply.split("\n")]
        chosen = [index for index, column in enumerate(demo.table.header) if column in kept[0]]
        assert chosen[0] == 0 and kept == [[row[index] for index in chosen] for row in rows_of(demo)]


def test_descriptions_state_every_cell() -> None:
    for demo in problem_demonstrations("tabmwp/table_verbalizer"):
        if demo.table.header[0] == "Stem":
            leaves = [f"{stem}{leaf}" for stem, each in demo.table.rows for leaf in each.split(", ")]
            assert re.findall(r"\d+", demo.reply) == leaves
        else:
            cells = [cell.lower() for row in demo.table.rows for cell in row]
            assert all(cell in demo.reply.lower() for cell in cells), demo.question


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
@pytest.mark.parametrize("pandas", [True, False])
def test_programs_run_and_set_the_right_answer(name: str, pandas: bool) -> None:
    for demo, answer in zip(problem_demonstrations(name, pandas=pandas), ANSWERS[name], strict=True):
        program = program_in(demo.reply)
        assert demo.reply == f"```python\n{program}\n```" and re.search(r"^ans = ", str(program), re.M)
        result = run_code(program, demo.table, 30)
        if result.error_type != "ModuleNotFoundError":  # pandas need not be here
            assert result.value == pytest.approx(answer) and (not demo.choices or answer in demo.choices)


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith("program_generator")])
def test_solutions_calculate_rightly_and_end_with_the_answer(name: str) -> None:
    for demo, answer in zip(problem_demonstrations(name), ANSWERS[name], strict=True):
        assert demo.reply.endswith(f" The answer is {answer}.") and demo.reply.count("The answer is") == 1
        assert not demo.choices or answer in (*demo.choices, *"ABCDE"[: len(demo.choices)])
        for equation in EQUATION.findall(demo.reply):
            assert len({calculated(side) for side in equation.split(" = ")}) == 1, equation


def calculated(expression: str) -> Fraction:
    total = Fraction(0)
    for term in re.split(r" (?=[-+] )", f"+ {expression.replace(',', '').replace(' ÷ ', ' × 1/')}"):
        product = Fraction(1)
        for factor in term[2:].split(" × "):
            product *= Fraction(factor)
        total += product if term[0] == "+" else -product
    return total
