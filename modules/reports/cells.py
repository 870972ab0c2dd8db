"""The number in a cell of a report, as programs write it."""

from __future__ import annotations

import re

_NUMBER = r"(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
_CELL = re.compile(
    rf"""\s*+(?P<sign>[-−–])?\s*+[$€£¥]?\s*+(?P<sign2>[-−–])?\s*+
    (?P<bracket>\(\s*+(?:[$€£¥]\s*+)?)?(?P<number>{_NUMBER})\s*+(?P<percent>%)?
    (?P<note>\s*+\)?\s*+%?\s*+(?:\([^()]*\)\s*+%?\s*+)*)""",
    re.VERBOSE,
)


def number_text(cell: str) -> str | None:
    """ "$ 1,250" is "1250", "(745)" is "-745", "-32 ( 32 )" is "-32", "(3.5)%" is "-3.5%"; else None.

    Brackets around a number make it negative; brackets after one repeat it or are a note, and are not read.
    """
    found = _CELL.fullmatch(cell)
    if found is None or (found["bracket"] is None) == found["note"].lstrip().startswith(")"):
        return None
    negative = found["sign"] or found["sign2"] or found["bracket"]
    note = found["note"].partition("(")[0]
    percent = "%" if found["percent"] or "%" in note else ""
    return f"{'-' if negative else ''}{found['number'].replace(',', '')}{percent}"
