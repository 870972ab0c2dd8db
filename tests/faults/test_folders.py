"""Run folders and logs that are cut, garbled, foreign, gone or closed: told in a line, or gone on with."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.conftest import PROFILE
from tests.e2e.commands import ROOT, Command
from tests.evaluation.rows import Row, read_results
from tests.faults.running import question, reply, told, told_or_right
from tests.loopback import LoopbackServer, Start

FILES = ("results.jsonl", "events.jsonl.gz", "recent.jsonl", "settings.json")
SHARES = (0.0, 0.01, 0.3, 0.62, 0.9, 0.999) if PROFILE == "thorough" else (0.0, 0.62)
Logged = tuple[list[str], Path, LoopbackServer]


def offline(out: Path) -> list[str]:
    data = str(ROOT / "demos/data/problems.jsonl")
    return ["eval", "tables_offline", data, "--limit", "6", "--out", str(out), "--workers", "1"]


def verdicts(out: Path) -> list[Row]:
    return sorted(({**each, "seconds": 0} for each in read_results(out)), key=lambda each: str(each["id"]))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def harmed(kind: str, content: bytes) -> list[bytes]:
    """Return content that was cut, or that is not ours, or only for the greater part."""
    chance = random.Random(5)
    at = chance.randrange(max(len(content) // 2, 1))
    overwritten = content[:at] + chance.randbytes(40).replace(b"\n", b"?") + content[at + 40 :]
    return {
        "cut": [content[: int(share * len(content))] for share in SHARES],
        "random": [chance.randbytes(600)],
        "overwritten": [overwritten],
        "zeros": [b"\0" * len(content)],
        "foreign": [b'{"event": "click", "id": "1", "time": 17}\n' * 9],
        "nested": [b"[" * 100_000 + b"\n"],
    }[kind]


KINDS = ("random", "overwritten", "zeros", "foreign", "nested")


@pytest.mark.parametrize("kind", ["cut", *KINDS])
def test_a_harmed_folder_goes_on_or_is_told_and_left(command: Command, tmp_path: Path, kind: str) -> None:
    whole, out = tmp_path / "whole", tmp_path / "harmed"
    assert command(*offline(whole)).code == 0
    for name in [each for each in FILES if (whole / each).exists()]:
        for data in harmed(kind, (whole / name).read_bytes()):
            shutil.copytree(whole, out)
            (out / name).write_bytes(data)
            before = contents(out)
            if line := told_or_right(command(*offline(out))):
                assert str(out) in line and contents(out) == before, (name, "what is refused is kept")
            else:  # what is done is not looked at again, and an unfinished line is made anew
                assert verdicts(out) == verdicts(whole), (name, data[-40:])
                size = len((whole / name).read_bytes())
                assert name != "settings.json" or len(data) > 0.9 * size, "settings are whole"
            for reader in (("report",), ("stats",), ("report", "--html", str(tmp_path / "page.html"))):
                told_or_right(command(*reader, str(out)))
            shutil.rmtree(out)


@pytest.fixture
def logged(loopback: Start, command: Command, tmp_path: Path) -> Logged:
    """A question that was answered by a model, with its log."""
    server, log = loopback(reply), tmp_path / "log.jsonl"
    asked = question(tmp_path, "--store", "off", "--json", "--log", str(log))
    assert command(*asked).code == 0
    return asked, log, server


def ends_in(log: Path) -> int:
    return sum(json.loads(line)["event"] == "run_ended" for line in log.read_bytes().splitlines())


def test_a_log_cut_anywhere_comes_to_the_same_answer(logged: Logged, command: Command) -> None:
    asked, log, server = logged
    whole = log.read_bytes()
    paid_at = whole.index(b"\n", whole.index(b'"calls"')) + 1
    for at in sorted({*range(0, len(whole), len(whole) // 12), paid_at - 1, paid_at, len(whole) - 1}):
        log.write_bytes(whole[:at])
        before = len(server.requests)
        outcome = command(*asked)
        assert outcome.code == 0 and json.loads(outcome.out)["answer"] == "1007", (at, outcome.err)
        assert len(server.requests) - before == int(at < paid_at), "what is in the log is not asked again"
        assert ends_in(log) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_garbled_log_is_told_and_kept(logged: Logged, command: Command, kind: str) -> None:
    asked, log, server = logged
    log.write_bytes(harmed(kind, log.read_bytes())[0])
    before, requests = log.read_bytes(), len(server.requests)
    assert str(log) in told(command(*asked))
    assert log.read_bytes() == before and len(server.requests) == requests


@pytest.mark.parametrize("gone", ["deleted", "folder moved"])
def test_a_log_that_goes_away_is_told(loopback: Start, command: Command, tmp_path: Path, gone: str) -> None:
    log, elsewhere = tmp_path / "logs" / "log.jsonl", tmp_path / "elsewhere"
    log.parent.mkdir()

    def model(request: Row) -> str:
        if log.exists():
            log.unlink() if gone == "deleted" else log.parent.rename(elsewhere)
        return reply(request)

    loopback(model)
    outcome = command(*question(tmp_path, "--store", "off", "--log", str(log)))
    if gone == "deleted":
        assert str(log) in (line := told(outcome)) and "deleted" in line
    else:  # it is written where it lies now
        assert outcome.code == 0 and ends_in(elsewhere / "log.jsonl") == 1
