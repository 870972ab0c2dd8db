"""What tests of benchmarks share: the data beside the checkout, made files and problems, any prediction."""

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognized

DATA = (Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not (DATA / "wikitq").is_dir(), reason="the shared data are not here")

Row = dict[str, Any]


@cache
def rows(name: str) -> list[Row]:
    """The rows of a file of JSON lines, as "wikitq/dev.jsonl"."""
    packed = (DATA / name).read_bytes()
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    return [json.loads(line) for line in text.splitlines()]


@cache
def anchors() -> dict[str, tuple[Any, int]]:
    """Every measured figure: its value and how many it is over."""
    found = json.loads((DATA / "anchors.json").read_text("utf-8"))["anchors"]
    return {anchor["name"]: (anchor["value"], anchor["n"]) for anchor in found}


_SIGNS = st.text(alphabet="01239.,-+()[]\"'$% x/|†*·ab#\n\\_", max_size=30)
texts = st.text(max_size=40) | _SIGNS
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=6)


def write_files(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files by name: a text as it is, a list of objects as JSON lines, anything else as JSON."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".jsonl"):
            content = "".join(f"{json.dumps(row)}\n" for row in content)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (folder / name).write_text(text, "utf-8")
    return folder


def problems_in(benchmark: str, data: Path, tables: Path | None = None) -> list[Problem]:
    """The problems of a file, which is taken for one of the benchmark."""
    found = recognized(data)
    assert found.name == benchmark
    return list(read_problems(found, DataFile(data, found.id_key), tables))


def number(gold: str, unit: str | None = None) -> Problem:
    detail = {"ans_type": "decimal_number", "choices": None, "unit": unit}
    return Problem(id="1", input={}, gold=gold, detail=detail)


def choice(gold: str, choices: Sequence[str], unit: str | None = None) -> Problem:
    detail = {"ans_type": "extractive_text", "choices": list(choices), "unit": unit}
    return Problem(id="2", input={}, gold=gold, detail=detail)


UNKNOWN_CHOICES = Problem(id="3", input={}, gold="red", detail={"ans_type": "other_text"})
WEEKEND = choice("Sunday", ["Saturday", "Sunday"])
