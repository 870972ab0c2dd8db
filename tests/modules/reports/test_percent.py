"""Which questions ask for per cent."""

from __future__ import annotations

import pytest

from chameleon.modules.reports.percent import asks_percent, asks_share


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what was the percentage change in dues?", True),
        ("dues are what % of income?", True),
        ("by what per cent did they grow?", True),
        ("if 5% of the units are free, what percent is sold?", True),
        ("as of december 31 2010 percent of dues to income?", True),  # a year is no number of them
        ("if 5% of the units are free, what is the price?", False),
        ("fees are 17% ( 17 % ) of what?", False),
        ("what is the 12.5 percent fee?", False),
        ("what is the effect of a one-percentage-point increase?", False),
        ("what is the price?", False),
    ],
)
def test_questions(question: str, asked: bool) -> None:
    assert asks_percent(question) is asked


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what is the growth rate of dues?", True),
        ("what was the rate of change in dues?", True),
        ("what portion of income were dues?", True),
        ("what share of income were dues?", True),
        ("what is the price per share of stock?", False),
        ("what is the interest rate?", False),
        ("what was the ratio of dues to income?", False),
    ],
)
def test_portions_and_rates_of_growth(question: str, asked: bool) -> None:
    assert asks_share(question) is asked
