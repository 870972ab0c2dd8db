"""What a child encodes is what the host decodes, and hostile frames are refused."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import pickle
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.sandbox.decode import BadFrame, Decoder, read_frame
from chameleon.sandbox.inside.encode import Encoder, TooLarge, Unsupported
from chameleon.sandbox.values import Cells, DataFrame, Expression, Series, kind_of, plain

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.fractions()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.complex_numbers(allow_nan=False)
)
keys = st.integers() | st.text() | st.tuples(st.integers(), st.text())
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner, max_size=4)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
    ),
    max_leaves=12,
)


def there_and_back(value: Any) -> Any:
    form = Encoder(1 << 20, depth=12, digits=4000).encode(value)
    return Decoder(depth=12, digits=4000).decode(json.loads(json.dumps(form)))


@given(values)
def test_every_plain_value_comes_back_with_its_type(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


@given(values)
def test_the_plain_form_is_strict_json(value: Any) -> None:
    json.dumps(plain(there_and_back(value)), allow_nan=False).encode()


def test_subclasses_come_back_as_what_they_extend() -> None:
    class Colour(IntEnum):
        RED = 3

    point = namedtuple("point", "x y")
    assert there_and_back(Colour.RED) == 3
    assert there_and_back(point(1, 2)) == (1, 2)
    assert there_and_back(Counter("aab")) == {"a": 2, "b": 1}
    assert there_and_back(defaultdict(int, a=1)) == {"a": 1}
    assert there_and_back(OrderedDict(a=1)) == {"a": 1}
    assert there_and_back(deque([1, 2])) == [1, 2]
    assert there_and_back({"a": 1}.keys()) == ["a"]
    assert there_and_back(range(0, 10, 3)) == range(0, 10, 3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0])
def test_special_floats_survive(value: float) -> None:
    assert repr(there_and_back(value)) == repr(value)


@pytest.mark.parametrize(
    "value", [lambda: 1, (item for item in ()), object(), json, print, b"bytes", type, iter([])]
)
def test_values_that_are_not_plain_data_are_refused(value: Any) -> None:
    with pytest.raises(Unsupported):
        there_and_back([value])


def test_limits_on_depth_size_and_digits() -> None:
    nested: list[Any] = []
    for _ in range(12):
        nested = [nested]
    with pytest.raises(TooLarge, match="12 levels"):
        there_and_back([nested])
    with pytest.raises(TooLarge, match="KiB"):
        there_and_back("x" * (1 << 21))
    with pytest.raises(TooLarge, match="KiB"):
        there_and_back(range(10**9))
    with pytest.raises(TooLarge, match="digits"):
        there_and_back(10**4001)
    with pytest.raises(TooLarge, match="digits"):
        there_and_back(Decimal("1e999999"))


BAD_FORMS = [
    ["x", []],
    ["l"],
    ["l", 3],
    [],
    {},
    ["q", 1, 0],
    ["q", 1],
    ["q", "1", 2],
    ["q", True, 2],
    ["D", "many"],
    ["D", "1e999999999"],
    ["d", [[1]]],
    ["d", [[["l", []], 1]]],
    ["S", [["l", []]]],
    ["r", 0, 10, 0],
    ["r", 0, 10**20, 1],
    ["c", 1, 2],
    ["T", "date", "yesterday"],
    ["T", "__class__", "x"],
    ["T", "timedelta", [10**30, 0, 0]],
    ["y", 1, None],
    ["P", "frame", ["a"], None, [[1, 2]]],
    ["P", "series", ["a", "b"], [1]],
    ["P", "panel"],
    ["P"],
    10**4200,
    ["S", [n * (2**61 - 1) for n in range(100)]],
]


@pytest.mark.parametrize("form", BAD_FORMS, ids=lambda form: repr(form)[:30])
def test_forms_that_no_honest_child_sends(form: Any) -> None:
    with pytest.raises(BadFrame):
        Decoder(depth=12, digits=4000).decode(form)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"s": 1}',
        b'{"s": "ok", "out": 3}',
        b"[" * 100_000,
        b'{"s": "ok", "v": ' + b"9" * 5000 + b"}",
        b'{"s": "ok", "v": ' + b'["l", [' * 50 + b"]]" * 50 + b"}",
    ],
)
def test_frames_that_no_honest_child_sends(data: bytes) -> None:
    with pytest.raises(BadFrame):
        read_frame(data, depth=12, digits=4000)


@given(
    st.binary(max_size=200) | values.map(lambda value: json.dumps({"s": "ok", "v": plain(value)}).encode())
)
def test_any_bytes_end_in_a_frame_or_in_bad_frame(data: bytes) -> None:
    with contextlib.suppress(BadFrame):
        assert isinstance(read_frame(data, depth=12, digits=4000), dict)


def test_plain_forms() -> None:
    when = datetime.datetime(2020, 2, 29, 12, 30)
    assert plain(Fraction(1, 3)) == "1/3"
    assert plain(Decimal("2.50")) == 2.5
    assert plain({(1, 2): {3, 1, 2}}) == {"[1, 2]": [1, 2, 3]}
    assert plain((when, when.date(), datetime.timedelta(minutes=1))) == [
        "2020-02-29T12:30:00",
        "2020-02-29",
        60.0,
    ]
    assert plain(range(3)) == [0, 1, 2]
    assert [plain(math.nan), plain(Decimal("sNaN")), plain(Decimal("1e999"))] == ["nan", "sNaN", "1E+999"]
    assert plain(1 + 2j) == "(1+2j)"
    assert plain("a\ud800") == "a?"
    assert plain(Expression("sqrt(2)")) == "sqrt(2)"
    assert plain(Expression("4", 4)) == 4


def test_tables_as_json() -> None:
    rows = Cells([[1, "x"], [2, "y"]])
    assert plain(DataFrame(("a", "b"), None, rows)) == {"columns": ["a", "b"], "rows": [[1, "x"], [2, "y"]]}
    assert plain(DataFrame(("a", "b"), ("p", "q"), rows))["index"] == ["p", "q"]
    assert plain(Series(("p", "q"), Cells([1, 2]))) == {"p": 1, "q": 2}
    assert plain(Series(None, Cells([1, 2]))) == [1, 2]
    assert plain(Series(("p", "p"), Cells([1, 2]))) == [1, 2]


def test_stand_ins_can_be_pickled_and_compared() -> None:
    for value in (Expression("x", None), DataFrame(("a",), None, Cells([[1]])), Series(None, Cells([1]))):
        assert pickle.loads(pickle.dumps(value)) == value


def test_kinds() -> None:
    found = [kind_of(value) for value in (None, True, 1, 1.0, "", [], (), {}, Fraction(1), Expression("x"))]
    assert found == ["none", "bool", "int", "float", "str", "list", "tuple", "dict", "fraction", "sympy"]
