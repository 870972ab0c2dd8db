"""FEVEROUS: reading claims and their evidence, and scoring verdicts with the original's oddities."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import State, Table
from chameleon.benchmarks.feverous import Feverous
from chameleon.benchmarks.scorers.feverous_rule import LABELS, EvidenceRule, LabelRule, item_of, within_limits
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import needs_data, problems_in, rows
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows

FEVEROUS, LABEL, EVIDENCE = Feverous(), LabelRule(), EvidenceRule()
ROW: dict[str, Any] = {"id": "c1", "claim": "The Lark flew 20 minutes.", "label": "SUPPORTS"}
ROW |= {"in_small": True, "context": ["The Lark is a kite.", " "]}
ROW["table"] = {"caption": "", "header": ["Kite", "Minutes"], "rows": [["Lark", "20"]]}
BLANK = {"id": "", "claim": "", "label": "", "evidence": [{"content": [], "context": {}}]}
CELLS = ["Lark_(kite)_cell_0_1_0", "Lark_(kite)_header_cell_0_0_0"]
GROUPS = [{"content": each, "context": {}} for each in (CELLS, ["Kite_sentence_3"])]
RELEASED = {"id": 7, "claim": "The Lark flew.", "label": "REFUTES", "evidence": GROUPS}


def problem(label: str = "SUPPORTS", evidence: Any = None) -> Problem:
    return FEVEROUS.problem({**ROW, "label": label, "evidence": evidence or []}, {})


def test_a_row() -> None:
    read = FEVEROUS.problem(ROW, {})
    assert (read.id, read.gold, read.columns) == ("c1", "SUPPORTS", ("SUPPORTS", "small set", "small"))
    asked = {"question": ROW["claim"], "table": Table(["Kite", "Minutes"], [["Lark", "20"]])}
    assert read.input == {**asked, "passages": [{"title": "", "text": "The Lark is a kite."}]}
    with pytest.raises(InputError, match="needs the gold evidence"):
        EVIDENCE.grades("SUPPORTS", read)


@pytest.mark.parametrize("first", [[], [BLANK]])
def test_the_release(tmp_path: Path, first: list[Any]) -> None:
    """Its files begin with a blank row; a file without one loses no claim, as it does in the original."""
    [read] = problems_in("feverous", write_rows(tmp_path / "dev.jsonl", [*first, RELEASED]))
    assert (read.id, read.gold, read.input, read.columns) == ("7", "REFUTES", {}, ("REFUTES",))
    assert read.detail["evidence"] == [
        [("Lark_(kite)", "cell", "0_1_0"), ("Lark_(kite)", "header_cell", "0_0_0")],
        [("Kite", "sentence", "3")],
    ]


_KINDS = st.sampled_from(["sentence", "cell", "header_cell", "table_caption", "item", "section", "list"])
_PAGES = st.text("ab_ (é)", min_size=1).filter(str.strip)
_ITEMS = st.tuples(_PAGES, _KINDS, st.integers(0, 99).map(str))


ITEMS: dict[Any, Any] = {"A_B_sentence_0": ("A_B", "sentence", "0"), "A_title": ("A", "title", "")}
ITEMS |= {"A_sentence_1_sentence_0": ("A_sentence_1", "sentence", "0"), "A sentence": ("A sentence", "", "")}
ITEMS |= {"A_table_caption_0": ("A", "table_caption", "0"), 3: ("3", "", "")}
ITEMS |= {"A_header_cell_0_1_2": ("A", "header_cell", "0_1_2")}


@given(_ITEMS)
def test_written_items_come_back(item: tuple[str, str, str]) -> None:
    assert item_of("_".join(item)) == item == item_of(list(item))
    assert {written: item_of(written) for written in ITEMS} == ITEMS


@given(st.lists(_ITEMS, max_size=60))
def test_what_counts_of_the_evidence(items: list[Any]) -> None:
    kept = within_limits(items)
    in_tables = [item for item in items if item[1] in ("cell", "item", "table_caption", "header_cell")]
    others = [item for item in items if item not in in_tables]
    assert [item for item in kept if item in in_tables] == in_tables[:25]
    assert [item for item in kept if item not in in_tables] == others[:5]


def test_labels_and_the_evidence_of_a_run() -> None:
    said = ["supports", "SUPPORTS", "SUPPORTS.", " SUPPORTS", "", None]
    assert [LABEL.right(each, problem()) for each in said] == [True, True, False, False, False, False]
    assert LABEL.from_answer("Yes.", problem()) == "SUPPORTS" and LABEL.from_answer(0, problem()) == "REFUTES"
    assert LABEL.from_answer("not enough info", problem("NOT ENOUGH INFO")) == "not enough info"
    asked = problem(evidence=[["Kite_sentence_3"]])
    found = FEVEROUS.found(State(cache={"evidence_items": ["Kite_sentence_3"]}))
    grades = [EVIDENCE.grades(EVIDENCE.from_run("yes", each, asked), asked) for each in (found, {})]
    assert [each["FEVEROUS score"] for each in grades] == [1, 0]


@given(st.sampled_from(LABELS), st.lists(st.lists(_ITEMS, max_size=4), min_size=1, max_size=3))
def test_gold_as_prediction_is_right(label: str, groups: list[list[Any]]) -> None:
    said = {"label": label.lower(), "evidence": groups[0]}
    grades = EVIDENCE.grades(said, problem(label, [list(map(list, group)) for group in groups]))
    assert set(grades.values()) == {1.0}


@needs_data
def test_vectors() -> None:
    """Where the original divides by zero, F1 is 0 here, and there are no figures without claims."""
    vectors = rows("vectors/feverous_eval.jsonl")
    for vector in vectors:
        said = [{**row, "id": number, "claim": "?"} for number, row in enumerate(vector["instances"], 1)]
        predicted = [row["prediction"] for row in FEVEROUS.rows(said, Path("said.jsonl"))]
        pairs = zip(predicted, said, strict=True)
        grades = [EVIDENCE.grades(each, FEVEROUS.problem(row, {})) for each, row in pairs]
        assert vector["raises"] == (None if vector["expected"] else "ZeroDivisionError")
        if grades:
            sums = {name: sum(each[name] for each in grades) for name in grades[0]}
            overall = EVIDENCE.overall(sums, len(said)).items()
            found = {name.lower().replace(" ", "_"): round(value, 6) for name, value in overall}
            assert found == vector["expected"] or (vector["raises"] and found["f1"] == 0), vector["name"]
    assert len(vectors) == 20


def test_the_command(command: Command, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "dev.jsonl", [BLANK, RELEASED, {**RELEASED, "id": 8}])
    said = {"id": 7, "predicted_label": "REFUTES", "predicted_evidence": ["Kite_sentence_3", "Kite_title"]}
    asked = ("score", "feverous", str(data), str(write_rows(tmp_path / "said.jsonl", [said])), "--json")
    found = json.loads(command(*asked).out)
    assert (found["correct"], found["n"]) == (1, 2)
    figures = {"FEVEROUS score": 0.5, "label accuracy": 0.5, "precision": 0.75, "recall": 0.5}
    found = json.loads(command(*asked, "--scorer", "official").out)
    assert found["figures"] == {**figures, "F1": pytest.approx(0.6)}


def test_a_report_shows_rules_that_grade_beside_others(command: Command, tmp_path: Path) -> None:
    row = {**ROW, "claim": "did the lark have more minutes than the gull", "evidence": [["Kite_sentence_3"]]}
    row["table"] = {**ROW["table"], "rows": [["Lark", "20"], ["Gull", "9"]]}
    data = write_rows(tmp_path / "data.jsonl", [row, {**row, "id": "c2", "label": "REFUTES"}])
    runs = {scorer: str(tmp_path / scorer) for scorer in FEVEROUS.scorers}
    for scorer, out in runs.items():
        assert command("eval", "tables_offline", str(data), "--scorer", scorer, "--out", out).code == 0
    done = command("report", *runs.values(), "--html", str(tmp_path / "page.html"))
    assert done.code == 0 and done.out.startswith("feverous: FEVEROUS score, label accuracy, precision,")
    found = json.loads(command("report", *runs.values(), "--json").out)["tables"][0]
    assert found["columns"][:2] == ["ALL", "SUPPORTS"] and found["columns"][-1] == "F1"
    label, official, tablerag = found["rows"]
    assert label["percent"]["ALL"] == tablerag["percent"]["ALL"] == 50.0
    assert official["figures"]["label accuracy"] == 0.5 and "ALL" not in official["figures"]
