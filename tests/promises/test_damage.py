"""Folders, logs, indexes and stores that are cut, garbled, foreign or gone: told in a line, or no harm."""

import io
import random
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROFILE
from tests.e2e.commands import ROOT, Command, Outcome
from tests.evaluation.rows import Row, read_results
from tests.loopback import Start
from tests.promises.running import Case, entry, question, reply, told, told_or_right
from tests.retrieval.hashed import Hashed, by_name, hashed

__all__ = ["by_name", "hashed"]
SHARES = (0.0, 0.01, 0.3, 0.62, 0.9, 0.999) if PROFILE == "thorough" else (0.0, 0.62)
ASK = f"ask 'How many points does Northgate United have?' -t {ROOT}/demos/data/league.csv -i tables_offline"
EVAL = f"eval tables_offline {ROOT}/demos/data/problems.jsonl --limit 6 --out made --workers 1"
CHAT = f"chat tables_offline -t {ROOT}/demos/data/league.csv --log made"
INDEX = f"index {ROOT}/demos/data/league.csv --out made"
STORED = "ask 'What is number 7?' -t table.csv -i mine.yaml -m openai:local"
HARMED = {  # what is run first, and then whenever a file of `made` is damaged
    "eval": (EVAL, EVAL, "report made", "stats made", "report made --html page.html"),
    "ask": (f"{ASK} --log made", f"{ASK} --log made"),
    "chat": (CHAT, CHAT),
    "store": (STORED, STORED),
    "index": (INDEX, ASK.partition(" -t ")[0] + " --index made", INDEX),
}
KINDS = ("cut", "random", "overwritten", "zeros", "foreign", "nested", "longer", "removed")


def harmed(kind: str, content: bytes) -> list[bytes | None]:
    """Return content that was cut, or that is not ours, or only for the greater part; None is no file."""
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
        "longer": [content + b"\0"],
        "removed": [None],
    }[kind]


def contents(made: Path) -> dict[Path, bytes]:
    files = made.rglob("*") if made.is_dir() else [made]
    return {path: path.read_bytes() for path in files if path.is_file() and path.suffix != ".lock"}


def verdicts(made: Path) -> list[Row]:
    rows = read_results(made) if (made / "results.jsonl").exists() else []
    return sorted(({**each, "seconds": 0} for each in rows), key=lambda each: str(each["id"]))


def bookmarks() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
        return connection.serialize()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HARMED)
def test_what_is_damaged_is_told_and_left_or_does_no_harm(
    loopback: Start, command: Command, hashed: Hashed, tmp_path: Path, monkeypatch: Any, name: str, kind: str
) -> None:
    def run(line: str, *more: str) -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        return command(*shlex.split(line), *more)

    monkeypatch.chdir(tmp_path)
    entry("ask", tmp_path)
    loopback(reply)
    if name == "store":
        monkeypatch.setenv("CHAMELEON_STORE", str(tmp_path / "made"))
    made, (first, *lines) = tmp_path / "made", HARMED[name]
    retriever = ("--retriever", f"{{first: blend, embeddings: '{hashed.name}'}}") if name == "index" else ()
    monkeypatch.setattr("sys.stdin", io.StringIO("Which team has the most points?\n"))
    assert command(*shlex.split(first), *retriever).code == 0
    whole, wanted, right = contents(made), verdicts(made), run(lines[0]).out
    for path, content in whole.items():
        for data in [bookmarks()] if (name, kind) == ("store", "foreign") else harmed(kind, content):
            shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
            for each, kept in whole.items():
                each.parent.mkdir(parents=True, exist_ok=True)
                if (now := data if each == path else kept) is not None:
                    each.write_bytes(now)
            before = contents(made)
            line = told_or_right(outcome := run(lines[0]))
            if line:
                named = path.name if name == "index" and kind != "removed" else "made"
                assert named in line and contents(made) == before, (path, "what is refused is kept")
            else:  # what is done is not looked at again, and an unfinished line is made anew
                assert verdicts(made) == wanted, (path, data)
                assert name in ("eval", "chat") or outcome.out == right, path
                assert path.name != "settings.json" or len(data or b"") > 0.9 * len(content)
            harmless = name in ("eval", "store") or (name != "index" and kind in ("cut", "longer", "removed"))
            assert line or harmless, path
            for other in lines[1:]:
                told_or_right(run(other))


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
        assert outcome.code == 0 and b'"run_ended"' in (elsewhere / "log.jsonl").read_bytes()


def test_a_deleted_store_is_no_loss(
    loopback: Start, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, stores = Case(tmp_path / "case", 12), tmp_path / "stores"
    monkeypatch.setenv("CHAMELEON_STORE", str(stores / "store.sqlite"))

    def model(request: Row) -> str:
        if len(server.requests) == 5:
            shutil.rmtree(stores, ignore_errors=True)
        return reply(request)

    server = loopback(model)
    told_or_right(command(*case.arguments(store="auto")))
    assert not case.out.exists() or all(each["correct"] for each in case.results)
    case.finish(command, store="auto")
    assert len(server.requests) <= 12 + 4
