"""The Monty tier: what it runs, what it refuses, and that it gives nothing away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from chameleon.sandbox import Limits, Sandbox, make_sandbox
from chameleon.sandbox.result import without_unused_imports
from tests.sandbox.conftest import each_program, own_children
from tests.sandbox.test_attacks import Canary, attack, canary

pytest.importorskip("pydantic_monty")
__all__ = ["canary"]


@pytest.fixture(scope="module")
def monty() -> Iterator[Sandbox]:
    with make_sandbox("monty", limits=Limits(memory_mb=128)) as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("code", "status", "value"),
    [
        ("ans = 6 * 7", "ok", 42),
        ("import numpy as np\nimport math\nans = math.isqrt(17)", "ok", 4),
        ("import numpy as np\nans = np.pi", "refused", None),
        ("from sympy import Symbol\nans = 1", "refused", None),
        ("x = 1", "no_answer", None),
        ("ans = 1 / 0", "error", None),
        ("ans = = 1", "error", None),
        ("while True:\n    pass", "timeout", None),
        ("ans = 'ab' * 10**9", "memory", None),
        ("ans = 10 ** 4200", "too_large", None),
        ("ans = len", "error", None),
        ("ans = [1]\nans.append((ans,))", "error", None),
        ("ans = {}\nans['x'] = ans", "error", None),
        ("ans = ['[...]']", "ok", ["[...]"]),
        ("import time\ntime.sleep(5)\nans = 1", "timeout", None),
    ],
)
def test_ends(monty: Sandbox, code: str, status: str, value: object) -> None:
    outcome = monty.run(code, timeout=0.3 if status == "timeout" else None)
    assert (outcome.status, outcome.value, outcome.tier) == (status, value, "monty"), outcome


ROUNDED = "2.675, 2/5252.05, 1/0.5, 0/-1.25, 1/1e300, 2/2.5/1234, -2/1234.5, -2/7, 1"


def test_rounding_is_that_of_python(monty: Sandbox) -> None:
    for given in ROUNDED.split("/"):
        assert repr(monty.run(f"ans = round({given})").value) == repr(eval(f"round({given})")), given


def test_output_is_bounded_inputs_are_globals_and_the_next_program_is_fresh(monty: Sandbox) -> None:
    assert monty.run("print('a', 1)\nans = 1").stdout == "a 1\n"
    outcome = monty.run("for _ in range(100):\n    print('x' * 2000)\nans = 1")
    assert (len(outcome.stdout), outcome.stdout_truncated) == (64 * 1024, True)
    table = {"columns": [], "rows": [[1]]}
    assert monty.run("ans = table['rows'][0][0] + n", {"table": table, "n": 2}).value == 3
    assert monty.run("ans = n").error_type == "NameError"
    for name in ("df", "pd", "np"):
        assert monty.run(f"ans = {name}", {"table": {"columns": [], "rows": []}}).status == "refused"
    outcome = monty.run("x = 1\n\ndef f():\n    return x / 0\nf()")
    assert (outcome.error_type, outcome.line) == ("ZeroDivisionError", 4)


@each_program(
    "reads", "secrets", "writes", "network", "processes", "exhaustion", "crashes", "channel", "tampering"
)
def test_attacks(monty: Sandbox, canary: Canary, code: str, kind: str) -> None:
    attack(monty, canary, code)


def test_an_answer_that_cannot_be_fetched_or_has_no_form_is_none(monty: Sandbox) -> None:
    for code in ("ans = [[]] * 20000000", "ans = 'x' * (400 << 20)"):
        assert monty.run(code).status in ("memory", "too_large")
    assert monty.run("ans = {1: 'a', '1': 'b'}").status in ("error", "too_large")


def test_a_worker_that_is_killed_from_outside_costs_no_verdict() -> None:
    killed = []

    def kill() -> None:
        while not killed:
            time.sleep(0.02)
            for worker in own_children():
                if worker.pid not in before and sum(worker.cpu_times()[:2]) > 0.2:
                    worker.kill()
                    killed.append(worker)

    before = {each.pid for each in own_children()}
    with make_sandbox("monty", limits=Limits(wall_s=20)) as sandbox:
        killer = threading.Thread(target=kill)
        killer.start()
        outcome = sandbox.run("for number in range(20_000_000):\n    pass\nans = number")
        killer.join()
    assert outcome.value == 19_999_999, outcome


@pytest.mark.parametrize("first", ["", "print('x' * (400 << 20))\n"])
def test_a_program_ends_soon_after_its_limit(monty: Sandbox, first: str) -> None:
    outcome = monty.run(f"{first}x = 3\nwhile True:\n    x = x * x % 10**3000", timeout=0.3)
    assert outcome.status in ("timeout", "memory")
    assert outcome.wall_ms < 300 + 700


def test_unused_imports_are_dropped() -> None:
    for code, stripped in {
        "import numpy as np\nans = 1": "\nans = 1",
        "import numpy\nimport os\nans = 1": "\n\nans = 1",
        "import numpy as np\nans = np.pi": None,
        "import no_such_thing\nans = 1": None,
        "from numpy import pi\nans = 1": None,
        "import numpy; ans = 1": None,
        'ans = """\nimport numpy\n"""': None,
    }.items():
        assert without_unused_imports(code, {"numpy", "os"}) == (stripped or code)
