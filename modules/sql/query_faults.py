"""Find what makes a query answer wrongly without an error: misspelt names, and sums of what is no number.

SQLite takes a name in double quotes that is no column for a text, and adds up what texts begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chameleon.text import nearest

_APART = (
    r"(?P<quoted>\"(?:[^\"]|\"\")*\")|(?P<text>'(?:[^']|'')*')|(?P<other>`[^`]*`|\[[^]]*\])"
    r"|--[^\n]*|/\*.*?(?:\*/|\Z)"
)
_TOKEN = re.compile(
    rf"{_APART}|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign><=|>=|<>|!=|==|\|\||[^\s\w])",
    re.DOTALL,
)
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
_CLAUSES = frozenset(("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "ON"))
_ORDERS = frozenset(("<", ">", "<=", ">=", "BETWEEN"))
_COMPARED = _ORDERS | {"=", "==", "!=", "<>", "LIKE", "GLOB", "IN", "IS", "NOT"}
_COUNTS = frozenset("+-*/%")
_BEFORE_COMPARED = frozenset(("WHERE", "AND", "OR", "NOT", "(", "ON", "HAVING", "WHEN", "SELECT", "BY", ","))
_AFTER_ITEM = frozenset(("", ",", ")", ";", "FROM", "AS", "UNION", "INTERSECT", "EXCEPT", "LIMIT"))
_AFTER_TERM = frozenset(("", ",", ")", ";", "ASC", "DESC", "LIMIT", "HAVING", "ORDER", "COLLATE", "NULLS"))
_SUMS, _EXTREMES = frozenset(("SUM", "AVG", "TOTAL")), frozenset(("MIN", "MAX"))
_SHAPING = "COUNT GROUP_CONCAT LOWER UPPER ABS ROUND LENGTH TRIM SUBSTR CAST DISTINCT"
_OF_COLUMNS = _SUMS | _EXTREMES | frozenset(_SHAPING.split())
_NUMERIC = frozenset(("REAL", "INTEGER", "INT", "NUMERIC", "FLOAT", "DECIMAL", "DOUBLE"))
_NAMES = ("quoted", "word", "other")


@dataclass(frozen=True)
class _Place:
    """Where a name stands: the words around it, its clause, and the function whose argument it is."""

    before: str
    after: str
    then: str  # the word behind `after`
    clause: str
    call: str

    @property
    def is_name(self) -> bool:
        """Tell whether a text makes no sense here, so that a column must be meant."""
        if self.before == "BY" or (self.clause in ("ORDER", "GROUP") and self.before == ","):
            return self.after in _AFTER_TERM
        if self.call in _OF_COLUMNS and self.before in ("(", "DISTINCT"):
            return True
        is_item = self.clause == "SELECT" and self.before in ("SELECT", "DISTINCT", "ALL", ",")
        is_part = self.before in {*_COUNTS, "CASE"} or self.after in _COUNTS
        is_compared = self.after in _COMPARED and self.before in _BEFORE_COMPARED
        return is_part or is_compared or (is_item and self.after in _AFTER_ITEM)

    def is_counted(self, *, is_unclear: bool) -> bool:
        """Tell whether a column is taken for numbers here; of one that is unclear, whether for any order."""
        is_whole = self.before in ("(", "DISTINCT") and self.after == ")"
        if is_whole and self.call in (_SUMS | _EXTREMES if is_unclear else _SUMS):
            return True
        if is_unclear and self.after == "AS" and self.then in _NUMERIC and self.call == "CAST":
            return True
        is_term = self.clause == "ORDER" and self.before in ("BY", ",") and self.after in _AFTER_TERM
        is_ordered = self.after in _ORDERS or self.before in _ORDERS
        return is_unclear and (is_term or is_ordered or bool(_COUNTS & {self.before, self.after}))


def fault_of(
    sql: str, columns: Mapping[str, str], texts: Mapping[str, str], tables: Iterable[str] = ("w",)
) -> str:
    """Say why a query cannot be trusted, "" where nothing speaks against it. `columns` have their types.

    - A name in double quotes that is no column, where it is an item of SELECT, a term of ORDER BY or GROUP
      BY, the argument of an aggregate, a part of a sum or the left side of a comparison. As a value that is
      compared, and after THEN and ELSE, it is a text: models write texts so.
    - A sum or average of what is no number. `texts` has such columns, with the reason for those that are
      unclear: of these no least, greatest or order either.
    - Truth that is compared with a text: it is 1 or 0.
    """
    tokens = tokens_of(sql)
    words = [each[0].upper() if each.lastgroup == "word" else each[0] for each in tokens]
    names = {name.lower(): name for name in columns}
    given = {*tables, "rowid", "_rowid_", "oid"} | _aliases(tokens, words)
    clauses, calls = [""], [""]
    for place, token in enumerate(tokens):
        start = place - 2 if place > 1 and words[place - 1] == "." else place
        before = words[start - 1] if start else ""
        after, then, *_ = (*words[place + 1 : place + 3], "", "")
        if token[0] == "(":
            clauses.append("")
            calls.append(before)
        elif token[0] == ")" and len(clauses) > 1:
            clauses.pop()
            calls.pop()
        elif token.lastgroup == "word" and words[place] in _CLAUSES:
            clauses[-1] = words[place]
        elif token.lastgroup in _NAMES and after != ".":
            low, at = _bare(token[0]).lower(), _Place(before, after, then, clauses[-1], calls[-1])
            is_value = after in _COMPARED and _bare(then).lower() in names
            is_free = token.lastgroup == "quoted" and start == place and low not in names and low not in given
            if is_free and at.is_name and not is_value:
                return f'no such column: "{_bare(token[0])}". {nearest(_bare(token[0]), columns)}'
            if (column := names.get(low)) is None or low in given:
                continue
            why = texts.get(column)
            if why is not None and at.is_counted(is_unclear=bool(why)):
                return f'the column "{column}" holds no numbers' + (f": {why}" if why else "")
            if columns[column] == "BOOLEAN" and after in _COMPARED and then[:1] in ("'", '"'):
                return f'the column "{column}" holds 1 for true and 0 for false'
    return ""


def tokens_of(sql: str) -> list[re.Match[str]]:
    """Return the words, numbers, signs, texts and quoted names of a query, each kind by its `lastgroup`."""
    return [match for match in _TOKEN.finditer(sql) if match.lastgroup]


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


def _bare(word: str) -> str:
    return word[1:-1].replace('""', '"') if word[:1] in ('"', "`", "[", "'") else word


def _aliases(tokens: Sequence[re.Match[str]], words: Sequence[str]) -> set[str]:
    """Return the names that a query gives itself: behind AS or an expression, and those of WITH."""
    found = set()
    start = words.index("SELECT") if "SELECT" in words else 0  # WITH t("R", "S") AS (SELECT
    for place, token in enumerate(tokens):
        before, kind = (words[place - 1], tokens[place - 1].lastgroup) if place else ("", "")
        is_ended = before in (")", "END", "AS") or kind in ("quoted", "other", "number", "text")
        is_ended = is_ended or (kind == "word" and before not in KEYWORDS)
        is_table = place < start or words[place + 1 : place + 3] == ["AS", "("]
        can_name = token.lastgroup in (*_NAMES, "text") and words[place] not in KEYWORDS
        if can_name and (is_ended or is_table):
            found.add(_bare(token[0]).lower())
    return found
