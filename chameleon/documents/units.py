"""Units that captions and headings give for a table: "in thousands of crowns", "EUR million"."""

from __future__ import annotations

import re

_LOOKED_AT = 500  # characters at the beginning of a text
_SCALES = r"(?:hundreds|thousands|millions|billions|trillions)"
_SCALE = r"(?:thousand|million|billion|mn|bn|m|k)"
_CODES = r"(?-i:EUR|USD|GBP|NOK|SEK|DKK|ISK|CHF|JPY|CNY|INR|AUD|CAD|NZD|PLN|CZK|HUF|BRL|ZAR|KRW|SGD|HKD|MXN)"
_MONEY = (
    rf"(?:{_CODES}|(?:[A-Z]{{2}})?[$€£¥]|(?:u\.?s\.? )?dollars|euros?|pounds(?: sterling)?|crowns|krone[rn]|"
    r"kronor|yen|francs|rupees|zloty)"
)
_MEASURES = (
    r"(?:per ?cent|percent|%|tons|tonnes|kilograms?|kg|grams|lit(?:re|er)s|barrels|met(?:re|er)s|"
    r"kilomet(?:re|er)s|km|hectares|acres|square \w+|cubic \w+|MWh|GWh|kWh|MW)"
)
_OF = r"(?:\s+of\s+(?:(?:u\.?s\.?|norwegian|danish|swedish|canadian|australian|metric)\s+)?[a-z]+)?"
_UNIT = re.compile(
    rf"(?:\b(?:amounts|figures|values|shares|dollars|euros|{_CODES})\s+|[$€£¥]\s*)?(?<!\w)in\s+"
    rf"(?:{_MONEY}\s*)?(?:{_SCALES}{_OF}|{_MONEY}(?:\s+(?:{_SCALE}|1[,.]?000))?|{_MEASURES})(?!\w)"
    r"(?:,?\s+(?:except|unless|other than)\s[^.;:()]{1,80})?"
    rf"|(?<!\w){_CODES}\s+{_SCALE}s?\b|(?<!\w)[$€£]\s?{_SCALE}s?\b|[$€£]\s?['’]?000s?\b",
    re.IGNORECASE,
)


def unit_in(text: str) -> str:
    """The unit that a text gives for figures, in its words; "" for none."""
    found = _UNIT.search(" ".join(text[:_LOOKED_AT].split()))
    return found[0].strip() if found else ""
