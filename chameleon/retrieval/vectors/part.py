"""Vectors as a part of an index: documents by the cosine of their texts with the query."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from chameleon.errors import InputError
from chameleon.retrieval.dense import embedded, embedded_queries
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import MINILM, embeddings, require
from chameleon.retrieval.part import Part, Searcher
from chameleon.retrieval.vectors.rows import Vectors, read_rows, write_rows
from chameleon.retrieval.vectors.store import FLAT, Nearest, VectorStore, store_named
from chameleon.retrieval.vectors.texts import about, texts

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.vectors.rows import Matrix

    Found: TypeAlias = tuple[NDArray[numpy.int64], NDArray[numpy.float32]]


_REMEMBERED = 512  # queries


@dataclass(frozen=True)
class DenseSettings:
    """Which embeddings, by name, and which store searches them.

    Of a document's texts so many at most are embedded, and besides what all of them begin with.
    """

    embeddings: str = MINILM
    store: str = FLAT
    texts: int = 8

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class DensePart(Part):
    """The vectors of documents; a text that another segment has is not embedded again."""

    name = "dense"
    is_slow = True

    def __init__(self, settings: DenseSettings | None = None, store: VectorStore | None = None) -> None:
        """`store` is the one that the settings name. Raises `InputError`."""
        self._settings = settings or DenseSettings()
        self._store = store or store_named(self._settings.store)

    def settings(self) -> Mapping[str, Any]:
        return self._settings.to_json()

    def check(self) -> None:
        """Raise `MissingPackage` or another `ChameleonError` for what is not at hand; nothing is loaded."""
        require(self._settings.embeddings)
        self._store.check()

    def prepare(self) -> None:
        self.check()
        self._store.reach()

    def write(self, documents: Sequence[Document], folder: Path) -> None:
        """Raises `ModelError` when the embedding model fails, `InputError` when it is another than before."""
        import numpy

        written = [self._texts(document) for document in documents]
        flat = [text for some in written for text in some]
        digests = numpy.array([_digest(text) for text in flat], numpy.uint64)
        vectors = self._vectors(flat, digests, _siblings(folder))
        write_rows(folder, vectors, [len(some) for some in written], digests)

    def finish(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
        vectors = Vectors(segments, alive)
        if len(vectors.living):
            self._store.write(vectors, folder)

    def open(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> DenseSearcher:
        self.check()
        vectors = Vectors(segments, alive)
        nearest = self._store.open(vectors, folder) if len(vectors.living) else None
        return DenseSearcher(self._settings.embeddings, vectors, nearest)

    def _texts(self, document: Document) -> list[str]:
        return list(dict.fromkeys([about(document), *texts(document, self._settings.texts)]))

    def _vectors(
        self, flat: Sequence[str], digests: NDArray[numpy.uint64], siblings: Iterable[Path]
    ) -> Matrix:
        """The texts' vectors, taken from other segments where they have them."""
        import numpy

        different, places, owners = numpy.unique(digests, return_index=True, return_inverse=True)
        new: NDArray[numpy.bool_] = numpy.ones(len(different), numpy.bool_)
        found: Matrix = numpy.empty((len(different), 0), numpy.float32)
        for folder in siblings:
            vectors, _, theirs = read_rows(folder)
            if not found.shape[1]:
                found = numpy.empty((len(different), vectors.shape[1]), numpy.float32)
            _, ours, there = numpy.intersect1d(different, theirs, return_indices=True)
            found[ours] = vectors[there]
            new[ours] = False
        if new.any():
            made = embedded(embeddings(self._settings.embeddings), [flat[n] for n in places[new].tolist()])
            if found.shape[1] not in (0, made.shape[1]):
                raise _other_model(self._settings.embeddings, made.shape[1], found.shape[1])
            found = found if found.shape[1] else numpy.empty((len(different), made.shape[1]), numpy.float32)
            found[new] = made
        return found[owners]


class DenseSearcher(Searcher):
    """Finds the documents of which a text is nearest to the query; loads the model with the first query."""

    def __init__(self, embeddings: str, vectors: Vectors, nearest: Nearest | None) -> None:
        self.embeddings, self.vectors, self.nearest = embeddings, vectors, nearest
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()

    def search(self, query: str, k: int) -> Found:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[Found]:
        import numpy

        if self.nearest is None or k < 1 or not queries:
            return [(numpy.empty(0, numpy.int64), numpy.empty(0, numpy.float32)) for _ in queries]
        asked = self._asked(queries)
        living = len(self.vectors.living)
        wanted = min(living, k * -(-len(self.vectors) // len(self.vectors.ends)))
        found: dict[int, Found] = {}
        left = list(range(len(queries)))
        while left:
            rows, cosines = self.nearest.rows(asked[left], wanted)
            for number, some, values in zip(left, rows, cosines, strict=True):
                found[number] = _best(self.vectors.position[some[some >= 0]], values[some >= 0], k)
            left = [number for number in left if len(found[number][0]) < k] if wanted < living else []
            wanted = min(living, 4 * wanted)
        return [found[number] for number in range(len(queries))]

    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        import numpy

        if not len(positions):
            return numpy.empty(0, numpy.float32)
        rows, firsts = self.vectors.rows_of(positions)
        cosines: NDArray[numpy.float32] = self.vectors.take(rows) @ self._asked([query])[0]
        return numpy.maximum.reduceat(cosines, firsts)

    def _asked(self, queries: Sequence[str]) -> Matrix:
        """The queries' vectors; the last are remembered, for whoever has its documents scored as well."""
        import numpy

        with self._lock:
            known = dict(self._known)
        if new := [query for query in dict.fromkeys(queries) if query not in known]:
            made: Matrix = embedded_queries(embeddings(self.embeddings), new)
            if made.shape[1] != self.vectors.size:
                raise _other_model(self.embeddings, made.shape[1], self.vectors.size)
            known |= dict(zip(new, made, strict=True))
            with self._lock:
                self._known = dict(list(known.items())[-_REMEMBERED:])
        return numpy.stack([known[query] for query in queries])


def _best(positions: NDArray[Any], cosines: Matrix, k: int) -> Found:
    """The documents of rows that are sorted by cosine, each once, ties by position."""
    import numpy

    documents, firsts = numpy.unique(positions, return_index=True)
    values = cosines[firsts]
    order = numpy.argsort(-values, kind="stable")[:k]
    return documents[order].astype(numpy.int64), values[order]


def _siblings(folder: Path) -> list[Path]:
    """The same part of the segments that are written."""
    root = folder.parent.parent
    found = sorted(path for path in root.iterdir() if path.name.isdecimal() and path != folder.parent)
    return [path / folder.name for path in found if (path / folder.name).is_dir()]


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _other_model(name: str, now: int, then: int) -> InputError:
    return InputError(
        f"the embeddings {name} have {now} numbers, and had {then} when the index was built",
        hint="Use the model of that time, or build the index again in another folder.",
    )
