"""Statements judged without a model, and where facts of another year, or open ones, must not count."""

from __future__ import annotations

import pytest

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import read_facts
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.statements import judge
from tests.modules.statutes.tax_law_sample import LAW

SECTIONS = Statutes.of(LAW).sections


class TestStatements:
    SINGLE = "Nora is not married, is not a surviving spouse, and is not a head of household in 2015. "

    @pytest.mark.parametrize(
        ("facts", "statement", "holds"),
        [
            (
                SINGLE + "Nora's taxable income for the year 2015 is $20000.",
                "Nora has to pay $4500 in taxes for the year 2015 under section 401(c)(ii).",
                True,
            ),
            (
                SINGLE + "Nora's taxable income for the year 2015 is $20000.",
                "Nora has to pay $4500 in taxes for the year 2015 under section 401(c).",
                True,
            ),
            (
                SINGLE + "Nora's taxable income for the year 2015 is $20000.",
                "Nora has to pay $4500 in taxes for the year 2015 under section 401(c)(i).",
                False,
            ),
            (
                SINGLE + "Nora's taxable income for the year 2015 is $20000.",
                "Nora has to pay $4501 in taxes for the year 2015 under section 401(c)(ii).",
                False,
            ),
            (
                SINGLE + "Nora's taxable income for the year 2015 is $20000.",
                "Nora has to pay $2000 in taxes for the year 2015 under section 401(a)(i).",
                False,
            ),
            ("Ivo is Nora's son.", "Ivo bears a relationship to Nora under section 405(a)(1).", True),
            ("Ivo is Nora's son.", "Nora bears a relationship to Ivo under section 405(a)(1).", False),
            ("Ivo is Nora's son.", "Nora bears a relationship to Ivo under section 405(a)(3).", True),
            (
                "Ivo is Nora's son. Ida is Ivo's daughter.",
                "Ida bears a relationship to Nora under section 405(a)(1).",
                True,
            ),
            (
                "Ivo is Nora's son. Ida is Nora's daughter.",
                "Ida bears a relationship to Ivo under section 405(a)(2).",
                True,
            ),
            (
                "Ivo is Nora's son. Ivo is Max's son. Nora married Olaf on May 4th, 2014.",
                "Olaf bears a relationship to Ivo under section 405(a)(4) for the year 2015.",
                True,
            ),
            (
                "Ivo is Nora's son. Ivo is Max's son. Nora married Olaf on May 4th, 2016.",
                "Olaf bears a relationship to Ivo under section 405(a)(4) for the year 2015.",
                False,
            ),
            (
                "Ivo is Nora's son. Olaf is Nora's brother.",
                "Olaf bears a relationship to Ivo under section 405(a)(5).",
                True,
            ),
            (
                "Nora is a head of household for 2015.",
                "Under section 402(a)(1)(B), Nora's basic standard deduction in 2015 is equal to $1700.",
                True,
            ),
            (
                "Nora is a head of household for 2021.",
                "Under section 402(a)(1)(B), Nora's basic standard deduction in 2021 is equal to $1700.",
                False,
            ),
            (
                SINGLE,
                "Under section 402(a)(1)(C), Nora's basic standard deduction in 2015 is equal to $1000.",
                True,
            ),
            (
                SINGLE,
                "Under section 402(a)(1)(B), Nora's basic standard deduction in 2015 is equal to $1000.",
                False,
            ),
            (
                "Nora's income in 2015 is $73500. The applicable amount according to section "
                "403(b) is $70000.",
                "Under section 403(b)(1), the applicable percentage for Nora for 2015 is equal to 16.",
                True,
            ),
            (
                "Nora's income in 2015 is $173500. The applicable amount according to section "
                "403(b) is $70000.",
                "Under section 403(b)(1), the applicable percentage for Nora for 2015 is equal to 416.",
                False,
            ),
            (
                "Nora's income in 2015 is $90000. Nora is a head of household for 2015. Nora is "
                "allowed itemized deductions of $9000.",
                "Section 404(a)(1) prescribes a reduction of Nora's itemized deductions for the "
                "year 2015 by $500.",
                True,
            ),
            ("Nora's income in 2015 is $1.", "Section 404(b) applies to Nora for the year 2020.", True),
            ("Nora's income in 2015 is $1.", "Section 404(b) applies to Nora for the year 2019.", False),
            (
                "From May 4th, 2014 to May 4th, 2016, Nora and Ivo lived in the same home.",
                "Section 405(b) applies to Ivo with Nora as the taxpayer for the year 2015.",
                True,
            ),
            (
                "From May 4th, 2014 to May 4th, 2016, Nora and Ivo lived in the same home.",
                "Section 405(b) applies to Ivo with Nora as the taxpayer for the year 2016.",
                False,
            ),
            (
                "Nora was born May 4th, 1970. Ivo was born May 4th, 2000.",
                "Ivo satisfies section 405(c) with Nora claiming Ivo as a qualifying child for "
                "the year 2017.",
                True,
            ),
            (
                "Nora was born May 4th, 1970. Ivo was born May 4th, 2000.",
                "Ivo satisfies section 405(c) with Nora claiming Ivo as a qualifying child for "
                "the year 2018.",
                False,
            ),
        ],
    )
    def test_are_judged(self, facts: str, statement: str, holds: bool) -> None:
        assert judge(statement, read_facts(facts), SECTIONS) is holds

    @pytest.mark.parametrize(
        ("facts", "statement", "why"),
        [
            ("Ivo is Nora's son.", "Ivo bears a relationship to Nora under section 405(a)(6).", "no rule"),
            ("Ivo is Nora's son.", "Ivo bears a relationship to Nora under section 405(a).", "no rule"),
            (
                "Ivo is Nora's son.",
                "Ivo bears a relationship to Nora under section 405(a)(9).",
                "no one provision",
            ),
            ("Ivo is Nora's son.", "Ivo likes Nora.", "no one provision"),
            (
                "Ivo is Nora's son. Ivo sails.",
                "Ivo bears a relationship to Nora under section 405(a)(1).",
                "no rule reads",
            ),
            (
                "Nora's income in 2015 is $1.",
                "Under section 402(a)(1)(C), Nora's basic standard deduction in 2015 is equal to $1000.",
                "how Nora files",
            ),
            (
                "Ivo is Nora's son.",
                "Section 405(b) applies to Ivo with Nora as the taxpayer for the year 2015.",
                "no rule",
            ),
        ],
    )
    def test_are_declined_where_there_is_doubt(self, facts: str, statement: str, why: str) -> None:
        with pytest.raises(Declined, match=why):
            judge(statement, read_facts(facts), SECTIONS)


class TestDoubts:
    KIN = "{} bears a relationship to {} under section 405({}){}."
    HEAD = "Nora is a head of household for 2015. "

    @pytest.mark.parametrize(
        ("facts", "who", "of", "kind", "year", "holds"),
        [
            ("Ivo is Nora's brother since May 4th, 2013.", "Nora", "Ivo", "a)(2", "2012", False),
            ("Ivo is Nora's brother since May 4th, 2013.", "Nora", "Ivo", "a)(2", "2014", True),
            ("Ivo is Nora's brother since May 4th, 2013.", "Nora", "Ivo", "a)(2", "", True),
            ("Ivo is Nora's brother since May 4th, 2013.", "Nora", "Ivo", "a)(2", "2013", None),
            ("Nora adopted Ivo on May 4th, 2013.", "Ivo", "Nora", "a)(1", "2012", False),
            ("Nora adopted Ivo on May 4th, 2013.", "Ivo", "Nora", "a)(1", "2014", True),
            ("Ivo is Nora's stepbrother.", "Ivo", "Nora", "a)(2", "", True),
            ("Ivo is Nora's half-brother.", "Ivo", "Nora", "a)(2", "", True),
            ("Ida is Nora's mother. Ida is Ivo's mother.", "Ivo", "Nora", "a)(2", "", True),
            (
                "Max is Nora's father. Max married Ida on May 4th, 1999. Ivo is Ida's son.",
                "Ivo",
                "Nora",
                "a)(2",
                "",
                True,
            ),
            ("Ivo is Nora's grandson.", "Ivo", "Nora", "a)(1", "", True),
            ("Ivo is Nora's stepson.", "Ivo", "Nora", "a)(1", "", None),
            ("Ivo is Nora's brother. Max is Ivo's father.", "Max", "Nora", "a)(3", "", None),
            ("Ivo is Nora's brother. Max is Ivo's father.", "Max", "Nora", "a)(4", "", None),
            ("Max is Nora's father. Max married Ida on May 4th, 1999.", "Ida", "Nora", "a)(4", "", None),
            ("Ivo is Nora's stepfather.", "Ivo", "Nora", "a)(4", "", True),
        ],
    )
    def test_of_kin(self, facts: str, who: str, of: str, kind: str, year: str, holds: bool | None) -> None:
        statement = self.KIN.format(who, of, kind, f" for the year {year}" if year else "")
        if holds is None:
            with pytest.raises(Declined):
                judge(statement, read_facts(facts), SECTIONS)
        else:
            assert judge(statement, read_facts(facts), SECTIONS) is holds

    @pytest.mark.parametrize(
        ("taxable", "claimed", "holds"),
        [
            ("10004", "1200.48", True),
            ("10004", "1200", True),
            ("10005", "1200.6", True),
            ("10005", "1201", True),
            ("10005", "1200", None),
            ("10005", "1199", False),
        ],
    )
    def test_of_amounts(self, taxable: str, claimed: str, holds: bool | None) -> None:
        facts = read_facts(f"{self.HEAD}Nora's taxable income in 2015 is ${taxable}.")
        statement = f"Nora has to pay ${claimed} in taxes for the year 2015 under section 401(b)(i)."
        if holds is None:
            with pytest.raises(Declined, match="less than a dollar"):
                judge(statement, facts, SECTIONS)
        else:
            assert judge(statement, facts, SECTIONS) is holds

    @pytest.mark.parametrize(
        ("facts", "statement"),
        [
            (
                "Nora's income in 2015 is $73500. Nora is married under section 7703 in 2015. The "
                "applicable amount "
                "according to section 403(b) is $70000.",
                "Under section 403(b)(1), the applicable percentage for Nora for 2015 is equal to 16.",
            ),
            (
                "Nora was born on May 4th, 1970. Ivo was born on May 4th, 1990. Ivo was born on May 4th, "
                "2000.",
                "Ivo satisfies section 405(c) with Nora claiming Ivo as a qualifying child for the year "
                "2015.",
            ),
            (
                f"{HEAD}Nora is a surviving spouse for 2015. Nora's taxable income in 2015 is $9.",
                "Nora has to pay $1 in taxes for the year 2015 under section 401(b)(i).",
            ),
            (
                f"{HEAD}Nora's taxable income in 2015 is $9. Nora's taxable income in 2015 is $8.",
                "Nora has to pay $1 in taxes for the year 2015 under section 401(b)(i).",
            ),
            (
                "In 2015, Nora and Ivo lived in the same home. In 2015, Ivo and Max lived in the same home.",
                "Section 405(b) applies to Ivo with Nora as the taxpayer for the year 2015.",
            ),
        ],
    )
    def test_in_doubt_are_declined(self, facts: str, statement: str) -> None:
        with pytest.raises(Declined):
            judge(statement, read_facts(facts), SECTIONS)

    def test_of_people_of_whom_nothing_is_told_are_declined(self) -> None:
        for who, of in (("Ida", "Nora"), ("Nora", "Ida")):
            with pytest.raises(Declined, match="nothing of Ida"):
                judge(self.KIN.format(who, of, "a)(2", ""), read_facts("Ivo is Nora's brother."), SECTIONS)

    def test_of_homes_add_stays(self) -> None:
        facts = (
            "From January 1st, 2015 to April 30th, 2015, Nora and Ivo lived in the same home. "
            "From July 1st, 2015 to December 1st, 2015, Nora and Ivo lived in the same home."
        )
        statement = "Section 405(b) applies to Ivo with Nora as the taxpayer for the year 2015."
        assert judge(statement, read_facts(facts), SECTIONS)
