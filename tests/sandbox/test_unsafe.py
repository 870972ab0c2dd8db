"""The executors that contain nothing still tell how programs end; and the canaries notice them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from chameleon.sandbox import Limits, Sandbox, make_sandbox
from tests.sandbox.test_attacks import Canary, attack, canary

__all__ = ["canary"]


@pytest.fixture(scope="module", params=["unsafe_subprocess", "unsafe_inprocess"])
def unsafe(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with make_sandbox(request.param, limits=Limits(wall_s=10)) as sandbox:
        yield sandbox


def test_programs_end_as_in_the_sandbox(unsafe: Sandbox) -> None:
    assert unsafe.run("print('hi')\nans = n + 1", {"n": 1}).value == 2
    assert unsafe.run("print('hi')\nans = 1").stdout == "hi\n"
    assert unsafe.run("x = 1").status == "no_answer"
    failed = unsafe.run("x = 1\nx / 0")
    assert (failed.status, failed.error_type, failed.line) == ("error", "ZeroDivisionError", 2)
    assert unsafe.run("ans = len").status == "error"
    assert unsafe.run("raise SystemExit").status == "error"
    assert unsafe.run("import sympy\nans = sympy.Rational(1, 3)").plain == "1/3"


def test_they_say_that_they_contain_nothing(unsafe: Sandbox) -> None:
    guarantees = unsafe.guarantees()
    assert guarantees.tier.startswith("unsafe_")
    assert not any(guarantees.active(name) for name in ("files", "network", "processes"))


def test_the_canaries_notice_an_escape(canary: Canary) -> None:
    with make_sandbox("unsafe_subprocess") as sandbox:
        for code in (
            "ans = open('@/secret.txt').read()",
            "open('@/keep/me', 'a').close()\nimport os\nos.remove('@/keep/me')",
            "import socket\nsocket.create_connection(('127.0.0.1', @port)).close()",
        ):
            with pytest.raises(AssertionError):
                attack(sandbox, canary, code, seconds=10)


def test_a_fresh_process_is_bounded_in_time_and_isolated_from_crashes() -> None:
    with make_sandbox("unsafe_subprocess", limits=Limits(wall_s=10)) as sandbox:
        assert sandbox.run("while True:\n    pass", timeout=0.3).status == "timeout"
        assert sandbox.run("import os\nos._exit(3)").status == "crashed"
        assert sandbox.run("import os\nos.environ['X'] = '1'\nans = 1").ok


def test_in_process_leaves_the_interpreter_as_it_was() -> None:
    before = (sys.stdout, sys.stdin, sys.modules["__main__"], sys.getrecursionlimit(), print)
    with make_sandbox("unsafe_inprocess") as sandbox:
        code = "import sys, builtins\nbuiltins.print = None\nsys.setrecursionlimit(5000)\nans = 1"
        assert sandbox.run(code).value == 1
    assert (sys.stdout, sys.stdin, sys.modules["__main__"], sys.getrecursionlimit(), print) == before
