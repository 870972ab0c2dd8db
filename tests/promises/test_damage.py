"""Folders, logs, indexes and stores that are cut, garbled, foreign or gone: told in a line, or no harm."""

from __future__ import annotations

import io
import random
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import PROFILE
from tests.e2e.commands import ROOT, Command, Outcome, environment, spawn
from tests.evaluation.rows import Row, read_results
from tests.loopback import LoopbackServer, Start
from tests.promises.running import Case, question, reply, told, told_or_right
from tests.retrieval.hashed import Hashed, by_name, hashed

__all__ = ["by_name", "hashed"]
SHARES = (0.0, 0.01, 0.3, 0.62, 0.9, 0.999) if PROFILE == "thorough" else (0.0, 0.62)
ASK = f"ask 'How many points does Northgate United have?' -t {ROOT}/demos/data/league.csv -i tables_offline"
EVAL = f"eval tables_offline {ROOT}/demos/data/problems.jsonl --limit 6 --out made --workers 1"
CHAT = f"chat tables_offline -t {ROOT}/demos/data/league.csv --log made"
INDEX = f"index {ROOT}/demos/data/league.csv --out made"
ENTRIES = {  # what is run first, and then whenever a file of `made` is damaged
    "eval": (EVAL, EVAL, "report made", "stats made", "report made --html page.html"),
    "ask": (f"{ASK} --log made", f"{ASK} --log made"),
    "chat": (CHAT, CHAT),
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
    """The results of an evaluation without their times."""
    rows = read_results(made) if (made / "results.jsonl").exists() else []
    return sorted(({**each, "seconds": 0} for each in rows), key=lambda each: str(each["id"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_damaged_is_told_and_left_or_does_no_harm(
    command: Command, hashed: Hashed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    def run(line: str, *more: str) -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        return command(*shlex.split(line), *more)

    monkeypatch.chdir(tmp_path)
    made, (first, *lines) = tmp_path / "made", ENTRIES[name]
    retriever = ("--retriever", f"{{first: blend, embeddings: '{hashed.name}'}}") if name == "index" else ()
    monkeypatch.setattr("sys.stdin", io.StringIO("Which team has the most points?\n"))
    assert command(*shlex.split(first), *retriever).code == 0
    whole, wanted, right = contents(made), verdicts(made), run(lines[0]).out
    for path, content in whole.items():
        for data in harmed(kind, content):
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
                assert verdicts(made) == wanted and (name in ("eval", "chat") or outcome.out == right), (
                    path,
                    data,
                )
                assert path.name != "settings.json" or len(data or b"") > 0.9 * len(content)
            harmless = name == "eval" or (name != "index" and kind in ("cut", "longer", "removed"))
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


COUNT = 12
_CHANCE = random.Random(23)
PLACES = [_CHANCE.random() for _ in range(14 if PROFILE == "thorough" else 3)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store of the replies to all problems, made anew by each session."""
    place = tmp_path_factory.mktemp("recorded")
    case, store = Case(place, COUNT), place / "store.sqlite"
    with LoopbackServer(reply) as server:
        env = environment(CHAMELEON_STORE=str(store), OPENAI_BASE_URL=server.url)
        assert spawn(*case.arguments(store="auto"), env=env).code == 0
    case.check()
    return store.read_bytes()


def harm(store: Path, kind: str, where: float, whole: bytes) -> None:
    """Lay a damaged store, or what is none."""
    at = int(where * len(whole))
    if kind == "folder":
        store.mkdir()
    elif kind == "another program's":
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("CREATE TABLE bookmarks (url)")
    else:
        flipped = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
        store.write_bytes({"cut": whole[:at], "flipped": flipped, "text": b"my notes, " * 900}[kind])


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        *(("flipped", place) for place in PLACES),
        *(("cut", share) for share in (0.0, 0.001, 0.1, 0.5, 0.99)),
        *((kind, 0.0) for kind in ("text", "another program's", "folder")),
    ],
)
def test_a_damaged_store_is_named_or_does_no_harm(
    loopback: Start,
    command: Command,
    recorded: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    where: float,
) -> None:
    case, server, store = Case(tmp_path / "case", COUNT), loopback(reply), tmp_path / "store.sqlite"
    harm(store, kind, where, recorded)
    before, is_ours = store.read_bytes() if store.is_file() else b"", kind in ("flipped", "cut")
    monkeypatch.setenv("CHAMELEON_STORE", str(store))
    if line := told_or_right(command(*case.arguments(store="auto"))):
        assert str(store) in line and ("Move" in line or "name another" in line)
        assert not case.out.exists() or all(each["correct"] for each in case.results)
        assert not server.requests or is_ours, "told before anything is paid"
    else:
        case.check()
        assert len(server.requests) <= COUNT
    if not is_ours:
        assert line and (store.read_bytes() if store.is_file() else b"") == before, "somebody else's is kept"
    monkeypatch.setenv("CHAMELEON_STORE", str(tmp_path / "another.sqlite"))  # as it says
    case.finish(command, store="auto")


def test_a_deleted_store_is_no_loss(
    loopback: Start, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, stores = Case(tmp_path / "case", COUNT), tmp_path / "stores"
    monkeypatch.setenv("CHAMELEON_STORE", str(stores / "store.sqlite"))

    def model(request: Row) -> str:
        if len(server.requests) == 5:
            shutil.rmtree(stores, ignore_errors=True)
        return reply(request)

    server = loopback(model)
    told_or_right(command(*case.arguments(store="auto")))
    assert not case.out.exists() or all(each["correct"] for each in case.results)
    case.finish(command, store="auto")
    assert len(server.requests) <= COUNT + 4
