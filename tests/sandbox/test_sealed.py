"""The sealed sandbox: where programs run; threads, event loops, forks, kills and closing."""

from __future__ import annotations

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
from tests.sandbox.conftest import own_children

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")

ROOT = Path(__file__).parents[2]
TABLE = {"columns": ["n"], "rows": [[1], [2]]}


def family() -> list[psutil.Process]:
    zygotes = own_children()
    return [*zygotes, *(process for zygote in zygotes for process in zygote.children(recursive=True))]


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def script(code: str, ends: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == ends, done.stderr
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


def test_a_zygote_that_hangs_is_killed_and_one_that_cannot_be_read_at_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


FORKED = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as threads:
    made = {id(each) for each in threads.map(lambda _: shared_sandbox(), range(8))}
sandbox = shared_sandbox()
assert len(made) == 1 and sandbox.run('ans = 1').value == 1
child = os.fork()
answers = [shared_sandbox().run(f'ans = {n}').value for n in range(20)]
assert answers == list(range(20)), answers
if not child:
    sandbox.close()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert sandbox.run('ans = 3').value == 3
"""
EARLY = """
start_early()
USE
for thread in threading.enumerate():
    if thread.name == 'chameleon-sandbox':
        thread.join()
"""
KILLED = """
threading.Thread(target=make_sandbox('sealed').run, args=('while True: pass',)).start()
tell()
os.kill(os.getpid(), 9)
"""
HEAD = """
import os, psutil, threading
from chameleon.sandbox import make_sandbox, shared_sandbox, start_early
def tell():
    print(*[p.pid for p in psutil.Process().children(recursive=True)], flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "ends"),
    [
        (f"{FORKED}tell()", 0),
        (f"{EARLY.replace('USE', '')}tell()", 0),
        (EARLY.replace("USE", "start_early(); assert shared_sandbox().run('ans = 1').ok") + "tell()", 0),
        (KILLED, -signal.SIGKILL),
    ],
    ids=["shared and forked", "early", "early and used", "killed"],
)
def test_the_sandbox_ends_with_its_process(code: str, ends: int) -> None:
    """It is one for all threads, a forked copy has its own, and an early start makes the shared one."""
    numbers = [int(number) for number in script(HEAD + code, ends).stdout.split()]
    assert numbers
    there = [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]
    _, alive = psutil.wait_procs(there, timeout=5)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive), "one survives"


FAILED_EARLY = """
import sys
sys.platform, sys.modules['pydantic_monty'] = 'darwin', None
start_early()
print('went on')
shared_sandbox()
"""
FORKED_MONTY = """
from chameleon.errors import SandboxUnavailable
from chameleon.sandbox import make_sandbox, shared_sandbox, tiers
tiers.why_unusable = lambda: 'not here'
monty = shared_sandbox()
assert monty.run('ans = 1').tier == 'monty'
child, refused = os.fork(), 0
if not child:
    for each in (lambda: monty, shared_sandbox, lambda: make_sandbox('monty')):
        try:
            each().run('ans = 2')
        except SandboxUnavailable as error:
            refused += 'spawn' in str(error)
    os._exit(refused)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert monty.run('ans = 3').value == 3
"""


@pytest.mark.slow
def test_a_failed_early_start_and_a_fork_of_monty_are_reported_at_the_first_use() -> None:
    done = script(HEAD + FAILED_EARLY, ends=1)
    assert done.stdout == "went on\n" and done.stderr.count("Traceback") == 1
    assert "programs run in Monty here" in done.stderr
    pytest.importorskip("pydantic_monty")
    script(HEAD + FORKED_MONTY)


CROWDED = """
import os, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(COUNT)]
for number in held:
    os.set_inheritable(number, True)
from chameleon.sandbox import make_sandbox
look = '''
import errno, os
ans = []
for number in range(3, 4096):
    try:
        ans.append(os.lseek(number, 0, 1))
    except OSError as error:
        ans += [errno.errorcode[error.errno]] if error.errno != errno.EBADF else []
'''
with make_sandbox("sealed", workers=1) as sandbox:
    assert sandbox.run(look).value == sandbox.run(look).value == ["ESPIPE"], "the socket of its answer"
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 600])
def test_no_program_reaches_a_handle_of_the_host_however_many_files_are_open(count: int) -> None:
    script(CROWDED.replace("COUNT", str(count)))
