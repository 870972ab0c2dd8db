"""TabFact: its readers and its rules."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from chameleon import Table
from chameleon.benchmarks.scorers.squad import TableragAnswerRule
from chameleon.benchmarks.scorers.verdicts import TableragLabelRule, label_in
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import anything, needs_data, problems_in, rows, texts, write_files

KITES = "1-7.html.csv"
ROW: dict[str, Any] = {"id": "test-3", "table_id": KITES, "statement": "the red kite flew longest"}
ROW |= {"cleaned_statement": "the red kite fly longest", "label": 0, "channel": "complex"}
TABLE: dict[str, Any] = {"table_id": KITES, "caption": "kites", "header": ["kite", "minutes"]}
TABLE["rows"] = [["red", "12"], ["blue", "15"]]
TABLERAG: dict[str, Any] = {"id": "tabfact-1", "table_id": "t", "query": "the lark flew 20 minutes"}
TABLERAG |= {"label": "1", "context": "", "table": TABLE}
STATEMENTS = ["the #red kite;1,0# flew 12 minutes", "blue won #kites;-1,-1#"]
TOKENIZED = {KITES: [STATEMENTS, [1, 0], ["DT", "NN"], "kites"]}
TOKENIZED |= {"2-8.html.csv": [["it rained"], [1], "weather"]}


def labeled(gold: str) -> Problem:
    return Problem("1", {}, gold)


def test_rows() -> None:
    read = Tabfact().problem(ROW, {KITES: TABLE})
    assert (read.id, read.gold, read.columns) == ("test-3", "no", ("complex", "small"))
    assert read.input["question"] == ROW["statement"]
    assert read.input["table"] == Table(TABLE["header"], TABLE["rows"], "kites")
    recorded = {"id": None, "table_id": KITES, "statement": "it flew", "gold": 1, "output": "true"}
    read = Tabfact().problem(recorded, {})
    assert (read.id, read.gold, read.input) == (f"{KITES}: it flew", "yes", {})


def test_the_release(tmp_path: Path) -> None:
    files: dict[str, Any] = {"data/all_csv/2-8.html.csv": "day#rain\nmonday\n"}
    files["data/simple_test_id.json"] = [KITES]
    files[f"data/all_csv/{KITES}"] = "kite#minutes\nred#12\nblue\u2028#15\n"
    files |= {"data/complex_test_id.json": ["2-8.html.csv"], "tokenized_data/test_examples.json": TOKENIZED}
    data = write_files(tmp_path, files) / "tokenized_data/test_examples.json"
    first, second, third = problems_in("tabfact", data)
    assert first.id == f"{KITES}.0" and first.input["question"] == "the red kite flew 12 minutes"
    # U+2028 ends a line for Python's splitlines, and none of a file.
    assert first.input["table"] == Table(["kite", "minutes"], [["red", "12"], ["blue\u2028", "15"]], "kites")
    assert (second.input["question"], second.gold) == ("blue won kites", "no")
    assert third.input["table"].rows == (("monday", ""),) and third.input["table"].caption == "weather"
    assert [each.columns[0] for each in (first, second, third)] == ["simple", "simple", "complex"]
    with pytest.raises(InputError, match="tokenized_data/"):
        [*Tabfact().rows([{"id": KITES}], tmp_path / "data/simple_test_id.json")]


def test_packed_files_of_chain_of_table_and_of_tablerag(tmp_path: Path) -> None:
    row = {"statement": "red won", "label": 1, "table_caption": "kites", "table_text": [["kite"], ["red"]]}
    write_files(tmp_path, {"test.jsonl": [row, row], "small.jsonl": [TABLERAG]})
    first, second = problems_in("tabfact", tmp_path / "test.jsonl")
    assert (first.id, second.id) == ("test-0", "test-1")
    assert first.input["table"] == Table(["kite"], [["red"]], "kites") and first.columns == ("small",)
    [read] = problems_in("tabfact", tmp_path / "small.jsonl")
    assert (read.id, read.gold, read.columns) == ("tabfact-1", "yes", ("small",))
    assert read.input["question"] == TABLERAG["query"] and read.input["table"].caption == "kites"


RULES = {name: rule() for name, rule in Tabfact.scorers.items()}


class TestRules:
    def test_what_each_rule_calls_a_label(self) -> None:
        called: dict[str, list[Any]] = {"yes": ["Yes", "true", "ENTAILED.", "1", 1, 1.0, True, ["yes"]]}
        called |= {"no": ["no", "False", "refuted", "0", 0, 0.0, False, (0,)]}
        for label, said in ((label, each) for label, names in called.items() for each in names):
            right = [RULES["official"].right(said, labeled(each)) for each in ("yes", "no")]
            assert right == [label == each for each in ("yes", "no")], said
        rule = RULES["chain_of_table"]
        for said in ("Yes.", "entailed", 1, "1", None, [], "yes, it is"):
            assert not any(rule.right(said, labeled(gold)) for gold in ("yes", "no"))
        for said in (True, " TRUE ", "yes", ["Yes", "no", "no"]):
            assert rule.right(rule.from_answer(said, labeled("yes")), labeled("yes"))
        rule, texts = RULES["tabsqlify"], {"it is false, not true": "yes", "It is FALSE.": "no"}
        texts |= {"supported by row 1": "yes", "falsely supported": "no", "": "no"}
        for text, verdict in texts.items():
            assert rule.from_output(text, labeled("yes")) == verdict
            assert rule.right(rule.from_answer(text, labeled("yes")), labeled(verdict))

    @given(anything)
    def test_nothing_is_right_for_both_labels(self, value: Any) -> None:
        for rule in RULES.values():
            assert not (rule.right(value, labeled("yes")) and rule.right(value, labeled("no")))


GOLD: dict[str, dict[str, str]] = {"tabfact": {"1": "yes", "0": "no"}}
GOLD |= {"feverous": {"1": "SUPPORTS", "0": "REFUTES", "2": "NOT ENOUGH INFO"}}


@needs_data
def test_vectors() -> None:
    """They are of four benchmarks; TabFact has no third label."""
    vectors = rows("vectors/tablerag_eval.jsonl")
    for vector in vectors:
        if "text" in vector:
            assert label_in(vector["text"]) == vector["mapped"], vector["id"]
            continue
        labels, verdicts = GOLD.get(vector["dataset"]), []
        for said, gold in zip(vector["pred"], vector["gold"], strict=True):
            if labels is not None and gold not in labels:
                verdicts.append(label_in(said) == gold)
            else:
                rule = TableragLabelRule() if labels else TableragAnswerRule()
                verdicts.append(rule.right(said, labeled(labels[gold] if labels else gold)))
        assert sum(verdicts) / len(verdicts) == vector["score"], vector["id"]
    assert len(vectors) == 22
    vectors = rows("vectors/tabfact_match.jsonl")
    for vector in vectors:
        asked = labeled("yes" if vector["label"] else "no")
        for name, key in (("chain_of_table", "correct_top"), ("chain_of_table_weighted", "correct_weighted")):
            assert RULES[name].right(vector["responses"], asked) is vector[key], (vector["id"], name)
    assert len(vectors) == 10


@given(texts)
def test_what_tablerag_reads_in_a_text_and_of_a_run(text: str) -> None:
    assert label_in(text) in "012" and label_in(f"{text} yes") == "1"
    asked = Problem("q", {}, ["nothing like it", text])
    assert TableragAnswerRule().right(f"The {text}", asked) and not TableragAnswerRule().right(None, asked)
    rule, asked = TableragLabelRule(), labeled("REFUTES")
    assert rule.right(rule.from_answer("REFUTES", asked), asked) and not rule.right("REFUTES", asked)
    assert rule.right({"label": "no", "evidence": ["yes"]}, asked)
