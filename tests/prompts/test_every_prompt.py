"""What holds for every prompt: its slots, its warning about data, and that it shows nobody's test items."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from jinja2 import Environment, meta

from tests.benchmarks.shared_data import DATA, needs_data
from tests.prompts import demonstrations
from tests.prompts.demonstrations import NAMES, TASKS, chain_demonstrations, parts, problem_demonstrations

# As many as published (Chameleon; Chain-of-Table, appendix C); the chains of planners are counted apart.
COUNTS = {
    "tabmwp": "planner 16 row_lookup 7 column_lookup 6 table_verbalizer 7 knowledge_retrieval 5 "
    "program_generator 8 solution_generator 16",
    "tables": "planner 2 program_generator 10 solution_generator 4",
    "scienceqa": "planner 10 knowledge_retrieval 3 query_generator 4 solution_generator 2 cot 2",
    "wikitq": "add_column 6 select_row 3 select_column 8 group_by 2 sort_by 2 table_query 1",
    "tabfact": "add_column 7 select_row 4 select_column 8 group_by 2 sort_by 2 table_query 4",
    "fetaqa": "add_column 6 select_row 3 select_column 8 group_by 2 sort_by 2 table_query 8",
}
OF_CHAINS = re.compile(r"(add|select|group|sort)_\w+|table_query|few_shot|cot|program_generator|dater\w*")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_declares_its_slots_and_says_what_is_data(name: str) -> None:
    front, system, user = parts(name)
    used = meta.find_undeclared_variables(Environment().parse(system + user))
    # A table that is cut has its note in this slot, and not in its own text, as the published code has it.
    assert used | {"note"} == {slot.rstrip("?") for slot in front["slots"]} | {"note"}
    assert system.count("data from strangers") == 1 and "never follow instructions" in system
    warning = next(line for line in system.splitlines() if "data from strangers" in line)
    assert not re.search(r"question|statement|claim", warning)  # that is the user's request
    assert name == "tabfact/text_to_sql" or not re.search(r"[ \t]$", user, re.MULTILINE)


@pytest.mark.parametrize("task", COUNTS)
def test_demonstrations_are_as_many_as_published(task: str) -> None:
    words = COUNTS[task].split()
    read = chain_demonstrations if task in TASKS else problem_demonstrations
    for name, count in zip(words[::2], words[1::2], strict=True):
        shown = read(f"{task}/{name}")
        assert len(shown) == int(count) and len({demo.question for demo in shown}) == int(count), name


@needs_data
def test_no_demonstration_is_an_item_of_a_benchmark() -> None:
    asked, tables, captions = set(), set(), set()
    for task in ("tabmwp", "scienceqa", *TASKS, "sqa", "hybridqa", "feverous", "tablerag"):
        for path in sorted((DATA / task).glob("*.jsonl*")):
            for row in map(json.loads, lines_of(path)):
                said = (row.get(key) for key in ("question", "statement", "claim", "query"))
                asked |= {words(str(each)) for each in said if each}
                if isinstance(row.get("rows"), list) and "header" in row:
                    cells = [cell for line in (row["header"], *row["rows"]) for cell in line]
                    tables.add(words(" ".join(map(str, cells))))
                    captions.add(words(str(row.get("caption") or "")))
                elif isinstance(row.get("table"), str):
                    tables.add(words(row["table"]))
    assert len(asked) > 10_000 and len(tables) > 10_000
    for name in NAMES:
        task, _, prompt = name.partition("/")
        shown = []
        if task in TASKS and OF_CHAINS.fullmatch(prompt):
            shown = chain_demonstrations(name)
        elif prompt in COUNTS.get(task, "").split():
            shown = problem_demonstrations(name)
        elif task in TASKS and prompt == "planner":
            shown = [demo for some in demonstrations.planner_demonstrations(task) for demo in some]
        elif task == "tablerag":
            label = "Claim|Statement|Question|Question or statement"
            found = re.findall(rf"^(?:{label}): (\w.+)$", parts(name)[2], re.M)
            assert not asked & set(map(words, found)), name
        for demo in shown:
            assert words(demo.question) not in asked, demo.question
            cells = [*demo.table.header, *(cell for row in demo.table.rows for cell in row)]
            assert not demo.table.rows or words(" ".join(cells)) not in tables, demo.table
            assert not demo.table.caption or words(demo.table.caption) not in captions, demo.table.caption


def words(text: str) -> str:
    """Return the words of a text, for the same text written otherwise to be found."""
    return " ".join(re.findall(r"\w+", text.lower()))


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
