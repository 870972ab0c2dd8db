"""Repair common mistakes of models in SQL over one table: its name, quoted columns, the spelling of cells.

This is Binder's post-processing (Cheng et al., 2023). It edits the program's text and leaves the rest exactly
as it is.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise

from chameleon.modules.sql.binder_calls import APART, all_calls, column_in
from chameleon.modules.sql.binder_table import LINE_BREAK, plain_date
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.quoted_names import KEYWORDS

_FENCE = re.compile(r"^```[a-zA-Z]*[ \t]*\n?|\n?(?:(?<![ \t])[ \t]+)?```\s*$")
_MIDNIGHT = re.compile(r"[ t]00:00(?::00)?$")
_WORD = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE | re.ASCII)
_FIGURES = re.compile(r"\d[\d,]*(?:\.\d+)?", re.ASCII)
_MIN_SIMILARITY = 0.70
# The time to compare two texts grows with the product of their lengths.
_MAX_CELLS, _MAX_TEXT_CHARS = 5_000, 300
# A text, a quoted name, a word or number, a sign.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^][]*\]|[\w.]+|<>|[<>=!]=|\S")
_COMPARE_SIGNS = frozenset(["=", "==", "<>", "!=", "in", "like", "is", "not"])
_ORDER_SIGNS = frozenset(["<", "<=", ">", ">=", "between"])


def repaired(program: str, table: SqlTable, title: str = "") -> str:
    """Return the program as it was meant for `table`.

    Removes a code fence, joins lines, makes `FROM <title>` read from the table, and backquotes column names
    if SQL needs it. Outside QA(), a text that a column is compared with becomes that column's most similar
    cell (at least 70% alike, without contradicting numbers), or the column with that name.
    """
    text = LINE_BREAK.sub(" ", _FENCE.sub("", program.strip())).strip().rstrip(";").rstrip()
    parts = re.findall(r"[^\W_]+|[^\w\s]", title)
    if any(part.isalnum() for part in parts):
        titled = r"[\s_]*".join(part if part.isalnum() else f"{re.escape(part)}?" for part in parts)
        source = re.compile(rf"(\b(?:from|join)\s+)[\"'`\[]?{titled}(?!\w)[\"'`\]]?", re.IGNORECASE)
        text = source.sub(lambda match: f"{match[1]}w", text)
    return _with_nearest_cells(_with_quoted_columns(text, table), table)


def _with_quoted_columns(text: str, table: SqlTable) -> str:
    """Quote unquoted names that are not plain words in SQL, the longest first."""
    patterns = []
    for name in sorted(table.header, key=len, reverse=True):
        if _WORD.fullmatch(name):
            needs_quotes = name.upper() in KEYWORDS
        else:
            needs_quotes = any(character.isalnum() for character in name) or len(name) == 1
        if needs_quotes:  # a letter at either end of a name must be at a word boundary
            before = r"(?<![\w.])" if name[0].isalnum() or name[0] == "_" else ""
            after = r"(?![\w.])" if name[-1].isalnum() or name[-1] == "_" else ""
            patterns.append(before + re.escape(name) + after)
    if not patterns:
        return text
    pattern = re.compile(rf"{APART}|(?P<name>{'|'.join(patterns)})", re.IGNORECASE | re.DOTALL)
    return pattern.sub(lambda match: _quoted(match) if match["name"] else match[0], text)


def _with_nearest_cells(text: str, table: SqlTable) -> str:
    """Replace each text that a column is compared with by the most similar cell, outside QA()."""
    masked = text
    for call in all_calls(text):
        end = call.start + len(call.text)
        masked = masked[: call.start] + "q" * len(call.text) + masked[end:]  # as long, so positions stay
    for token, column in reversed(list(_comparisons(masked, table))):  # from the end, so positions stay
        value = token[0][1:-1].replace("''", "'")
        cell = nearest_cell(value, column, table)
        name = column_in(value, table.header) if cell is None else None
        replacement = f"`{name}`" if name else "'" + (cell or value.lower()).replace("'", "''") + "'"
        text = text[: token.start()] + replacement + text[token.end() :]
    return text


def _comparisons(text: str, table: SqlTable) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the texts of `column = 'text'`, `column IN ('text', …)` and the like, each with its column.

    Skips patterns, and texts in `column < 'text'` and the like unless the column holds dates.
    """
    names = {name.lower(): name for name in table.header}
    dates = {name for name, kind in table.columns.items() if kind == "DATE"}
    column: str | None = None
    for token, after in pairwise([*_TOKEN.finditer(text), None]):
        assert token is not None, "only the last is"
        word = token[0].lower()
        name = names.get(word.strip('"`[]'))
        # SQLite reads a double-quoted name as a text if no column has that name.
        if len(word) > 1 and (word[0] == "'" or (word[0] == '"' and name is None)):
            if column is not None and not {word[1], word[-2]} & {"%", "_"}:
                yield token, column
        elif word not in _COMPARE_SIGNS and word not in _ORDER_SIGNS and word not in ("(", ","):
            sign = after[0].lower() if after is not None else ""
            column = name if sign in _COMPARE_SIGNS or (sign in _ORDER_SIGNS and name in dates) else None


def nearest_cell(value: str, column: str, table: SqlTable) -> str | None:
    """Return the cell that a text means, with dates in the column's format, or None if none is similar."""
    index = table.header.index(column)
    text = _MIDNIGHT.sub("", " ".join(value.lower().split()))
    if table.columns[column] == "DATE":
        return plain_date(text)
    cells = dict.fromkeys(row[index] for row in table.rows[:_MAX_CELLS])
    texts = [cell for cell in cells if isinstance(cell, str)]
    if text in texts or len(text) > _MAX_TEXT_CHARS:
        return text if text in texts else None
    likely = [cell for cell in texts if len(cell) <= _MAX_TEXT_CHARS and _figures_agree(text, cell)]
    return next(iter(get_close_matches(text, likely, 1, _MIN_SIMILARITY)), None)


def _quoted(match: re.Match[str]) -> str:
    """Quote a name; quote an SQL keyword only if it must be a column, such as after a comparison."""
    name, after = match[0], match.string[match.end() :].lstrip().lower()
    before = match.string[: match.start()].rstrip()
    if name.lower() in ("group", "order"):
        is_column = not after.startswith("by")
    else:
        last = before.rpartition(" ")[2].lower()
        is_column = last in {"select", "by", "where", "and", "or", "="} or before[-1:] in set(",=<>(")
    return f"`{name}`" if is_column or name.upper() not in KEYWORDS else name


def _figures_agree(one: str, other: str) -> bool:
    """Return whether one text has all numbers of the other."""
    mine, theirs = ({float(n.replace(",", "")) for n in _FIGURES.findall(text)} for text in (one, other))
    return mine <= theirs or theirs <= mine
