"""Full disks, few handles, no temporary folder: an evaluation stops in a line, and goes on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import thorough
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


def on_a_small_disk(place: Path, free: int, *arguments: str, **changes: str) -> tuple[Outcome, Outcome]:
    """Run a command twice, with a disk at `place`/disk: when that is full, and when it has room."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        pytest.skip("no disk can be mounted here")
    disk, kept = place / "disk", place / "kept"
    disk.mkdir()
    kept.mkdir()
    chameleon = [sys.executable, "-m", "chameleon", *arguments]
    command = ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *chameleon]
    env = environment(DISK=str(disk), KEPT=str(kept), FREE=str(free), **changes)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if not (kept / "code1").exists():
        pytest.skip(f"no disk can be mounted here: {done.stderr.decode()}")

    said = [[(kept / f"{name}{n}").read_text() for name in ("code", "out", "err")] for n in (1, 2)]
    full, after = (Outcome(int(code), out, err) for code, out, err in said)
    assert after.code == 0, after.err
    return full, after


@pytest.mark.parametrize("free", [24, *(pytest.param(each, marks=thorough) for each in (0, 4))])
def test_a_full_disk_stops_an_evaluation_and_it_goes_on(loopback: Start, tmp_path: Path, free: int) -> None:
    server, case = loopback(reply), Case(tmp_path, 40)
    case.out = tmp_path / "disk" / "out"
    line = told(on_a_small_disk(tmp_path, free, *case.arguments())[0])
    assert "Make room" in line and "o space left" in line, line
    case.out = tmp_path / "kept" / "disk" / "out"
    case.check()
    assert len(server.requests) <= case.count + 2 + 2, "what was kept is not asked again"


@pytest.mark.parametrize("free", [40, pytest.param(0, marks=thorough)])
def test_a_full_disk_of_the_store_costs_no_answer(loopback: Start, tmp_path: Path, free: int) -> None:
    """The run folder lies elsewhere: replies that are paid count, whether they are recorded or not."""
    server, case = loopback(reply), Case(tmp_path, 40)
    store = str(tmp_path / "disk" / "deep" / "store.sqlite")
    full, _ = on_a_small_disk(tmp_path, free, *case.arguments(store="auto"), CHAMELEON_STORE=store)
    if line := told_or_right(full):
        assert "full" in line or "o space left" in line
    else:
        assert "are not recorded" in full.err
    case.check()
    assert len(server.requests) <= case.count + 4


def test_a_full_disk_ends_a_log_in_a_line(loopback: Start, tmp_path: Path) -> None:
    loopback(reply)
    log = str(tmp_path / "disk" / "log.jsonl")
    full, after = on_a_small_disk(tmp_path, 0, *question(tmp_path, "--store", "off", "--log", log))
    assert "no space left" in (line := told(full)) and log in line and "Make room" in line
    assert after.out == "1007\n"


HANDLES = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
NO_TEMPORARY = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nonexistent']\n"
LOST_TEMPORARY = "import os, tempfile\ntempfile.tempdir = tempfile.mkdtemp()\nos.rmdir(tempfile.tempdir)\n"


@pytest.mark.parametrize(
    ("lack", "inventory", "workers", "words"),
    [
        (HANDLES, PROGRAMS, 16, "fewer workers"),
        pytest.param(HANDLES, WORDS, 16, "fewer workers", marks=thorough),
        (LOST_TEMPORARY, PROGRAMS, 2, "TMPDIR"),
        pytest.param(NO_TEMPORARY, PROGRAMS, 2, "TMPDIR", marks=thorough),
    ],
)
def test_with_few_handles_or_no_temporary_folder_it_stops_or_is_right(
    loopback: Start, command: Command, tmp_path: Path, lack: str, inventory: str, workers: int, words: str
) -> None:
    pytest.importorskip("resource")
    case = Case(tmp_path, 2 * workers, inventory)
    server, asked = loopback(lambda request: Reply(reply(request), delay=0.05)), ("--workers", str(workers))
    env = environment(TMPDIR=str(tmp_path / "nowhere"))
    outcome = run_code(lack + MAIN, *case.arguments(*asked), env=env if words == "TMPDIR" else None)
    if line := told_or_right(outcome):
        assert words in line
    if case.out.exists():
        case.check(whole=not outcome.code)
    case.finish(command, *asked)
    assert len(server.requests) <= case.count + 2 * workers
