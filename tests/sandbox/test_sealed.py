"""The sealed sandbox: where programs start and move on; threads, event loops, forks, kills and closing."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from chameleon.errors import SandboxUnavailable
from chameleon.sandbox import Limits, Sandbox, make_sandbox
from chameleon.sandbox.zygote import Stuck, ZygoteClient, why_unusable
from tests.sandbox.conftest import own_children

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")

ROOT = Path(__file__).parents[2]
TABLE = {"columns": ["n"], "rows": [[1], [2]]}


def family() -> list[psutil.Process]:
    zygotes = own_children()
    return [*zygotes, *(process for zygote in zygotes for process in zygote.children(recursive=True))]


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def script(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def unmoved() -> Iterator[Sandbox]:
    with make_sandbox("sealed") as fresh:
        yield fresh


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nimport pandas as pd, sympy\nans = 1",
        "try:\n    import numpy\nexcept ImportError:\n    pass\nans = 1",
        "ans = len(table['rows']) - 1",
    ],
)
def test_an_import_without_use_stays_with_the_stdlib(unmoved: Sandbox, code: str) -> None:
    assert unmoved.run(code, {"table": TABLE}).value == 1
    assert len(own_children()) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import numpy\nans = float(numpy.pi) > 3",
        "from numpy import pi\nans = float(pi) > 3",
        "import numpy.linalg as la\nans = float(la.norm([3, 4])) == 5",
        "import numpy\ntry:\n    x = numpy.pi\nexcept BaseException:\n    x = 0\nans = float(x) > 3",
        "np = __import__('num' + 'py')\nans = float(np.pi) > 3",
        "import mpmath\nans = float(mpmath.pi) > 3",
        "ans = int(df['n'].sum()) == 3",
        "import time\ntime.sleep(0.2)\nimport numpy\nans = float(numpy.pi) > 3",
    ],
)
def test_use_moves_the_program_on(sealed: Sandbox, code: str) -> None:
    assert sealed.run(code, {"table": TABLE}).value is True


def test_time_spent_before_the_move_is_bounded(sealed: Sandbox) -> None:
    for code in (
        "import numpy\nwhile True:\n    pass",
        "np = __import__('num' + 'py')\nimport time\ntime.sleep(0.25)\nnp.pi\ntime.sleep(99)",
    ):
        outcome = sealed.run(code, timeout=0.3)
        assert outcome.status == "timeout"
        assert outcome.wall_ms < 300 + 150 + 300


def test_libraries_that_are_not_installed_or_not_wanted() -> None:
    with make_sandbox("sealed", libraries=("no_such_library",)) as sandbox:
        assert sandbox.run("import no_such_library\nans = 1").value == 1
        for code in ("import no_such_library as x\nx.y", "from no_such_library import y"):
            outcome = sandbox.run(code)
            assert (outcome.status, outcome.error_type) == ("error", "ModuleNotFoundError")
            assert "pip install numpy pandas sympy" in outcome.message
        assert sandbox.run("import numpy\nans = numpy.pi").error_type == "ModuleNotFoundError"


def test_threads_share_a_sandbox() -> None:
    before = len(own_children())
    with make_sandbox("sealed", workers=2) as sandbox, ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda n: sandbox.run(f"ans = {n} ** 2").value, range(40))
        assert list(answers) == [n**2 for n in range(40)]
        assert len(own_children()) == before + 2


def test_a_sandbox_made_in_a_thread_outlives_it() -> None:
    made: list[Sandbox] = []
    thread = threading.Thread(target=lambda: made.append(make_sandbox("sealed")))
    thread.start()
    thread.join()
    with made[0] as sandbox:
        assert sandbox.run("ans = 1").value == 1


def test_arun_leaves_the_loop_free() -> None:
    async def tick_while_running(sandbox: Sandbox) -> tuple[int, str]:
        run = asyncio.ensure_future(sandbox.arun("while True:\n    pass", timeout=0.3))
        ticks = 0
        while not run.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, run.result().status

    with make_sandbox("sealed") as sandbox:
        ticks, status = asyncio.run(tick_while_running(sandbox))
    assert status == "timeout"
    assert ticks > 5


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


def test_a_program_has_one_handle_and_none_of_the_host(tmp_path: Path) -> None:
    code = (
        "import errno, os\nans = []\n"
        "for number in range(3, 500):\n"
        "    try:\n        ans.append(os.lseek(number, 0, 1))\n"
        "    except OSError as error:\n        ans += [error.errno] if error.errno != errno.EBADF else []\n"
    )
    with (tmp_path / "open.txt").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        with make_sandbox("sealed") as sandbox:
            assert sandbox.run(code).value == [errno.ESPIPE]


def test_a_zygote_killed_between_programs_is_replaced() -> None:
    before = family()
    with make_sandbox("sealed") as sandbox:
        assert sandbox.run("ans = 1").ok
        outer, *inner = [process for process in family() if process not in before]
        outer.kill()
        psutil.wait_procs(inner, timeout=5)
        assert sandbox.run("ans = 2").value == 2


def test_a_zygote_killed_during_a_program_is_replaced() -> None:
    before = own_children()
    with make_sandbox("sealed") as sandbox:
        victims = [process for process in own_children() if process not in before]
        threading.Timer(0.1, lambda: [process.kill() for process in victims]).start()
        assert sandbox.run("while True:\n    pass").status == "crashed"
        assert sandbox.run("ans = 2").value == 2


def test_a_zygote_that_hangs_is_killed_soon_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.sandbox.zygote._GRACE_SECONDS", 0.2)
    with make_sandbox("sealed", limits=Limits(wall_s=0.2)) as sandbox:
        zygote = own_children()[-1].children()[0]
        threading.Timer(0.1, lambda: zygote.send_signal(signal.SIGSTOP)).start()
        begun = time.monotonic()
        assert sandbox.run("while True:\n    pass").status == "timeout"
        assert 0.4 < time.monotonic() - begun < 3
        assert sandbox.run("ans = 2").value == 2


def test_a_forked_copy_has_interpreters_of_its_own() -> None:
    done = script(
        "import os\n"
        "from chameleon.sandbox import shared_sandbox\n"
        "sandbox = shared_sandbox()\n"
        "assert sandbox.run('ans = 1').value == 1\n"
        "child = os.fork()\n"
        "answers = [shared_sandbox().run(f'ans = {n}').value for n in range(20)]\n"
        "assert answers == list(range(20)), answers\n"
        "if not child:\n"
        "    sandbox.close()\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert sandbox.run('ans = 3').value == 3\n"
        "print('both right')\n"
    )
    assert done.stdout == "both right\n", done.stderr


def test_monty_says_that_it_does_not_survive_a_fork() -> None:
    pytest.importorskip("pydantic_monty")
    done = script(
        "import os\n"
        "from chameleon.errors import SandboxUnavailable\n"
        "from chameleon.sandbox import make_sandbox\n"
        "monty = make_sandbox('monty')\n"
        "assert monty.run('ans = 1').tier == 'monty'\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n        monty.run('ans = 2')\n"
        "    except SandboxUnavailable:\n        os._exit(7)\n"
        "    os._exit(1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert monty.run('ans = 3').value == 3\n"
        "monty.close()\n"
        "print('as said')\n"
    )
    assert done.stdout == "as said\n", done.stderr


def test_the_shared_sandbox_is_one_and_ends_with_the_process() -> None:
    done = script(
        "import psutil\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from chameleon.sandbox import shared_sandbox\n"
        "with ThreadPoolExecutor(8) as threads:\n"
        "    made = {id(e) for e in threads.map(lambda _: shared_sandbox(), range(8))}\n"
        "assert len(made) == 1 and shared_sandbox().run('ans = 1').ok\n"
        "print(*[p.pid for p in psutil.Process().children(recursive=True)])\n"
    )
    assert done.returncode == 0, done.stderr
    assert_gone([int(number) for number in done.stdout.split()])


def test_nothing_survives_a_host_that_is_killed() -> None:
    done = script(
        "import os, psutil, threading\n"
        "from chameleon.sandbox import make_sandbox\n"
        "sandbox = make_sandbox('sealed')\n"
        "threading.Thread(target=sandbox.run, args=('while True: pass',)).start()\n"
        "print(*[p.pid for p in psutil.Process().children(recursive=True)], flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert done.returncode == -signal.SIGKILL
    assert_gone([int(number) for number in done.stdout.split()])


def assert_gone(numbers: list[int]) -> None:
    assert numbers
    deadline = time.monotonic() + 5
    while any(psutil.pid_exists(number) and not _is_zombie(number) for number in numbers):
        assert time.monotonic() < deadline, "a process of the sandbox survives"
        time.sleep(0.02)


def _is_zombie(number: int) -> bool:
    try:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_importing_the_sandbox_is_light() -> None:
    heavy = "{'numpy', 'pandas', 'sympy', 'pydantic_monty', 'asyncio', 'pydantic', 'yaml'}"
    done = script(f"import sys, chameleon.sandbox\nprint({heavy} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stdout + done.stderr


CROWDED = """
import os, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(COUNT)]
from chameleon.sandbox import make_sandbox
hostile = '''
import os
ans = []
for number in range(100, 4096):
    try:
        os.write(number, b"junk")
        ans.append(number)
    except OSError:
        pass
'''
with make_sandbox("sealed", workers=1) as sandbox:
    for _ in range(2):
        first = sandbox.run(hostile)
        second = sandbox.run("ans = 1 + 1")
        assert (first.status, list(first.value)) == ("ok", []), first
        assert (second.status, second.value) == ("ok", 2), second
"""


@pytest.mark.parametrize("count", [0, 600])
def test_no_program_reaches_the_control_socket_however_many_files_are_open(count: int) -> None:
    done = script(CROWDED.replace("COUNT", str(count)))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "junk", [b"junk", b"[1]", b'{"ended": [], "spare": 2}', b"\xff", b"[" * 50_000, b"{}"]
)
def test_what_cannot_be_read_on_the_control_socket_is_the_sandboxs_fault(junk: bytes) -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near, far:
        zygote = ZygoteClient.__new__(ZygoteClient)
        zygote._control, zygote._spares, zygote._ended, zygote._serial = near, {}, {}, 0
        far.send(junk)
        with pytest.raises(Stuck):
            zygote.run({}, wall=-1.9)
