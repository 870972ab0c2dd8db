"""Hostile programs, judged by what happens to the machine rather than by what they say; and recorded ones.

A canary folder with a secret file, a secret in the environment and in memory, a listener on loopback;
after each attack nothing of it may have changed, leaked or been reached, and the next program is right.
"""

import gzip
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from chameleon.sandbox import ExecResult, Sandbox
from tests.sandbox.conftest import SECRET, Canary, each_program

SECONDS = 0.3


def attack(
    sandbox: "Sandbox | Uncontained", canary: Canary, code: str, seconds: float = SECONDS
) -> ExecResult:
    before = canary.state
    port = str(canary.listener.getsockname()[1])
    outcome = sandbox.run(code.replace("@port", port).replace("@", str(canary.folder)), timeout=seconds)
    assert outcome.wall_ms < 1000 * (seconds + 2)
    assert canary.state == before
    assert not canary.reached()
    told = f"{outcome.value} {outcome.message} {outcome.stdout}"
    assert SECRET not in told
    assert "PWNED" not in str(outcome.value)
    following = sandbox.run("import math\nans = [math.sqrt(16), len('abc'), 'ab'.upper(), str(2**70)]")
    assert following.value == [4.0, 3, "AB", str(2**70)]
    return outcome


class Uncontained:
    def run(self, code: str, timeout: float | None = None) -> ExecResult:
        namespace: dict[str, object] = {}
        exec(code, namespace)
        return ExecResult("ok", namespace["ans"], wall_ms=1)


def test_the_canaries_notice_an_escape(canary: Canary) -> None:
    for code in (
        "with open('@/secret.txt') as file:\n    ans = file.read()",
        "import socket\nans = socket.create_connection(('127.0.0.1', @port)).close()",
        "import os\nans = os.remove('@/keep/me')",
    ):
        with pytest.raises(AssertionError):
            attack(Uncontained(), canary, code)


NOTHING = ("reads", "secrets", "network", "processes", "writes", "tampering")
LIMITED = ("exhaustion", "crashes", "channel")


@each_program(*NOTHING)
def test_nothing_is_read_reached_or_written(sealed: Sandbox, canary: Canary, code: str, kind: str) -> None:
    outcome = attack(sealed, canary, code)
    assert kind in ("writes", "tampering") or outcome.status != "ok" or not outcome.value


@each_program(*LIMITED)
def test_limits_hold_and_nothing_is_forged(sealed: Sandbox, canary: Canary, code: str, kind: str) -> None:
    status = attack(sealed, canary, code).status
    assert status in ("error", "crashed", "timeout", "too_large") if kind == "channel" else status != "ok"


def test_sources_that_break_a_parser_and_traces_in_memory(sealed: Sandbox, canary: Canary) -> None:
    for code in ("ans = " + "(" * 3000 + ")" * 3000, "ans = " + "-" * 100_000 + "1"):
        assert attack(sealed, canary, code).status != "ok"
    marker = "trace-" + "9d2e"
    sealed.run(f"ans = '{marker}' * 100", {"hidden": marker})
    scan = (
        "import gc\nhalf = 'trace-'\n"
        "ans = [o for o in gc.get_objects() if isinstance(o, dict) and any("
        "type(v) is str and v.startswith(half) and len(v) > 6 for v in list(o.values()))]\nans = len(ans)"
    )
    assert sealed.run(scan).value == 0


@pytest.mark.slow
def test_nothing_of_a_program_goes_on_burning(sealed: Sandbox) -> None:
    sealed.run("while True:\n    pass", timeout=0.1)
    family = psutil.Process().children(recursive=True)
    before = sum(process.cpu_times().user for process in family)
    time.sleep(0.15)
    assert sum(process.cpu_times().user for process in family if process.is_running()) - before < 0.08


DATA = (Path(__file__).parents[2] / ".." / "shared" / "data" / "sandbox").resolve()
needs_recorded = pytest.mark.skipif(not DATA.is_dir(), reason="the recorded programs are not on this machine")


def rows(name: str) -> list[dict[str, Any]]:
    data = (DATA / name).read_bytes() if (DATA / name).is_file() else b""
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return [json.loads(line) for line in text.splitlines()]


def plain(expected: Any) -> Any:
    """The value as the sandbox gives it, numbers as floats, from the notation of the recorded programs."""
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


@needs_recorded
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


PLACES = {"SECRET": "@/secret.txt", "SMOD": "@/secret_module.py", "CDIR": "@", "W": "@", "DEL": "@/keep"}
STOPPED = ("timeout", "memory", "too_large", "error", "crashed")


@needs_recorded
@pytest.mark.parametrize("case", rows("attacks_dev.jsonl"), ids=lambda case: case["name"])
def test_recorded_attacks_have_no_effect(sealed: Sandbox, canary: Canary, case: dict[str, Any]) -> None:
    code = case["code"].replace("@PORT@", "@port")
    for name, place in PLACES.items():
        code = code.replace(f"@{name}@", place)
    outcome = attack(sealed, canary, code)
    assert case["expected"] != "error" or not outcome.ok
    assert case["expected"] != "limit" or outcome.status in STOPPED
