"""The recorded programs and attacks that lie beside the checkout on the machines that have them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.sandbox import Sandbox
from tests.sandbox.test_attacks import Canary, attack, canary

__all__ = ["canary"]

DATA = (Path(__file__).parents[2] / ".." / "shared" / "data" / "sandbox").resolve()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the recorded programs are not on this machine")


def rows(name: str) -> list[dict[str, Any]]:
    data = (DATA / name).read_bytes() if (DATA / name).is_file() else b""
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return [json.loads(line) for line in text.splitlines()]


def tagged(value: Any) -> Any:
    """The value in the corpus's own notation, numbers of either kind as floats."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool):
        return ["n"] if value is None else ["b", value]
    if isinstance(value, (int, float)):
        return ["f", float(value)]
    if isinstance(value, (list, tuple)):
        return ["l", [tagged(item) for item in value]]
    if isinstance(value, dict):
        return ["d", [[tagged(key), tagged(item)] for key, item in value.items()]]
    if kind == "DataFrame":
        return ["P", "df", list(value.columns), tagged(list(value.values))]
    if kind == "Series":
        return ["P", "s", list(value.index), tagged(list(value.values))]
    return ["s" if kind == "str" else "y", str(value)]


def normal(expected: Any) -> Any:
    if isinstance(expected, list) and expected:
        if expected[0] in ("i", "f") and len(expected) == 2:
            return ["f", float(expected[1])]
        if expected[0] == "t":
            return ["l", normal(expected[1])]
        return [normal(item) for item in expected]
    return expected


def close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-12, nan_ok=True)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(close(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def test_recorded_programs_end_as_in_plain_python(sealed: Sandbox) -> None:
    programs = rows("programs_dev.jsonl.gz")
    different = []
    for program in programs:
        outcome, expected = sealed.run(program["code"]), program["expected"]
        if expected["status"] == "ok":
            right = outcome.ok and close(tagged(outcome.value), normal(expected["ans"]))
        else:
            right = not outcome.ok
        if not right:
            different.append((program["id"], expected, outcome))
    assert len(different) <= len(programs) // 1000, different[:3]
    assert not [case for case in different if case[2].ok], "a wrong or invented value"


def placed(code: str, folder: Path) -> str:
    names = {
        "@SECRET@": f"{folder}/secret.txt",
        "@SMOD@": f"{folder}/secret_module.py",
        "@CDIR@": str(folder),
        "@W@": str(folder),
        "@DEL@": f"{folder}/keep",
        "@PORT@": "@port",
    }
    for name, place in names.items():
        code = code.replace(name, place)
    return code


@pytest.mark.parametrize("case", rows("attacks_dev.jsonl"), ids=lambda case: case["name"])
def test_recorded_attacks_have_no_effect(sealed: Sandbox, canary: Canary, case: dict[str, Any]) -> None:
    outcome = attack(sealed, canary, placed(case["code"], canary.folder))
    if case["expected"] == "error":
        assert not outcome.ok
    if case["expected"] == "limit":
        assert outcome.status in ("timeout", "memory", "too_large", "error", "crashed")
