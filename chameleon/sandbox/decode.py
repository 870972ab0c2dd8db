"""Read the frame of a program that may be hostile: every tag, size and type is checked.

The tags are listed in `inside/encode.py`. Whatever does not fit raises `BadFrame`.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from chameleon.sandbox.values import Cells, DataFrame, Expression, Series

_MOST_EQUAL_HASHES = 64


class BadFrame(ValueError):
    """Bytes that no honest child sends."""


def read_frame(data: bytes, depth: int, digits: int) -> dict[str, Any]:
    """Return the frame's fields, with the answer decoded under "value"; raise `BadFrame`."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {type(error).__name__}") from None
    if not isinstance(fields, dict):
        raise BadFrame("not an object")
    frame = {
        "status": _text(fields.get("s")),
        "error_type": _text(fields.get("t", ""))[:100],
        "message": _readable(fields.get("m", ""))[:500],
        "line": fields.get("line") if type(fields.get("line")) is int else None,
        "stdout": _readable(fields.get("out", "")),
        "stdout_truncated": fields.get("cut") is True,
    }
    if frame["status"] == "ok":
        frame["value"] = Decoder(depth, digits).decode(fields.get("v"))
    return frame


def _text(value: Any) -> str:
    if type(value) is not str:
        raise BadFrame("a text is missing")
    return value


def _readable(value: Any) -> str:
    return _text(value).encode("utf-8", "replace").decode()


class Decoder:
    """Rebuilds one answer within the limits."""

    def __init__(self, depth: int, digits: int) -> None:
        self._depth, self._digits = depth, digits
        self._most = 10**digits
        self._readers: dict[str, Callable[[list[Any], int], Any]] = {
            "l": lambda items, level: self._items(_exactly(items, 1)[0], level),
            "t": lambda items, level: tuple(self._items(_exactly(items, 1)[0], level)),
            "S": lambda items, level: set(self._distinct(self._items(_exactly(items, 1)[0], level))),
            "F": lambda items, level: frozenset(self._distinct(self._items(_exactly(items, 1)[0], level))),
            "d": self._dict,
            "q": self._fraction,
            "D": self._decimal,
            "c": self._complex,
            "r": self._range,
            "T": self._moment,
            "y": self._expression,
            "P": self._table,
        }

    def decode(self, form: Any, level: int = 0) -> Any:
        """Return the value that was encoded as `form`, at that level of nesting; raise `BadFrame`."""
        if level > self._depth:
            raise BadFrame("nested too deep")
        if form is None or isinstance(form, (bool, float, str)):
            return form
        if isinstance(form, int):
            return self._integer(form)
        if isinstance(form, list) and form and isinstance(form[0], str) and form[0] in self._readers:
            return self._readers[form[0]](form[1:], level)
        raise BadFrame("an unknown tag")

    def _integer(self, form: Any) -> int:
        if type(form) is not int or abs(form) >= self._most:
            raise BadFrame("not an integer within the limit")
        return form

    def _items(self, forms: Any, level: int) -> list[Any]:
        if not isinstance(forms, list):
            raise BadFrame("items are missing")
        return [self.decode(form, level + 1) for form in forms]

    def _distinct(self, keys: list[Any]) -> list[Any]:
        """Return the keys, if a hash table can hold them: hashable, and not chosen to collide."""
        try:
            hashes = Counter(sorted(hash(key) for key in keys))
        except TypeError:
            raise BadFrame("a key that cannot be hashed") from None
        if hashes and hashes.most_common(1)[0][1] > _MOST_EQUAL_HASHES:
            raise BadFrame("keys that collide")
        return keys

    def _dict(self, items: list[Any], level: int) -> dict[Any, Any]:
        pairs = [self._items(pair, level) for pair in _listed(_exactly(items, 1)[0])]
        if any(len(pair) != 2 for pair in pairs):
            raise BadFrame("a pair is missing")
        self._distinct([key for key, _ in pairs])
        return dict(pairs)

    def _fraction(self, items: list[Any], level: int) -> Fraction:
        above, below = _exactly(items, 2)
        if self._integer(below) == 0:
            raise BadFrame("a fraction over 0")
        return Fraction(self._integer(above), below)

    def _decimal(self, items: list[Any], level: int) -> Decimal:
        try:
            value = Decimal(_text(_exactly(items, 1)[0]))
        except InvalidOperation:
            raise BadFrame("not a decimal") from None
        if value.is_finite() and abs(value.adjusted()) > self._digits:
            raise BadFrame("a decimal beyond the limit")
        return value

    def _complex(self, items: list[Any], level: int) -> complex:
        real, imaginary = _exactly(items, 2)
        if type(real) is not float or type(imaginary) is not float:
            raise BadFrame("not a complex number")
        return complex(real, imaginary)

    def _range(self, items: list[Any], level: int) -> range:
        start, stop, step = (self._integer(item) for item in _exactly(items, 3))
        if step == 0 or abs((stop - start) // step) > 1 << 24:
            raise BadFrame("a range beyond the limit")
        return range(start, stop, step)

    def _moment(self, items: list[Any], level: int) -> Any:
        kind, form = _exactly(items, 2)
        try:
            if kind == "timedelta":
                return datetime.timedelta(*(self._integer(part) for part in _exactly(form, 3)))
            if kind in ("date", "datetime", "time"):
                return getattr(datetime, kind).fromisoformat(_text(form))
        except (ValueError, OverflowError):
            raise BadFrame("not a date or time") from None
        raise BadFrame("an unknown kind of time")

    def _expression(self, items: list[Any], level: int) -> Expression:
        text, number = _exactly(items, 2)
        if number is not None and type(number) is not float:
            number = self._integer(number)
        return Expression(_text(text), number)

    def _table(self, items: list[Any], level: int) -> DataFrame | Series:
        kind, *rest = items or [None]
        if kind == "frame":
            names, labels, rows = _exactly(rest, 3)
            columns = tuple(_text(name) for name in _listed(names))
            cells = Cells(self._items(row, level) for row in _listed(rows))
            if any(len(row) != len(columns) for row in cells):
                raise BadFrame("a ragged table")
            return DataFrame(columns, self._labels(labels, len(cells)), cells)
        if kind == "series":
            labels, values = _exactly(rest, 2)
            cells = Cells(self._items(values, level))
            return Series(self._labels(labels, len(cells)), cells)
        raise BadFrame("an unknown kind of table")

    def _labels(self, form: Any, count: int) -> tuple[str, ...] | None:
        if form is None:
            return None
        labels = tuple(_text(label) for label in _listed(form))
        if len(labels) != count:
            raise BadFrame("labels do not fit")
        return labels


def _listed(form: Any) -> list[Any]:
    if not isinstance(form, list):
        raise BadFrame("a list is missing")
    return form


def _exactly(form: Any, count: int) -> list[Any]:
    if len(_listed(form)) != count:
        raise BadFrame("a tag with the wrong number of parts")
    return list(form)
