"""FinQA: reading reports and predictions, equivalence of programs, and answers without their units."""

import json
import re
import sys
from fractions import Fraction
from operator import add, mul, sub, truediv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import State, Table
from chameleon.benchmarks.finqa import Finqa, line_as_text
from chameleon.benchmarks.finqa_gold import FinqaGold
from chameleon.benchmarks.scorers.finqa_answers import AnswerRule
from chameleon.benchmarks.scorers.finqa_equivalence import equivalent
from chameleon.benchmarks.scorers.finqa_rule import OfficialRule, as_program, tokens_in
from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.benchmark import Problem
from chameleon.modules.reports.finqa_program import tokens_of
from tests.benchmarks.shared_data import write_files
from tests.e2e.commands import Command

FINQA = Finqa()
Patch, Json = pytest.MonkeyPatch, dict[Any, Any]
_HEADER, _DUES = ["( in thousands )", "2011", "2010"], ["harbour dues", "$ 1250", "900"]
LINES = [_HEADER, _DUES, ["ferry fares", "310", "290"]]
ROW: dict[str, Any] = {"id": "PORT/2011/page_4.pdf-1", "filename": "PORT/2011/page_4.pdf", "table": LINES}
ROW |= {"pre_text": ["the port is small .", "dues rose ."], "post_text": ["fares rose to 310 ."]}
ROW["qa"] = {"question": "what was the percentage change in harbour dues from 2010 to 2011?"}
ROW["qa"] |= {"answer": "38.9%", "program": "subtract(1250, 900), divide(#0, 900)", "exe_ans": 0.38889}
ROW["qa"]["gold_inds"] = {"table_1": "the harbour dues of 2011 is $ 1250 ;", "text_2": "fares rose to 310 ."}
DUES = "( in thousands ) the harbour dues of 2011 is $ 1250 ; the harbour dues of 2010 is 900 ;"
SINGLE: dict[str, Any] = {"id": "dev-0001", "question": "did dues rise?", "table": LINES, "exe_ans": "yes"}
SINGLE |= {"retrieved_context": [DUES, "dues rose ."], "program": "greater(1250, 900)", "invalid": 0}


def test_a_report() -> None:
    read = FINQA.problem(ROW, {})
    assert (read.id, read.gold, read.columns) == (ROW["id"], 0.38889, ("table and text", "2 steps"))
    texts = {"the port is small .": "before", "dues rose .": "before", "fares rose to 310 .": "after"}
    passages = [{"title": "", "text": text, "place": place} for text, place in texts.items()]
    asked = {"question": ROW["qa"]["question"], "table": Table(LINES[0], LINES[1:])}
    assert read.input == {**asked, "passages": passages}, "and no gold data"
    assert read.detail["facts"] == ["table_1", "text_2"] and read.detail["answer"] == "38.9%"


def test_questions_with_what_was_retrieved_and_without_gold() -> None:
    """Its sentences that are lines of the table are left out: the table has them."""
    read = FINQA.problem(SINGLE, {})
    assert read.input["passages"] == [{"title": "", "text": "dues rose ."}]
    assert (read.gold, read.columns, read.detail["facts"]) == ("yes", ("1 step", "yes/no"), None)
    # A line as the published retriever reads it:
    text = "( in thousands ) the ferry fares of 2011 is 310 ; the ferry fares of 2010 is 290 ;"
    assert line_as_text(LINES[0], LINES[2]) == text
    read = FINQA.problem({**ROW, "qa": {"question": "what?"}}, {})
    assert (read.gold, read.columns) == (None, ())
    with pytest.raises(InputError, match="need the gold program"):
        FINQA.scorers["official"]().judged("add(1, 2)", read)


def test_official_predictions(tmp_path: Path, command: Command) -> None:
    """A list of tokens for each id, as the original script takes them."""
    said = {  # right, rewritten and wrong
        ROW["id"]: "subtract( 1250 900 ) divide( #0 900 ) EOF",
        "b": "divide( 1250 900 ) subtract( #0 const_1 ) EOF",
        "c": "add( 1 2 ) EOF",
    }
    predictions = [{"id": id, "predicted": tokens.split()} for id, tokens in said.items()]
    write_files(tmp_path, {"dev.json": [{**ROW, "id": id} for id in said], "said.json": predictions})
    files = (str(tmp_path / name) for name in ("dev.json", "said.json"))
    found = json.loads(command("score", "finqa", *files, "--json").out)
    assert found["n"] == 3
    assert found["figures"]["execution accuracy"] == pytest.approx(200 / 3)
    assert found["figures"]["program accuracy"] == pytest.approx(100 / 3)
    assert found["figures"]["execution ± 90%"] == pytest.approx(44.77, abs=0.01)


def test_runs_are_given_dashes_and_whole_lines_and_the_ceiling_nothing_but_the_gold_facts() -> None:
    """The release has the dashes of blank cells as 2013 and 2014."""
    lines = [["( in millions )", "2011", "2010", "expires"], ["cash", "$ 2014", "2013", "2014"]]
    lines += [["loans", "5", "7", "2012"], ["fees", "5", "2014%", ""], ["year of purchase", "2013", "2014"]]
    read = FINQA.problem({**ROW, "table": lines}, {})
    given = [("cash", "$ —", "–", "2014"), ("loans", "5", "7", "2012"), ("fees", "5", "—%", "")]
    given += [("year of purchase", "2013", "2014", "")]
    assert read.detail["lines"] == lines and read.input["table"].rows == tuple(given)
    read = FinqaGold().problem(ROW, {})
    assert read.input["table"] == Table(LINES[0], [LINES[1]])
    assert [each["text"] for each in read.input["passages"]] == ["fares rose to 310 ."]
    assert read.detail["lines"] == LINES and not FinqaGold().recognizes(ROW)
    with pytest.raises(InputError, match="gold facts are missing"):
        FinqaGold().problem(SINGLE, {})


OFFICIAL, ANSWER = OfficialRule(), AnswerRule()
PRECISION = Finqa.scorers["pot"]()


def same(gold: str, said: str) -> bool:
    return equivalent(tokens_of(gold), tokens_of(said))


def asking(gold: Any = 0.56197, answer: str | None = None, question: str = "how many?") -> Problem:
    row = {"id": "p", "question": question, "table": [["", "2011"], ["dues", "5"]], "retrieved_context": []}
    row |= {"program": "greater(2, 1)" if isinstance(gold, str) else "divide(25048, 44572)"}
    return FINQA.problem({**row, "exe_ans": gold, "answer": answer}, {})


class TestEquivalence:
    def test_expressions(self) -> None:
        for gold, equal, others in (
            ("add(5, 3)", "add(3, 5); multiply(5, 3), add(5, 3)", ""),  # a step that is not used
            ("add(5, 3)", "", "add(#0, 3); add(5, #-1); add(5, 3), add(5, #-1); sum(5, 3)"),
            ("add(5, 3)", "", "add(5, 3; greater(5, 3)"),
            ("add(5, 3)", "", "multiply(5, 3); greater(5, 3), add(#0, 3); subtract(5, 5), divide(3, #0)"),
            ("subtract(5, 3), divide(#0, 3)", "divide(5, 3), divide(3, 3), subtract(#0, #1)", ""),
            ("multiply(5, 2)", "", "add(5, 5)"),  # equal in value, not for every number
            ("exp(5, 2)", "exp(5, 2)", ""),
            ("divide(5, 3), subtract(#0, 3)", "divide(5, 3), subtract(##0, 3)", ""),
            ("add(5, const_100)", "", "add(5, 100)"),  # arguments are compared as they are written
            ("add(5.0, 3)", "", "add(5, 3)"),
            ("greater(5, 3)", "", "greater(3, 5)"),
        ):
            assert all(same(gold, each) for each in equal.split("; ") if equal)
            assert not any(same(gold, each) for each in others.split("; "))

    def test_a_step_over_a_table_must_stand_where_it_stands(self) -> None:
        """All steps but the first are cut out with a bar before them, and are other steps then."""
        gold = "table_sum(dues, none), divide(#0, 2)"
        assert same(gold, gold)
        assert not same(gold, "add(2, 2), table_sum(dues, none), divide(#1, 2)")
        second = "add(2, 2), table_sum(dues, none), divide(#1, #0)"
        assert same(second, "multiply(2, 2), add(2, 2), table_sum(dues, none), divide(#2, #1)")

    def test_a_program_without_end_is_wrong_and_sympy_asked_where_it_must_be(
        self, monkeypatch: Patch
    ) -> None:
        steps = ["add(5, 3)", *(f"multiply(#{number}, #{number})" for number in range(60))]
        assert not same("add(5, 3)", ", ".join(steps))
        towers = ["exp(5, 3)", *(f"exp(#{number}, #{number})" for number in range(7))]
        assert not same("exp(5, 3)", ", ".join(towers))
        with pytest.raises(InputError, match="gold program cannot be read"):
            same("nothing", "add(1, 2)")
        monkeypatch.setitem(sys.modules, "sympy", None)
        assert same("add(5, 3)", "add(5, 3)") and not same("add(5, 3)", "subtract(5, 3)")
        with pytest.raises(MissingPackage) as told:
            same("add(5, 3)", "add(3, 5)")
        assert "chameleon-compose[programs]" in told.value.hint


OPERATIONS: dict[str, Any] = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}
_number = st.sampled_from(["5", "3", "2", "#0", "#1"])
_step = st.builds("{}({}, {})".format, st.sampled_from([*OPERATIONS]), _number, _number)
_steps = st.lists(_step, min_size=1, max_size=3).map(", ".join)


@given(_steps)
def test_a_program_is_equivalent_to_nothing_but_what_it_means(program: str) -> None:
    """Against its value in fractions, with numbers that have nothing in common."""
    numbers = {"5": Fraction(71, 3), "3": Fraction(13, 11), "2": Fraction(17)}
    values: list[Fraction | None] = []
    for operation, *arguments in re.findall(r"(\w+)\((\S+), (\S+)\)", program):
        sides: list[Any] = [numbers.get(each) for each in arguments]
        for place, each in enumerate(arguments):
            if each.startswith("#") and int(each[1:]) < len(values):
                sides[place] = values[int(each[1:])]
        fits = None not in sides and (sides[1] or operation != "divide")
        values.append(OPERATIONS[operation](*sides) if fits else None)
    means = values[-1] == (numbers["5"] - numbers["3"]) / numbers["2"]
    assert same("subtract(5, 3), divide(#0, 2)", program) is means


class TestRuns:
    def test_what_is_a_program(self) -> None:
        assert as_program(25048 / 44572) == "add(0.56197, 0)" and as_program("34.7%") == "add(0.347, 0)"
        assert as_program("nothing") is None and as_program(10**400) is None
        assert tokens_in(["add(", "1", "2", ")", "EOF"]) == tokens_in("add(1, 2)")
        assert tokens_in(["add(", 1]) is None and tokens_in(None) is None and tokens_in(["a"]) == ["a"]
        assert FINQA.found(State(cache={"finqa_program": "add(1, 2)"})) == {"program": "add(1, 2)"}
        assert FINQA.found(State(cache={"program": "ans = 1"})) == {}

    def test_a_program_counts_before_the_answer_which_may_be_yes_or_no_or_nothing(self) -> None:
        value: Json = {"value": 25048 / 44572}  # what a program of another language came to
        programmed: Json = {"program": "divide(25048, 44572)"}
        for answer, found in (("56.2%", programmed), (25048 / 44572, {}), ("56.20%", value)):
            grades = OFFICIAL.grades(OFFICIAL.from_run(answer, found, asking()), asking())
            assert grades == {"execution": 1, "program": "program" in found, "answer": 1}
        for answer in ("yes", True, "Yes "):
            executed = [OFFICIAL.grades({"answer": answer}, asking(gold)) for gold in ("yes", "no")]
            assert [each["execution"] for each in executed] == [1, 0]
        declined = OFFICIAL.judged("divide(25048, 44572)", asking(), answered=False)
        assert set(declined.grades.values()) == {0.0}
        said: Json = {0.56: True, "0.5630": False, "56.2%": True, 0.57: False, None: False}
        assert [PRECISION.right(PRECISION.from_answer(each, asking()), asking()) for each in said] == [
            *said.values()
        ]
        assert PRECISION.right(PRECISION.from_run("56.2%", value, asking()), asking())
        assert PRECISION.right(True, asking("yes")) and PRECISION.right("no", asking("no"))
        assert not PRECISION.right(1.0, asking("yes"))


class TestAnswers:
    @pytest.mark.parametrize(
        ("gold", "right", "wrong"),
        [
            (0.56197, [0.56197, "0.56", "$ 0.562 million", "56%", "56.2 percent"], ["0.57", "1", "0.6"]),
            (0.56197, [], ["56.2"]),  # nobody said that it is a percentage
            (0.03621, ["4%"], []),
            (0.00411, [], ["0"]),
            (5829.0, ["5,829 employees"], []),
            (-16.0, ["-16.0", "(16)", "−16"], ["16"]),
            (7.22222, [["7.22"]], ["7.30"]),
            ("yes", [True, "Yes, it did."], ["no", "3"]),
            ("no", ["no"], []),
            pytest.param(3.0, [], ["none", None, float("nan"), "9" * 5000, [10**5000], 1e300], id="three"),
        ],
    )
    def test_answers(self, gold: Any, right: list[Any], wrong: list[Any]) -> None:
        asked = asking(gold)
        every = [*right, *wrong]
        assert [each for each in every if ANSWER.right(ANSWER.from_answer(each, asked), asked)] == right

    def test_what_annotators_wrote_and_shares_that_are_asked_for_are_right(self) -> None:
        assert ANSWER.right("101 stores", asking(112.5, answer="101 stores created per year"))
        assert ANSWER.right("56.2", asking(0.56197, question="what percent of dues was paid?"))
        asked = "if 5% of the units are free, what is the average price?"
        assert not ANSWER.right(500, asking(5.0, question=asked))
        assert ANSWER.right(5, asking(5.0, question=asked))
        text = "2011 and 2010 differ by 3. The answer is 12.\nNo: the final answer is: 0.562"
        assert ANSWER.from_output(text, asking()) == "0.562"
