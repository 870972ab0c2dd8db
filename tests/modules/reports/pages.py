"""A page of a report of ours, as the tests of these modules read it."""

from typing import Any

from chameleon import Table

_ROWS = """
harbour dues | $ 1250 | $ 900 | $ 870
ferry fares | 310 | 290 | 275
warehouse rents | 95 | 110 | -12 ( 12 )
total income | $ 1655 | $ 1300 | $ 1133
balance at end of year | 640 | 512 | 480
"""
_HEADER = ["( in thousands )", "2011", "2010", "2009"]
TABLE = Table(_HEADER, [row.split(" | ") for row in _ROWS.strip().splitlines()])
BEFORE = (
    "skerry port is owned by the town .",
    "the crane was painted twice .",
    "the following table shows the income of the port .",
)
AFTER = (
    ".",
    "the town paid $ 45 thousand for dredging in 2011 and $ 36 thousand in 2010 .",
    "the port employed 120 persons in 2011 .",
)
PASSAGES = [
    *({"title": "", "text": text, "place": "before"} for text in BEFORE),
    *({"title": "", "text": text, "place": "after"} for text in AFTER),
]


def page(question: str, **given: Any) -> dict[str, Any]:
    """What a run is given: the question with the whole page, or with what is given instead."""
    return {"question": question, "table": TABLE, "passages": PASSAGES, **given}
