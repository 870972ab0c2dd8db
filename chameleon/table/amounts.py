"""Amounts as filings print them: their signs may stand in cells of their own (`$ | 1,234`, `(800 | )`)."""

from __future__ import annotations

import re

from chameleon.table.raised import without_marks

_LONGEST = 60  # characters of an amount
_BEFORE = re.compile(r"(?:[A-Z]{2,3})?[$€£¥]\s*\(?|(?:EUR|USD|GBP|NOK|SEK|DKK|CHF|JPY)\s*\(?|[–—-]?\(")
_AFTER = re.compile(r"\)?\s*%|\)(?:\s*\(\d\))?|(?:pp|bps?)")
_AMOUNT = re.compile(
    r"(?:[A-Z]{2,3}\s?)?[($€£¥+–—\s-]*\d[\d,. ]*[)%\s]*|[–—-]+\s*%?|n/?[am]|nil", re.IGNORECASE
)
_YEAR = re.compile(r"(?:fy\s?)?(?:19|20)\d\d(?:\*|\s?[AE]|\s?\(\w\))?", re.IGNORECASE)


def goes_before(text: str) -> bool:
    """Whether a cell is a sign that belongs to the amount in the next one: "$", "€ (", "("."""
    return _BEFORE.fullmatch(text) is not None


def goes_after(text: str) -> bool:
    """Whether a cell is a sign that belongs to the amount in the one before: ")", "%", ")%"."""
    return _AFTER.fullmatch(text) is not None


def is_year(text: str) -> bool:
    """Whether a cell is a year, which names a column: "2023", "FY2023", "2024E"."""
    return _YEAR.fullmatch(text.strip()) is not None


def is_amount(text: str) -> bool:
    """Whether a cell is an amount, which a mark of a footnote may follow, or a dash; a year is not."""
    short = len(text) <= _LONGEST
    return short and _AMOUNT.fullmatch(without_marks(text)) is not None and not is_year(text)


def begins_amount(text: str) -> bool:
    """Whether a cell is an amount, perhaps without the bracket or the sign that ends it."""
    return is_amount(text) or is_amount(f"{text})")
