"""What a table's columns hold, as statements see them: numbers, dates or names, and rows that are totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.words import key_of, tokens_of
from chameleon.modules.table_ops.order import Datatype, date_in, keys_of
from chameleon.table import Table

TABLES_KEPT = 64
_MOST = 0.75
_TOTALS = word_set("total totals sum overall")


@dataclass(frozen=True)
class Field:
    """A column: its name, the forms of its words, and what most of its cells are.

    `pure` is set where the cells are nothing but that: "26", not "kevin martin (26)".
    """

    name: str
    index: int
    key: tuple[str, ...]
    datatype: Datatype
    pure: bool
    cells: tuple[str, ...]

    @property
    def ordered(self) -> list[Any]:
        """What each cell is compared by, None where there is nothing of the type."""
        return keys_of(self.cells, self.datatype)

    @property
    def is_name(self) -> bool:
        return self.datatype == "text"


@lru_cache(maxsize=TABLES_KEPT)
def fields_of(table: Table) -> tuple[Field, ...]:
    """The columns that a statement can name: of several with one name the first."""
    seen: set[str] = set()
    fields = []
    for column in table.columns:
        if column.name not in seen:
            seen.add(column.name)
            datatype, pure = _datatype(column.cells)
            fields.append(Field(column.name, column.index, key_of(column.name), datatype, pure, column.cells))
    return tuple(fields)


def _datatype(cells: Sequence[str]) -> tuple[Datatype, bool]:
    filled = [cell for cell in cells if any(character.isalnum() for character in cell)]
    if not filled:
        return "text", True
    enough = _MOST * len(filled)
    if sum(_is_date(cell) for cell in filled) >= enough:
        return "date", True
    if sum(_is_number(cell) for cell in filled) >= enough:
        return "number", True
    if sum(any(character.isdecimal() for character in cell) for cell in filled) >= enough:
        return "number", False
    return "text", True


def _is_date(cell: str) -> bool:
    if any(token.date is not None for token in tokens_of(cell)):
        return len([token for token in tokens_of(cell) if not token.is_mark]) <= 3
    return (date := date_in(cell)) is not None and bool(date[1]) and len(cell) < 20


def _is_number(cell: str) -> bool:
    """Whether a cell is a number with a unit or remark at most: "50 lb (23 kg)", "6th", "1993 - 94"."""
    named = [token for token in tokens_of(cell) if not token.is_mark]
    if not named or not any(character.isdecimal() for character in named[0].text):
        return False
    figures = [token for token in named if any(character.isdecimal() for character in token.text)]
    return len(named) <= 3 and (
        len(figures) == 1 or (len(cell) <= 9 and figures[0].text.isdecimal() and len(figures[0].text) == 4)
    )


@lru_cache(maxsize=TABLES_KEPT)
def total_rows(table: Table) -> frozenset[int]:
    """The rows that sum up the others, and those that repeat the header or one text in every cell."""
    header = [key_of(name) for name in table.header]
    return frozenset(
        number
        for number, row in enumerate(table.rows)
        if any(cell.strip().lower() in _TOTALS for cell in row[:2])
        or (len(row) > 1 and [key_of(cell) for cell in row] == header)
        or (len(row) > 2 and len(set(row)) == 1 and len(table.rows) > 1)
    )


_TIME_WORDS = word_set("year date season dat years seasons")


def time_field(table: Table) -> Field | None:
    """The column that says when: of dates, or of years."""
    fields = fields_of(table)
    dated = [field for field in fields if field.datatype == "date"]
    yearly = [field for field in fields if field.datatype == "number" and set(field.key) & _TIME_WORDS]
    return next(iter([*dated, *yearly, *(field for field in fields if is_of_years(field))]), None)


def is_of_years(field: Field) -> bool:
    """Whether a column holds years, whatever its name."""
    filled = [cell.strip() for cell in field.cells if cell.strip()]
    years = [cell for cell in filled if cell.isdecimal() and 1500 <= int(cell) <= 2100 and len(cell) == 4]
    return len(filled) > 1 and len(years) > 0.9 * len(filled)
