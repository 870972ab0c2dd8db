"""The sealed sandbox: where programs run; threads, event loops, forks, kills and closing."""

import gc
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from chameleon.errors import SandboxUnavailable
from chameleon.sandbox import Limits, Sandbox, make_sandbox
from chameleon.sandbox.sealed_process import Stuck, ZygoteClient, why_unusable
from tests.sandbox.conftest import own_children, programs

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")

ROOT = Path(__file__).parents[2]
TABLE = {"columns": ["n"], "rows": [[1], [2]]}


def family() -> list[psutil.Process]:
    zygotes = own_children()
    return [*zygotes, *(process for zygote in zygotes for process in zygote.children(recursive=True))]


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


HOSTS = {piece.partition("\n")[0]: piece.partition("\n")[2] for piece in programs("hosts")}


def script(name: str, **given: object) -> subprocess.CompletedProcess[str]:
    """Run a script of `hosts.txt`, whose name ends with its exit code; "@name" stands for what is given."""
    code = HOSTS[name]
    for key, value in given.items():
        code = code.replace(f"@{key}", str(value))
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == int(name.split()[-1]), done.stderr
    return done


def test_a_program_that_uses_a_library_has_it_if_it_is_installed_and_wanted() -> None:
    with make_sandbox("sealed") as sandbox:
        for code in ("import numpy as np\nimport pandas as pd\nans = 1", "ans = len(table['rows']) - 1"):
            assert sandbox.run(code, {"table": TABLE}).value == 1
        assert len(own_children()) == 1
        for code in (
            "import numpy\nans = float(numpy.pi) > 3",
            "from numpy import pi\nans = float(pi) > 3",
            "import numpy.linalg as la\nans = float(la.norm([3, 4])) == 5",
            "import numpy\ntry:\n    x = numpy.pi\nexcept BaseException:\n    x = 0\nans = float(x) > 3",
            "def f():\n    import numpy\n    return numpy.pi\nans = float(f()) > 3",
            "import mpmath\nans = float(mpmath.pi) > 3",
            "ans = int(df['n'].sum()) == 3",
            "import numpy as np\nans = float(eval('n' + 'p.pi')) > 3",
            "import numpy\nans = 'num' + 'py' in globals()",
        ):
            assert sandbox.run(code, {"table": TABLE}).value is True
    with make_sandbox("sealed", libraries=("no_such_library",)) as sandbox:
        assert sandbox.run("import no_such_library\nans = 1").value == 1
        for name, is_told in (("no_such_library", True), ("numpy", False)):
            outcome = sandbox.run(f"import {name} as x\nx.y")
            assert (outcome.status, outcome.error_type) == ("error", "ModuleNotFoundError")
            assert ("pip install numpy pandas sympy" in outcome.message) is is_told


def test_threads_share_a_sandbox_and_it_outlives_the_one_that_made_it() -> None:
    with ThreadPoolExecutor(1) as maker:
        made = maker.submit(make_sandbox, "sealed", workers=2).result()
    before = len(own_children())
    with made as sandbox, ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda n: sandbox.run(f"ans = {n} ** 2").value, range(40))
        assert list(answers) == [n**2 for n in range(40)]
        assert len(own_children()) == before + 1


def test_closing_ends_every_process_and_every_handle() -> None:
    gc.collect()  # else what other tests left is closed in between
    before, processes = handles(), len(family())
    sandbox = make_sandbox("sealed")
    for _ in range(20):
        sandbox.run("ans = 1")
    while_open = handles()
    for code in ("ans = 1", "1 / 0", "import os\nos._exit(1)"):
        sandbox.run(code)
    assert handles() <= while_open + 1
    sandbox.close()
    sandbox.close()
    assert (handles(), len(family())) == (before, processes)
    with pytest.raises(SandboxUnavailable, match="closed"):
        sandbox.run("ans = 1")


@pytest.mark.slow
@pytest.mark.parametrize("of_child", [False, True], ids=["interpreter", "program"])
@pytest.mark.parametrize(("kills", "status"), [(1, "ok"), (2, "crashed")])
def test_what_is_killed_from_outside_runs_once_more(of_child: bool, kills: int, status: str) -> None:
    """The system kills for want of memory: no program has that in its own power."""
    before = own_children()

    def kill() -> None:
        killed = set[int]()
        while len(killed) < kills:
            time.sleep(0.02)
            with suppress(psutil.NoSuchProcess, ValueError):  # while they come and go
                (interpreter,) = (each for each in own_children() if each not in before)
                (program,) = (each for each in interpreter.children(recursive=True) if not each.children())
                if program.pid not in killed and sum(program.cpu_times()[:2]) > 0.2:  # it runs
                    killed.add(program.pid)
                    (program if of_child else interpreter).kill()

    long = "import time\nwhile time.process_time() < 1:\n    pass\nans = 1"
    code = long if kills == 1 else "while True:\n    pass"
    limits = Limits(wall_s=20, cpu_s=20)
    with make_sandbox("sealed", limits=limits) as sandbox, ThreadPoolExecutor(1) as killer:
        killer.submit(kill)
        assert sandbox.run(code).status == ("memory" if of_child and kills == 2 else status)
        killer.shutdown()
        assert sandbox.run("ans = 2").value == 2


def test_a_program_cannot_make_itself_run_twice(sealed: Sandbox) -> None:
    for name in ("Killed", "SandboxLost"):
        begun = time.monotonic()
        code = f"import time\nclass {name}(Exception): pass\ntime.sleep(0.9)\nraise {name}('x')"
        outcome = sealed.run(code)
        assert (outcome.status, outcome.error_type) == ("error", name)
        assert time.monotonic() - begun < 1.7


def test_a_zygote_that_hangs_or_cannot_be_read_is_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.sandbox.sealed_process._GRACE_SECONDS", 0.2)
    with make_sandbox("sealed", limits=Limits(wall_s=0.6)) as sandbox:
        zygote = own_children()[-1].children()[0]
        threading.Timer(0.1, lambda: zygote.send_signal(signal.SIGSTOP)).start()
        begun = time.monotonic()
        assert sandbox.run("while True:\n    pass").status == "timeout"
        assert 0.8 < time.monotonic() - begun < 4
        assert sandbox.run("ans = 2").value == 2
    for junk in (b"junk", b"[1]", b'{"ended": [], "spare": 2}', b"\xff", b"[" * 50_000, b"{}"):
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with near, far:
            zygote = ZygoteClient.__new__(ZygoteClient)
            zygote._control, zygote._spares, zygote._ended, zygote._serial = near, {}, {}, 0
            far.send(junk)
            with pytest.raises(Stuck):
                zygote.run({}, wall=-1.9)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HOSTS if "\ntell()" in HOSTS[name]])
def test_the_sandbox_ends_with_its_process(name: str) -> None:
    """It is one for all threads, a forked copy has its own, and an early start makes the shared one."""
    numbers = [int(number) for number in script(name).stdout.split()]
    assert numbers
    there = [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]
    _, alive = psutil.wait_procs(there, timeout=5)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive), "one survives"


@pytest.mark.slow
def test_a_failed_early_start_and_a_fork_of_monty_are_reported_at_the_first_use() -> None:
    done = script("failed early 1")
    assert done.stdout == "went on\n" and done.stderr.count("Traceback") == 1
    assert "programs run in Monty here" in done.stderr
    pytest.importorskip("pydantic_monty")
    script("forked monty 0")


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 600])
def test_no_program_reaches_a_handle_of_the_host_however_many_files_are_open(count: int) -> None:
    script("crowded 0", count=count)
