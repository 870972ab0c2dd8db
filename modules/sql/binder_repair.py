"""Repair what models get wrong in SQL over one table: its name, its columns' quotes, its cells' spelling.

Binder's post-processing (Cheng et al., 2023), on the program's text: what is not repaired stays to the
letter. Needs the package sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.util import find_spec
from itertools import zip_longest

from chameleon.errors import MissingPackage
from chameleon.modules.sql.binder_calls import column_in, outer_calls, outside_quotes
from chameleon.modules.sql.binder_table import LINE_BREAK, plain_date
from chameleon.modules.sql.database import SqlTable

_FENCE = re.compile(r"^```[a-zA-Z]*[ \t]*\n?|\n?(?:(?<![ \t])[ \t]+)?```\s*$")
_MIDNIGHT = re.compile(r"[ t]00:00(?::00)?$")
_WORD = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE | re.ASCII)
_FIGURES = re.compile(r"\d[\d,]*(?:\.\d+)?", re.ASCII)
_NEAREST = 0.70
# To liken texts takes the product of their lengths.
_MOST_CELLS, _LONGEST = 5_000, 300
# Words that SQLite reads as its own where a column's name might stand.
_KEYWORDS = frozenset(
    """
add all alter and as between by case check collate commit constraint create default delete desc distinct drop
else end escape except exists for foreign from full group having if in index inner insert intersect into is
isnull join left limit not notnull null on or order outer primary references right select set table then to
transaction union unique update using values when where with
""".split()  # noqa: SIM905
)
_COMPARE = ("EQ", "NEQ", "IN", "LIKE", "IS", "NOT")
_ORDER = ("LT", "LTE", "GT", "GTE", "BETWEEN")
_WITHIN_A_COMPARISON = (*_COMPARE, *_ORDER, "L_PAREN", "COMMA")


def require_sqlglot() -> None:
    """Raise `MissingPackage` when sqlglot is not installed."""
    if find_spec("sqlglot") is None:
        raise MissingPackage(
            "programs in SQL are repaired with sqlglot, which is not installed", hint="pip install sqlglot"
        )


def repaired(program: str, table: SqlTable, title: str = "") -> str:
    """Return the program as it was meant for `table`.

    A code fence goes, lines are joined, `FROM <title>` reads from the table, names of columns are put into
    back-quotes where SQL needs it, and a text that a column is compared with becomes the cell of that column
    that is nearest to it (at least 70 % alike, no figure contradicted), or the column of that name, outside
    QA().
    """
    text = LINE_BREAK.sub(" ", _FENCE.sub("", program.strip())).strip().rstrip(";").rstrip()
    parts = re.findall(r"[^\W_]+|[^\w\s]", title)
    if any(part.isalnum() for part in parts):
        titled = r"[\s_]*".join(part if part.isalnum() else f"{re.escape(part)}?" for part in parts)
        source = re.compile(rf"(\b(?:from|join)\s+)[\"'`\[]?{titled}(?!\w)[\"'`\]]?", re.IGNORECASE)
        text = source.sub(lambda match: match[1] + table.name, text)
    repair = Repair(table)
    return repair.with_nearest_cells(repair.with_quoted_columns(text))


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text that a column is compared with, and where it stands in the program, quotes included."""

    begun: int
    ended: int
    value: str
    column: str


class Repair:
    """The repairs of a program that need to know the table."""

    def __init__(self, table: SqlTable) -> None:
        self.table = table

    def with_quoted_columns(self, text: str) -> str:
        """Quote names that are no plain words of SQL, the longest first, where they are in no quotes."""
        edged = []
        for name in sorted(self.table.header, key=len, reverse=True):
            if _WORD.fullmatch(name):
                needs_quotes = name.lower() in _KEYWORDS
            else:
                needs_quotes = any(character.isalnum() for character in name) or len(name) == 1
            if needs_quotes:  # a name begins and ends with a word's edge where it does with a letter
                before = r"(?<![\w.])" if name[0].isalnum() or name[0] == "_" else ""
                after = r"(?![\w.])" if name[-1].isalnum() or name[-1] == "_" else ""
                edged.append(before + re.escape(name) + after)
        if not edged:
            return text
        named = re.compile("|".join(edged), re.IGNORECASE)
        parts, position = [], 0
        for begun, ended in outside_quotes(text):
            parts += [text[position:begun], named.sub(_quoted, text[begun:ended])]
            position = ended
        return "".join([*parts, text[position:]])

    def with_nearest_cells(self, text: str) -> str:
        """Put the nearest cell in place of each text that a column is compared with, outside QA()."""
        masked = text
        for call in outer_calls(text):
            masked = masked.replace(call.text, "q" * len(call.text))
        for found in reversed(list(self.comparisons(masked))):
            cell = self.nearest_cell(found.value, found.column)
            named = column_in(found.value, self.table.header) if cell is None else None
            said = f"`{named}`" if named else "'" + (cell or found.value.lower()).replace("'", "''") + "'"
            text = text[: found.begun] + said + text[found.ended :]
        return text

    def comparisons(self, text: str) -> Iterator[ComparedText]:
        """Yield the texts of `column = 'text'`, `column IN ('text', …)` and the like, but for patterns.

        Those of `column < 'text'` and the like only where the column holds dates.
        """
        require_sqlglot()
        import sqlglot

        try:
            tokens = sqlglot.tokenize(text, read="sqlite")
        except sqlglot.errors.SqlglotError:
            return  # SQLite will say what is wrong with it
        names = {name.lower(): name for name in self.table.header}
        dates = {column.name for column in self.table.columns if column.type == "DATE"}
        column: str | None = None
        for token, after in zip_longest(tokens, tokens[1:]):
            said = token.text.lower()
            # SQLite takes a name in double quotes that no column has for a text.
            if token.token_type.name == "STRING" or (text[token.start] == '"' and said not in names):
                if column is not None and not {said[:1], said[-1:]} & {"%", "_"}:
                    yield ComparedText(token.start, token.end + 1, token.text, column)
            elif token.token_type.name not in _WITHIN_A_COMPARISON:
                sign = after.token_type.name if after is not None else ""
                named = names.get(said)
                column = named if sign in _COMPARE or (sign in _ORDER and named in dates) else None

    def nearest_cell(self, value: str, column: str) -> str | None:
        """Return the cell of a column that a text stands for; None when no cell is near enough.

        A date is compared as such: the text in the form of the column's cells is returned, if it is a date.
        """
        index = self.table.header.index(column)
        wanted = _MIDNIGHT.sub("", " ".join(value.lower().split()))
        if self.table.columns[index].type == "DATE":
            return plain_date(wanted)
        cells = dict.fromkeys(row[index] for row in self.table.rows[:_MOST_CELLS])
        texts = [cell for cell in cells if isinstance(cell, str)]
        if wanted in texts or len(wanted) > _LONGEST:
            return wanted if wanted in texts else None
        likeness = {cell: _likeness(wanted, cell) for cell in texts if _figures_agree(wanted, cell)}
        nearest = max(likeness, key=likeness.__getitem__, default="")
        return nearest if likeness.get(nearest, 0.0) >= _NEAREST else None


def _quoted(match: re.Match[str]) -> str:
    """Quote a name; a word of SQL only where nothing but a column can stand: behind a comparison, say."""
    name, after = match[0], match.string[match.end() :].lstrip().lower()
    before = match.string[: match.start()].rstrip()
    if name.lower() in ("group", "order"):
        is_column = not after.startswith("by")
    else:
        last = before.rpartition(" ")[2].lower()
        is_column = last in {"select", "by", "where", "and", "or", "="} or before[-1:] in set(",=<>(")
    return f"`{name}`" if is_column or name.lower() not in _KEYWORDS else name


def _likeness(one: str, other: str) -> float:
    if len(other) > _LONGEST:
        return 0.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < _NEAREST or matcher.quick_ratio() < _NEAREST:
        return 0.0
    return matcher.ratio()


def _figures_agree(one: str, other: str) -> bool:
    """Return whether one text has all figures of the other."""
    mine, theirs = (
        {float(figure.replace(",", "")) for figure in _FIGURES.findall(text)} for text in (one, other)
    )
    return mine <= theirs or theirs <= mine
