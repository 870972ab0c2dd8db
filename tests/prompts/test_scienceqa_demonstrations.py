"""ScienceQA's demonstrations are as many as published, keep the rules, and are nobody's test items."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from chameleon import Inventory

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDED = (CHECKOUT / "../shared/data/scienceqa/problems.jsonl.gz").resolve()
COUNTS = {"planner": 10, "knowledge_retrieval": 3, "query_generator": 2, "solution_generator": 2, "cot": 2}
ANSWERS = {"solution_generator": "CB", "cot": "BA"}

_DEMONSTRATION = re.compile(
    r"^Question: (?P<question>.+)\n(?:<passage>\n(?P<passage>(?:.+\n)+?)</passage>\n)?"
    r"Options: (?P<options>.+)\n(?:About: (?P<about>.+)\n)?(?P<label>\w+): (?P<reply>.+)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Demonstration:
    question: str
    options: list[str]
    about: str
    reply: str


def demonstrations(name: str) -> list[Demonstration]:
    text = (CHECKOUT / f"prompts/scienceqa/{name}.md").read_text("utf-8").split("Now this one.")[0]
    return [
        Demonstration(
            found["question"],
            [option.strip() for option in re.split(r"\([A-E]\) ", found["options"])[1:]],
            found["about"] or "",
            found["reply"],
        )
        for found in _DEMONSTRATION.finditer(text)
    ]


@pytest.mark.parametrize("name", COUNTS)
def test_are_as_many_as_published_and_have_options(name: str) -> None:
    shown = demonstrations(name)
    assert len(shown) == COUNTS[name]
    assert len({demo.question for demo in shown}) == len(shown)
    assert all(2 <= len(demo.options) <= 5 for demo in shown)


def test_plans_keep_the_rules_of_the_inventory() -> None:
    inventory = Inventory.load("scienceqa")
    used: set[str] = set()
    for demo in demonstrations("planner"):
        plan = json.loads(demo.reply)
        assert plan[-2:] == ["solution_generator", "answer_generator"] and set(plan) <= set(inventory.modules)
        assert ("bing_search" in plan) == ("query_generator" in plan)
        if not demo.about.endswith(", picture"):
            assert not {"image_captioner", "text_detector"} & set(plan), demo.question
        used |= set(plan)
    assert used == set(inventory.modules)


@pytest.mark.parametrize("name", ANSWERS)
def test_solutions_end_with_the_letter_of_an_option(name: str) -> None:
    letters = [re.findall(r"The answer is ([A-E])\.$", demo.reply) for demo in demonstrations(name)]
    assert letters == [[letter] for letter in ANSWERS[name]]


def test_are_nobodys_test_items() -> None:
    if not RECORDED.is_file():
        pytest.skip("the ScienceQA data are not here")
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = {" ".join(json.loads(line)["question"].lower().split()) for line in lines}
    for name in COUNTS:
        for demo in demonstrations(name):
            assert demo.question.lower() not in recorded, demo.question
