"""Taxes where facts of another year, person or home must not count, or "
"leave something open."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import read_facts
from chameleon.modules.statutes.income_tax import tax_owed
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.tax_law import Status, TaxLaw, rounded
from tests.modules.statutes.tax_law_sample import LAW

SECTIONS = Statutes.of(LAW).sections
TAX = TaxLaw(SECTIONS)
EARNED = "Nora's gross income in 2015 was $30000. "
MARRIED = "Nora and Olaf got married on May 4th, 1990. "
SEPARATE = f"{MARRIED}Nora and Olaf file separate returns in 2015. {EARNED}"
IVO = "Nora has a son, Ivo, who was born on May 4th, 2005. "
AT_HOME = "In 2015, Nora and Ivo lived in a house maintained by Nora. "


def owes(text: str, who: str = "Nora") -> int:
    return tax_owed(read_facts(text), who, 2015, TAX)


def tax(status: Status, exemptions: int, deduction: int | None = None, income: int = 30_000) -> int:
    """The tax on an income, worked out by the figures of the law, which has its own tests."""
    less = TAX.basic_deduction(status, 2015) if deduction is None else deduction
    return rounded(TAX.tax(status, Fraction(income - less - 500 * exemptions)))


class TestOneYearAndAnother:
    @pytest.mark.parametrize(
        "more",
        [
            "In 2014, Nora is allowed itemized deductions of $9000.",
            "Nora's gross income in 2014 was $90000.",
            "Nora was blind from May 4th, 2001 to May 4th, 2014.",
            "Nora and Olaf got married on May 4th, 2016.",
            "Nora and Olaf were married from May 4th, 1990 to June 5th, 2015. Olaf had no income in 2015.",
            "Nora adopted Ivo on May 4th, 2016.",
            "Ivo is Nora's son since May 4th, 2016.",
            "Ivo is Nora's son. Ivo died on May 4th, 2014.",
            "Ivo is Nora's son. Ivo was born on May 4th, 2016.",
            "Nora was a nonresident alien from May 4th, 2001 to May 4th, 2014.",
        ],
    )
    def test_what_is_told_for_another_does_not_count(self, more: str) -> None:
        assert owes(EARNED + more) == tax("single", 1)

    def test_a_joint_return_of_another_year_does_not_count(self) -> None:
        text = f"{MARRIED}Nora and Olaf file a joint return for 2014. Olaf had no income in 2015. {EARNED}"
        assert owes(text) == tax("separate", 2)

    @pytest.mark.parametrize(
        "text",
        [
            "Nora earned $30000 in 2015. Nora's gross income in 2014 was $9. Nora has itemized "
            "deductions of $9000.",
            f"{MARRIED}Nora earned $30000 in 2015. Olaf earned $9 in 2014. They file a joint return.",
            "Nora earned $30000 from 2014 to 2016.",
            f"{EARNED}Nora's gross income in 2015 was $30000.",
            f"{EARNED}Nora earned $30000 in 2015.",
            f"{EARNED}Nora had no income in 2015.",
            f"{EARNED}Olaf has paid $9 to Nora for work done in the year 2015.",
            "Nora earned $9000 in 2015. Nora earned $9000 in 2015.",
            "Nora earned $9000 in 2015. Nora earned $9000 every year from 2014 to 2016.",
            "Nora was paid $9000 by Acme in 2015. Nora was paid $8000 by Acme in 2015.",
            f"{EARNED}Nora has itemized deductions of $9000 in 2015. Nora has itemized deductions of "
            "$9000 in 2015.",
            f"{EARNED}Nora has itemized deductions of $9 in 2015.",
            f"{EARNED}Nora was born on May 4th, 1940. Nora was born on May 4th, 1990.",
            f"{EARNED}Nora is 64 years old in 2015.",
            f"{MARRIED}{EARNED}Nora and Olaf file jointly in 2015. Nora and Olaf file separately in 2015.",
            f"{SEPARATE}Nora was paid $9 in 2014 for work.",
        ],
    )
    def test_what_is_told_twice_or_of_no_year_is_declined(self, text: str) -> None:
        with pytest.raises(Declined):
            owes(text)

    def test_distinct_payments_are_added(self) -> None:
        assert owes("Nora was paid $20000 by Acme in 2015. Nora was paid $10000 by Bolt in 2015.") == tax(
            "single", 1
        )
        assert owes("In 2015, Nora earned $20000. Nora also earned $10000 in 2015.") == tax("single", 1)

    def test_what_has_no_year_is_of_the_only_one(self) -> None:
        assert owes(f"{EARNED}Nora has itemized deductions of $9000.") == tax("single", 1, 9000)


class TestMarriage:
    @pytest.mark.parametrize(
        ("text", "status", "exemptions"),
        [
            (f"{SEPARATE}Olaf had no income in 2015.", "separate", 2),
            (f"{SEPARATE}Olaf's income in 2015 was $9.", "separate", 1),
            (f"{MARRIED}Nora and Olaf were divorced on May 4th, 2014. {EARNED}", "single", 1),
            (
                f"{MARRIED}Nora and Olaf were divorced on May 4th, 2014. Nora married Olaf again on "
                f"June 5th, 2015. Olaf's income in 2015 was $9. {EARNED}",
                "separate",
                1,
            ),
            (
                f"{MARRIED}Olaf died on May 4th, 2014. {IVO}{AT_HOME}{EARNED}",
                "surviving spouse",
                2,
            ),
            (
                f"{MARRIED}Olaf died on May 4th, 2014. {IVO}From April 1st, 2015 to December 31st, 2015, "
                "Nora and "
                f"Ivo lived in a house maintained by Nora. {EARNED}",
                "head",
                2,
            ),
            (
                "Nora and Olaf were married from May 4th, 1990 to May 4th, 2010. Olaf died on May 4th, "
                "2014. "
                f"{IVO}{AT_HOME}{EARNED}",
                "head",
                2,
            ),
            (
                f"{MARRIED}Olaf died on May 4th, 2014. Nora married Max on May 4th, 2015. Nora and Max were "
                f"divorced on June 5th, 2015. {IVO}{AT_HOME}{EARNED}",
                "head",
                2,
            ),
            (
                f"{MARRIED}Olaf died on May 4th, 2014. Olaf was a nonresident alien from May 4th, 2013 to "
                "May "
                f"4th, 2014. {IVO}{AT_HOME}{EARNED}",
                "head",
                2,
            ),
            (f"{MARRIED}Olaf died on May 4th, 2012. {IVO}{AT_HOME}{EARNED}", "head", 2),
            (f"{IVO}{AT_HOME}{EARNED}", "head", 2),
        ],
    )
    def test_makes_the_status(self, text: str, status: Status, exemptions: int) -> None:
        assert owes(text) == tax(status, exemptions)

    def test_an_alien_is_no_head_of_household(self) -> None:
        alien = "Nora was a nonresident alien from January 1st, 2015 to December 31st, 2015. "
        assert owes(f"{alien}{IVO}{AT_HOME}{EARNED}") == tax("single", 2, 0)

    def test_a_spouse_who_itemizes_leaves_no_standard_deduction(self) -> None:
        text = f"{SEPARATE}Olaf's income in 2015 was $9. Olaf has itemized deductions of $4 in 2015."
        assert owes(text) == tax("separate", 1, 0)

    def test_a_joint_return_is_the_same_for_both_or_declined(self) -> None:
        text = f"{MARRIED}Nora and Olaf file a joint return in 2015. {EARNED}"
        assert owes(text) == owes(text, "Olaf") == tax("joint", 2)
        aged = f"{text}Olaf was born on May 4th, 1940."
        assert owes(aged, "Olaf") == tax("joint", 2, 2300)
        with pytest.raises(Declined, match="age and sight of both"):
            owes(aged)

    @pytest.mark.parametrize(
        "text",
        [
            f"{MARRIED}{EARNED}",
            f"{MARRIED}{EARNED}Olaf's income in 2014 was $9. Nora and Olaf file a joint return in 2015.",
            f"{MARRIED}Nora and Max file a joint return in 2015. {EARNED}",
            f"{MARRIED}Olaf is a nonresident alien. Nora and Olaf file a joint return in 2015. {EARNED}",
            f"{MARRIED}Nora married Max on May 4th, 2012. Olaf had no income in 2015. {EARNED}",
            f"{SEPARATE}Olaf had no income in 2015. {IVO}{AT_HOME}",
            f"{SEPARATE}Olaf had no income in 2015. Ida is Olaf's mother.",
            f"{MARRIED}Nora is not married. Olaf had no income in 2015. {EARNED}",
        ],
    )
    def test_that_is_in_doubt_is_declined(self, text: str) -> None:
        with pytest.raises(Declined):
            owes(text)


class TestDependents:
    @pytest.mark.parametrize(
        ("text", "status", "exemptions"),
        [
            ("Ivo is Nora's father. Max is Ivo's father.", "single", 3),
            ("Ivo is Nora's son. Ida is Ivo's daughter.", "single", 3),
            ("Ivo is Nora's brother. Ivo had no income in 2015.", "single", 2),
            ("Ivo is Nora's brother. Ivo's income in 2015 was $9.", "single", 1),
            (
                "Ivo is Nora's half-brother. Ida is Ivo's daughter. Ida and Ivo had no income in 2015.",
                "single",
                3,
            ),
            ("Ivo is Nora's stepbrother. Ivo had no income in 2015.", "single", 2),
            ("In 2015, Nora and Ivo lived in the same home. Ivo had no income in 2015.", "single", 2),
            (
                "In 2015, Nora and Ivo lived in a house maintained by Nora. Ivo had no income in 2015.",
                "single",
                2,
            ),
            (
                "Ivo is Nora's son. Ida is Ivo's daughter. Ida was born on May 4th, 2012. Ivo was born "
                "on May 4th, 1980. "
                "In 2015, Ivo and Ida lived in a house maintained by Ivo. Ivo's income in 2015 was $9.",
                "single",
                1,
            ),
            (
                f"{IVO}Ivo is Olaf's son. In 2015, Olaf and Ivo lived in a house maintained by Olaf. "
                "Olaf's income in 2015 was $9.",
                "single",
                1,
            ),
            (
                f"{IVO}From January 1st, 2015 to July 31st, 2015, Nora and Ivo lived in a house "
                "maintained by Nora. "
                "From August 1st, 2015 to December 31st, 2015, Ivo and Max lived in a house maintained "
                "by Max.",
                "head",
                2,
            ),
            (
                f"{IVO}From January 1st, 2015 to April 30th, 2015, Nora and Ivo lived in a house "
                "maintained by Nora. "
                "From July 1st, 2015 to December 1st, 2015, Nora and Ivo lived in a house maintained by "
                "Nora.",
                "head",
                2,
            ),
            (f"{IVO}{AT_HOME}Ivo's income in 2015 was $900.", "head", 2),
            (
                "Nora has a son, Ivo, who was born on May 4th, 1990. Ivo's income in 2015 was $900. "
                + AT_HOME,
                "single",
                1,
            ),
            (
                f"{IVO}Nora has a daughter, Ida, who was born on May 4th, 2009. In 2015, Nora, Ivo and "
                "Ida lived "
                "in a house maintained by Nora.",
                "head",
                3,
            ),
        ],
    )
    def test_are_kin_or_of_the_household(self, text: str, status: Status, exemptions: int) -> None:
        assert owes(EARNED + text) == tax(status, exemptions)

    @pytest.mark.parametrize(
        "text",
        [
            "Ivo is Nora's brother.",
            "Ivo is Nora's father. Ivo's income in 2014 was $9.",
            "Ivo is Nora's father. Ivo and Ida got married on May 4th, 1999.",
            "Ivo is Nora's son. Ivo and Ida got married on May 4th, 1999.",
            "Ivo is Nora's father. Ivo has a son, Max.",
            "Ivo is Nora's stepson. Ivo had no income in 2015.",
            f"{IVO}Ivo is Olaf's son.",
            f"{IVO}{AT_HOME}In 2015, Ivo and Max lived in a house maintained by Max.",
            f"{IVO}Ida is Nora's mother. In 2015, Nora, Ida and Ivo lived in a house maintained by Nora. "
            "Ida's income in 2015 was $9.",
            "Nora has a son, Ivo, who was born on July 7th, 2015. Nora and Ivo live in a house maintained by "
            "Nora since July 7th, 2015.",
            "Nora was born on May 4th, 1995. Ida is Nora's mother. In 2015, Nora and Ida lived in a house "
            "maintained by Ida. Ida's income in 2015 was $9.",
            "Ida is Nora's mother. In 2015, Nora and Ida lived in the same home. Ida's income in "
            "2015 was $9.",
            "Ivo is Nora's cousin.",
        ],
    )
    def test_that_are_in_doubt_are_declined(self, text: str) -> None:
        with pytest.raises(Declined):
            owes(EARNED + text)

    def test_in_doubt_do_not_matter_where_the_tax_is_the_same(self) -> None:
        assert owes("Nora's gross income in 2015 was $200. Ivo is Nora's brother.") == 0
