"""SARA: reading cases, rows and case files alike, and scoring labels and amounts with the rules' oddities."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.benchmarks.sara import Sara, case_in
from chameleon.benchmarks.scorers.sara_rule import LABELS, dollars
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems
from tests.benchmarks.shared_data import DATA, needs_data, problems_in, write_files
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows

SARA = Sara()
RULES: dict[str, Any] = {name: rule() for name, rule in Sara.scorers.items()}
OFFICIAL, HINGE, LEGALBENCH, GPT = RULES.values()
ROW: dict[str, Any] = {"id": "s12_b_pos", "kind": "entailment", "text": "The Lark has a licence."}
ROW |= {"question": "The Lark owes the fee under section 152(b).", "answer": "Entailment"}
ROW["section_mentioned"] = "152(b)"
AMOUNT = {**ROW, "id": "tax_case_1", "kind": "numeric", "answer": "$40000"}
AMOUNT["question"] = "How much does Ann owe?"
CASE = (
    "% Text\n% The Lark has a licence.\n% It sails in winter.\n\n% Question\n"
    "% Section 152(b) applies to the Lark. Contradiction\n\n% Facts\n:- lark(x).\n% Test\n:- lark(x)."
)


def problem(answer: str = "Entailment") -> Problem:
    return SARA.problem({**ROW, "answer": answer}, {})


@needs_data
def test_rows_and_the_statutes_beside_them(tmp_path: Path) -> None:
    read = SARA.problem({**ROW, "statutes": "/law"}, {})
    assert (read.id, read.gold, read.columns) == ("s12_b_pos", "Entailment", ("entailment", "§152"))
    assert read.input == {"question": ROW["question"], "text": ROW["text"], "statutes": Path("/law")}
    assert read.detail == {"kind": "entailment", "section": "152(b)"}
    assert SARA.problem(AMOUNT, {}).columns == ("numeric",)
    data = write_rows(tmp_path / "cases.jsonl", [ROW, AMOUNT])
    assert all("statutes" not in each.input for each in problems_in("sara", data))
    statutes = write_files(tmp_path, {"statutes.json": {}}) / "statutes.json"
    assert [each.input["statutes"] for each in problems_in("sara", data)] == [statutes] * 2
    cases = problems_in("sara", DATA / "sara/cases.jsonl")
    assert len(cases) == 256 and {each.input["statutes"] for each in cases} == {DATA / "sara/statutes.json"}
    by_section = [sum(column in each.columns for each in cases) for column in SARA.columns]
    assert by_section == [176, 80, 40, 20, 26, 8, 10, 26, 0, 40, 6]


def test_the_release(tmp_path: Path) -> None:
    files = {"cases/s152_b_neg.pl": CASE, "splits/train": "s152_b_neg\n", "splits/bad": "s9_neg\n"}
    statutes = write_files(tmp_path, {**files, "statutes/source/1": "law"}) / "statutes/source"
    for path in ("cases/s152_b_neg.pl", "splits/train"):
        (read,) = read_problems(SARA, DataFile(tmp_path / path))
        assert (read.id, read.gold, read.columns) == ("s152_b_neg", "Contradiction", ("entailment", "§152"))
        asked = {"question": "Section 152(b) applies to the Lark.", "statutes": statutes}
        assert read.input == {**asked, "text": "The Lark has a licence. It sails in winter."}
    with pytest.raises(InputError, match="cannot be read"):
        list(read_problems(SARA, DataFile(tmp_path / "splits/bad")))
    with pytest.raises(InputError, match="a case needs"):
        case_in("% Text\n% Only facts.\n", "bad")
    assert case_in(CASE.replace("Contradiction", "$12"), "x")["kind"] == "numeric"


def test_labels_and_dollars() -> None:
    called: list[list[Any]] = [["Entailment", "entailed.", "yes", True]]
    called += [["**CONTRADICTION**", "not entailed", "no", 0], ["perhaps", None, 7]]
    for label, values in zip((*LABELS, None), called, strict=True):
        for rule in ([OFFICIAL.right(value, problem(each)) for each in LABELS] for value in values):
            assert rule == [each == label for each in LABELS]
    amounts = {"$1,234.50": 1234.5, "1234 dollars.": 1234.0, "-$3": -3.0, "$.5": 0.5}
    assert {text: dollars(text) for text in amounts} == amounts
    assert not any(map(dollars, (True, "about $3", "", float("nan"), 10**400, "9" * 400)))


def test_amounts_may_be_a_tenth_or_5_000_off_and_lose_their_dots_by_legalbench() -> None:
    for gold, by_both, by_hinge, wrong in [
        ("$40000", ["$44,999.99"], ["$45,000"], [50_000]),
        ("$100000", [90_001], [], []),
        ("$0", [4999], [], [None, "Entailment"]),
    ]:
        asked, every = SARA.problem({**AMOUNT, "answer": gold}, {}), [*by_both, *by_hinge, *wrong]
        assert [each for each in every if OFFICIAL.right(each, asked)] == by_both
        assert [each for each in every if HINGE.right(each, asked)] == [*by_both, *by_hinge]
    asked, right = SARA.problem(AMOUNT, {}), ["$40,000", "It is 43,999 dollars in 2017"]
    wrong = ["$40,000.00", "In 2017 it is $40,000", "44001", "1" * 400, None]
    assert [each for each in [*right, *wrong] if LEGALBENCH.right(each, asked)] == right


def test_amounts_by_gpt_statutes_end_the_text_or_do_not_count_and_labels_are_words() -> None:
    asked = SARA.problem(AMOUNT, {})
    counted = {"So she owes $41,000.": (1, 1), "She owes $41,000 in 2017.": (0, 0), "$1 or $90,000": (1, 0)}
    for text, found in {**counted, "": (0, 0)}.items():
        grades = GPT.grades(GPT.from_output(text, asked), asked)
        assert grades == dict(zip(("counted", "right"), found, strict=True))
    labels = ["The answer is Entailment.", "It contradicts the facts.", "It does not entail but contradicts."]
    found = [GPT.from_output(text, problem()) for text in [*labels, "I cannot tell."]]
    assert found == ["Entailment", "Contradiction", None, None]


def test_balanced_accuracy_is_the_mean_over_labels() -> None:
    sums = Counter(LEGALBENCH.grades("entailment.", problem("Entailment")))
    sums.update(LEGALBENCH.grades("no", problem("Entailment")))
    sums.update(LEGALBENCH.grades("Contradiction", problem("Contradiction")))
    assert LEGALBENCH.overall(sums, 3) == {"balanced accuracy": 75.0, "within 10%": 0.0}


@given(st.sampled_from(LABELS) | st.integers(1, 10**7).map("${}".format))
def test_gold_as_prediction_is_right(gold: str) -> None:
    assert all(rule.right(gold, problem(gold)) for rule in RULES.values())


def test_the_command(command: Command, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "cases.jsonl", [ROW, {**ROW, "id": "b", "answer": "Contradiction"}, AMOUNT])
    said = {"s12_b_pos": "yes", "b": "yes", "tax_case_1": "$41,000"}
    write_files(tmp_path, {"said.json": {id: {"prediction": each} for id, each in said.items()}})
    asked = ("score", "sara", str(data), str(tmp_path / "said.json"))
    done = command(*asked)
    assert "50.00±37.91" in done.out and "100.00±36.51" in done.out
    for scorer, figures in {
        "official": {"accuracy": pytest.approx(2 / 3)},
        "legalbench": {"balanced accuracy": 0.0, "within 10%": 100.0},
        "gpt_statutes": {"accuracy": pytest.approx(66.6667, abs=1e-3), "skipped": 0.0},
    }.items():
        found = json.loads(command(*asked, "--json", "--scorer", scorer).out)
        assert found.get("figures", {"accuracy": found.get("accuracy")}) == figures
