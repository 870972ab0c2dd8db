"""TabFact: its readers, its rules, and the figures measured with the original evaluators."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from chameleon import Table
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.evaluation.data import DataFile, read_problems, recognised
from tests.benchmarks.shared_data import DATA, anchors, needs_data, rows
from tests.benchmarks.values import anything
from tests.e2e.commands import Command
from tests.loopback import Fault, LoopbackServer

KITES = "1-7.html.csv"
ROW: dict[str, Any] = {
    "id": "test-3",
    "table_id": KITES,
    "statement": "the red kite flew longest",
    "cleaned_statement": "the red kite fly longest",
    "label": 0,
    "channel": "complex",
}
TABLE: dict[str, Any] = {
    "table_id": KITES,
    "caption": "kites",
    "header": ["kite", "minutes"],
    "rows": [["red", "12"], ["blue", "15"]],
}
TOKENIZED = {
    KITES: [
        ["the #red kite;1,0# flew 12 minutes", "blue won #kites;-1,-1#"],
        [1, 0],
        ["DT ENT", "NN"],
        "kites",
    ],
    "2-8.html.csv": [["it rained"], [1], "weather"],
}


def problem(**changes: Any) -> Problem:
    return Tabfact().problem({**ROW, **changes}, {KITES: TABLE})


def labelled(gold: str) -> Problem:
    return Problem("1", {}, gold)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "data/all_csv").mkdir(parents=True)
    (tmp_path / "tokenized_data").mkdir()
    (tmp_path / "data/all_csv" / KITES).write_text("kite#minutes\nred#12\nblue\u2028#15\n", "utf-8")
    (tmp_path / "data/all_csv/2-8.html.csv").write_text("day#rain\nmonday\n")
    (tmp_path / "data/small_test_id.json").write_text(json.dumps([KITES]))
    (tmp_path / "data/simple_test_id.json").write_text(json.dumps([KITES]))
    (tmp_path / "data/complex_test_id.json").write_text(json.dumps(["2-8.html.csv"]))
    (tmp_path / "tokenized_data/test_examples.json").write_text(json.dumps(TOKENIZED, indent=1))
    return tmp_path


class TestReader:
    def test_a_row(self) -> None:
        read = problem()
        assert (read.id, read.gold, read.columns) == ("test-3", "no", ("complex", "small"))
        assert read.input["question"] == ROW["statement"]
        assert read.input["table"] == Table(["kite", "minutes"], [["red", "12"], ["blue", "15"]], "kites")

    def test_a_recorded_row_without_an_id(self) -> None:
        recorded = {"id": None, "table_id": KITES, "statement": "it flew", "gold": 1, "output": "true"}
        read = Tabfact().problem(recorded, {})
        assert (read.id, read.gold, read.input) == (f"{KITES}: it flew", "yes", {})

    def test_the_release(self, release: Path) -> None:
        data = release / "tokenized_data/test_examples.json"
        assert recognised(data).name == "tabfact"
        first, second, third = read_problems(Tabfact(), DataFile(data))
        assert first.id == f"{KITES}.0" and first.input["question"] == "the red kite flew 12 minutes"
        # U+2028 ends a line for Python's splitlines, and none of a file.
        rows = [["red", "12"], ["blue\u2028", "15"]]
        assert first.input["table"] == Table(["kite", "minutes"], rows, "kites")
        assert (second.input["question"], second.gold) == ("blue won kites", "no")
        assert third.input["table"].rows == (("monday", ""),) and third.input["table"].caption == "weather"
        assert [each.columns[0] for each in (first, second, third)] == ["simple", "simple", "complex"]

    def test_the_small_test_set(self, release: Path) -> None:
        data = release / "data/small_test_id.json"
        assert recognised(data).name == "tabfact"
        assert [each.id for each in read_problems(Tabfact(), DataFile(data))] == [f"{KITES}.0", f"{KITES}.1"]
        data.write_text(json.dumps(["3-9.html.csv"]))
        with pytest.raises(InputError, match="no statements about the table '3-9"):
            list(read_problems(Tabfact(), DataFile(data)))

    def test_collected_data_name_their_channel(self, release: Path) -> None:
        (release / "collected_data").mkdir()
        data = release / "collected_data/r2_training_all.json"
        data.write_text(json.dumps({"4-1.html.csv": [["it rained"], [1], "weather"]}))
        (read,) = read_problems(Tabfact(), DataFile(data))
        assert read.columns == ("complex",)

    def test_chain_of_tables_packed_file(self, tmp_path: Path) -> None:
        data = tmp_path / "test.jsonl"
        row = {
            "statement": "red won",
            "label": 1,
            "table_caption": "kites",
            "table_text": [["kite"], ["red"]],
        }
        data.write_text(f"{json.dumps(row)}\n" * 2)
        assert recognised(data).name == "tabfact"
        first, second = read_problems(Tabfact(), DataFile(data))
        assert (first.id, second.id) == ("test-0", "test-1")
        assert first.input["table"] == Table(["kite"], [["red"]], "kites") and first.columns == ("small",)


RULES = {name: rule() for name, rule in Tabfact.scorers.items()}


@needs_data
def test_vectors_of_chain_of_table() -> None:
    vectors = rows("vectors/tabfact_match.jsonl")
    for vector in vectors:
        asked = labelled("yes" if vector["label"] else "no")
        for name, key in (("chain_of_table", "correct_top"), ("chain_of_table_weighted", "correct_weighted")):
            assert RULES[name].right(vector["responses"], asked) is vector[key], (vector["id"], name)
    assert len(vectors) == 10


class TestRules:
    @pytest.mark.parametrize("said", ["Yes", "true", "ENTAILED.", "1", 1, 1.0, True, ["yes"]])
    def test_what_is_yes(self, said: Any) -> None:
        assert RULES["official"].right(said, labelled("yes")) and not RULES["official"].right(
            said, labelled("no")
        )

    @pytest.mark.parametrize("said", ["no", "False", "refuted", "0", 0, 0.0, False, (0,)])
    def test_what_is_no(self, said: Any) -> None:
        assert RULES["official"].right(said, labelled("no")) and not RULES["official"].right(
            said, labelled("yes")
        )

    @pytest.mark.parametrize("said", ["Yes.", "entailed", 1, "1", None, [], "yes, it is"])
    def test_chain_of_table_is_strict(self, said: Any) -> None:
        assert not any(RULES["chain_of_table"].right(said, labelled(gold)) for gold in ("yes", "no"))

    @pytest.mark.parametrize("said", [True, " TRUE ", "yes", ["Yes", "no", "no"]])
    def test_what_chain_of_table_takes(self, said: Any) -> None:
        rule = RULES["chain_of_table"]
        assert rule.right(rule.from_answer(said, labelled("yes")), labelled("yes"))

    def test_weighted_responses(self) -> None:
        rule = RULES["chain_of_table_weighted"]
        assert rule.right(["YES", "no", "no", "no"], labelled("no"))  # 4 against 3 + 2 + 1
        assert rule.right(["YES", "no", "NO", "no"], labelled("yes"))  # 4 against 3 + 1 and 2: the first
        assert not RULES["chain_of_table"].right(["YES", "no", "no", "no"], labelled("no"))

    @pytest.mark.parametrize(
        ("text", "verdict"),
        [
            ("it is false, not true", "yes"),
            ("It is FALSE.", "no"),
            ("supported by row 1", "yes"),
            ("falsely supported", "no"),
            ("", "no"),
        ],
    )
    def test_tabsqlify_looks_for_words(self, text: str, verdict: str) -> None:
        rule = RULES["tabsqlify"]
        assert rule.from_output(text, labelled("yes")) == verdict
        assert rule.right(rule.from_answer(text, labelled("yes")), labelled(verdict))

    @given(anything)
    def test_nothing_is_right_for_both_labels(self, value: Any) -> None:
        for rule in RULES.values():
            assert not (rule.right(value, labelled("yes")) and rule.right(value, labelled("no")))


def counted(rule: Scorer, predictions: list[Any], asked: list[Problem]) -> tuple[int, int]:
    pairs = zip(predictions, asked, strict=True)
    return sum(rule.right(prediction, each) for prediction, each in pairs), len(asked)


@needs_data
class TestAnchors:
    def test_the_constant(self) -> None:
        asked = [Tabfact().problem(row, {}) for row in rows("tabfact/dev.jsonl")]
        rule = RULES["official"]
        assert counted(rule, ["entailed"] * 907, asked) == anchors()["tabfact.dev.constant_entailed.all"]
        for channel in ("simple", "complex"):
            part = [each for each in asked if channel in each.columns]
            expected = anchors()[f"tabfact.dev.constant_entailed.{channel}"]
            assert counted(rule, [1] * len(part), part) == expected
        queries = [Tabfact().problem(row, {}) for row in rows("tabfact/queries.jsonl.gz")]
        found = counted(rule, [True] * len(queries), queries)
        assert found == anchors()["tabfact.queries.constant_entailed"]

    @pytest.mark.parametrize(
        ("anchor", "data", "options"),
        [
            (
                "tablecot_davinci002_complex",
                "queries.jsonl.gz",
                ["--where", "run=tablecot_davinci002_complex"],
            ),
            ("tabsqlify_rc", "recorded.jsonl", ["--where", "run=tabsqlify_rc"]),
            (
                "tabsqlify_rc.text_rule",
                "recorded.jsonl",
                ["--where", "run=tabsqlify_rc", "--field", "output", "--scorer", "tabsqlify"],
            ),
        ],
    )
    def test_recorded_runs(self, command: Command, anchor: str, data: str, options: list[str]) -> None:
        folder = DATA / "tabfact"
        asked = ("score", "tabfact", str(folder / data), str(folder / "recorded.jsonl"), "--given", "--json")
        found = json.loads(command(*asked, *options).out)
        assert (found["correct"], found["n"]) == anchors()[f"tabfact.{anchor}"]


def test_a_statement_whose_chain_failed_counts_as_wrong(
    loopback: Callable[..., LoopbackServer], command: Command, tmp_path: Path
) -> None:
    """The published code drops it from the count."""

    def reply(request: dict[str, Any]) -> str | Fault:
        asked = request["messages"][-1]["content"]
        if "it broke" in asked:
            return Fault(400)
        return "YES" if asked.rstrip().endswith("The answer is:") else "<END>"

    loopback(reply)
    text = [TABLE["header"], *TABLE["rows"]]
    packed = {"table_id": KITES, "table_caption": "kites", "table_text": text, "label": 1}
    data = tmp_path / "packed.jsonl"
    statements = ("red flew 12 minutes", "it broke")
    data.write_text("".join(json.dumps(packed | {"statement": said}) + "\n" for said in statements))
    options = ("--model", "openai:local", "--workers", "1", "--store", "off", "--out", str(tmp_path / "out"))
    found = json.loads(command("eval", "tabfact", str(data), "--json", *options).out)
    assert (found["n"], found["correct"], found["answered"], found["accuracy"]) == (2, 1, 1, 0.5)
