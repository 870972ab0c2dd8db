"""Stores of vectors: all find the same rows, of the living alone."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.vectors import flat, hnsw
from chameleon.retrieval.vectors.flat import Flat
from chameleon.retrieval.vectors.rows import Vectors, write_rows
from chameleon.retrieval.vectors.store import VectorStore, store_named


def made(folder: Path, counts: list[list[int]], alive: Any, size: int = 16, seed: int = 0) -> Vectors:
    """Segments of random unit vectors: of each document as many as `counts` says."""
    chance = numpy.random.default_rng(seed)
    segments = []
    for number, some in enumerate(counts):
        vectors = chance.standard_normal((sum(some), size)).astype(numpy.float32)
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
        segment = folder / str(number)
        segment.mkdir(parents=True)
        write_rows(segment, vectors, some, numpy.arange(sum(some), dtype=numpy.uint64))
        segments.append(segment)
    return Vectors(segments, numpy.asarray(alive, numpy.bool_))


def queries(count: int, size: int = 16) -> Any:
    found = numpy.random.default_rng(99).standard_normal((count, size)).astype(numpy.float32)
    return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def opened(store: VectorStore, vectors: Vectors, folder: Path) -> Any:
    folder.mkdir()
    store.write(vectors, folder)
    return store.open(vectors, folder)


def exact(vectors: Vectors, asked: Any, k: int) -> tuple[Any, Any]:
    """The same by the book: every cosine, sorted."""
    products = asked @ vectors.take(vectors.living).T
    order = numpy.argsort(-products, axis=1, kind="stable")[:, :k]
    return vectors.living[order], numpy.take_along_axis(products, order, 1)


def test_rows_and_documents(tmp_path: Path) -> None:
    vectors = made(tmp_path, [[1, 2], [3]], [True, False, True])
    assert len(vectors) == 6 and vectors.size == 16
    assert vectors.position.tolist() == [0, 1, 1, 2, 2, 2] and vectors.living.tolist() == [0, 3, 4, 5]
    rows, firsts = vectors.rows_of(numpy.array([2, 0, 1]))
    assert rows.tolist() == [3, 4, 5, 0, 1, 2] and firsts.tolist() == [0, 3, 4]
    whole = numpy.concatenate([block for _, block in vectors.blocks(2)])
    assert (vectors.take(numpy.array([5, 0, 3])) == whole[[5, 0, 3]]).all()
    living = list(vectors.living_blocks(2))
    assert numpy.concatenate([rows for rows, _ in living]).tolist() == [0, 3, 4, 5]
    assert (numpy.concatenate([block for _, block in living]) == whole[[0, 3, 4, 5]]).all()


def test_vectors_lie_on_disk(tmp_path: Path) -> None:
    vectors = made(tmp_path, [[1]], [True])
    (_, block), *_ = vectors.blocks()
    while block.base is not None and not isinstance(block, numpy.memmap):
        block = block.base
    assert isinstance(block, numpy.memmap) and not block.flags.writeable


def test_segments_of_another_model_do_not_fit(tmp_path: Path) -> None:
    made(tmp_path / "a", [[2]], [True], size=8)
    made(tmp_path / "b", [[2]], [True], size=4)
    with pytest.raises(InputError, match="4 and 8 numbers"):
        Vectors([tmp_path / "a/0", tmp_path / "b/0"], numpy.array([True, True]))
    with pytest.raises(InputError, match="damaged"):
        Vectors([tmp_path / "a/0"], numpy.array([True, True]))


@given(
    st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6), min_size=1, max_size=4),
    st.integers(1, 12),
    st.integers(0, 99),
    st.data(),
)
def test_flat_is_exact(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]], k: int, seed: int, data: st.DataObject
) -> None:
    documents = sum(map(len, counts))
    alive = data.draw(st.lists(st.booleans(), min_size=documents, max_size=documents).filter(any))
    folder = tmp_path_factory.mktemp("flat")
    vectors = made(folder, counts, alive, seed=seed)
    asked = queries(5)
    wanted, values = exact(vectors, asked, k)
    found = wanted.shape[1]
    for store in (opened(Flat(), vectors, folder / "store"), Flat().open(vectors, folder)):
        rows, cosines = store.rows(asked, k)  # by FAISS where it is installed, and without
        assert rows.shape == cosines.shape == (5, k)
        assert (rows[:, :found] == wanted).all() and (rows[:, found:] == -1).all()
        assert cosines[:, :found] == pytest.approx(values, abs=1e-6)


def test_flat_over_many_blocks_and_equal_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vectors.blocks, "__defaults__", (7,))
    vectors = made(tmp_path, [[1] * 100, [1] * 100], [True] * 200)
    asked = queries(70)
    rows, _ = opened(Flat(), vectors, tmp_path / "store").rows(asked, 10)
    assert (rows == exact(vectors, asked, 10)[0]).all()
    same = tmp_path / "same"
    same.mkdir()
    ones = numpy.full((40, 4), 0.5, numpy.float32)
    write_rows(same, ones, [1] * 40, numpy.zeros(40, numpy.uint64))
    rows, _ = Flat().open(Vectors([same], numpy.ones(40, numpy.bool_)), same).rows(ones[:1], 9)
    assert rows.tolist() == [list(range(9))]


def test_flat_is_a_file_of_faiss_and_finds_the_same_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faiss = pytest.importorskip("faiss")
    vectors = made(tmp_path, [[1] * 900, [2] * 300], numpy.arange(1200) % 5 > 0)
    asked = queries(40)
    rows, cosines = opened(Flat(), vectors, tmp_path / "store").rows(asked, 25)
    theirs = faiss.read_index(str(tmp_path / "store/flat.faiss"))
    assert isinstance(theirs, faiss.IndexFlatIP)
    values, places = theirs.search(asked, 25)
    assert (rows == vectors.living[places]).all() and cosines == pytest.approx(values, abs=1e-5)
    monkeypatch.setattr(flat, "has_faiss", lambda: False)
    without, values = Flat().open(vectors, tmp_path / "store").rows(asked, 25)
    assert (rows == without).all() and cosines == pytest.approx(values, abs=1e-5)
    assert (opened(Flat(), vectors, tmp_path / "none").rows(asked, 25)[0] == rows).all()
    assert not list((tmp_path / "none").iterdir())


def test_flat_keeps_ties_in_their_order(tmp_path: Path) -> None:
    same = tmp_path / "same"
    same.mkdir()
    ones = numpy.full((40, 4), 0.5, numpy.float32)
    write_rows(same, ones, [1] * 40, numpy.zeros(40, numpy.uint64))
    vectors = Vectors([same], numpy.arange(40) != 3)
    rows, _ = opened(Flat(), vectors, tmp_path / "store").rows(ones[:2], 5)
    assert rows.tolist() == [[0, 1, 2, 4, 5]] * 2


def test_more_vectors_than_fit_into_memory_have_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flat, "MOST_BYTES", 1000)
    vectors = made(tmp_path, [[1] * 40], [True] * 40)
    asked = queries(3)
    rows, _ = opened(Flat(), vectors, tmp_path / "store").rows(asked, 5)
    assert (rows == exact(vectors, asked, 5)[0]).all() and not list((tmp_path / "store").iterdir())


def test_hnsw_finds_nearly_the_same_and_never_the_dead(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    alive = numpy.arange(1500) % 3 > 0
    vectors = made(tmp_path, [[1] * 1000, [2] * 500], alive)
    asked = queries(50)
    rows, cosines = opened(hnsw.Hnsw(), vectors, tmp_path / "store").rows(asked, 10)
    wanted, _ = exact(vectors, asked, 10)
    shared = sum(len(set(a) & set(b)) for a, b in zip(rows.tolist(), wanted.tolist(), strict=True))
    assert shared >= 0.95 * 500
    assert alive[vectors.position[rows]].all()
    products = (vectors.take(rows.reshape(-1)).reshape(50, 10, -1) * asked[:, None]).sum(-1)
    assert cosines == pytest.approx(products, abs=1e-5)


def test_hnsw_with_fewer_vectors_than_wanted(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    vectors = made(tmp_path, [[1, 1, 1]], [True, False, True])
    rows, _ = opened(hnsw.Hnsw(), vectors, tmp_path / "store").rows(queries(2), 5)
    assert [sorted(some) for some in rows.tolist()] == [[-1, -1, -1, 0, 2]] * 2


def test_a_graph_that_is_broken_or_of_other_vectors_is_told(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    vectors = made(tmp_path / "a", [[1] * 20], [True] * 20)
    fewer = made(tmp_path / "b", [[1] * 19], [True] * 19)
    folder = tmp_path / "store"
    opened(hnsw.Hnsw(), vectors, folder)
    with pytest.raises(InputError, match="not one of these vectors"):
        hnsw.Hnsw().open(fewer, folder)
    (folder / "hnsw.faiss").write_bytes(b"IHNf")
    with pytest.raises(InputError, match="cannot be read"):
        hnsw.Hnsw().open(vectors, folder)


def test_hnsw_without_faiss_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "has_faiss", lambda: False)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[faiss\]"):
        store_named("hnsw").check()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hnws", "Did you mean 'hnsw'"),
        ("", "There are: flat, hnsw, pgvector"),
        ("no_such_module:Store", "cannot be imported"),
        ("json:JSONDecoder", "no subclass of VectorStore"),
        ("json:nothing", "no subclass of VectorStore"),
    ],
)
def test_a_store_that_is_none(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        store_named(name, load=True)


def test_no_manifest_has_a_module_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "never_named.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"not loaded\. Name the retriever dense@never_named:Store"):
        store_named("never_named:Store")


def test_a_store_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_stores")
    module.Mine = type("Mine", (Flat,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_stores", module)
    for load in (True, False):
        assert type(store_named("my_stores:Mine", load=load)).__name__ == "Mine"
