"""Find what makes a query answer wrongly without an error: misspelt names, and sums of what is no number.

SQLite takes a name in double quotes that is no column for a text, and adds up what texts begin with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

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
_SUMS, _EXTREMES = frozenset(("SUM", "AVG", "TOTAL")), frozenset(("MIN", "MAX"))
_ORDERS = frozenset(("<", ">", "<=", ">=", "BETWEEN"))
_NAMES = ("quoted", "word", "other")


def fault_of(sql: str, columns: Collection[str], texts: Mapping[str, str]) -> str:
    """Say why a query cannot be trusted, "" where nothing speaks against it.

    - A name in double quotes that is no column, where it is a whole item of SELECT, a term of ORDER BY or
      GROUP BY, the argument of an aggregate or the left side of a comparison. As a value that is compared,
      and after THEN and ELSE, it is a text: models write texts so.
    - A sum or average of a column of texts. `texts` has these by name, with the reason for those that are
      unclear: of these no least, greatest or order either.
    """
    tokens = [match for match in _TOKEN.finditer(sql) if match.lastgroup or match[0][0].isdigit()]
    words = ["", *(each[0] if each.lastgroup == "quoted" else each[0].upper() for each in tokens), ""]
    known = (
        {name.lower() for name in columns} | {"w", "rowid", "_rowid_", "oid"} | _aliases(tokens, words[1:-1])
    )
    unread = {name.lower(): (name, why) for name, why in texts.items()}
    clauses, calls = [""], [""]
    for place, token in enumerate(tokens):
        before, word, after = words[place : place + 3]
        if word == "(":
            clauses.append("")
            calls.append(before)
        elif word == ")" and len(clauses) > 1:
            clauses.pop()
            calls.pop()
        elif token.lastgroup == "word" and word in _CLAUSES:
            clauses[-1] = word
        elif token.lastgroup in _NAMES and "." not in (before, after):
            name = token[0] if token.lastgroup == "word" else token[0][1:-1].replace('""', '"')
            at = (before, after, clauses[-1], calls[-1])
            if token.lastgroup == "quoted" and name.lower() not in known and _is_name(*at):
                return f'no such column: "{name}". {nearest(name, columns)}'
            if name.lower() in unread and token[0][0] != "'" and _is_counted(*at, *unread[name.lower()][1:]):
                column, why = unread[name.lower()]
                return f'the column "{column}" holds texts, no numbers' + (f": {why}" if why else "")
    return ""


def _is_counted(before: str, after: str, clause: str, call: str, why: str) -> bool:
    """Tell whether a column is taken for numbers here; of one that is unclear, whether for any order."""
    if before in ("(", "DISTINCT") and after == ")" and call in (_EXTREMES | _SUMS if why else _SUMS):
        return True
    is_term = clause == "ORDER" and before in ("BY", ",") and after in _AFTER_TERM
    return bool(why) and (is_term or after in _ORDERS)


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
