"""Turn a program's answer into tagged plain data, which crosses to the parent as JSON.

Scalars of JSON stand for themselves; everything else is a list whose first item is its tag:
l list, t tuple, S set, F frozenset, d dict (pairs), q fraction, D decimal, c complex, r range,
T date and time kinds, y sympy expression, P pandas frame or series. A library is recognised by the
module of the value's type, so that nothing needs to be imported to ask.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Iterable
from typing import Any

_TEXT_OF_EXPRESSION = 4000
_BITS_PER_DIGIT = 3.3219280948873626


class Unsupported(Exception):
    """A value that is not plain data: a function, a generator, an object of the program's own class."""


class TooLarge(Exception):
    """A value beyond the limits; the text names the limit."""


class Encoder:
    """Encodes one value within `result_bytes`, `depth` levels and `digits` digits per integer."""

    def __init__(self, result_bytes: int, depth: int, digits: int) -> None:
        self._left, self._bytes = result_bytes, result_bytes
        self._depth = depth
        self._bits = int(digits * _BITS_PER_DIGIT)
        self._digits = digits

    def encode(self, value: Any, level: int = 0) -> Any:
        """Raise `Unsupported` or `TooLarge`; the value's own methods may run, as in the program itself."""
        if level > self._depth:
            raise TooLarge(f"it is nested more than {self._depth} levels deep")
        if value is None or isinstance(value, bool):
            self._spend(2)
            return value
        if isinstance(value, int):
            return self._integer(int.__int__(value))
        if isinstance(value, float):
            self._spend(2)
            return float.__float__(value)
        if isinstance(value, str):
            text = str.__str__(value)
            self._spend(len(text))
            return text
        return self._container(value, level)

    def _spend(self, weight: int) -> None:
        self._left -= weight
        if self._left < 0:
            raise TooLarge(f"it is larger than {self._bytes // 1024} KiB")

    def _integer(self, value: int) -> int:
        if value.bit_length() > self._bits:
            raise TooLarge(f"it has more than {self._digits} digits")
        self._spend(2 + value.bit_length() // 4)
        return value

    def _items(self, values: Iterable[Any], level: int) -> list[Any]:
        self._spend(2)
        return [self.encode(value, level + 1) for value in values]

    def _container(self, value: Any, level: int) -> Any:
        if isinstance(value, list):
            return ["l", self._items(list.__iter__(value), level)]
        if isinstance(value, tuple):
            return ["t", self._items(tuple.__iter__(value), level)]
        if isinstance(value, dict):
            pairs = dict.items(value)
            return ["d", [self._items(pair, level) for pair in pairs]]
        if isinstance(value, set):
            return ["S", self._items(set.__iter__(value), level)]
        if isinstance(value, frozenset):
            return ["F", self._items(frozenset.__iter__(value), level)]
        return self._number(value, level)

    def _number(self, value: Any, level: int) -> Any:
        if isinstance(value, fractions.Fraction):
            return ["q", self._integer(value.numerator), self._integer(value.denominator)]
        if isinstance(value, decimal.Decimal):
            if value.is_finite() and abs(value.adjusted()) > self._digits:
                raise TooLarge(f"it has more than {self._digits} digits")
            text = decimal.Decimal.__str__(value)
            self._spend(len(text))
            return ["D", text]
        if isinstance(value, complex):
            return ["c", value.real, value.imag]
        if isinstance(value, range):
            # A range weighs what its list would, since that is what its reader will make of it.
            self._spend(2 * max(0, (value.stop - value.start) // value.step))
            return ["r", value.start, value.stop, value.step]
        return self._moment(value, level)

    def _moment(self, value: Any, level: int) -> Any:
        library = type(value).__module__.partition(".")[0]
        if library == "pandas":
            return self._pandas(value, level)
        if isinstance(value, datetime.datetime):
            return ["T", "datetime", value.isoformat()]
        if isinstance(value, datetime.date):
            return ["T", "date", value.isoformat()]
        if isinstance(value, datetime.time):
            return ["T", "time", value.isoformat()]
        if isinstance(value, datetime.timedelta):
            return ["T", "timedelta", [value.days, value.seconds, value.microseconds]]
        if library == "numpy":
            return self._numpy(value, level)
        if library == "sympy":
            return self._sympy(value)
        return self._other(value, level)

    def _numpy(self, value: Any, level: int) -> Any:
        if hasattr(value, "ndim") and hasattr(value, "tolist"):
            self._spend(2 * value.size)
            plain = value.tolist()
            if type(plain) is type(value):  # longdouble has no plain twin
                plain = complex(value) if value.dtype.kind == "c" else float(value)
            return self.encode(plain, level)
        raise Unsupported(_describe(value))

    def _pandas(self, value: Any, level: int) -> Any:
        kind = type(value).__name__
        if kind == "DataFrame":
            self._spend(2 * value.size)
            columns = [str(column) for column in value.columns]
            rows = value.to_numpy().tolist()
            return ["P", "frame", columns, self._labels(value.index), self._rows(rows, level)]
        if kind == "Series":
            self._spend(2 * value.size)
            return ["P", "series", self._labels(value.index), self._items(value.to_numpy().tolist(), level)]
        if kind in ("NaTType", "NAType"):
            return None
        if hasattr(value, "to_pydatetime") and kind == "Timestamp":
            return ["T", "datetime", value.to_pydatetime(warn=False).isoformat()]
        if hasattr(value, "to_pytimedelta") and kind == "Timedelta":
            return self.encode(value.to_pytimedelta(), level)
        if kind in ("Period", "Interval"):
            return self.encode(str(value), level)
        if hasattr(value, "tolist"):  # an Index, Categorical or other column of values
            return self.encode(list(value.tolist()), level)
        raise Unsupported(_describe(value))

    def _labels(self, index: Any) -> Any:
        """Return None for the default numbering, else the labels as text."""
        if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
            return None
        labels = [str(label) for label in index]
        self._spend(sum(map(len, labels)))
        return labels

    def _rows(self, rows: list[list[Any]], level: int) -> list[list[Any]]:
        return [self._items(row, level) for row in rows]

    def _sympy(self, value: Any) -> Any:
        text = str(value)[:_TEXT_OF_EXPRESSION]
        self._spend(len(text))
        number: Any = None
        if getattr(value, "is_Integer", False) and abs(int(value)).bit_length() <= self._bits:
            number = int(value)
        elif getattr(value, "is_Float", False):
            number = float(value)
        return ["y", text, number]

    def _other(self, value: Any, level: int) -> Any:
        if isinstance(value, (type({}.keys()), type({}.values()), type({}.items()))):
            return ["l", self._items(value, level)]
        if type(value).__module__ == "collections" and type(value).__name__ == "deque":
            return ["l", self._items(value, level)]
        raise Unsupported(_describe(value))


def _describe(value: Any) -> str:
    name = type(value).__name__[:80]
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name}"
