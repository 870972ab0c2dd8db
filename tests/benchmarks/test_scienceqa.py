"""ScienceQA: its reader, its rules, and what a run's solutions come to by them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, State
from chameleon.benchmarks.scienceqa import Scienceqa
from chameleon.benchmarks.scorers.choices import OptionIndexRule, OptionTextRule
from chameleon.evaluation.benchmark import Problem
from chameleon.values import freeze
from tests.benchmarks.shared_data import Row, needs_data, problems_in, rows, write_files

ROW: Row = {"pid": "7", "question": "Which part of a plant takes up water?", "answer": 0, "hint": ""}
ROW |= {"choices": ["the root", "the leaf", "Root"], "image": None, "grade": "grade3"}
ROW |= {"subject": "natural science", "topic": "biology"}


def problem(**changes: Any) -> Problem:
    return Scienceqa().problem(ROW | changes, {})


def test_gold_and_hints_of_it_stay_out_of_the_input() -> None:
    found = problem(hint="A plant drinks.", lecture="secret", solution="secret")
    assert found.gold == "the root" and found.detail["index"] == 0
    assert "secret" not in repr(found.input) and "answer" not in found.input
    assert found.input["text"] == "A plant drinks."
    about = {"grade": 3, "subject": "natural science", "topic": "biology", "has_image": False}
    assert found.input["metadata"] == about


def test_rules() -> None:
    rule, given = OptionTextRule(), problem()
    for text, right in {
        "So the answer is A.": True,
        "The answer is B.": False,
        "The answer is A. No, the answer is B.": True,  # the first letter counts
        "The answer is Almond.": True,  # oddity: the word need not end there
        "THE ROOT": True,
        "the leaf": False,
        "It is the leaf of it": False,
        "nothing in common": True,  # oddity: the first option
        "The answer is E.": True,  # no such option: the text has nothing in common either
    }.items():
        assert rule.right(rule.from_output(text, given), given) is right, text
    twice = problem(choices=["Root", "leaf", "root"])
    assert rule.right("root", twice) and rule.right("Root", twice)
    assert rule.right(None, given) and not rule.right(None, problem(answer=1)), "none is the first option"
    rule, given = OptionIndexRule(), problem(answer=1)
    texts = [f"The answer is {letter}." for letter in "BA"]
    assert [rule.right(rule.from_output(text, given), given) for text in texts] == [True, False]
    assert rule.right("the leaf", given) and not rule.right("The Leaf", given)
    assert len({OptionIndexRule().from_output("I do not know", given) for _ in range(3)}) == 1, "seeded"


def test_where_pictures_may_lie(tmp_path: Path) -> None:
    """By the problem's id beside the data or in a folder of the release, or where the row says."""
    places = ("image.png", "1/image.png", "2.png", "images/test/3/image.png", "images/museum.png")
    write_files(tmp_path, dict.fromkeys(places, "png"))
    named = dict.fromkeys([*"01234", "../test/3"], "image.png") | {"5": "images/museum.png", "9": "images/\0"}
    named |= {"6": "museum.png", "7": "../data/images/museum.png", "8": str(tmp_path / "images/museum.png")}
    written = {pid: ROW | {"pid": pid, "image": image} for pid, image in named.items()}
    data = write_files(tmp_path, {"problems.json": written}) / "problems.json"
    found = {each.id: each for each in problems_in("scienceqa", data)}
    assert all(each.input.get("image") == (each.picture and str(each.picture)) for each in found.values())
    pictures = {id: str(each.picture.relative_to(tmp_path)) for id, each in found.items() if each.picture}
    # What lies beside the data as image.png is nobody's.
    assert pictures == dict(zip("1235", places[1:], strict=True)) and found.keys() == named.keys()


def _gold(row: Row) -> str:
    return str(row["choices"][row["answer"]])


def _letter(row: Row) -> str:
    return "ABCDE"[row["answer"]]


STATED: dict[str, Callable[[Row], str]] = {
    "text": lambda row: f"The answer is {_gold(row)}.",
    "bold": lambda row: f"So it follows. The answer is **{' '.join(_gold(row).split())}**.",
    "lower case": lambda row: f"the answer is {_gold(row).lower()}.",
    "letter and text": lambda row: f"The answer is {_letter(row)}. {_gold(row)}",
    "corrected": lambda row: f"The answer is Z. No: the answer is ({_letter(row)}).",
    "labeled": lambda row: f"It follows.\n**Answer:** {_letter(row)}",
    "boxed": lambda row: rf"It follows that $\boxed{{\text{{{_letter(row)}}}}}$.",
    "letter on a line": lambda row: f"It follows.\n({_letter(row)})",
    "nowhere stated": lambda row: f"It must be {_gold(row)}.",
}
BESIDE: dict[str, Callable[[Row], str]] = {
    "hint": lambda row: str(row["hint"]) or "It is hard to say.",
    "skill": lambda row: f"the skill is {row['skill'].lower()}",
    "skill as answer": lambda row: f"The answer is the skill {row['skill'].lower()}.",
}


@needs_data
@pytest.mark.parametrize("way", [*STATED, *BESIDE])
def test_what_the_solutions_of_a_run_come_to(way: str) -> None:
    """The gold option is right however it is stated, and no run is scored lower than its solution's text."""
    generator, rule = Inventory.load("scienceqa").modules["answer_generator"], OptionTextRule()
    ours = official = 0
    every_other = rows("scienceqa/problems.jsonl.gz")[::2]
    for row in every_other:
        given, text = Scienceqa().problem(row, {}), (STATED | BESIDE)[way](row)
        state = State(input=freeze({"choices": row["choices"]}), cache=freeze({"solution": text}))
        ours += rule.right(rule.from_answer(generator.run(state), given), given)
        official += rule.right(rule.from_output(text, given), given)
    assert ours == len(every_other) if way in STATED else ours >= official
