"""SARA: reading cases, rows and case files alike, and scoring labels and amounts with the rules' oddities."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.benchmarks.sara import Sara, case_in
from chameleon.benchmarks.scorers.sara_rule import (
    LABELS,
    GptStatutesRule,
    HingeRule,
    LegalbenchRule,
    StatutoryRule,
    dollars,
)
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems
from tests.benchmarks.doubles import problems_in, write_files
from tests.benchmarks.shared_data import DATA, needs_data
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows

SARA = Sara()
OFFICIAL, HINGE, LEGALBENCH, GPT = StatutoryRule(), HingeRule(), LegalbenchRule(), GptStatutesRule()
ROW: dict[str, Any] = {
    "id": "s12_b_pos",
    "kind": "entailment",
    "text": "The Lark has a licence.",
    "question": "The Lark owes the fee under section 152(b).",
    "answer": "Entailment",
    "section_mentioned": "152(b)",
}
AMOUNT = {**ROW, "id": "tax_case_1", "kind": "numeric", "answer": "$40000"}
AMOUNT |= {"question": "How much does Ann owe?"}
CASE = """\
% Text
% The Lark has a licence.
% It sails in winter.

% Question
% Section 152(b) applies to the Lark. Contradiction

% Facts
:- discontiguous lark/1.
% Test
:- lark(x).
"""


def problem(answer: str = "Entailment") -> Problem:
    return SARA.problem({**ROW, "answer": answer}, {})


def test_a_row() -> None:
    read = SARA.problem({**ROW, "statutes": "/law"}, {})
    assert (read.id, read.gold, read.columns) == ("s12_b_pos", "Entailment", ("entailment", "§152"))
    assert read.input == {"question": ROW["question"], "text": ROW["text"], "statutes": Path("/law")}
    assert read.detail == {"kind": "entailment", "section": "152(b)"}
    assert SARA.problem(AMOUNT, {}).columns == ("numeric",)


def test_statutes_lie_beside_the_rows(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "cases.jsonl", [ROW, AMOUNT])
    assert all("statutes" not in each.input for each in problems_in("sara", data))
    statutes = write_files(tmp_path, {"statutes.json": {}}) / "statutes.json"
    assert [each.input["statutes"] for each in problems_in("sara", data)] == [statutes] * 2


def test_the_release(tmp_path: Path) -> None:
    (tmp_path / "statutes/source").mkdir(parents=True)
    files = {"cases/s152_b_neg.pl": CASE, "splits/train": "s152_b_neg\n", "splits/bad": "s9_neg\n"}
    write_files(tmp_path, files)
    for path in ("cases/s152_b_neg.pl", "splits/train"):
        (read,) = read_problems(SARA, DataFile(tmp_path / path))
        assert (read.id, read.gold, read.columns) == ("s152_b_neg", "Contradiction", ("entailment", "§152"))
        assert read.input["text"] == "The Lark has a licence. It sails in winter."
        assert read.input["question"] == "Section 152(b) applies to the Lark."
        assert read.input["statutes"] == tmp_path / "statutes/source"
    with pytest.raises(InputError, match="cannot be read"):
        list(read_problems(SARA, DataFile(tmp_path / "splits/bad")))
    with pytest.raises(InputError, match="a case needs"):
        case_in("% Text\n% Only facts.\n", "bad")
    assert case_in(CASE.replace("Contradiction", "$12"), "x")["kind"] == "numeric"


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("Entailment", ["Entailment", "entailed.", "yes", True]),
        ("Contradiction", ["**CONTRADICTION**", "not entailed", "no", 0]),
        (None, ["perhaps", None, 7]),
    ],
)
def test_labels(label: str | None, values: list[Any]) -> None:
    for value in values:
        assert [OFFICIAL.right(value, problem(each)) for each in LABELS] == [each == label for each in LABELS]


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("$1,234.50", 1234.5),
        ("1234 dollars.", 1234.0),
        ("-$3", -3.0),
        ("$.5", 0.5),
        (True, None),
        ("about $3", None),
        ("", None),
        (float("nan"), None),
        (10**400, None),
        ("9" * 400, None),
    ],
)
def test_dollars(value: Any, amount: float | None) -> None:
    assert dollars(value) == amount


class TestAmounts:
    GOLD = SARA.problem(AMOUNT, {})

    @pytest.mark.parametrize(
        ("gold", "said", "official", "hinge"),
        [
            ("$40000", "$44,999.99", True, True),
            ("$40000", "$45,000", False, True),
            ("$40000", 50_000, False, False),
            ("$100000", 90_001, True, True),
            ("$0", 4999, True, True),
            ("$0", None, False, False),
            ("$0", "Entailment", False, False),
        ],
    )
    def test_may_be_a_tenth_or_5_000_off(self, gold: str, said: Any, official: bool, hinge: bool) -> None:
        asked = SARA.problem({**AMOUNT, "answer": gold}, {})
        assert (OFFICIAL.right(said, asked), HINGE.right(said, asked)) == (official, hinge)

    @pytest.mark.parametrize(
        ("said", "right"),
        [
            ("$40,000", True),
            ("$40,000.00", False),
            ("It is 43,999 dollars in 2017", True),
            ("In 2017 it is $40,000", False),
            ("44001", False),
            ("1" * 400, False),
            (None, False),
        ],
    )
    def test_by_legalbench_lose_their_dots(self, said: Any, right: bool) -> None:
        assert LEGALBENCH.right(said, self.GOLD) is right

    @pytest.mark.parametrize(
        ("text", "counted", "right"),
        [
            ("So she owes $41,000.", 1, 1),
            ("She owes $41,000 in 2017.", 0, 0),
            ("$1 or $90,000", 1, 0),
            ("", 0, 0),
        ],
    )
    def test_by_gpt_statutes_end_the_text_or_do_not_count(self, text: str, counted: int, right: int) -> None:
        grades = GPT.grades(GPT.from_output(text, self.GOLD), self.GOLD)
        assert grades == {"counted": counted, "right": right}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is Entailment.", "Entailment"),
        ("It contradicts the facts.", "Contradiction"),
        ("It does not entail but contradicts.", None),
        ("I cannot tell.", None),
    ],
)
def test_labels_by_gpt_statutes(text: str, label: str | None) -> None:
    assert GPT.from_output(text, problem()) == label


def test_balanced_accuracy_is_the_mean_over_labels() -> None:
    said = [("Entailment", "entailment."), ("Entailment", "no"), ("Contradiction", "Contradiction")]
    sums = Counter[str]()
    for gold, text in said:
        sums.update(LEGALBENCH.grades(text, problem(gold)))  # type: ignore[arg-type]
    assert LEGALBENCH.overall(sums, 3) == {"balanced accuracy": 75.0, "within 10 %": 0.0}


@given(st.sampled_from(LABELS) | st.integers(1, 10**7).map("${}".format))
def test_gold_as_prediction_is_right(gold: str) -> None:
    assert all(rule.right(gold, problem(gold)) for rule in (OFFICIAL, HINGE, LEGALBENCH, GPT))


@needs_data
def test_the_shared_cases_are_read() -> None:
    read = problems_in("sara", DATA / "sara/cases.jsonl")
    assert len(read) == 256 and {each.input["statutes"] for each in read} == {DATA / "sara/statutes.json"}
    by_section = {column: sum(column in each.columns for each in read) for column in SARA.columns}
    assert by_section == {
        "entailment": 176, "numeric": 80, "§1": 40, "§2": 20, "§63": 26, "§68": 8, "§151": 10, "§152": 26,
        "§3301": 0, "§3306": 40, "§7703": 6,
    }  # fmt: skip


def test_the_command(command: Command, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "cases.jsonl", [ROW, {**ROW, "id": "b", "answer": "Contradiction"}, AMOUNT])
    said = {"s12_b_pos": "yes", "b": "yes", "tax_case_1": "$41,000"}
    write_files(tmp_path, {"said.json": {id: {"prediction": each} for id, each in said.items()}})
    asked = ("score", "sara", str(data), str(tmp_path / "said.json"))
    done = command(*asked)
    assert "50.00±37.91" in done.out and "100.00±36.51" in done.out
    for scorer, figures in {
        "official": {"accuracy": pytest.approx(2 / 3)},
        "legalbench": {"balanced accuracy": 0.0, "within 10 %": 100.0},
        "gpt_statutes": {"accuracy": pytest.approx(66.6667, abs=1e-3), "skipped": 0.0},
    }.items():
        found = json.loads(command(*asked, "--json", "--scorer", scorer).out)
        assert found.get("figures", {"accuracy": found.get("accuracy")}) == figures
