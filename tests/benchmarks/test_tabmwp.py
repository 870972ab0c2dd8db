"""TabMWP: reading its problems, and the rules of three papers with the oddities that are parts of them."""

from fractions import Fraction
from typing import Any

import pytest

from chameleon import Table
from chameleon.benchmarks.scorers import tabmwp_rule
from chameleon.benchmarks.scorers.promptpg import PromptPGRule
from chameleon.benchmarks.tabmwp import Tabmwp, read_text_table
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import UNKNOWN_CHOICES, WEEKEND, choice, number

ROW: dict[str, Any] = {"pid": "101", "question": "Which kite flew longest?", "choices": ["red", "blue"]}
ROW |= {"answer": "blue", "unit": None, "table_title": "Minutes in the air", "grade": 4, "split": "dev"}
ROW |= {"table": "Kite | Minutes\nred | 12\nblue | 15", "ques_type": "multi_choice"}
ROW |= {"ans_type": "extractive_text", "solution": "15 is more than 12."}
FREE: dict[str, Any] = {"question": "How many minutes?", "choices": None, "answer": "27", "unit": "minutes"}
TYPED = {**ROW, **FREE, "ques_type": "free_text", "ans_type": "integer_number"}


def problem(**changes: Any) -> Problem:
    return Tabmwp().problem({**ROW, **changes}, {})


def test_rows() -> None:
    read = problem()
    assert (read.id, read.gold, read.columns) == ("101", "blue", ("MC", "EXTR", "G1-6"))
    assert [problem(grade=grade).columns[2] for grade in (6, 7)] == ["G1-6", "G7-8"]
    table = Table(["Kite", "Minutes"], [["red", "12"], ["blue", "15"]], "Minutes in the air")
    asked = {"question": "Which kite flew longest?", "choices": ["red", "blue"], "unit": None}
    assert read.input == {**asked, "table": table}, "and no solution"
    typed = {"answer": "blue", "ans_type": "extractive_text", "unit": None, "choices": ["red", "blue"]}
    assert read.detail == typed
    read = Tabmwp().problem({"pid": 7, "table": ROW["table"], **FREE}, {})
    assert (read.id, read.columns) == ("7", ("FREE", "INT"))
    assert read.input["table"].caption == "" and read.input["choices"] is None
    assert read.input["unit"] == read.detail["unit"] == "minutes"
    recorded = {"pid": "9", "answer": "blue", "ques_type": "multi_choice", "ans_type": "other_text"}
    read = Tabmwp().problem(recorded, {})
    assert (read.input, read.columns) == ({}, ("MC", "OTH"))
    assert Tabmwp.scorers["pot"]().right("blue", read) and Tabmwp.scorers["promptpg"]().right("Blue", read)
    free = {"pid": "9", "answer": "2,001", "ques_type": "free_text", "ans_type": "integer_number"}
    assert Tabmwp.scorers["chameleon"]().right(2001.0, Tabmwp().problem(free, {}))


def test_text_tables_and_percentages_that_are_rounded_twice() -> None:
    table = read_text_table("Stem | Leaf \n1 | 0, 2\n2 | \n3", "Ages")
    assert table == Table(["Stem", "Leaf"], [["1", "0, 2"], ["2", ""], ["3", ""]], "Ages")
    assert read_text_table("alone") == Table(["alone"])
    assert read_text_table("a | a\n | b").header == ("a", "a")
    percent = Tabmwp().percent
    assert percent("ALL", 7169, 7686) == "93.27" and percent("OTH", 0, 0) == percent("ALL", 0, 0) == "–"
    assert percent("ALL", 45, 7686) == "0.58"  # 0.58548… is 0.585 and then 0.58
    assert percent("FREE", 45, 7686) == "0.59"


NAN = float("nan")
HUGE = 10**5000  # Python refuses to write it
DAYS = choice("Friday", ["Wednesday", "Thursday", "Friday"])
YES, NO = (choice(gold, ["yes", "no"]) for gold in ("yes", "no"))
CHAMELEON, POT = tabmwp_rule.ChameleonRule(), tabmwp_rule.ProgramOfThoughtRule()


class TestShared:
    def test_similarity(self) -> None:
        for first, second, alike in [
            ("blue kite", "blue kite", 2.0),
            ("kite", "Kite", 0.0),
            ("kite kite", "kite", 1 / 2),  # distinct common words, but all words in the length
            ("a  b", "b", 1 / 3),  # two spaces hold an empty word
            ("", "", 2.0),
        ]:
            assert tabmwp_rule.similarity(first, second) == tabmwp_rule.similarity(second, first) == alike
        clubs = ["rowing club", "swimming class", "swimming team"]  # the first of equally similar choices
        assert tabmwp_rule.most_similar("swimming", clubs) == "swimming class"
        assert tabmwp_rule.most_similar("chess", clubs) == clubs[0]

    def test_numbers(self) -> None:
        values = [None, " 2.50 ", "1,204", Fraction(3, 4), [], ("east", "west"), [[1], 2]]
        found = [None, 2.5, "1,204", 0.75, None, "east", "[1]"]
        values += [{"total": 5, "rest": 1}, {"total": "5"}, {}, {3}, 2j, HUGE]
        found += [5, "5", None, "{3}", "2j", HUGE]
        assert list(map(tabmwp_rule.floatify, values)) == found
        assert [type(tabmwp_rule.floatify(each)) for each in values] == list(map(type, found))
        read = [tabmwp_rule.read_number(each) for each in ("3/4", "1,204.5", "15%", "-2.5", "1/2/9")]
        assert read == [0.75, 1204.5, 0.15, -2.5, 0.5]
        for text in ("", "kite", "1.5/2", "1,000/2", "3/0", "12 kites"):
            with pytest.raises((ValueError, ArithmeticError)):
                tabmwp_rule.read_number(text)
        assert all(map(tabmwp_rule.same_number, (18.04, 3.1, 3.0, 1e-07), (18.0, 3.14, 3.04, 2e-07)))
        # The binary number lies below 2.675.
        assert not any(map(tabmwp_rule.same_number, (2.675, NAN, float("inf"), HUGE), (2.68, NAN, 5.0, 5.0)))
        assert not any(map(tabmwp_rule.same_number, ("7", [7.0], 2j), (7.0, 7.0, 2.0)))


def test_what_is_right() -> None:
    for problem, by_both, by_chameleon, wrong in (
        (number("3.1"), [3.14], [], []),
        (number("1/3"), [0.333], ["1/3"], ["1/0"]),
        (number("9,606"), [9606], [], []),
        (number("18"), [], ["18"], [[18], NAN]),
        (number("1"), [], [], [True]),
        (number("1204"), [], ["$1,204"], []),
        (number("0.15"), [], ["15%"], []),
        (number("12"), [], [], ["12 kites"]),
        (number("12", unit="kites"), [], ["12 kites"], ["12 Kites"]),  # the unit in its own case only
        (number("1", unit="2"), [], ["12"], []),  # wherever it occurs
        (choice("7", ["5", "7"]), ["7"], [], [7.0, 7]),
        # "Monday" becomes Saturday, which has no less in common.
        (WEEKEND, ["Sunday"], [" $sunday ", "on Sunday"], ["Monday", None, ["Sunday"], {"a"}]),
        (choice("Saturday", ["Saturday", "Sunday"]), [], ["Monday", None], []),
        (YES, [True], [], []),
        (NO, [False], [], [True]),
        (choice("Yes", ["Yes", "No"]), [], [], [True]),
        (choice("true", ["true", "false"]), [], [], [True]),
    ):
        every = [*by_both, *by_chameleon, *wrong]
        assert [each for each in every if POT.right(each, problem)] == by_both
        assert [each for each in every if CHAMELEON.right(each, problem)] == [*by_both, *by_chameleon]


def test_what_promptpg_reads_in_a_text() -> None:
    """A letter counts even where it begins a word, as of "At noon"; "the" is no "The"."""
    days: dict[str, str] = {"(b)": "Thursday", "b. as the table shows": "Thursday", "Thursday.": "Thursday"}
    days |= dict.fromkeys(("It is Thursday", "The answer is Blue"), "Thursday")
    days |= {"The answer is (C) Friday.": "Friday"}
    days |= dict.fromkeys(("At noon, Friday", "the answer is C", ""), "Wednesday")
    assert {text: PromptPGRule().from_output(text, DAYS) for text in days} == days
    texts = ["The table shows that 14 people came in 2019.", "It leaves at 7:25 P.M."]
    assert [PromptPGRule().from_output(text, number("1")) for text in texts] == ["14", "7:25 P.M."]


def test_what_the_rules_need_and_do_not_read() -> None:
    dated = Problem("4", {}, "7", detail={"ans_type": "date", "choices": None})
    for rule in (CHAMELEON, POT):
        for asked, told in ((number("seven"), "'seven' should be a number"), (dated, "'date', is unknown")):
            with pytest.raises(InputError, match=told):
                rule.right(7.0, asked)
    for reads in (CHAMELEON.right, lambda text, problem: PromptPGRule().from_output(text, problem)):
        with pytest.raises(InputError, match="problem 3: the scoring rule needs the choices"):
            reads("(A)", UNKNOWN_CHOICES)
    with pytest.raises(InputError, match="no rule for a model's text"):
        POT.from_output("The answer is 5.", number("5"))
    assert CHAMELEON.from_value(["4"], number("4")) == 4.0
    assert POT.from_value(Fraction(1, 2), number("1/2")) == 0.5
    assert tabmwp_rule.normalize(2.00049, (), None) == 2.0


class TestPromptPG:
    def test_a_letter_beyond_the_choices_is_a_choice_at_random(self) -> None:
        """ "The answer is Friday" reads as F, and there is no sixth choice."""
        one, other = PromptPGRule(), PromptPGRule()
        series = [one.from_output("The answer is Friday", DAYS) for _ in range(40)]
        assert series == [other.from_output("(E)", DAYS) for _ in range(40)]
        assert set(series) == set(DAYS.detail["choices"])

    def test_what_is_right(self) -> None:
        rule, plain = PromptPGRule(), number("18")
        assert rule.right("12 kites", number("12", unit="kites")) and rule.right("SUNDAY", WEEKEND)
        assert not any(rule.right(each, plain) for each in (18.04, None, [18], HUGE, "1.2.3", "1/0"))
        assert rule.right("1/0", number("1/0")) and not rule.right("SUNDAY", UNKNOWN_CHOICES)
