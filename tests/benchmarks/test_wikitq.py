"""WikiTableQuestions: its readers, and its three rules by vectors and by their nature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.scorers.denotation import answers, normal_form, same_denotation
from chameleon.benchmarks.wikitq import Wikitq, unescaped, unescaped_list
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems
from tests.benchmarks.doubles import problems_in, texts, write_files
from tests.benchmarks.shared_data import DATA, anchors, needs_data, rows
from tests.e2e.commands import Command

PATH = "csv/204-csv/7.csv"
ROW: dict[str, Any] = {
    "id": "nu-7",
    "question": "which kites flew 15 minutes or more?",
    "table_id": PATH,
    "answer": ["red", "blue"],
    "answer_canon": ["red", "blue"],
    "canon_type": "string",
}
TABLE: dict[str, Any] = {
    "table_id": PATH,
    "caption": "Kites",
    "header": ["Kite", "Minutes\nin the air"],
    "rows": [["red", "15"], ["blue|green", '20 "about"'], ["short"]],
}
QUESTIONS = (
    f"id\tutterance\tcontext\ttargetValue\nnt-1\twhich flew \\p longest?\t{PATH}\tblue\\pgreen|a\\\\n\n"
)
TAGGED = (
    "id\tutterance\tcontext\ttargetValue\ttokens\ttargetCanon\ttargetCanonType\n"
    f"nt-1\thow many?\t{PATH}\t1,200\thow|many|?\t1200.0\tnumber\n"
)
OFFICIAL, TABLECOT, BINDER = (Wikitq.scorers[name]() for name in ("official", "tablecot", "binder"))


def problem(*gold: str, canon: list[str] | None = None, question: str = "who?") -> Problem:
    return Problem("1", {}, list(gold), detail={"canon": canon, "question": question})


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with one table, as a folder."""
    table = '"Kite","Minutes\nin the air"\n"red","15"\n"blue|green","20 \\"about\\""\n"short"\n'
    files = {"data/some.tsv": QUESTIONS, "tagged/data/some.tagged": TAGGED, PATH: table}
    return write_files(tmp_path, {**files, "page/204-page/7.json": {"title": "Kites", "tableIndex": 1}})


class TestReader:
    def test_a_row(self) -> None:
        read = Wikitq().problem(ROW, {PATH: TABLE})
        assert (read.id, read.gold, read.columns) == ("nu-7", ["red", "blue"], ("small",))
        assert read.input["question"] == ROW["question"]
        assert read.input["table"].caption == "Kites" and read.input["table"].rows[2] == ("short", "")
        assert read.detail == {"canon": ["red", "blue"], "question": ROW["question"]}
        assert "answer" not in str(read.input)

    def test_a_recorded_row_without_its_table_can_be_scored(self) -> None:
        recorded = {"id": "nu-7", "table_id": "t", "question": "who?", "gold": ["red"], "output": "red"}
        read = Wikitq().problem(recorded, {})
        assert (read.input, read.columns, read.gold, read.detail["canon"]) == ({}, (), ["red"], None)
        assert Wikitq().recognises(recorded)

    @pytest.mark.parametrize(
        ("cells", "size"), [(499, "small"), (500, "medium"), (999, "medium"), (1000, "large")]
    )
    def test_sizes(self, cells: int, size: str) -> None:
        table = {**TABLE, "header": ["a"], "rows": [["b"]] * cells}  # a line is four tokens with its end
        assert Wikitq().problem(ROW, {PATH: table}).columns == (size,)

    @pytest.mark.parametrize("changes", [{"rows": None}, {"header": "a"}, {"rows": [[1]]}])
    def test_what_is_no_table_is_told(self, changes: dict[str, Any]) -> None:
        with pytest.raises(InputError):
            Wikitq().problem(ROW, {PATH: {**TABLE, **changes}})

    def test_the_release(self, release: Path) -> None:
        [read] = problems_in("wikitq", release / "data/some.tsv")
        assert read.input["question"] == "which flew | longest?"
        assert read.gold == ["blue|green", "a\\n"] and read.detail["canon"] is None
        rows = [*TABLE["rows"][:2], ["short", ""]]
        assert read.input["table"] == Table(TABLE["header"], rows, "Kites")

    def test_tagged_files_have_canonical_values(self, release: Path) -> None:
        [read] = problems_in("wikitq", release / "tagged/data/some.tagged")
        assert (read.gold, read.detail["canon"]) == (["1,200"], ["1200.0"])
        assert read.input["table"].caption == "Kites" and OFFICIAL.right("1200", read)

    @pytest.mark.parametrize("folder", ["csv", "."])
    def test_tables_of_the_release_for_rows_elsewhere(self, release: Path, folder: str) -> None:
        data = write_files(release, {"elsewhere.jsonl": [ROW]}) / "elsewhere.jsonl"
        [read] = problems_in("wikitq", data, release / folder)
        assert read.input["table"].header == ("Kite", "Minutes\nin the air")

    @pytest.mark.parametrize(
        "id", ["../data/some.tsv", "/etc/hostname", "csv/../../x.csv", "csv/204-csv/9.csv", "\0"]
    )
    def test_ids_do_not_lead_out_of_the_folder(self, release: Path, id: str) -> None:
        data = write_files(release, {"hostile.jsonl": [{**ROW, "table_id": id}]}) / "hostile.jsonl"
        [read] = problems_in("wikitq", data, release / "csv")
        assert read.input == {} and read.columns == ()

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("id\tutterance\nnt-1\n", "some.tsv, line 2: this line has 1 fields, and the first line names 2"),
            ("id\tutterance\nnt-1\t\udcff\n", "some.tsv, line 2: this is no UTF-8 text"),
        ],
    )
    def test_broken_lines_are_told(self, release: Path, text: str, told: str) -> None:
        data = release / "data/some.tsv"
        data.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(InputError) as caught:
            list(read_problems(Wikitq(), DataFile(data)))
        assert str(caught.value).endswith(told)

    @given(st.lists(st.text(), min_size=1))
    def test_escapes_come_back(self, items: list[str]) -> None:
        escaped = [item.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p") for item in items]
        assert unescaped_list("|".join(escaped)) == [unescaped(item) for item in escaped] == items


@needs_data
def test_the_command_scores_one_run_of_several(command: Command) -> None:
    data, recorded = (str(DATA / "wikitq" / name) for name in ("dev_test_half.jsonl", "tablecot.jsonl.gz"))
    options = ("--given", "--json", "--scorer", "tablecot", "--where", "run=cot_0_999")
    found = json.loads(command("score", "wikitq", data, recorded, *options).out)
    assert (found["correct"], found["n"]) == anchors()["wikitq.tablecot.cot_0_999.own_matcher"]
    assert sum(found["breakdown"][name]["n"] for name in ("small", "medium", "large")) == found["n"]


@needs_data
def test_vectors_of_the_official_rule() -> None:
    kinds = {type(None): "StringValue", int: "NumberValue", float: "NumberValue", tuple: "DateValue"}
    vectors = rows("vectors/wikitq_eval.jsonl")
    for vector in vectors:
        targets, predicted = answers(vector["gold"], vector["gold_canon"]), answers(vector["pred"])
        assert same_denotation(targets, predicted) is vector["correct"], vector["name"]
        assert sorted(each.text for each in targets) == sorted(vector["gold_norm"]), vector["name"]
        assert sorted(each.text for each in predicted) == sorted(vector["pred_norm"]), vector["name"]
        assert sorted(kinds[type(each.meant)] for each in predicted) == sorted(vector["pred_types"])
    assert len(vectors) == 49


@needs_data
def test_vectors_of_the_other_rules() -> None:
    vectors = rows("vectors/tablecot_wikitq_eval.jsonl")
    for vector in vectors:
        assert TABLECOT.right(vector["pred"], problem(*vector["gold"].split("|"))) is vector["correct"]
    assert len(vectors) == 14
    pytest.importorskip("recognizers_number")
    vectors = [row for row in rows("vectors/binder.jsonl") if row["kind"] == "binder_eval"]
    for vector in vectors:
        asked = problem(*vector["gold"], question=vector["question"])
        assert BINDER.right(vector["pred"], asked) is vector["correct_semantic"], vector["id"]
    assert len(vectors) == 15


class TestOfficial:
    @pytest.mark.parametrize(
        ("prediction", "gold", "right"),
        [
            (["b", "a"], ("a", "b"), True),
            (("a",), ("a",), True),
            ("a|b", ("a", "b"), False),  # one item; a run's answer is parted, see below
            (32, ("32",), True),
            (32.0, ("32",), True),
            (True, ("yes",), True),
            (False, ("no",), True),
            (None, ("None",), False),
            ([], ("a",), False),
            ("12,467", ("12467",), False),
            ("1_000", ("1000",), False),  # Python 2 reads no underscores
            ("1995-13-01", ("1995-13-1",), False),  # no month: texts
            ("1995-xx-xx", ("1995",), True),
            ("xx-xx-xx", ("xx-xx-xx",), True),
            ("3.9999999", ("3",), True),  # cut, not rounded
            ("X (a).", ("X",), False),
            ("X (a)[1]*", ("X",), True),
            ("[a] [b]", ("[a]",), True),
            ("5´", ("5",), True),
            ("Ⅳ", ("iv",), True),
        ],
    )
    def test_what_is_right(self, prediction: Any, gold: tuple[str, ...], right: bool) -> None:
        assert OFFICIAL.right(prediction, problem(*gold)) is right

    def test_canonical_values_say_what_is_meant(self) -> None:
        known = problem("four", canon=["4.0"])
        assert OFFICIAL.right("4", known) and OFFICIAL.right("four", known)
        assert not OFFICIAL.right("4", problem("four"))

    def test_an_answer_of_a_run_is_parted_by_bars(self) -> None:
        asked = problem("a", "b")
        assert OFFICIAL.right(OFFICIAL.from_answer("a | b", asked), asked)
        assert (
            OFFICIAL.right(OFFICIAL.from_output("a|b", asked), asked) and OFFICIAL.from_answer(7, asked) == 7
        )

    @given(st.lists(texts, min_size=1, max_size=5))
    def test_an_answer_equals_itself_in_any_order(self, gold: list[str]) -> None:
        assert OFFICIAL.right(gold, problem(*gold)) and OFFICIAL.right(gold[::-1], problem(*gold))
        forms = [normal_form(text) for text in gold]
        assert forms == [form.strip().lower() for form in forms]

    @pytest.mark.parametrize(
        "text", ["[" * 50_000, "[1]" * 20_000 + "x", " (" * 20_000, "9" * 50_000, "*" * 50_000]
    )
    def test_long_texts_take_no_time(self, text: str) -> None:
        assert OFFICIAL.right([text], problem(text))


class TestTableCot:
    @pytest.mark.parametrize(
        ("text", "prediction"),
        [
            ("It won. Therefore, the answer is 2009.", "2009"),
            ('\nThe answer is "B".\nMore.', "B"),
            ("The answer is 3.5.", "The answer is 3.5."),  # no stop may stand inside
            ("I think it is 7.", "I think it is 7."),
        ],
    )
    def test_of_a_text(self, text: str, prediction: str) -> None:
        assert TABLECOT.from_output(text, problem("x")) == prediction

    def test_lists_are_texts_with_commas(self) -> None:
        assert TABLECOT.right(["b", "a"], problem("a", "b")) and TABLECOT.right("a and b", problem("b", "a"))
        assert TABLECOT.right([4], problem("four")) and not TABLECOT.right(None, problem("none"))


@given(texts, texts)
def test_single_answers_match_both_ways_and_themselves(one: str, other: str) -> None:
    if "|" not in one + other:
        for rule in (OFFICIAL, TABLECOT):
            assert rule.right(one, problem(other)) == rule.right(other, problem(one))
            assert rule.right(one, problem(one))


class TestBinder:
    @pytest.fixture(autouse=True)
    def _recogniser(self) -> None:
        pytest.importorskip("recognizers_number")

    @pytest.mark.parametrize(
        ("prediction", "gold", "question", "right"),
        [
            (["1"], "home", "was it at home or away?", True),
            (["0"], "home", "was it at home or away?", False),
            (["0"], "away?", "was it at home or away?", True),  # the mark sticks to the word
            (["1"], "it?", "or was it?", True),  # counted from the end
            (["2011-10"], "October 2011", "when?", True),
            (["14"], "14 weeks", "how long?", False),
            (["14"], "14 days", "how long?", True),
            ("14", "14", "how long?", False),  # no list
            (["1991/92"], "1991/92", "when?", True),
            (["jan 26, 1995 " * 5_000], "jan 26, 1995 " * 5_001, "when?", False),  # takes no time
        ],
    )
    def test_what_is_right(self, prediction: Any, gold: str, question: str, right: bool) -> None:
        assert BINDER.right(prediction, problem(gold, question=question)) is right

    def test_answers_of_runs_become_lists(self) -> None:
        assert [BINDER.from_answer(said, problem("14")) for said in (14, ["14"])] == [[14], ["14"]]

    def test_the_question_is_needed(self) -> None:
        with pytest.raises(InputError, match="needs the question"):
            BINDER.right(["a"], Problem("1", {}, ["a"]))
