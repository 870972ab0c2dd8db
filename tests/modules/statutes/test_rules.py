"""Cases judged without a model: reading their facts, the figures of a law, and declining what is in doubt."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State
from chameleon.errors import Declined
from chameleon.modules.statutes.facts import read_facts
from chameleon.modules.statutes.income_tax import tax_owed
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.rule_statute_answerer import RuleStatuteAnswerer
from chameleon.modules.statutes.tax_law import TaxLaw, rate_tables, rounded
from tests.benchmarks.shared_data import DATA, needs_data, rows
from tests.modules.statutes.tax_law_sample import LAW

SECTIONS = Statutes.of(LAW).sections
TAX = TaxLaw(SECTIONS)
MARRIED = "Nora and Olaf got married on May 4th, 1990. "


def owes(text: str, who: str = "Nora", year: int = 2015) -> int:
    return tax_owed(read_facts(text), who, year, TAX)


class TestTheLaw:
    def test_has_a_rate_table_for_each_status(self) -> None:
        tables = {table.node.name: set(table.statuses) for table in rate_tables(SECTIONS)}
        assert tables == {
            "401(a)": {"joint", "surviving spouse"},
            "401(b)": {"head"},
            "401(c)": {"single"},
            "401(d)": {"separate"},
        }
        assert TAX.tax("single", Fraction(60_000)) == 18_500 and TAX.tax("single", Fraction(10_000)) == 1500

    @given(st.integers(0, 10**7), st.integers(0, 10**6))
    def test_taxes_no_less_for_more(self, income: int, more: int) -> None:
        for status in ("joint", "head", "single", "separate"):
            assert TAX.tax(status, Fraction(income + more)) >= TAX.tax(status, Fraction(income))

    def test_changes_with_the_year(self) -> None:
        assert [TAX.basic_deduction("joint", year) for year in (2019, 2020, 2025)] == [2000, 6000, 2000]
        assert [TAX.basic_deduction("head", year) for year in (2019, 2020)] == [1700, 4000]
        assert [TAX.exemption(year) for year in (2019, 2020, 2025)] == [500, 0, 500]

    def test_phases_exemptions_out(self) -> None:
        assert TAX.exemption_share("single", Fraction(70_000)) == 1
        assert TAX.exemption_share("single", Fraction(71_001)) == Fraction(92, 100)
        assert TAX.exemption_share("separate", Fraction(45_501)) == Fraction(92, 100)
        assert TAX.exemption_share("single", Fraction(10**6)) == 0

    def test_declines_what_it_does_not_have(self) -> None:
        with pytest.raises(Declined, match="exemption amount"):
            TaxLaw(Statutes.of({"1": "§1. Fees\n\n(a) Boats pay.\n"}).sections).exemption(2015)

    @pytest.mark.parametrize(("amount", "whole"), [("2.5", 3), ("2.49", 2), ("0", 0), ("3.5", 4)])
    def test_rounds_half_a_dollar_up(self, amount: str, whole: int) -> None:
        assert rounded(Fraction(amount)) == whole


class TestTax:
    """Worked out by hand from the law of this test."""

    @pytest.mark.parametrize(
        ("text", "tax"),
        [
            ("Nora's income in 2015 is $21500.", 4500),  # 1,500 + 30% of (21,500 - 1,000 - 500 - 10,000)
            ("Nora's income in 2015 is $900.", 0),
            (f"{MARRIED}Nora and Olaf file jointly. Nora's income in 2015 is $30000.", 3400),
            (
                f"{MARRIED}Nora and Olaf file separately. Nora's income in 2015 is $22000. "
                f"Olaf's income in 2015 is $1.",
                6200,
            ),
            (
                f"{MARRIED}Nora and Olaf file separately. Nora's income in 2015 is $22000. Olaf "
                f"had no income in 2015.",
                6000,
            ),
            ("Nora's income in 2015 is $21500. Nora has been blind since May 4th, 2012.", 4380),
            ("Nora's income in 2015 is $21500. Nora was born May 4th, 1950.", 4380),
            ("Nora's income in 2015 is $21500. Nora was born May 4th, 1951.", 4500),
            (
                "Nora's income in 2015 is $71001. Nora takes the standard deduction.",
                23271,
            ),  # 460 is left of 500
            ("Nora's income in 2015 is $90000. Nora is allowed itemized deductions of $10000.", 28_950),
            (
                f"{MARRIED}Olaf died on June 3rd, 2013. Nora and Olaf have a son, Ivo, born May "
                f"2nd, 2005. In 2015, "
                "Nora and Ivo lived in a house that Nora maintained. Nora's income in 2015 is $30000.",
                3400,
            ),
            (
                "Nora has a son, Ivo. In 2015, Nora and Ivo lived in a house that Nora maintained. "
                "Nora's income in 2015 is $30000.",
                4752,
            ),
            ("Nora has a son, Ivo. Nora's income in 2015 is $21500.", 4350),
            ("Nora has a son, Ivo. Ivo's income in 2015 is $9. Nora's income in 2015 is $21500.", 4500),
            (
                "Nora's income in 2015 is $21500. Nora has paid $1000 to Olaf for work done in "
                "the year 2015.",
                4550,
            ),
            (
                "Nora's income in 2015 is $21500. Nora has paid $9000 to Olaf for work done in "
                "the year 2015.",
                4600,
            ),
            (
                "Nora's income in 2015 is $21500. Nora has paid $800 to Olaf for work done in the year 2015.",
                4500,
            ),
            ("Olaf has paid $21500 to Nora for work done in the year 2015.", 4500),
        ],
    )
    def test_is_worked_out(self, text: str, tax: int) -> None:
        assert owes(text) == tax

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("Nora's income in 2015 is $21500. Nora sails.", "no rule reads"),
            ("Nora's income in 2014 is $21500.", "do not tell the income"),
            ("Olaf's income in 2015 is $21500.", "tell nothing of Nora"),
            (f"{MARRIED}Nora's income in 2015 is $21500.", "do not tell the income of Olaf"),
            (f"{MARRIED}Nora's income in 2015 is $1. Olaf was a nonresident alien.", "income of Olaf"),
            (
                f"{MARRIED}Nora and Olaf have a son, Ivo. Nora's income in 2015 is $9000. "
                "Olaf's income in 2015 is $1.",
                "who is a dependent",
            ),
            ("Nora's income in 2015 is $1. Nora died on May 3rd, 2012.", "had died"),
            ("Nora's income in 2015 is $9000. Nora has a sister, Ida.", "who is a dependent"),
            ("Nora and Olaf file jointly. Nora's income in 2015 is $1.", "not married"),
            (
                "Nora has itemized deductions of $10. Nora takes the standard deduction. Nora "
                "earned $90 in 2015.",
                "itemized, and",
            ),
            (
                "Nora has a son, Ivo. Nora earned $90 in 2015. Nora has paid $50 to Ivo for "
                "work done in the year 2015.",
                "such kin",
            ),
        ],
    )
    def test_is_declined_where_there_is_doubt(self, text: str, why: str) -> None:
        with pytest.raises(Declined, match=why):
            owes(text)


class TestTheModule:
    @pytest.mark.parametrize(
        ("question", "text", "answer"),
        [
            ("How much tax does Nora have to pay in 2015?", "Nora's income in 2015 is $21500.", "$4500"),
            ("Ivo bears a relationship to Nora under section 405(a)(1).", "Ivo is Nora's son.", "Entailment"),
            (
                "Nora bears a relationship to Ivo under section 405(a)(1).",
                "Ivo is Nora's son.",
                "Contradiction",
            ),
            ("How much tax does Nora have to pay?", "Nora's income in 2015 is $21500.", None),
            ("Does Nora pay?", "Nora's income in 2015 is $21500.", None),
            ("How much tax does Nora have to pay in 2015?", "", None),
        ],
    )
    def test_answers_or_declines_without_a_model(self, question: str, text: str, answer: str | None) -> None:
        state = Executor(Inventory.load("sara_offline")).run(
            {"question": question, "text": text, "statutes": LAW}
        )
        assert state.answer == answer and state.ended is not None
        assert state.ended.reason == ("answered" if answer else "declined") and not state.calls

    def test_declines_without_statutes(self) -> None:
        with pytest.raises(Declined, match="no statutes"):
            RuleStatuteAnswerer().run(
                State(input={"question": "Nora pays.", "text": "Nora earned $3 in 2015."})
            )


@needs_data
@pytest.mark.parametrize(("kind", "answered", "of"), [("entailment", 75, 176), ("numeric", 38, 80)])
def test_the_shared_cases(kind: str, answered: int, of: int) -> None:
    """As told in docs/statutes.md: what is answered is right, to the dollar."""
    module = RuleStatuteAnswerer(str(DATA / "sara/statutes.json"))
    cases = [case for case in rows("sara/cases.jsonl") if case["kind"] == kind]
    found = {}
    for case in cases:
        try:
            found[case["id"]] = module.run(State(input={"question": case["question"], "text": case["text"]}))
        except Declined:
            continue
    assert (len(found), len(cases)) == (answered, of)
    assert found == {case["id"]: case["answer"] for case in cases if case["id"] in found}
