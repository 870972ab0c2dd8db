"""Turn a program's answer into JSON, the form in which it reaches the host.

Lists, tuples, ranges and sets (sorted) become arrays, and keys of objects become text. A fraction is "a/b", a
decimal a number, dates and times are ISO text, a time span is seconds; a complex number, nan and the
infinities are text. numpy's values become their Python equivalents. A pandas frame is {"columns", "rows"},
with "index" if the program set row labels; a series is an object keyed by its labels, or an array if it has
none; missing cells of either are null. A sympy number is a number, any other expression its text. A library
is recognized by the module of the value's type, so that nothing has to be imported.
"""

import datetime
import decimal
import fractions
import math
from collections import deque
from collections.abc import Iterable
from typing import Any

_MAX_FORMULA_CHARS = 4000
_BITS_PER_DIGIT = 3.3219280948873626  # log2(10)
# Subclasses come before their base classes.
_KINDS = (bool, int, float, str, list, tuple, dict, set, frozenset, range, complex)
_TEXT_TYPES = (fractions.Fraction, decimal.Decimal, datetime.datetime, datetime.date, datetime.time)
_LIST_TYPES: tuple[type[Any], ...] = (deque, type({}.keys()), type({}.values()), type({}.items()))


class Unsupported(Exception):
    """A value that is not plain data: a function, a generator, an object of the program's own class."""


class TooLarge(Exception):
    """A value beyond the limits; the text names the limit."""


def kind_of(value: Any) -> str:
    """Return the name of a value's type in a result: none, int, list, fraction, date, dataframe, sympy, …"""
    value = _python_value(value)
    if (library := _library(value)) in ("pandas", "sympy"):
        return library if library == "sympy" else type(value).__name__.lower()
    kinds = (*_KINDS, *_TEXT_TYPES, datetime.timedelta)
    return next((kind.__name__.lower() for kind in kinds if isinstance(value, kind)), "none")


class Encoder:
    """Encodes one value within limits: `result_bytes`, `depth` levels and `digits` digits per integer."""

    def __init__(self, result_bytes: int, depth: int, digits: int) -> None:
        self._left, self._bytes = result_bytes, result_bytes
        self._depth, self._digits = depth, digits
        self._bits = int(digits * _BITS_PER_DIGIT)

    def encode(self, value: Any, level: int = 0) -> Any:
        """Encode a value; its own methods may run. Raises `Unsupported` or `TooLarge`."""
        if level > self._depth:
            raise TooLarge(f"it is nested more than {self._depth} levels deep")
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if _library(value) in ("numpy", "pandas") and hasattr(value, "size"):
            self._spend(2 * value.size)
        value = _python_value(value)
        if value is None or isinstance(value, bool):
            self._spend(2)
            return value
        if isinstance(value, int):
            return self._integer(int.__int__(value))
        if isinstance(value, float):
            return self._float(float.__float__(value))
        if isinstance(value, dict):
            self._spend(2)
            pairs = dict.items(value)
            mapping = {str(self.encode(key, level + 1)): self.encode(item, level + 1) for key, item in pairs}
            if len(mapping) < len(pairs):
                raise Unsupported("a dict with keys that differ and have the same text")
            return mapping
        if isinstance(value, list | tuple | range):
            return self._items(value, level)
        if isinstance(value, set | frozenset):
            items = self._items(value, level)
            numbers = sorted(item for item in items if isinstance(item, int | float))
            others = (item for item in items if not isinstance(item, int | float))
            return [*numbers, *sorted(others, key=lambda item: (type(item).__name__, str(item)))]
        return self._other(value, level)

    def _spend(self, weight: int) -> None:
        self._left -= weight
        if self._left < 0:
            raise TooLarge(f"it is larger than {self._bytes // 1024} KiB")

    def _text(self, text: str) -> str:
        self._spend(len(text))
        return text

    def _integer(self, value: int) -> int:
        if value.bit_length() > self._bits:
            raise TooLarge(f"it has more than {self._digits} digits")
        self._spend(2 + value.bit_length() // 4)
        return value

    def _float(self, value: float) -> float | str:
        self._spend(2)
        return value if math.isfinite(value) else str(value)

    def _items(self, values: Iterable[Any], level: int) -> list[Any]:
        self._spend(2)
        return [self.encode(value, level + 1) for value in values]

    def _other(self, value: Any, level: int) -> Any:
        if isinstance(value, fractions.Fraction):
            return f"{self._integer(value.numerator)}/{self._integer(value.denominator)}"
        if isinstance(value, decimal.Decimal):
            number = math.inf if value.is_nan() else float(value)  # float() refuses a signaling nan
            return self._float(number) if math.isfinite(number) else self._text(str(value))
        if isinstance(value, complex):
            return self._text(str(value))
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        if isinstance(value, datetime.timedelta):
            return value.total_seconds()
        kind = type(value).__name__
        if _library(value) == "pandas" and kind in ("DataFrame", "Series"):
            return self._table(value, level)
        if _library(value) == "sympy":
            if getattr(value, "is_Integer", False) and abs(int(value)).bit_length() <= self._bits:
                return self._integer(int(value))
            number = getattr(value, "is_Float", False)
            return self._float(float(value)) if number else self._text(str(value)[:_MAX_FORMULA_CHARS])
        raise Unsupported(f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind[:80]}")

    def _table(self, value: Any, level: int) -> Any:
        """Encode a frame or a series; default row numbers are left out."""
        index, values = value.index, value.to_numpy().tolist()
        numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
        labels = [] if numbered else [self._text(str(label)) for label in index]
        if type(value).__name__ == "DataFrame":
            columns = [self._text(str(column)) for column in value.columns]
            table = {"columns": columns, "rows": [self._cells(row, level + 1) for row in values]}
            return table if numbered else table | {"index": labels}
        cells = self._cells(values, level)
        return cells if len(set(labels)) < len(cells) else dict(zip(labels, cells, strict=True))

    def _cells(self, values: Iterable[Any], level: int) -> list[Any]:
        cells = (None if isinstance(cell, float) and math.isnan(cell) else cell for cell in values)
        return self._items(cells, level)


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _python_value(value: Any) -> Any:
    """Return the Python equivalent of a library's value, or the value itself."""
    library, kind = _library(value), type(value).__name__
    if isinstance(value, _LIST_TYPES):
        return list(value)
    if library == "numpy" and hasattr(value, "tolist"):
        plain = value.tolist()
        if type(plain) is type(value):  # longdouble has no Python equivalent
            return complex(value) if value.dtype.kind == "c" else float(value)
        return plain
    if library == "pandas":
        if kind in ("NaTType", "NAType"):
            return None
        if kind == "Timestamp":
            return value.to_pydatetime(warn=False)
        if kind == "Timedelta":
            return value.to_pytimedelta()
        if kind in ("Period", "Interval"):
            return str(value)
        if kind not in ("DataFrame", "Series") and hasattr(value, "tolist"):  # an Index or a Categorical
            return list(value.tolist())
    return value
