"""The unit of a figure in a table, where it is certain: from its row, its column, a caption or a heading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import Declined, Table
from chameleon.documents.units import unit_in
from chameleon.modules.documents.statements import Cell

_CODES = re.compile(r"\b(?:EUR|USD|GBP|NOK|SEK|DKK|ISK|CHF|JPY)\b|[$€£¥]")
_BRACKETED = re.compile(
    r"(.+?)\s*\(((?:EUR|USD|GBP|NOK|SEK|DKK|ISK|CHF|JPY|[$€£¥])(?: ?(?:m|mn|bn|k|000))?|pence|cents?|crowns"
    r"|euros?|dollars?|pounds?|mm|cm|m|km|m²|m2|ha|g|kg|t|ml|l|W|kW|kWh|V|A|Ah|Nm|%|°C|h|min|s)\)"
)
_OWN_UNIT = re.compile(r"[^\W\d_]|%")
_PER_SHARE = re.compile(r"\bper (?:\w+ )?share\b", re.IGNORECASE)
_EACH = re.compile(r"(?:basic|diluted|basic and diluted|assuming dilution)\W*", re.IGNORECASE)
_RATIO = re.compile(r"%|\b(?:per ?cent|percent(?:age)?|ratio|margin|rate)\b", re.IGNORECASE)
_PER = re.compile(r"\bper\b", re.IGNORECASE)
_PRICE = re.compile(r"\bprices?\b", re.IGNORECASE)
_HEAD = re.compile(r"\s+(?:of|for|in|from|to|on|at)\s+|,|\(", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:employees?|staff|headcount|persons?|people|workers|crew|age|years?|founded|opened|built|ships?"
    r"|vessels?|boats?|cranes?|stores?|shops?|branches|offices|ports?|berths?|rooms?|beds|units?|shares?"
    r"|customers?|clients|members?|subscribers?|passengers?|visitors?|visits|calls|users|households|days?"
    r"|hours?|weeks?|months?|numbers?|count|quantity|volumes?|tons?|tonnes?|tonnage|barrels|containers?|teu"
    r"|kilomet(?:re|er)s|km|hectares|acres|vehicles|aircraft|flights|patients|students|countries|sites)\b",
    re.IGNORECASE,
)
_MONETARY = re.compile(
    r"\b(?:revenues?|charges|hire|services|rentals?|bills|sales|income|profit|loss|losses|earnings|costs?|expenses?|fees?|dues|cash|debt|loans?"
    r"|borrowings|assets?|liabilit(?:y|ies)|equity|capital|tax(?:es)?|interest|payables?|receivables?"
    r"|deposits?|rents?|wages|salaries|dividends?|investments?|inventor(?:y|ies)|goodwill"
    r"|depreciation|amorti[sz]ation|ebitda?|turnover|grants?|payments?|proceeds|provisions?|reserves?)\b",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r",?\s+(?:except|unless|other than)\b(.*)", re.IGNORECASE | re.DOTALL)
_SCALED = re.compile(r"hundred|thousand|million|billion|trillion|000|\bmn\b|\bbn\b", re.IGNORECASE)


def without_unit(name: str) -> str:
    """The name of a row or column without a unit in brackets at its end: "Price (EUR)"."""
    found = _BRACKETED.fullmatch(name.strip())
    return found[1] if found else name


def unit_of(cell: Cell, passage: Mapping[str, Any]) -> str:
    """The unit of a cell in the words of its row or column, of the caption or corner, or of a heading.

    "" for a cell that has one itself, or where none is given. Raises `Declined` where it is not certain that
    the unit which is given is that of the cell: "in thousands" above a row of ships.
    """
    table: Table = passage["table"]
    if not any(map(str.isdigit, cell.text)) or _OWN_UNIT.search(_CODES.sub("", cell.text)):
        return ""
    own, name = _own_unit(cell.label) or _own_unit(cell.name), f"{cell.label} {cell.name}"
    if own or _PER_SHARE.search(name) or _EACH.fullmatch(cell.label) or _RATIO.search(name):
        return own
    near = unit_in(table.caption) or unit_in(table.header[0])
    headings = reversed(str(passage.get("title") or "").split(" > "))
    unit = near or next(filter(None, map(unit_in, headings)), "")
    excepted = _EXCEPTION.search(unit)
    if not unit or (excepted is not None and _is_excepted(cell.label, excepted[1])):
        return ""
    if not _is_measured(cell, unit, near=bool(near)):
        raise Declined(
            f'the unit of "{cell.label}" is not certain: the paper says "{unit}"',
            hint="Read the row in its table, or give the unit with the question.",
        )
    is_known = excepted is None or re.search(r"\bshares?\b|percent|%", excepted[1])
    return _EXCEPTION.sub("", unit) if is_known else unit


def _own_unit(name: str) -> str:
    found = _BRACKETED.fullmatch(name.strip())
    return unit_in(name) or (found[2] if found else "")


def _is_measured(cell: Cell, unit: str, *, near: bool) -> bool:
    """Whether a row is certain to be measured in a unit that is given for figures; `near`: at the table."""
    head = _HEAD.split(cell.label, maxsplit=1)[0]
    is_money = _CODES.search(cell.text) is not None or (
        (words := head.split()) and _MONETARY.fullmatch(words[-1])
    )
    if _PER.search(f"{cell.label} {cell.name}") or _PER_SHARE.search(cell.group):
        return False
    if _SCALED.search(unit) and _PRICE.search(head):
        return False
    return bool(is_money) or (
        not _COUNTED.search(cell.label) and (near or _MONETARY.search(cell.label) is not None)
    )


def _is_excepted(name: str, exception: str) -> bool:
    """Whether a caption excepts what a row is of: "except share and per share data" the row of shares."""
    nouns = re.findall(
        r"\b(?!as\b|and\b|or\b|per\b|data\b|amounts?\b|for\b|noted\b)[a-z]{3,}", exception.lower()
    )
    if re.search(r"\bshares?\b", name, re.IGNORECASE):
        return re.search(r"(?<!per )\bshares?\b", exception) is not None
    return any(
        re.search(rf"\b{noun[:-1] if noun.endswith('s') else noun}s?\b", name.lower()) for noun in nouns
    )
