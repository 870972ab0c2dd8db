"""ScienceQA: its reader, its rules, and the figures measured with the original scorer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon.benchmarks.scienceqa import Scienceqa
from chameleon.benchmarks.scorers.options import OptionIndexRule, OptionNumberRule, OptionTextRule
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems
from chameleon.evaluation.results import Result, Tally
from tests.benchmarks.shared_data import Row, anchors, needs_data, rows

ROW: Row = {
    "pid": "7",
    "question": "Which part of a plant takes up water?",
    "choices": ["the root", "the leaf", "Root"],
    "answer": 0,
    "hint": "",
    "image": None,
    "grade": "grade3",
    "subject": "natural science",
    "topic": "biology",
}


def problem(**changes: Any) -> Problem:
    return Scienceqa().problem(ROW | changes, {})


class TestReader:
    def test_gold_and_hints_of_it_stay_out_of_the_input(self) -> None:
        found = problem(hint="A plant drinks.", lecture="secret", solution="secret")
        assert found.gold == "the root" and found.detail["index"] == 0
        assert "secret" not in repr(found.input) and "answer" not in found.input
        assert found.input["text"] == "A plant drinks."
        assert found.input["metadata"] == {
            "grade": 3,
            "subject": "natural science",
            "topic": "biology",
            "has_image": False,
        }

    @pytest.mark.parametrize(
        ("changes", "columns"),
        [
            ({}, {"NAT", "NO", "G1-6"}),
            ({"hint": "x"}, {"NAT", "TXT", "G1-6"}),
            ({"image": "image.png", "grade": "grade12"}, {"NAT", "IMG", "G7-12"}),
            ({"image": "i.png", "hint": "x", "subject": "social science"}, {"SOC", "IMG", "TXT", "G1-6"}),
            ({"grade": "grade1", "subject": "language science"}, {"LAN", "NO", "G1-6"}),
            ({"grade": "kindergarten", "subject": "art"}, {"NO"}),
        ],
    )
    def test_columns(self, changes: Row, columns: set[str]) -> None:
        assert set(problem(**changes).columns) == columns

    def test_recognises_its_rows_alone(self) -> None:
        assert Scienceqa().recognises(ROW)
        assert not Scienceqa().recognises({"pid": "1", "question": "?", "choices": None, "answer": "x"})


class TestTextRule:
    rule = OptionTextRule()

    @pytest.mark.parametrize(
        ("text", "right"),
        [
            ("So the answer is A.", True),
            ("The answer is B.", False),
            ("The answer is A. No, the answer is B.", True),  # the first letter counts
            ("The answer is Almond.", True),  # oddity: the word need not end there
            ("THE ROOT", True),
            ("the leaf", False),
            ("It is the leaf of it", False),
            ("nothing in common", True),  # oddity: the first option
            ("The answer is E.", True),  # no such option: the text has nothing in common either
        ],
    )
    def test_of_a_text(self, text: str, right: bool) -> None:
        given = problem()
        assert self.rule.right(self.rule.from_output(text, given), given) is right

    def test_options_that_differ_in_case_alone_are_both_right(self) -> None:
        given = problem(choices=["Root", "leaf", "root"], answer=0)
        assert self.rule.right("root", given) and self.rule.right("Root", given)

    def test_none_is_the_first_option(self) -> None:
        assert self.rule.right(None, problem())
        assert not self.rule.right(None, problem(answer=1))


def test_index_rule() -> None:
    rule, given = OptionIndexRule(), problem(answer=1)
    assert rule.right(rule.from_output("The answer is B.", given), given)
    assert not rule.right(rule.from_output("The answer is A.", given), given)
    assert rule.right("the leaf", given) and not rule.right("The Leaf", given)
    drawn = [OptionIndexRule().from_output("I do not know", given) for _ in range(3)]
    assert len(set(drawn)) == 1  # seeded


def test_number_rule() -> None:
    rule, given = OptionNumberRule(), problem(answer=1)
    assert rule.right(rule.from_output("Option 1, then 2", given), given)
    assert not rule.right(rule.from_output("none", given), given)


EARLY = {f"grade{n}" for n in range(2, 7)}
_SOLUTIONS: dict[str, Callable[[Row], str | None]] = {
    "null_prediction": lambda row: None,
    "gold_letter": lambda row: f"So the answer is {'ABCDE'[row['answer']]}.",
    "gold_text": lambda row: str(row["choices"][row["answer"]]).lower(),
    "hint_as_solution": lambda row: str(row["hint"]),
    "skill_as_solution": lambda row: f"the skill is {row['skill'].lower()}",
}


@needs_data
@pytest.mark.parametrize("name", _SOLUTIONS)
def test_measured_figures(name: str) -> None:
    prefix = f"scienceqa.{name}."
    expected = {
        each.removeprefix(prefix): count for each, count in anchors().items() if each.startswith(prefix)
    }
    benchmark, rule = Scienceqa(), OptionTextRule()
    tally = Tally(benchmark.columns)
    letters = without_grade_one = 0
    for row in rows("scienceqa/problems.jsonl.gz"):
        given, text = benchmark.problem(row, {}), _SOLUTIONS[name](row)
        prediction = None if text is None else rule.from_output(text, given)
        letters += prediction is not None and prediction in given.detail["choices"] and prediction != text
        right = rule.right(prediction, given)
        tally.add(Result(given.id, prediction, False, right, columns=given.columns))
        without_grade_one += right and row["grade"] in EARLY
    found = {name: (count.correct, count.n) for name, count in tally.columns.items()}
    found |= {"ALL": (tally.all.correct, tally.all.n), "letter_pattern": (letters, 1412)}
    found["G2-6"] = (
        without_grade_one,
        sum(row["grade"] in EARLY for row in rows("scienceqa/problems.jsonl.gz")),
    )
    assert found == expected


def test_a_picture_beside_the_data_is_given_to_the_run(tmp_path: Path) -> None:
    file = tmp_path / "images/test/7/image.png"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\x89PNG")
    written = [ROW | {"image": "image.png"}, ROW | {"pid": "8"}, ROW | {"pid": "../test/7"}]
    data = tmp_path / "problems.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in written))
    found = list(read_problems(Scienceqa(), DataFile(data, "pid")))
    assert [problem.input.get("image") for problem in found] == [str(file.resolve()), None, None]
    assert found[0].picture == file.resolve()


def test_where_pictures_may_lie(tmp_path: Path) -> None:
    """By the problem's id beside the data or in a folder of the release, or where the row says."""
    for place in ("image.png", "1/image.png", "2.png", "images/test/3/image.png", "images/museum.png"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(b"png")
    named = dict.fromkeys("01234", "image.png") | {
        "5": "images/museum.png",
        "6": "museum.png",
        "7": "../data/images/museum.png",
        "8": str(tmp_path / "images/museum.png"),
        "9": "images/\0",
    }
    data = tmp_path / "problems.json"
    data.write_text(json.dumps({pid: ROW | {"pid": pid, "image": image} for pid, image in named.items()}))
    found = {
        each.id: each.picture.relative_to(tmp_path).as_posix() if each.picture else None
        for each in read_problems(Scienceqa(), DataFile(data, "pid"))
    }
    assert found == {
        "0": None,  # what lies beside the data as image.png is nobody's
        "1": "1/image.png",
        "2": "2.png",
        "3": "images/test/3/image.png",
        "4": None,
        "5": "images/museum.png",
        **dict.fromkeys("6789"),
    }
