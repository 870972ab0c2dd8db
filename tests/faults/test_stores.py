"""Stores that are damaged, foreign or gone: the right answer, or a line that names them."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import PROFILE
from tests.e2e.commands import Command, environment, spawn
from tests.faults.running import Case, question, reply, told_or_right
from tests.loopback import LoopbackServer, Start

COUNT = 12
Keep = Callable[[Path], None]
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


@pytest.fixture
def keep_in(monkeypatch: pytest.MonkeyPatch) -> Keep:
    return lambda store: monkeypatch.setenv("CHAMELEON_STORE", str(store))


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
    loopback: Start, command: Command, recorded: bytes, tmp_path: Path, keep_in: Keep, kind: str, where: float
) -> None:
    case, server, store = Case(tmp_path / "case", COUNT), loopback(reply), tmp_path / "store.sqlite"
    harm(store, kind, where, recorded)
    before, is_ours = store.read_bytes() if store.is_file() else b"", kind in ("flipped", "cut")
    keep_in(store)
    outcome = command(*case.arguments(store="auto"))
    if line := told_or_right(outcome):
        assert str(store) in line and ("Move" in line or "use another" in line)
        assert "problem" not in outcome.err or not case.out.exists() or not wrong(case)
        assert not server.requests or is_ours, "told before anything is paid"
    else:
        case.check()
        assert len(server.requests) <= COUNT
    if not is_ours:
        assert line and (store.read_bytes() if store.is_file() else b"") == before, "somebody else's is kept"
    keep_in(tmp_path / "another.sqlite")  # as it says
    case.finish(command, store="auto")


def wrong(case: Case) -> list[str]:
    return [each["id"] for each in case.results if not each["correct"]]


def test_a_deleted_store_is_no_loss(loopback: Start, command: Command, tmp_path: Path, keep_in: Keep) -> None:
    case, stores = Case(tmp_path / "case", COUNT), tmp_path / "stores"
    keep_in(stores / "store.sqlite")

    def model(request: dict[str, object]) -> str:
        if len(server.requests) == 5:
            shutil.rmtree(stores, ignore_errors=True)
        return reply(request)

    server = loopback(model)
    told_or_right(command(*case.arguments(store="auto")))
    assert not case.out.exists() or not wrong(case)
    case.finish(command, store="auto")
    assert len(server.requests) <= COUNT + 4


@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
def test_what_is_kept_is_private(loopback: Start, command: Command, tmp_path: Path, keep_in: Keep) -> None:
    loopback(reply)
    case, log, stores = Case(tmp_path / "case", 3), tmp_path / "log.jsonl", tmp_path / "stores"
    keep_in(stores / "store.sqlite")
    before = os.umask(0o022)
    try:
        case.finish(command, store="auto")
        first, *lines = (case.out / "results.jsonl").read_text().splitlines(keepends=True)
        failed = first.replace('"error":null', '"error":{"kind":"ModelError","message":"x"}')
        (case.out / "results.jsonl").write_text("".join([failed, *lines]))
        command(*case.arguments("--retry-failed", store="auto"))  # writes its files anew
        assert command(*question(tmp_path, "--log", str(log))).code == 0
    finally:
        os.umask(before)
    kept = [case.out, *case.out.rglob("*"), log, stores, *stores.iterdir()]
    assert len(kept) >= 7
    assert not {str(path): oct(path.stat().st_mode) for path in kept if path.stat().st_mode & 0o077}
