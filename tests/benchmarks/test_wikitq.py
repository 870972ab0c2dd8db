"""WikiTableQuestions: its readers, and its three rules by vectors and by their nature."""

import re
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
from tests.benchmarks.shared_data import needs_data, problems_in, rows, texts, write_files

PATH = "csv/204-csv/7.csv"
ROW: dict[str, Any] = {"id": "nu-7", "question": "which kites flew 15 minutes or more?", "table_id": PATH}
ROW |= {"answer": ["red", "blue"], "answer_canon": ["red", "blue"], "canon_type": "string"}
TABLE: dict[str, Any] = {"table_id": PATH, "caption": "Kites", "header": ["Kite", "Minutes\nin the air"]}
TABLE["rows"] = [["red", "15"], ["blue|green", '20 "about"'], ["short"]]
NAMES = "id\tutterance\tcontext\ttargetValue"
QUESTIONS = f"{NAMES}\nnt-1\twhich flew \\p longest?\t{PATH}\tblue\\pgreen|a\\\\n\n"
TAGS = "how|many|?\t1200.0\tnumber"
TAGGED = f"{NAMES}\ttokens\ttargetCanon\ttargetCanonType\nnt-1\thow many?\t{PATH}\t1,200\t{TAGS}\n"
OFFICIAL, TABLECOT, BINDER = (Wikitq.scorers[name]() for name in ("official", "tablecot", "binder"))


def problem(*gold: str, canon: list[str] | None = None, question: str = "who?") -> Problem:
    return Problem("1", {}, list(gold), detail={"canon": canon, "question": question})


@pytest.fixture
def release(tmp_path: Path) -> Path:
    table = '"Kite","Minutes\nin the air"\n"red","15"\n"blue|green","20 \\"about\\""\n"short"\n'
    files = {"data/some.tsv": QUESTIONS, "tagged/data/some.tagged": TAGGED, PATH: table}
    return write_files(tmp_path, {**files, "page/204-page/7.json": {"title": "Kites", "tableIndex": 1}})


class TestReader:
    def test_rows_with_and_without_their_table(self) -> None:
        read = Wikitq().problem(ROW, {PATH: TABLE})
        assert (read.id, read.gold, read.columns) == ("nu-7", ["red", "blue"], ("small",))
        assert read.input["question"] == ROW["question"] and "answer" not in str(read.input)
        assert read.input["table"].caption == "Kites" and read.input["table"].rows[2] == ("short", "")
        assert read.detail == {"canon": ["red", "blue"], "question": ROW["question"]}
        recorded = {"id": "nu-7", "table_id": "t", "question": "who?", "gold": ["red"], "output": "red"}
        read = Wikitq().problem(recorded, {})
        assert (read.input, read.columns, read.gold, read.detail["canon"]) == ({}, (), ["red"], None)
        assert Wikitq().recognizes(recorded)
        for cells, size in {499: "small", 500: "medium", 999: "medium", 1000: "large"}.items():
            table = {**TABLE, "header": ["a"], "rows": [["b"]] * cells}  # a line is four tokens with its end
            assert Wikitq().problem(ROW, {PATH: table}).columns == (size,)

    def test_the_release(self, release: Path) -> None:
        [read] = problems_in("wikitq", release / "data/some.tsv")
        assert read.input["question"] == "which flew | longest?"
        assert read.gold == ["blue|green", "a\\n"] and read.detail["canon"] is None
        rows = [*TABLE["rows"][:2], ["short", ""]]
        assert read.input["table"] == Table(TABLE["header"], rows, "Kites")
        [tagged] = problems_in("wikitq", release / "tagged/data/some.tagged")
        assert (tagged.gold, tagged.detail["canon"]) == (["1,200"], ["1200.0"])
        assert tagged.input["table"].caption == "Kites" and OFFICIAL.right("1200", tagged)

    def test_tables_are_found_in_the_folder_alone_and_what_is_none_is_told(self, release: Path) -> None:
        outside = ("../data/some.tsv", "/etc/hostname", "csv/../../x.csv", "csv/204-csv/9.csv", "\0")
        rows = [ROW, *({**ROW, "id": id, "table_id": id} for id in outside)]
        data = write_files(release, {"elsewhere.jsonl": rows}) / "elsewhere.jsonl"
        for folder in ("csv", "."):
            inside, *others = problems_in("wikitq", data, release / folder)
            assert inside.input["table"].header == ("Kite", "Minutes\nin the air")
            assert len(others) == 5 and not any(each.input or each.columns for each in others)
        for changes in ({"rows": None}, {"header": "a"}, {"rows": [[1]]}):
            with pytest.raises(InputError):
                Wikitq().problem(ROW, {PATH: {**TABLE, **changes}})
        data = release / "data/some.tsv"
        for line, told in {"nt-1": "has 1 fields", "nt-1\t\udcff": "this is not UTF-8 text"}.items():
            data.write_bytes(f"id\tutterance\n{line}\n".encode("utf-8", "surrogateescape"))
            with pytest.raises(InputError, match=f"line 2: .*{told}"):
                list(read_problems(Wikitq(), DataFile(data)))

    @given(st.lists(st.text(), min_size=1))
    def test_escapes_come_back(self, items: list[str]) -> None:
        escaped = [item.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p") for item in items]
        assert unescaped_list("|".join(escaped)) == [unescaped(item) for item in escaped] == items


@needs_data
def test_vectors() -> None:
    kinds = {type(None): "StringValue", int: "NumberValue", float: "NumberValue", tuple: "DateValue"}
    vectors = rows("vectors/wikitq_eval.jsonl")
    for vector in vectors:
        targets, predicted = answers(vector["gold"], vector["gold_canon"]), answers(vector["pred"])
        assert same_denotation(targets, predicted) is vector["correct"], vector["name"]
        assert sorted(each.text for each in targets) == sorted(vector["gold_norm"]), vector["name"]
        assert sorted(each.text for each in predicted) == sorted(vector["pred_norm"]), vector["name"]
        assert sorted(kinds[type(each.meant)] for each in predicted) == sorted(vector["pred_types"])
    assert len(vectors) == 49
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


OFFICIALLY: list[tuple[list[str], list[Any], list[Any]]] = [(["a", "b"], [["b", "a"]], ["a|b"])]
OFFICIALLY += [(["a"], [("a",)], [[]]), (["32"], [32, 32.0], []), (["yes"], [True], [])]
OFFICIALLY += [(["no"], [False], []), (["None"], [], [None])]
SAME = """
12467 != 12,467 | 1000 != 1_000 | 1995-13-1 != 1995-13-01 | 1995 = 1995-xx-xx | xx-xx-xx = xx-xx-xx | iv = Ⅳ
3 = 3.9999999 | X = X (a)[1]* | X != X (a). | [a] = [a] [b] | 5 = 5´
"""


class TestOfficial:
    def test_what_is_right(self) -> None:
        """Cut, not rounded; no month; Python 2 reads no underscores; a run's answer is parted, see below."""
        for gold, right, wrong in OFFICIALLY:
            assert [each for each in [*right, *wrong] if OFFICIAL.right(each, problem(*gold))] == right
        for row in SAME.strip().replace("\n", " | ").split(" | "):
            gold, said = re.split(" = | != ", row)
            assert OFFICIAL.right(said, problem(gold)) is (" = " in row), row

    def test_canonical_values_bars_and_long_texts(self) -> None:
        known = problem("four", canon=["4.0"])
        assert OFFICIAL.right("4", known) and OFFICIAL.right("four", known)
        assert not OFFICIAL.right("4", problem("four"))
        asked = problem("a", "b")
        for said in (OFFICIAL.from_answer("a | b", asked), OFFICIAL.from_output("a|b", asked)):
            assert OFFICIAL.right(said, asked)
        assert OFFICIAL.from_answer(7, asked) == 7
        for text in ("[" * 50_000, "[1]" * 20_000 + "x", " (" * 20_000, "9" * 50_000, "*" * 50_000):
            assert OFFICIAL.right([text], problem(text))

    @given(st.lists(texts, min_size=1, max_size=5))
    def test_an_answer_equals_itself_in_any_order(self, gold: list[str]) -> None:
        assert OFFICIAL.right(gold, problem(*gold)) and OFFICIAL.right(gold[::-1], problem(*gold))
        forms = [normal_form(text) for text in gold]
        assert forms == [form.strip().lower() for form in forms]


def test_tablecot() -> None:
    assert TABLECOT.right(["b", "a"], problem("a", "b")) and TABLECOT.right("a and b", problem("b", "a"))
    assert TABLECOT.right([4], problem("four")) and not TABLECOT.right(None, problem("none"))


@given(texts, texts)
def test_single_answers_match_both_ways_and_themselves(one: str, other: str) -> None:
    if "|" not in one + other:
        for rule in (OFFICIAL, TABLECOT):
            assert rule.right(one, problem(other)) == rule.right(other, problem(one))
            assert rule.right(one, problem(one))


def test_binder() -> None:
    pytest.importorskip("recognizers_number")
    for prediction, gold, question, right in [
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
    ]:
        assert BINDER.right(prediction, problem(gold, question=question)) is right, gold[:20]
    assert [BINDER.from_answer(said, problem("14")) for said in (14, ["14"])] == [[14], ["14"]]
    with pytest.raises(InputError, match="needs the question"):
        BINDER.right(["a"], Problem("1", {}, ["a"]))
