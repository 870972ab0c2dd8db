"""Hostile inputs: whatever a stranger's file, a reply or a command line holds, a command ends well."""

import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.commands import environment
from tests.loopback import Start
from tests.promises.forked import SECONDS, Ended, Forked
from tests.promises.hostile import (
    COMMAND_LINES,
    INVENTORIES,
    LEAGUE,
    OFFLINE,
    PREDICTIONS,
    QUESTION,
    REPLIES,
    RUNS,
    Hostile,
)
from tests.promises.hostile_files import DOCUMENTS, PICTURES, TABLES

NAMES = ("reply", "inventory", "command line", "table", "document", "picture", "run", "prediction")
TABLED = (REPLIES, INVENTORIES, COMMAND_LINES, TABLES, DOCUMENTS, PICTURES, RUNS, PREDICTIONS)
KINDS = dict(zip(NAMES, TABLED, strict=True))
CASES = [(kind, what) for kind, cases in KINDS.items() for what in cases]
_MOST = (1 << 30) + (1 << 27)  # what a reader of files may take, and what its process begins with
_STEERING = {"Cc", "Cf", "Cs", "Co"}


@pytest.fixture(scope="module")
def forked() -> Iterator[Forked]:
    with Forked() as waiting:
        yield waiting


def faults_of(ended: Ended) -> Iterator[str]:
    if ended.code not in range(4):
        yield f"the exit code is {ended.code}"
    if ended.seconds > SECONDS:
        yield f"it took {ended.seconds:.0f} s"
    if ended.peak > _MOST:
        yield f"it took {ended.peak >> 20:,} MB"
    err, out = ended.err.decode(), ended.out.decode()  # half a surrogate is no UTF-8
    if "Traceback" in err or "a fault of ours" in err:
        yield "it is a fault of ours"
    complaints = [line for line in err.splitlines() if line.startswith("chameleon: ")]
    if ended.code == 1 and len(complaints) != 1:
        yield f"it complains in {len(complaints)} lines"
    if steering := {each for each in out + err if unicodedata.category(each) in _STEERING} - {"\n", "\t"}:
        yield f"it prints {sorted(steering)!r}"
    for constant in re.findall(r": (NaN|-?Infinity)\b", out if out.startswith("{") else ""):
        yield f"it prints {constant}, which is no JSON"


@pytest.mark.parametrize(("kind", "what"), CASES, ids=[": ".join(case) for case in CASES])
def test_a_hostile_input_ends(kind: str, what: str, forked: Forked, loopback: Start, tmp_path: Path) -> None:
    case: Hostile = KINDS[kind][what]
    case.lay(tmp_path)
    if case.reply is not None:
        loopback([case.reply])
    ended = forked.run(case.arguments, tmp_path, changes=case.changes)
    err, out = ended.err.decode(errors="replace"), ended.out.decode(errors="replace")
    assert not list(faults_of(ended)), f"{err[-1000:]}\n{out[-1000:]}"
    assert ended.code == case.code and re.search(case.told, out + err), f"{ended.code}\n{err}\n{out}"[:2000]
    assert not (tmp_path / "made").exists(), "a tag of YAML ran a command"


CLOSED: dict[str, tuple[str, int, str]] = {
    "stdout": ("ask QUESTION TABLE >&-", 0, ""),
    "stdout, for JSON": ("ask QUESTION TABLE --json >&-", 0, ""),
    "stdout, which is full": ("ask QUESTION TABLE >/dev/full", 1, "Free some space"),
    "stderr": ("ask QUESTION TABLE --json 2>&-", 0, '"answer": "12"'),
    "stderr, for a complaint": ("ask QUESTION --table nowhere.csv 2>&-", 1, "^$"),
    "both": ("ask QUESTION TABLE >&- 2>&-", 0, "^$"),
    "both, for an index": ("index data --out made.index >&- 2>&-", 0, "^$"),
    "stdin": ("ask QUESTION TABLE <&-", 0, r"\A12\n"),
    "stdin, which is the table": ("ask QUESTION --table - <&-", 1, "standard input"),
    "stdout, by its reader": ("list modules --json | head -c 1", 0, r"^\[$"),
}


@pytest.mark.parametrize(("line", "code", "told"), CLOSED.values(), ids=CLOSED)
def test_a_stream_that_is_closed_ends_a_command_well(line: str, code: int, told: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "good.csv").write_text("Team,Points\nA,5\nB,3\n")
    command = line.replace("QUESTION", f"'{QUESTION}'").replace("TABLE", shlex.join([*LEAGUE, *OFFLINE]))
    line = ["sh", "-c", f"{shlex.quote(sys.executable)} -m chameleon {command}"]
    options = {"cwd": tmp_path, "env": environment(), "stdin": subprocess.DEVNULL, "timeout": 60}
    done = subprocess.run(line, capture_output=True, text=True, **options)
    assert "Traceback" not in done.stderr and "a fault of ours" not in done.stdout + done.stderr
    assert done.returncode == code and re.search(told, done.stdout + done.stderr), done
    assert (tmp_path / "made.index").exists() == command.startswith("index")
