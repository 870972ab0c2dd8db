"""Hostile inputs: whatever a stranger's file, a reply or a command line holds, a command ends well.

It ends in time and within its memory, with an exit code that says how. What is wrong is one line, and nothing
that steers the terminal stands on either stream.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.forked import SECONDS, Ended, Forked
from tests.faults.hostile import COMMAND_LINES, INVENTORIES, REPLIES, Hostile
from tests.loopback import LoopbackServer

KINDS = {
    "reply": REPLIES,
    "inventory": INVENTORIES,
    "command line": COMMAND_LINES,
}
CASES = [(kind, what) for kind, cases in KINDS.items() for what in cases]
_STEERING = {"Cc", "Cf", "Cs", "Co"}


@pytest.fixture(scope="module")
def forked() -> Iterator[Forked]:
    with Forked() as waiting:
        yield waiting


def faults_of(ended: Ended) -> Iterator[str]:
    """Say what is wrong with the way in which any command ended."""
    if ended.code not in range(4):
        yield f"the exit code is {ended.code}"
    if ended.seconds > SECONDS:
        yield f"it took {ended.seconds:.0f} s"
    if ended.peak > 1 << 30:
        yield f"it took {ended.peak >> 20:,} MB"
    err, out = ended.err.decode(), ended.out.decode()  # half a surrogate is no UTF-8
    if "Traceback" in err or "a fault of ours" in err:
        yield "it is a fault of ours"
    complaints = [line for line in err.splitlines() if line.startswith("chameleon: ")]
    if ended.code == 1 and (len(complaints) != 1 or not err.endswith(f"{complaints[0]}\n")):
        yield f"it complains in {len(complaints)} lines"
    if steering := {each for each in out + err if unicodedata.category(each) in _STEERING} - {"\n", "\t"}:
        yield f"it prints {sorted(steering)!r}"


@pytest.mark.parametrize(("kind", "what"), CASES, ids=[": ".join(case) for case in CASES])
def test_a_hostile_input_ends_well(
    kind: str, what: str, forked: Forked, loopback: Callable[..., LoopbackServer], tmp_path: Path
) -> None:
    case: Hostile = KINDS[kind][what]
    case.lay(tmp_path)
    if case.reply is not None:
        loopback([case.reply])
    ended = forked.run(case.arguments, tmp_path, changes=case.changes)
    err, out = ended.err.decode(errors="replace"), ended.out.decode(errors="replace")
    assert not list(faults_of(ended)), f"{err[-1000:]}\n{out[-1000:]}"
    assert ended.code == case.code and re.search(case.told, out + err), f"{ended.code}\n{err}\n{out}"[:2000]
    assert not (tmp_path / "made").exists(), "a tag of YAML ran a command"
