"""Values of a run are frozen and written as JSON; libyaml and Python read the same of YAML."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import chameleon
from chameleon import values
from chameleon.errors import ModuleError
from chameleon.values import freeze
from chameleon.yaml_text import _InPython, _read, read_yaml
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


NOT_HELD: list[tuple[Any, str]] = [
    *(({1}, "output is a set"), (b"x", "output is a bytes")),
    ({"a": [{}, {"b": object()}]}, "output.a[1].b is an object"),
    ([1.0, float("nan")], "output[1] is nan"),
    ({"x": (float("-inf"),)}, "output.x[0] is -inf"),
    ({"a": {5: 1}}, "output.a has the key 5"),
    ({"n": [10**5000]}, "output.n[0] is a number of more than 4,000 digits"),
    (LOOP, f"output{'[0]' * 65} is nested more than 64 levels"),
]


@pytest.mark.parametrize(("value", "told"), NOT_HELD)
def test_the_key_path_of_what_a_log_cannot_hold_is_named(value: Any, told: str) -> None:
    with pytest.raises(ModuleError) as error:
        freeze(value, "output")
    assert error.value.what.startswith(told)


def test_enums_and_scalars_of_numpy_and_pandas_are_frozen_as_json() -> None:
    for value in (Colour.RED, OldColour.RED, {OldColour.RED: [Colour.RED]}):
        frozen: Any = freeze(value)
        assert repr(frozen) == repr(values.from_json(json.loads(json.dumps(values.to_json(frozen)))))
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    given = [np.int64(3), np.float64(0.5), np.longdouble(2), np.bool_(True), np.array(4), np.array("x")]
    given += [pd.Timestamp("2024-01-02"), np.datetime64("2024-01-02"), pd.NaT, np.datetime64("NaT")]
    frozen = freeze({"of": given})["of"]
    assert frozen == (3, 0.5, 2.0, True, 4, "x", "2024-01-02T00:00:00", "2024-01-02", None, None)
    assert {*map(type, frozen)} == {int, float, bool, str, type(None)}
    for value in (np.float32("nan"), np.timedelta64(3, "ns"), np.array(None), np.array([1]), pd.Series()):
        with pytest.raises(ModuleError) as error:
            freeze(value)
        assert (".tolist()" in error.value.hint) == bool(np.shape(value))


def test_values_can_be_read_merged_copied_pickled_and_written_but_not_changed() -> None:
    merged = values.merge({"a": 1, "b": 2, "c": 3}, {"a": 4, "d": 5})
    assert list(merged.items()) == [("b", 2), ("c", 3), ("a", 4), ("d", 5)], "in the order of last writing"
    frozen = freeze({"a": [1, {"b": None}]})
    assert json.loads(json.dumps(frozen)) == {"a": [1, {"b": None}]}
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert again == frozen and type(again) is type(frozen)
        for each, key in ((again, "c"), (again["a"][1], "b"), (merged, "a")):
            with pytest.raises(TypeError, match="read-only"):
                each[key] = 1
        with pytest.raises(TypeError, match="read-only"):
            again["a"][1].update(b=2)


HOME = Path(chameleon.__file__).parent
FILES = [*HOME.glob("*/**/*.yaml"), *HOME.glob("prompts/**/*.md")]
SHIPPED = {file: file.read_text("utf-8").partition("\n---\n")[0] for file in FILES}

needs_libyaml = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML has no libyaml here")


def told(read: Callable[[Any, Callable[[yaml.Node], None]], Any], text: Any) -> Any:
    """Return the data with the lines of all nodes that have a text, or None for what is no YAML."""
    lines: list[tuple[str, int]] = []

    def look(node: yaml.Node) -> None:
        lines.append((node.tag, node.start_mark.line if node.value else 0))
        for each in node.value if isinstance(node, yaml.CollectionNode) else ():
            for part in each if isinstance(each, tuple) else (each,):
                look(part)

    try:
        return repr(read(text, look)), lines
    except yaml.YAMLError:
        return None


@needs_libyaml
def test_shipped_files_are_read_alike() -> None:
    assert len(SHIPPED) > 150
    for file, text in SHIPPED.items():
        assert told(read_yaml, text) == told(_read, _InPython(text)) is not None, file


@needs_libyaml
@given(st.text("ab:{}[],|>- \n\"'#1.~&*", max_size=40))
def test_made_texts_are_read_alike(text: str) -> None:
    """Whatever Python reads; libyaml lets a few more pass, such as a tab within a text."""
    slow = told(_read, _InPython(text))
    assert slow is None or slow == told(read_yaml, text)


@needs_libyaml
def test_errors_say_what_is_wrong() -> None:
    for text, problem in {
        "a: *b": "found undefined alias 'b'",
        "a: @b": "found character '@'",
        "a: !!timestamp 1": "this is no timestamp",
        "a: \udcff": "unacceptable character",
        "a: !!python/name:os.system": "could not determine a constructor",
    }.items():
        with pytest.raises(yaml.YAMLError, match=problem):
            read_yaml(text)


@needs_libyaml
@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 999_999, "- " * 400_000, "{a: " * 200_000, "? " * 400_000])
def test_what_nests_without_end_is_refused(text: str) -> None:
    """In a process of its own: libyaml by itself ends it."""
    code = "import sys; from chameleon.yaml_text import read_yaml; read_yaml(sys.stdin.read())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr.endswith("YAMLError: it is nested too deeply\n")
