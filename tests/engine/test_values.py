"""Values of a run: frozen, named by their key path where no log could hold them, and written as JSON."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from typing import Any

import pytest
from hypothesis import given

from chameleon import values
from chameleon.errors import ModuleError
from chameleon.values import freeze
from tests.engine.strategies import anything


class Colour(enum.StrEnum):
    RED = "red"


class OldColour(str, enum.Enum):  # noqa: UP042 - its str() is the member's name, unlike a StrEnum's
    RED = "red"


LOOP: list[Any] = []
LOOP.append(LOOP)


@given(anything)
def test_come_back_from_json_frozen(value: Any) -> None:
    frozen = values.freeze(value)
    read = values.from_json(json.loads(json.dumps(values.to_json(frozen))))
    assert read == frozen and repr(read) == repr(frozen)


class TestFreezing:
    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ({1}, "output is a set"),
            (b"x", "output is a bytes"),
            ({"a": [{}, {"b": object()}]}, "output.a[1].b is an object"),
            ([1.0, float("nan")], "output[1] is nan"),
            ({"x": (float("-inf"),)}, "output.x[0] is -inf"),
            ({"a": {5: 1}}, "output.a has the key 5"),
            ({"n": [10**5000]}, "output.n[0] is a number of more than 4,000 digits"),
            (LOOP, f"output{'[0]' * 65} is nested more than 64 levels"),
        ],
    )
    def test_names_the_key_path_of_what_a_log_cannot_hold(self, value: Any, told: str) -> None:
        with pytest.raises(ModuleError) as error:
            values.freeze(value, "output")
        assert error.value.what.startswith(told)

    @pytest.mark.parametrize("value", [Colour.RED, OldColour.RED, {OldColour.RED: [Colour.RED]}])
    def test_keeps_of_an_enum_what_a_log_keeps(self, value: Any) -> None:
        frozen = values.freeze(value)
        assert repr(frozen) == repr(values.from_json(json.loads(json.dumps(values.to_json(frozen)))))

    def test_takes_scalars_of_numpy_and_pandas_as_json(self) -> None:
        np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
        given = [np.int64(3), np.float64(0.5), np.longdouble(2), np.bool_(True), np.array(4), np.array("x")]
        given += [pd.Timestamp("2024-01-02"), np.datetime64("2024-01-02"), pd.NaT, np.datetime64("NaT")]
        frozen = values.freeze({"of": given})["of"]
        assert frozen == (3, 0.5, 2.0, True, 4, "x", "2024-01-02T00:00:00", "2024-01-02", None, None)
        assert {*map(type, frozen)} == {int, float, bool, str, type(None)}
        for value in (np.float32("nan"), np.timedelta64(3, "ns"), np.array(None), np.array([1]), pd.Series()):
            with pytest.raises(ModuleError) as error:
                values.freeze(value)
            assert (".tolist()" in error.value.hint) == bool(np.shape(value))

    def test_merging_keeps_the_order_in_which_keys_were_last_written(self) -> None:
        merged = values.merge({"a": 1, "b": 2, "c": 3}, {"a": 4, "d": 5})
        assert list(merged.items()) == [("b", 2), ("c", 3), ("a", 4), ("d", 5)]
        with pytest.raises(TypeError):
            merged["a"] = 0  # type: ignore[index]


def test_values_can_be_read_copied_pickled_and_written_but_not_changed() -> None:
    frozen = freeze({"a": [1, {"b": None}]})
    assert json.loads(json.dumps(frozen)) == {"a": [1, {"b": None}]}
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert again == frozen and type(again) is type(frozen)
        with pytest.raises(TypeError, match="read-only"):
            again["c"] = 1
        with pytest.raises(TypeError, match="read-only"):
            again["a"][1].update(b=2)
