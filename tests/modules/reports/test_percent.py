"""Which questions ask for per cent."""

from __future__ import annotations

import pytest

from chameleon.modules.reports.percent import asks_percent, asks_share


@pytest.mark.parametrize(
    "question",
    [
        "what was the percentage change in dues?",
        "dues are what % of income?",
        "by what per cent did they grow?",
        "if 5% of the units are free, what percent is sold?",
        "as of december 31 2010 percent of dues to income?",  # a year is no number of them
    ],
)
def test_per_cent_is_asked_for(question: str) -> None:
    assert asks_percent(question)


@pytest.mark.parametrize(
    "question",
    [
        "what is the growth rate of dues?",
        "what was the rate of change in dues?",
        "what portion of income were dues?",
        "what share of income were dues?",
    ],
)
def test_a_portion_or_a_rate_of_growth_is(question: str) -> None:
    assert asks_share(question)


@pytest.mark.parametrize(
    "question",
    [
        "if 5% of the units are free, what is the price?",
        "fees are 17% ( 17 % ) of what?",
        "what is the 12.5 percent fee?",
        "what is the effect of a one-percentage-point increase?",
        "what is the price per share of stock?",
        "what is the interest rate?",
        "what was the ratio of dues to income?",
    ],
)
def test_neither_is(question: str) -> None:
    assert not asks_percent(question) and not asks_share(question)
