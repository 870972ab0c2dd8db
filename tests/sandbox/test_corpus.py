"""The recorded programs and attacks that lie beside the checkout on the machines that have them."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
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


def plain(expected: Any) -> Any:
    """The value as the sandbox gives it, numbers of any kind as floats, from the corpus's own notation."""
    kind, *parts = expected
    if kind == "P":
        return {"columns": parts[1], "rows": plain(parts[2])}
    if kind == "d":
        return {str(plain(key)): plain(value) for key, value in parts[0]}
    if kind in ("l", "t"):
        return [plain(item) for item in parts[0]]
    if kind in ("i", "f", "y"):
        with suppress(ValueError):
            return float(parts[0])
    return parts[0] if parts else None


def close(one: Any, other: Any) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-12)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(close(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return all(key in one and close(one[key], value) for key, value in other.items())
    return bool(one == other)


MANY = """
ans = []
for code in codes:
    namespace = {"__name__": "__main__"}
    try:
        exec(code, namespace)
        ans.append(["ok", namespace["ans"]])
    except BaseException as error:
        ans.append(["error", None])
"""
AT_ONCE = 20


def is_right(program: dict[str, Any], status: str, value: Any) -> bool:
    expected = program["expected"]
    return (status == "ok" and close(value, plain(expected["ans"]))) == (expected["status"] == "ok")


@pytest.mark.slow
def test_recorded_programs_end_as_in_plain_python(sealed: Sandbox) -> None:
    """Many in one process, and alone where they come to something else there."""
    # Those that name no library run where none is loaded.
    programs = sorted(rows("programs_dev.jsonl.gz"), key=lambda program: "sympy" in program["code"])
    different = []
    for start in range(0, len(programs), AT_ONCE):
        some = programs[start : start + AT_ONCE]
        together = sealed.run(MANY, {"codes": [program["code"] for program in some]}, timeout=60)
        ends = together.value if together.ok else [["error", None]] * len(some)
        for program, (status, value) in zip(some, ends, strict=True):
            if not is_right(program, status, value):
                alone = sealed.run(program["code"])
                if not is_right(program, alone.status, alone.value):
                    different.append((program["id"], program["expected"], alone))
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
