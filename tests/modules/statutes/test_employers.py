"""The tax on wages that a person paid, and where it is in doubt."""

from __future__ import annotations

import pytest

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import read_facts
from chameleon.modules.statutes.income_tax import tax_owed
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.tax_law import TaxLaw
from tests.modules.statutes.tax_law_sample import LAW

TAX = TaxLaw(Statutes.of(LAW).sections)
DAYS = LAW.replace("of $900 or more.", "of $900 or more, or\n\n        (B) employed people on ten days.")
EARNED = "Nora's gross income in 2015 was $30000. "
ON_INCOME = 7050  # 1,500 + 30% of (30,000 - 1,000 - 500 - 10,000)


def owes(text: str, law: TaxLaw = TAX) -> int:
    return tax_owed(read_facts(EARNED + text), "Nora", 2015, law)


class TestWages:
    @pytest.mark.parametrize(
        ("text", "more"),
        [
            ("Nora has paid $1000 to Olaf for work done in 2015.", 50),
            ("Olaf was paid $1000 by Nora for work done in 2015.", 50),
            (
                "Nora paid $1000 to Olaf for work in 2015 and paid $1000 to Ivo for work in 2015.",
                100,
            ),
            ("Nora has paid $9000 to Olaf for work done in 2015.", 100),
            ("Nora has paid $700 to Olaf for domestic service in Nora's home in 2015.", 35),
            ("Nora has paid $500 to Olaf for domestic service in Nora's home in 2015.", 0),
            ("Nora has paid $7000 to Olaf for agricultural labor in 2015.", 0),
            ("Nora has paid $1000 to her father Ivo for work done in 2015.", 0),
        ],
    )
    def test_are_taxed(self, text: str, more: int) -> None:
        assert owes(text) == ON_INCOME + more

    def test_little_may_be_taxed_for_days_of_work(self) -> None:
        law = TaxLaw(Statutes.of(DAYS).sections)
        assert law.counts_days("work") and not TAX.counts_days("work")
        text = "Nora has paid $800 to Olaf for work done from %s to June 30th, 2015."
        assert owes(text % "February 1st, 2015") == ON_INCOME
        assert owes(text % "June 20th, 2015", law=law) == ON_INCOME
        with pytest.raises(Declined, match="ten days"):
            owes(text % "February 1st, 2015", law=law)

    @pytest.mark.parametrize(
        "text",
        [
            "Nora has paid $1000 to Olaf for work done in 2014.",
            "Olaf was paid $1000 by Nora in 2015.",
            "Nora has paid $700 to Olaf for domestic service in 2015.",
            "Nora has paid $1000 to Olaf for work done from May 4th, 2014 to May 4th, 2015.",
            "Nora has paid $1000 to Olaf for work done in 2015. Nora has paid $1000 to Olaf for work "
            "done in 2015.",
            "Nora has paid $1000 to Olaf for work done in 2015. Olaf is Nora's husband.",
            "Nora has paid $1000 to Olaf for work done in 2015. Olaf is Nora's son.",
        ],
    )
    def test_in_doubt_are_declined(self, text: str) -> None:
        with pytest.raises(Declined):
            owes(text)
