"""Find names in double quotes that are no columns: SQLite takes them for texts, and answers wrongly."""

from __future__ import annotations

import re
from collections.abc import Collection

from chameleon.text import nearest

_TOKEN = re.compile(
    r"(?P<quoted>\"(?:[^\"]|\"\")*\")|(?P<other>'(?:[^']|'')*'|`[^`]*`|\[[^]]*\])|--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|(?P<word>[^\W\d]\w*)|\d[\w.]*|(?P<sign><=|>=|<>|!=|==|\|\||[^\s\w])",
    re.DOTALL,
)
_SELECTS = ("SELECT", "DISTINCT", "ALL", ",")
_COMPARED = frozenset("= == < > <= >= != <> LIKE GLOB IN BETWEEN IS NOT".split())  # noqa: SIM905
_BEFORE_COMPARED = frozenset("WHERE AND OR NOT ( ON HAVING WHEN SELECT BY ,".split())  # noqa: SIM905
_CLAUSES = frozenset("SELECT FROM WHERE GROUP ORDER HAVING LIMIT ON".split())  # noqa: SIM905
_AFTER_ITEM = frozenset(", ) ; FROM AS UNION INTERSECT EXCEPT LIMIT".split()) | {""}  # noqa: SIM905
_AFTER_TERM = frozenset(", ) ; ASC DESC LIMIT HAVING ORDER COLLATE NULLS".split()) | {""}  # noqa: SIM905
_AGGREGATES = frozenset("SUM AVG MIN MAX COUNT TOTAL MEDIAN GROUP_CONCAT".split())  # noqa: SIM905
_NAMES = ("quoted", "word", "other")


def unknown_name(sql: str, columns: Collection[str]) -> str:
    """Say which name in double quotes is no column, "" for none.

    A name counts where it is a whole item of SELECT, a term of ORDER BY or GROUP BY, the argument of an
    aggregate or the left side of a comparison. As a value that is compared, and after THEN and ELSE, it is a
    text: models write texts so.
    """
    tokens = [match for match in _TOKEN.finditer(sql) if match.lastgroup or match[0][0].isdigit()]
    words = [match[0].upper() if match.lastgroup != "quoted" else match[0] for match in tokens]
    known = {name.lower() for name in columns} | {"w", "rowid", "_rowid_", "oid"} | _aliases(tokens, words)
    clauses, calls = [""], [""]
    for place, token in enumerate(tokens):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        if token[0] == "(":
            clauses.append("")
            calls.append(before)
        elif token[0] == ")" and len(clauses) > 1:
            clauses.pop()
            calls.pop()
        elif token.lastgroup == "word" and words[place] in _CLAUSES:
            clauses[-1] = words[place]
        elif token.lastgroup == "quoted" and "." not in (before, after):
            name = token[0][1:-1].replace('""', '"')
            if name.lower() not in known and _is_name(before, after, clauses[-1], calls[-1]):
                return f'no such column: "{name}". {nearest(name, columns)}'
    return ""


def _aliases(tokens: list[re.Match[str]], words: list[str]) -> set[str]:
    """Return the names that a query gives itself: behind AS, behind an expression, and before it for WITH."""
    found = set()
    for place in range(len(tokens)):
        if tokens[place].lastgroup not in _NAMES:
            continue
        before = words[place - 1] if place else ""
        is_behind = place and (before == ")" or tokens[place - 1].lastgroup == "quoted")
        is_table = words[place + 1 : place + 3] == ["AS", "("] and before in ("WITH", "RECURSIVE", ",")
        if before == "AS" or is_table or (is_behind and tokens[place].lastgroup == "quoted"):
            found.add(tokens[place][0].strip('"`[]').lower())
    return found


def _is_name(before: str, after: str, clause: str, call: str) -> bool:
    """Tell whether a text makes no sense between these words, so that a column must be meant."""
    if clause == "SELECT" and before in _SELECTS and after in _AFTER_ITEM:
        return True
    if clause in ("ORDER", "GROUP") and before in ("BY", ",") and after in _AFTER_TERM:
        return True
    if call in _AGGREGATES and before in ("(", "DISTINCT") and after in (")", ","):
        return True
    return after in _COMPARED and before in _BEFORE_COMPARED
