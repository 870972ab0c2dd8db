"""Quote the names of columns if SQL needs it."""

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
"""Words that SQLite reads as keywords instead of column names."""


def is_plain(name: str) -> bool:
    """Return whether a column's name is several words, none an SQL keyword, so that it is unambiguous."""
    return re.fullmatch(r"\w+(?: \w+)+", name) is not None and KEYWORDS.isdisjoint(name.upper().split())


def with_quoted_names(sql: str, columns: Iterable[str]) -> str:
    """Put double quotes around unquoted names of several words in a query.

    Their words may be joined by `_`. A name is skipped if its words, or the joined words, are columns too.
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
    pattern = re.compile(rf"{_APART}|(?<!\w)(?P<name>{words})(?!\w)", re.DOTALL | re.IGNORECASE)

    def in_quotes(match: re.Match[str]) -> str:
        words = re.split(r"\s+|_", (match["name"] or "").lower())
        return f'"{quoted[" ".join(words)]}"' if match["name"] else match[0]

    return pattern.sub(in_quotes, sql)
