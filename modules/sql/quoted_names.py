"""Put the names of columns into the quotes that SQL needs."""

from __future__ import annotations

import re
from collections.abc import Iterable

_APART = r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'|`[^`]*`|\[[^]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)"
KEYWORDS = frozenset(
    """
ADD ALL ALTER AND AS ASC BETWEEN BY CASE CHECK COLLATE COMMIT CONSTRAINT CREATE CROSS DEFAULT DELETE DESC
DISTINCT DROP ELSE END ESCAPE EXCEPT EXISTS FILTER FOR FOREIGN FROM GLOB GROUP HAVING IN INDEX INNER INSERT
INTERSECT INTO IS ISNULL JOIN LEFT LIKE LIMIT NATURAL NOT NOTNULL NULL NULLS OFFSET ON OR ORDER OUTER OVER
PARTITION PRIMARY RANGE RECURSIVE REFERENCES ROWS SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE
USING VALUES WHEN WHERE WITH
""".split()  # noqa: SIM905
)
"""Words that SQLite reads as its own where the name of a column might stand."""


def is_plain(name: str) -> bool:
    """Tell whether the name of a column is words alone, none of them SQL's: then it means that column."""
    return re.fullmatch(r"\w+(?: \w+)+", name) is not None and KEYWORDS.isdisjoint(name.upper().split())


def with_quoted_names(sql: str, columns: Iterable[str]) -> str:
    """Return a query with the names of several words that it has without quotes in double quotes.

    Their words may be joined by `_`. Not a name whose words, or the words joined, are columns of their own.
    """
    known = {each.lower() for each in columns}
    parts = {each: re.findall(r"\w+", each.lower()) for each in columns if " " in each}
    names = [name for name, words in parts.items() if not known.issuperset(words)]
    names = [each for each in names if "_".join(each.lower().split()) not in known]
    longest = sorted(names, key=len, reverse=True)
    if not longest:
        return sql
    quoted = {" ".join(re.split(r"\s+|_", each.lower())): each for each in longest}
    words = "|".join(r"(?:\s+|_)".join(map(re.escape, each.split())) for each in longest)
    named = re.compile(rf"{_APART}|(?<!\w)(?P<name>{words})(?!\w)", re.DOTALL | re.IGNORECASE)

    def in_quotes(found: re.Match[str]) -> str:
        words = re.split(r"\s+|_", (found["name"] or "").lower())
        return f'"{quoted[" ".join(words)]}"' if found["name"] else found[0]

    return named.sub(in_quotes, sql)
