"""Answers as the host sees them: rebuilt from tagged plain data, never unpickled, never evaluated."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any


class _StandIn:
    """Copies and pickles by the class here, since its `__module__` names another library."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [getattr(self, part.name) for part in fields(self)]  # type: ignore[arg-type]
        return _rebuild, (type(self).__name__, *parts)


def _rebuild(kind: str, *parts: Any) -> Any:
    return _STAND_INS[kind](*parts)


@dataclass(frozen=True, slots=True)
class Expression(_StandIn):
    """A sympy expression: its text, and its number where it is an integer or a float."""

    text: str
    number: int | float | None = None

    def __str__(self) -> str:
        return self.text


class Cells(list[Any]):
    """Values or rows of a table; `tolist` as pandas has it."""

    def tolist(self) -> list[Any]:
        return list(self)


class _Labelled(_StandIn):
    """Has the row labels of a pandas object; 0, 1, … when the program set none."""

    labels: tuple[str, ...] | None
    values: Cells

    @property
    def index(self) -> tuple[str, ...]:
        return self.labels if self.labels is not None else tuple(map(str, range(len(self.values))))


@dataclass(frozen=True)
class DataFrame(_Labelled):
    """A pandas frame: column names, row labels, rows."""

    columns: tuple[str, ...]
    labels: tuple[str, ...] | None
    values: Cells


@dataclass(frozen=True)
class Series(_Labelled):
    """A pandas column: labels and values."""

    labels: tuple[str, ...] | None
    values: Cells


# Code that asks a value for its library, as serialisers do without importing one, gets the true answer.
Expression.__module__ = "sympy"
DataFrame.__module__ = Series.__module__ = "pandas"
_STAND_INS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Expression, DataFrame, Series)}

_KINDS = {
    type(None): "none",
    Fraction: "fraction",
    Decimal: "decimal",
    Expression: "sympy",
    DataFrame: "dataframe",
    Series: "series",
}


def kind_of(value: Any) -> str:
    """Return the name of a type in a result: int, float, str, list, fraction, date, dataframe, sympy…"""
    return _KINDS.get(type(value), type(value).__name__)


def plain(value: Any) -> Any:
    """Return the value as JSON.

    Tuples, ranges and sets are lists (sets in order), dict keys are text, a fraction is "a/b", a decimal
    a float, dates and times are ISO text, a time span is seconds, a complex number is text, nan and
    infinities are text. A sympy number is a number, any other expression its text. A frame is
    {"columns", "rows"}, with "index" where the program set row labels; a series is a dict of its
    labels, or a list without them; a missing cell of either is null. Text that is not valid Unicode
    has its bad parts replaced.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, (float, Decimal)):
        quiet = isinstance(value, float) or not value.is_snan()
        number = float(value) if quiet else math.nan
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=_order)
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Expression):
        return plain(value.text if value.number is None else value.number)
    if isinstance(value, (DataFrame, Series)):
        return _plain_table(value)
    return str(value)


def _order(item: Any) -> tuple[str, Any, str]:
    if isinstance(item, (int, float)):
        return "", item, ""
    return type(item).__name__, 0, str(item)


def _plain_cell(cell: Any) -> Any:
    if isinstance(cell, list):
        return [_plain_cell(item) for item in cell]
    return None if isinstance(cell, float) and math.isnan(cell) else plain(cell)


def _plain_table(table: DataFrame | Series) -> Any:
    cells = [_plain_cell(cell) for cell in table.values]
    if isinstance(table, DataFrame):
        frame: dict[str, Any] = {"columns": [plain(name) for name in table.columns], "rows": cells}
        return frame if table.labels is None else frame | {"index": [plain(name) for name in table.labels]}
    if table.labels is None or len(set(table.labels)) < len(table.labels):
        return cells
    return dict(zip((plain(label) for label in table.labels), cells, strict=True))
