"""How programs end in the sealed sandbox and in Monty, what callers learn, and which one a machine gets."""

import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.errors import InputError, MissingPackage, SandboxUnavailable
from chameleon.sandbox import Guarantees, Layer, Limits, Sandbox, make_sandbox
from chameleon.sandbox.inside import seccomp
from chameleon.sandbox.result import without_unused_imports
from chameleon.sandbox.sealed_process import why_unusable
from tests.sandbox.conftest import LIMITS, Canary, each_end, each_program, in_plain_python, own_children
from tests.sandbox.test_attacks import LIMITED, NOTHING, attack

TABLE = {"columns": ["city", "people"], "rows": [["Bern", 134], ["Chur", 38], ["Bern", 6]]}


@each_end("value kind", "answers")
def test_answers(sealed: Sandbox, code: str, value: object, kind: str) -> None:
    outcome = sealed.run(code)
    assert (outcome.status, outcome.value, outcome.value_type) == ("ok", value, kind)
    assert outcome.ok and outcome.wall_ms > 0


@each_program("harmless")
def test_same_answer_as_plain_python(sealed: Sandbox, code: str, kind: str) -> None:
    outcome = sealed.run(code)
    assert (outcome.status, outcome.value) == ("ok", in_plain_python(code))


LONG = ("#" * (LIMITS.source_kb * 1024 + 1), "too_large", "SourceTooLarge", None)


@each_end("status error line", "ends", ("ans = 1\x00", "error", None, None), LONG)
def test_ends(sealed: Sandbox, code: str, status: str, error: str | None, line: int | None) -> None:
    outcome = sealed.run(code, timeout=0.2 if status == "timeout" else None)
    assert outcome.status == status, outcome
    assert outcome.error_type == error or error is None
    assert outcome.line == line or line is None
    assert outcome.value is None and len(outcome.message) <= 500
    assert status != "timeout" or 150 < outcome.wall_ms < 1000, "it takes the place of the limits"


def test_messages_and_output_are_bounded_and_a_table_is_also_a_data_frame(sealed: Sandbox) -> None:
    assert len(sealed.run("raise ValueError('x' * 10**6)").message) == 500
    message = sealed.run("from os import no_such_name").message
    assert "<python>" in message and "no_such_name" in message, "no path of this machine"
    short = sealed.run("print('a', 1)\nimport sys\nsys.stderr.write('no')\nans = 1")
    assert (short.stdout, short.stdout_truncated) == ("a 1\n", False)
    long = sealed.run("for _ in range(99):\n    print('x' * 10**5)\nans = 1")
    assert (len(long.stdout), long.stdout_truncated) == (LIMITS.stdout_kb * 1024, True)
    assert sealed.run("input()").error_type == "EOFError"
    inputs = {"numbers": [1, 2], "text": "x" * 5_000_000}
    assert sealed.run("total = sum(numbers) + len(text)", inputs, result="total").value == 5_000_003
    summed = sealed.run("ans = df.groupby('city')['people'].sum().to_dict()", {"table": TABLE})
    assert summed.value == {"Bern": 140, "Chur": 38}
    assert sealed.run("ans = len(table['rows'])", {"table": TABLE}).value == 3
    assert sealed.run("ans = df", {"table": TABLE, "df": 5}).value == 5
    named = "ans = int(np.sum(pd.to_numeric(df['people'])))"
    assert sealed.run(named, {"table": TABLE}).value == 178
    assert sealed.run("ans = pd.NA", {"numbers": [1]}).error_type == "NameError", "only beside a table"
    code = "import random\nans = (random.random(), list({'ab', 'cd', 'ef', 'gh'}), hash('x'))"
    assert sealed.run(code).value == sealed.run(code).value


def test_inputs_and_limits_that_make_no_sense(sealed: Sandbox) -> None:
    for inputs in ({"1a": 1}, {"class": 1}, {"x": object()}, {"x": {1, 2}}):
        with pytest.raises(InputError):
            sealed.run("ans = 1", inputs)
    for wrong in ({"wall_s": 0}, {"memory_mb": -1}, {"int_digits": 10**6}):
        with pytest.raises(InputError):
            Limits(**wrong)  # type: ignore[arg-type]


needs_linux = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")


@needs_linux
def test_linux_gets_the_sealed_sandbox_and_no_layer_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with make_sandbox() as sandbox:
        guarantees = sandbox.guarantees()
        assert guarantees.tier == sandbox.run("ans = 1").tier == "sealed"
    assert {layer.name for layer in guarantees.layers if layer.active} >= {"seccomp", "rlimits"}
    names = {layer.name for layer in guarantees.layers}
    assert {"seccomp", "rlimits", "namespaces", "chroot", "landlock", "no_new_privs", "capabilities"} <= names
    with pytest.raises(SandboxUnavailable, match=r"'moat' is required.*monty"):
        make_sandbox("sealed", require=("seccomp", "moat"))
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match=r"riscv64.*monty"):
        make_sandbox("sealed")


def test_other_systems_get_monty_and_other_kinds_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("docker", "monty+sealed"):
        with pytest.raises(InputError, match=rf"no sandbox '{re.escape(kind)}'.*auto, sealed, monty"):
            make_sandbox(kind)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="workers"):
        make_sandbox(workers=0)
    guarantees = Guarantees("sealed", (Layer("seccomp", True, "allow-list"), Layer("moat", False)))
    assert str(guarantees) == "sealed:\n  yes  seccomp  allow-list\n  no   moat"
    pytest.importorskip("pydantic_monty")
    for platform in ("darwin", "win32"):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", platform)
            with make_sandbox() as sandbox:
                assert sandbox.guarantees().tier == "monty"
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(MissingPackage, match="pip install"):
        make_sandbox("monty")


@pytest.fixture(scope="module")
def monty() -> Iterator[Sandbox]:
    pytest.importorskip("pydantic_monty")
    with make_sandbox("monty", limits=Limits(memory_mb=128)) as sandbox:
        yield sandbox


@each_end("status value", "monty")
def test_ends_in_monty(monty: Sandbox, code: str, status: str, value: object) -> None:
    outcome = monty.run(code, timeout=0.3 if status == "timeout" else None)
    assert (outcome.status, outcome.value, outcome.tier) == (status, value, "monty"), outcome


ROUNDED = "2.675, 2/5252.05, 1/0.5, 0/-1.25, 1/1e300, 2/2.5/1234, -2/1234.5, -2/7, 1"


def test_output_answers_and_time_are_bounded_and_the_next_program_is_fresh(monty: Sandbox) -> None:
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
    for given in ROUNDED.split("/"):
        assert repr(monty.run(f"ans = round({given})").value) == repr(eval(f"round({given})")), given
    for code in ("ans = [[]] * 20000000", "ans = 'x' * (400 << 20)"):
        assert monty.run(code).status in ("memory", "too_large")
    assert monty.run("ans = {1: 'a', '1': 'b'}").status in ("error", "too_large")
    for first in ("", "print('x' * (400 << 20))\n"):
        outcome = monty.run(f"{first}x = 3\nwhile True:\n    x = x * x % 10**3000", timeout=0.3)
        assert outcome.status in ("timeout", "memory") and outcome.wall_ms < 300 + 700


@each_program(*NOTHING, *LIMITED)
def test_attacks_on_monty(monty: Sandbox, canary: Canary, code: str, kind: str) -> None:
    attack(monty, canary, code)


def test_a_worker_that_is_killed_from_outside_costs_no_verdict(monty: Sandbox) -> None:
    killed = []

    def kill() -> None:
        while not killed:
            time.sleep(0.02)
            for worker in own_children():
                if worker.pid not in before and sum(worker.cpu_times()[:2]) > 0.2:
                    worker.kill()
                    killed.append(worker)

    before = {each.pid for each in own_children()}
    with make_sandbox("monty", limits=Limits(wall_s=20)) as sandbox, ThreadPoolExecutor(1) as killer:
        killer.submit(kill)
        outcome = sandbox.run("for number in range(20_000_000):\n    pass\nans = number")
    assert outcome.value == 19_999_999, outcome


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
