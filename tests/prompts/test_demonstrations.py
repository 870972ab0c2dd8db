"""The demonstrations in the prompt files are right, complete, of one form, and nobody's test items."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.prompts.chains import normalised, parts

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDED = (CHECKOUT / ".." / "shared" / "data" / "tabmwp").resolve()

COUNTS = {
    "tabmwp/planner": 16,
    "tabmwp/row_lookup": 7,
    "tabmwp/column_lookup": 6,
    "tabmwp/table_verbalizer": 7,
    "tabmwp/knowledge_retrieval": 5,
    "tabmwp/program_generator": 8,
    "tabmwp/solution_generator": 8,
    "tables/planner": 4,
    "tables/row_lookup": 4,
    "tables/column_lookup": 3,
    "tables/table_verbalizer": 3,
    "tables/knowledge_retrieval": 3,
    "tables/program_generator": 4,
    "tables/solution_generator": 4,
}
# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[Any]] = {
    "tabmwp/program_generator": ["linear", "Mill Pond", "no", "45 minutes", 13.55, 7, -18, "1/3"],
    "tabmwp/solution_generator": ["no", "rigging course", "shortage", "Bakery Conti", "9", "26", "32", "1/3"],
    "tables/program_generator": [15, "Ines Moreau, Lea Santos, Tove Lund", 439.15, "Design"],
    "tables/solution_generator": ["14", "102", "$335", "unknown"],
}
TRIO = ["program_generator", "program_verifier", "program_executor"]
LOOKUPS = ["row_lookup", "column_lookup"]
OTHERS = ["knowledge_retrieval", "table_verbalizer", "solution_generator", "answer_generator"]
MODULES = {*TRIO, *LOOKUPS, *OTHERS}

DEMONSTRATION = re.compile(
    r"(?:^Context:\n(?P<context>(?:.+\n)+)\n)?"
    r"^Question: (?P<question>.+)\n"
    r"(?:Choices: (?P<choices>.+)\n)?(?:Unit: (?P<unit>.+)\n)?(?:Title: (?P<title>.+)\n)?"
    r"<table>\n(?P<table>(?:.+\n)+?)</table>\n(?:Note: (?P<note>.+)\n)?"
    r"(?P<label>\w+):\s(?P<reply>[\s\S]+?)\s*(?=^Context:|^Question:|^\{%|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Demonstration:
    question: str
    choices: list[str]
    title: str
    table: list[list[str]]
    label: str
    reply: str


def demonstrations(name: str) -> list[Demonstration]:
    _, _, user = parts(name)
    text = re.split(r"^Here is the ", user, flags=re.MULTILINE)[0]
    found = []
    for match in DEMONSTRATION.finditer(text):
        part = match.groupdict(default="")
        choices = part["choices"].split(" | ") if part["choices"] else []
        table = [line.split(" | ") for line in part["table"].rstrip("\n").split("\n")]
        found.append(
            Demonstration(part["question"], choices, part["title"], table, part["label"], part["reply"])
        )
    assert len(found) == len(re.findall(r"^Question: ", text, re.MULTILINE)), f"{name}: odd demonstration"
    return found


def named(module: str) -> list[tuple[str, Demonstration]]:
    return [(name, demo) for name in COUNTS if name.endswith(module) for demo in demonstrations(name)]


@pytest.mark.parametrize("name", COUNTS)
def test_every_prompt_declares_its_slots_and_ends_with_the_item(name: str) -> None:
    front, system, user = parts(name)
    assert set(front) <= {"slots", "stop"}
    slots = {slot.rstrip("?") for slot in front["slots"]}
    used = set(re.findall(r"\{\{ (\w+)|\{% if (\w+) %\}|\{% for module in (\w+) %\}", system + user))
    words = {word for groups in used for word in groups if word}
    assert words - {"module"} == slots
    assert "data from strangers" in system and "never follow instructions" in system
    label = demonstrations(name)[0].label
    assert user.endswith(f"\n{label}:\n")
    assert not re.search(r"[ \t]$", user, re.MULTILINE)


@pytest.mark.parametrize("name", COUNTS)
def test_demonstrations_are_as_many_as_stated_and_of_one_form(name: str) -> None:
    shown = demonstrations(name)
    assert len(shown) == COUNTS[name]
    assert len({demo.label for demo in shown}) == 1
    assert len({demo.question for demo in shown}) == len(shown)
    for demo in shown:
        assert len({len(row) for row in demo.table}) == 1, demo.question


@pytest.mark.parametrize("name", ["tabmwp/program_generator", "tabmwp/solution_generator"])
def test_four_demonstrations_have_choices_and_four_have_none(name: str) -> None:
    _, _, user = parts(name)
    first, second = re.search(
        r"\{% if choices %\}\n(.*?)\{% else %\}\n(.*?)\{% endif %\}", user, re.S
    ).groups()  # type: ignore[union-attr]
    assert len(re.findall(r"^Choices:", first, re.M)) == len(re.findall(r"^Question:", first, re.M)) == 4
    assert not re.findall(r"^Choices:", second, re.M)
    assert len(re.findall(r"^Question:", second, re.M)) == 4


@pytest.mark.parametrize("demo", [demo for _, demo in named("/planner")], ids=lambda demo: demo.question[:40])
def test_plans_keep_the_rules(demo: Demonstration) -> None:
    plan = json.loads(demo.reply)
    assert set(plan) <= MODULES and len(set(plan)) == len(plan)
    assert plan[-1] == "answer_generator"
    if set(TRIO) & set(plan):
        assert plan[-4:-1] == TRIO
    else:
        assert plan[-2] == "solution_generator"
    lookups = [name for name in plan if name in LOOKUPS]
    assert plan[: len(lookups)] == lookups


def test_plans_of_tabmwp_are_as_varied_as_the_published_ones() -> None:
    plans = [json.loads(demo.reply) for demo in demonstrations("tabmwp/planner")]
    used = {module: sum(module in plan for plan in plans) for module in MODULES}
    assert used == {
        **dict.fromkeys(TRIO, 11),
        "solution_generator": 5,
        "answer_generator": 16,
        "row_lookup": 5,
        "knowledge_retrieval": 5,
        "table_verbalizer": 2,
        "column_lookup": 2,
    }


@pytest.mark.parametrize("name, demo", named("/row_lookup"))
def test_looked_up_rows_are_rows_of_the_table_in_order(name: str, demo: Demonstration) -> None:
    kept = [line.split(" | ") for line in demo.reply.split("\n")]
    assert kept[0] == demo.table[0]
    assert kept == [row for row in demo.table if row in kept]


@pytest.mark.parametrize("name, demo", named("/column_lookup"))
def test_looked_up_columns_are_columns_of_the_table_in_order(name: str, demo: Demonstration) -> None:
    kept = [line.split(" | ") for line in demo.reply.split("\n")]
    chosen = [index for index, column in enumerate(demo.table[0]) if column in kept[0]]
    assert kept == [[row[index] for index in chosen] for row in demo.table]
    assert chosen[0] == 0


@pytest.mark.parametrize("name, demo", named("/table_verbalizer"))
def test_descriptions_state_every_cell(name: str, demo: Demonstration) -> None:
    if demo.table[0][0] == "Stem":
        numbers = [f"{stem}{leaf}" for stem, leaves in demo.table[1:] for leaf in leaves.split(", ")]
        assert re.findall(r"\d+", demo.reply) == numbers
        return
    for row in demo.table[1:]:
        for cell in filter(None, row):
            assert cell.lower() in demo.reply.lower()


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
def test_programs_run_and_set_the_right_answer(name: str) -> None:
    for demo, answer in zip(demonstrations(name), ANSWERS[name], strict=True):
        match = re.fullmatch(r"```python\n(.+)\n```", demo.reply, re.DOTALL)
        assert match and re.search(r"^ans = ", match[1], re.MULTILINE)
        if "df" in match[1] and importlib.util.find_spec("pandas") is None:
            continue
        assert run(match[1], demo.table) == pytest.approx(answer)
        assert not demo.choices or answer in demo.choices


def run(program: str, table: list[list[str]]) -> Any:
    """The `ans` of a program that finds `table` and `df` as the sandbox provides them."""
    columns = [[number(cell) for cell in column] for column in zip(*table[1:], strict=True)]
    as_written = zip(*table[1:], strict=True)
    mixed = [
        column if None not in column else list(cells)
        for column, cells in zip(columns, as_written, strict=True)
    ]
    value = {"columns": table[0], "rows": [list(row) for row in zip(*mixed, strict=True)]}
    before = f"table = {value!r}\n"
    if "df" in program:
        before += "import pandas\ndf = pandas.DataFrame(table['rows'], columns=table['columns'])\n"
    source = f"{before}{program}\nimport json\nprint(json.dumps(ans))\n"
    done = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def number(cell: str) -> float | None:
    return float(cell.strip("$").replace(",", "")) if re.fullmatch(r"\$?[\d,]+(\.\d+)?", cell) else None


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("solution_generator")])
def test_solutions_calculate_rightly_and_end_with_the_answer(name: str) -> None:
    for demo, answer in zip(demonstrations(name), ANSWERS[name], strict=True):
        assert demo.reply.endswith(f" The answer is {answer}.")
        assert demo.reply.count("The answer is") == 1
        assert not demo.choices or answer in demo.choices
        for equation in re.findall(r"[\d,]+(?: [-+×] [\d,]+)+(?: = [\d,]+(?: [-+×] [\d,]+)*)+", demo.reply):
            assert len({calculated(side) for side in equation.split(" = ")}) == 1, equation


def calculated(expression: str) -> Fraction:
    total = Fraction(0)
    for term in re.split(r" (?=[-+] )", f"+ {expression.replace(',', '')}"):
        product = Fraction(1)
        for factor in term[2:].split(" × "):
            product *= Fraction(factor)
        total += product if term[0] == "+" else -product
    return total


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the benchmark's files are not here")
def test_no_demonstration_is_an_item_of_the_benchmark() -> None:
    questions, tables = set(), set()
    for path in RECORDED.glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for item in map(json.loads, lines):
                questions.add(normalised(str(item.get("question") or "")))
                tables.add(normalised(str(item.get("table") or "")))
    assert len(questions) > 1000 and len(tables) > 1000
    for name in COUNTS:
        for demo in demonstrations(name):
            assert normalised(demo.question) not in questions, demo.question
            assert normalised(" ".join(cell for row in demo.table for cell in row)) not in tables, demo.table
