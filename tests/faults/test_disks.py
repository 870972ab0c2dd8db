"""Full disks, few handles, no temporary folder: an evaluation stops in a line, and goes on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome, environment
from tests.faults.running import PROGRAMS, WORDS, Case, question, reply, run_code, told, told_or_right
from tests.loopback import Reply, Start

MAIN = "from chameleon.cli import main\nmain()\n"

# Mounts a disk of its own, leaves FREE kilobytes of it, runs the command, makes room, and runs it again.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=600k,nr_inodes=200,mode=700 tmpfs "$DISK" || exit 77
head -c $(( (600 - FREE) * 1024 )) /dev/zero > "$DISK/ballast" 2>"$KEPT/ballast"
"$@" >"$KEPT/out1" 2>"$KEPT/err1"; echo $? >"$KEPT/code1"
rm "$DISK/ballast"
"$@" >"$KEPT/out2" 2>"$KEPT/err2"; echo $? >"$KEPT/code2"
cp -r "$DISK" "$KEPT/disk"
"""


def on_a_small_disk(place: Path, free: int, command: list[str], env: dict[str, str]) -> list[Outcome]:
    """Run a command twice, with a disk at `place`/disk: when that is full, and when it has room."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        pytest.skip("no disk can be mounted here")
    disk, kept = place / "disk", place / "kept"
    disk.mkdir(parents=True, exist_ok=True)
    kept.mkdir()
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *command],
        env={**env, "DISK": str(disk), "KEPT": str(kept), "FREE": str(free)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    if not (kept / "code1").exists():
        pytest.skip(f"no disk can be mounted here: {done.stderr.decode()}")

    def outcome(number: int) -> Outcome:
        out, err = ((kept / f"{stream}{number}").read_text() for stream in ("out", "err"))
        return Outcome(int((kept / f"code{number}").read_text()), out, err)

    return [outcome(1), outcome(2)]


CHAMELEON = [sys.executable, "-m", "chameleon"]


@pytest.mark.parametrize("free", [0, 4, 24], ids=["before the start", "soon", "in the middle"])
def test_a_full_disk_stops_an_evaluation_and_room_lets_it_go_on(
    loopback: Start, tmp_path: Path, free: int
) -> None:
    server, case = loopback(reply), Case(tmp_path, 40)
    case.out = tmp_path / "disk" / "out"
    full, after = on_a_small_disk(tmp_path, free, [*CHAMELEON, *case.arguments()], environment())
    line = told(full)
    assert "o space left" in line or "no room left" in line, line
    assert "Make room" in line, line
    assert after.code == 0, after.err
    case.out = tmp_path / "kept" / "disk" / "out"
    case.check()
    assert len(server.requests) <= case.count + 2 + 2, "what was kept is not asked again"


@pytest.mark.parametrize("free", [0, 40], ids=["before the start", "in the middle"])
def test_a_full_disk_of_the_store_costs_no_answer(loopback: Start, tmp_path: Path, free: int) -> None:
    """The run folder lies elsewhere: replies that are paid count, whether they are recorded or not."""
    server, case = loopback(lambda request: Reply(reply(request))), Case(tmp_path, 40)
    env = environment(CHAMELEON_STORE=str(tmp_path / "disk" / "deep" / "store.sqlite"))
    full, after = on_a_small_disk(tmp_path, free, [*CHAMELEON, *case.arguments(store="auto")], env)
    if line := told_or_right(full):
        assert "full" in line or "o space left" in line
    else:
        assert "are not recorded" in full.err and len(server.requests) <= case.count
    assert after.code == 0, after.err
    case.check()
    assert len(server.requests) <= case.count + 4


def test_a_full_disk_ends_a_log_in_a_line(loopback: Start, tmp_path: Path) -> None:
    loopback(reply)
    log = tmp_path / "disk" / "log.jsonl"
    command = [*CHAMELEON, *question(tmp_path, "--store", "off", "--log", str(log))]
    full, after = on_a_small_disk(tmp_path, 0, command, environment())
    assert "no room left" in (line := told(full)) and str(log) in line and "Make room" in line
    assert after.code == 0 and after.out == "1007\n"


HANDLES = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"


def test_with_few_handles_it_stops_or_is_right(loopback: Start, command: Command, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    for name, inventory in {"words": WORDS, "programs": PROGRAMS}.items():
        case = Case(tmp_path / name, 40, inventory)
        server = loopback(lambda request: Reply(reply(request), delay=0.05))
        arguments = case.arguments("--workers", "16")
        few = run_code(HANDLES + MAIN, *arguments)
        if line := told_or_right(few):
            assert "fewer workers" in line
        if case.out.exists():
            case.check(whole=not few.code)
        assert command(*arguments).code == 0
        case.check()
        assert len(server.requests) <= case.count + 2 * 16


NO_TEMPORARY = """import tempfile
tempfile._candidate_tempdir_list = lambda: ['/nonexistent']
"""
LOST_TEMPORARY = """import os, tempfile
tempfile.tempdir = tempfile.mkdtemp()
os.rmdir(tempfile.tempdir)
"""


@pytest.mark.parametrize("lack", [NO_TEMPORARY, LOST_TEMPORARY], ids=["none", "deleted"])
def test_without_a_temporary_folder_nothing_is_counted_wrong(
    loopback: Start, command: Command, tmp_path: Path, lack: str
) -> None:
    server, case = loopback(reply), Case(tmp_path, 8, PROGRAMS)
    outcome = run_code(lack + MAIN, *case.arguments(), env=environment(TMPDIR=str(tmp_path / "nowhere")))
    if line := told_or_right(outcome):
        assert "TMPDIR" in line
    if case.out.exists():
        case.check(whole=not outcome.code)
    assert command(*case.arguments()).code == 0
    case.check()
    assert len(server.requests) <= case.count + 2
