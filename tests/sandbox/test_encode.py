"""What a child encodes is JSON that the host takes, and hostile frames are refused."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.sandbox.decode import BadFrame, checked, read_frame
from chameleon.sandbox.inside.encode import Encoder, TooLarge, Unsupported, kind_of

finite = st.floats(allow_nan=False, allow_infinity=False)
same = st.none() | st.booleans() | st.integers() | finite | st.text()
kinds = (st.floats, st.fractions, st.decimals, st.dates, st.datetimes, st.timedeltas, st.complex_numbers)
keys = st.integers() | st.tuples(st.integers(), st.text())
others = st.one_of(
    *(kind() for kind in kinds),
    st.sets(st.integers() | st.text(), max_size=4),
    st.dictionaries(keys, st.none(), max_size=4),
)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )


def there(value: Any) -> Any:
    form = Encoder(1 << 20, depth=12, digits=4000).encode(value)
    return checked(json.loads(json.dumps(form, allow_nan=False)), 15, 4000)


@given(nested(same))
def test_values_of_json_come_as_they_are(value: Any) -> None:
    assert there(value) == value


@given(nested(same | others))
def test_every_plain_value_is_strict_json_and_has_a_kind(value: Any) -> None:
    json.dumps(there(value), allow_nan=False).encode()
    assert kind_of(value) == ("none" if value is None else type(value).__name__.lower())


class Colour(IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "form", "kind"),
    [
        (Fraction(1, 3), "1/3", "fraction"),
        (Decimal("2.50"), 2.5, "decimal"),
        (Decimal("sNaN"), "sNaN", "decimal"),
        (Decimal("1e999"), "1E+999", "decimal"),
        ({(1, 2): {3, 1, 2}}, {"[1, 2]": [1, 2, 3]}, "dict"),
        (frozenset(["b", 2.5, "a", 1]), [1, 2.5, "a", "b"], "frozenset"),
        (datetime.datetime(2020, 2, 29, 12, 30), "2020-02-29T12:30:00", "datetime"),
        (datetime.date(2020, 2, 29), "2020-02-29", "date"),
        (datetime.time(12, 30), "12:30:00", "time"),
        (datetime.timedelta(minutes=1), 60.0, "timedelta"),
        (range(0, 10, 3), [0, 3, 6, 9], "range"),
        ([math.nan, -math.inf], ["nan", "-inf"], "list"),
        (1 + 2j, "(1+2j)", "complex"),
        (Colour.RED, 3, "int"),
        (namedtuple("point", "x y")(1, 2), [1, 2], "tuple"),
        (Counter("aab"), {"a": 2, "b": 1}, "dict"),
        (defaultdict(int, a=1), {"a": 1}, "dict"),
        (OrderedDict(a=1), {"a": 1}, "dict"),
        (deque([1, 2]), [1, 2], "list"),
        ({"a": 1}.keys(), ["a"], "list"),
    ],
)
def test_forms_and_kinds(value: Any, form: Any, kind: str) -> None:
    assert (there(value), kind_of(value)) == (form, kind)


def test_what_is_not_plain_data_too_deep_large_or_long_is_refused() -> None:
    for value in (lambda: 1, (item for item in ()), object(), json, print, b"bytes", type, iter([])):
        with pytest.raises(Unsupported):
            there([value])
    deep: list[Any] = []
    for _ in range(13):
        deep = [deep]
    for value, told in [
        (deep, "12 levels"),
        ("x" * (1 << 21), "KiB"),
        (range(10**9), "KiB"),
        (10**4001, "digits"),
        (Fraction(1, 10**4001), "digits"),
    ]:
        with pytest.raises(TooLarge, match=told):
            there(value)


WRONG = ["9" * 4200, "9" * 5000, "NaN", "[1e999]", "[" * 50 + "]" * 50, '{"a": ' * 50 + "1" + "}" * 50]


def test_frames_that_no_honest_child_sends() -> None:
    for data in (
        *(b"", b"\xff", b"[]", b"{}", b'{"s": 1}', b'{"s": "ok", "out": 3}', b'{"s": "ok", "k": 3}'),
        *(b'{"s": "ok", "v": 1, "k": "\\u001b[31m"}', b"[" * 100_000),
        *(b'{"s": "ok", "k": "x", "v": %b}' % value.encode() for value in WRONG),
    ):
        with pytest.raises(BadFrame):
            read_frame(data, depth=12, digits=4000)


@given(
    st.binary(max_size=200)
    | nested(same).map(lambda value: json.dumps({"s": "ok", "v": value, "k": "x"}).encode())
)
def test_any_bytes_end_in_a_frame_or_in_bad_frame(data: bytes) -> None:
    with contextlib.suppress(BadFrame):
        assert isinstance(read_frame(data, depth=12, digits=4000), dict)
