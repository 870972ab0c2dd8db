"""`Index`: documents in a folder on disk, and the means to find them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from chameleon.errors import InputError
from chameleon.retrieval import engine
from chameleon.retrieval.analysis import query_weights
from chameleon.retrieval.document import Document, Kind
from chameleon.retrieval.engine import DIGEST, DOCUMENT, ID, KEY, KIND, LAYOUT, TERMS, failing
from chameleon.retrieval.evidence import WEIGHTS, AskedWords, evidence
from chameleon.retrieval.layout import Layouts
from chameleon.retrieval.manifest import WORDS, Manifest

if TYPE_CHECKING:
    import numpy
    import tantivy
    from numpy.typing import NDArray

_CACHE_SIZE, _MAX_CACHED_BYTES = 1 << 15, 1 << 14  # cached layouts of documents, and bytes of a large one
_PAGE = 4096
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of documents; an index stores the position of each in this tuple."""


class Place(NamedTuple):
    """The engine's place of a document, valid while an index is open."""

    segment: int
    document: int


class Index:
    """Documents found by words and, if built for it, by vectors; made by `open` and `build_index`.

    An open index does not change while others build; one serves all threads.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest, self.data = path, manifest, path / manifest.data
        self._index = engine.open_index(self.data / WORDS)
        with failing(path, "read"):
            self._searcher = self._index.searcher()
        self._schema, self._query = self._index.schema, engine.load().Query
        self.id_at = lru_cache(maxsize=_CACHE_SIZE)(lambda place: str(self._stored(place, ID)))
        self._layouts: dict[Place, NDArray[numpy.uint32]] = {}
        self._rarity = lru_cache(maxsize=_CACHE_SIZE)(self._idf)

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """Open the index in a folder. Raises `InputError` if it is missing or has changed."""
        folder = Path(path)
        manifest = Manifest.read(folder)
        try:
            manifest.check(folder)
            return cls(folder, manifest)
        except InputError:
            if Manifest.read(folder) == manifest:
                raise
        return cls.open(folder)  # another process has replaced it in the meantime

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    @property
    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents, in the order in which they were added."""
        return map(self.id_at, self.places())

    def documents(self) -> Iterator[Document]:
        """Yield all documents, in the order in which they were added."""
        return map(self.document_at, self.places())

    def document(self, id: str) -> Document:
        """Return the document with this id. Raises `InputError` if it is missing."""
        return self.document_at(self.place(id))

    def document_at(self, place: Place) -> Document:
        return Document.from_json(json.loads(self.line_at(place)))

    def line_at(self, place: Place) -> bytes:
        """Return a document as it is stored."""
        return bytes(self._stored(place, DOCUMENT))

    def place(self, id: str) -> Place:
        """Return the place of a document. Raises `InputError` for an id that the index does not have."""
        if not (places := self.with_ids([id])):
            raise InputError(f"the index has no document {id!r}", where=str(self.path))
        return places[id]

    def places(self) -> Iterator[Place]:
        """Yield the places of all documents, in the order in which they were added."""
        kind, order = engine.load().FieldType.Integer, engine.load().Order.Asc
        # A key begins with a number of its own: a range of `_PAGE` numbers has at most as many documents.
        for low in range(0, self.last_key() + 1, _PAGE << DIGEST):
            page = self._query.range_query(self._schema, KEY, kind, low, low + (_PAGE << DIGEST), True, False)
            yield from (place for place, _ in self._search(page, _PAGE, order_by_field=KEY, order=order))

    def with_ids(self, ids: Sequence[str]) -> dict[str, Place]:
        """Return the places of these documents, without unknown ones."""
        query = self._query.term_set_query(self._schema, ID, [id for id in ids if is_plain(id)])
        return {self.id_at(place): place for place, _ in self._search(query, len(ids))}

    def with_keys(self, keys: Sequence[int]) -> dict[int, Place]:
        """Return the places of these documents, without deleted ones."""
        query = self._query.term_set_query(self._schema, KEY, list(keys))
        places = [place for place, _ in self._search(query, len(keys))] if keys else []
        return dict(zip(self.keys(places), places, strict=True))

    def keys(self, places: Sequence[Place]) -> list[int]:
        """Return the keys of documents, which ascend in the order in which they were added."""
        return self._numbers(KEY, places)

    def kinds(self, places: Sequence[Place]) -> list[Kind]:
        """Return for each document whether it is a table or a passage."""
        return [KINDS[number] for number in self._numbers(KIND, places)]

    def _numbers(self, field: str, places: Sequence[Place]) -> list[Any]:
        with failing(self.path, "read"):
            addresses = [engine.load().DocAddress(*place) for place in places]
            return self._searcher.fast_field_values(field, addresses)

    def count(self, kind: Kind) -> int:
        """Return how many documents are of a kind."""
        with failing(self.path, "read"):
            result: Any = self._searcher.search(self._of(kind), limit=1, count=True)
        return int(result.count)

    def _of(self, kind: Kind) -> tantivy.Query:
        of_kind: tantivy.Query = self._query.term_query(self._schema, KIND, KINDS.index(kind))
        return of_kind

    def last_key(self) -> int:
        """Return the key of the last added document, or -1."""
        order = engine.load().Order.Desc
        hits = self._search(self._query.all_query(), 1, order_by_field=KEY, order=order)
        return int(hits[0][1]) if hits else -1

    def find(self, query: str, k: int, kind: Kind | None = None) -> list[tuple[Place, float]]:
        """Return up to `k` documents (of a `kind`) by BM25, the best first, ties in the order of adding."""
        if not (clauses := self._clauses(query)):
            return []
        full_query, limit = self._query.boolean_query(clauses), k + 1
        if kind is not None:
            every = engine.load().Occur.Must
            only = self._query.const_score_query(self._of(kind), 0.0)
            full_query = self._query.boolean_query([(every, full_query), (every, only)])
        hits = self._search(full_query, limit)
        # The engine orders ties as it likes: ask for more until the last of them is among the hits.
        while len(hits) == limit < len(self) and hits[-1][1] == hits[k - 1][1]:
            limit *= 4
            hits = self._search(full_query, limit)
        if len({score for _, score in hits}) < len(hits):
            order = dict(zip(hits, self.keys([place for place, _ in hits]), strict=True))
            hits.sort(key=lambda one: (-one[1], order[one]))
        return hits[:k]

    def bm25(self, query: str, places: Sequence[Place]) -> list[float]:
        """Return the BM25 scores of these documents."""
        if not places or not (clauses := self._clauses(query)):
            return [0.0] * len(places)
        these = self._query.term_set_query(self._schema, KEY, self.keys(places))
        only = (engine.load().Occur.Must, self._query.const_score_query(these, 0.0))
        scores = dict(self._search(self._query.boolean_query([only, *clauses]), len(places)))
        return [scores[place] for place in places]

    def evidence(
        self, query: str, places: Sequence[Place], known_scores: Sequence[tuple[Place, float]] = ()
    ) -> list[float]:
        """Return the scores of these documents by closer evidence; `known_scores` are of BM25."""
        import numpy

        if not places:
            return []
        bm25_scores = dict(known_scores)
        missing = [place for place in places if place not in bm25_scores]
        bm25_scores |= zip(missing, self.bm25(query, missing), strict=True)
        layouts = Layouts([self._layout(place) for place in places])
        first = numpy.array([bm25_scores[place] for place in places])
        measures = {"first": first, **evidence(AskedWords(query, self._rarity), layouts)}
        scores: list[float] = sum(weight * measures[name] for name, weight in WEIGHTS.items()).tolist()
        return scores

    def _search(self, query: tantivy.Query, limit: int, **order: Any) -> list[tuple[Place, Any]]:
        """Return up to `limit` documents with their scores, or with the field that they are ordered by."""
        with failing(self.path, "read"):
            size = max(1, min(limit, len(self)))
            hits = self._searcher.search(query, limit=size, count=False, **order).hits
        return [(Place(address.segment_ord, address.doc), key) for key, address in hits]

    def _clauses(self, query: str) -> list[Any]:
        clauses, either = [], engine.load().Occur.Should
        for term, weight in query_weights(query).items():
            clause = self._query.term_query(self._schema, TERMS, term)
            clauses.append((either, self._query.boost_query(clause, weight) if weight != 1 else clause))
        return clauses

    def _stored(self, place: Place, field: str) -> Any:
        with failing(self.path, "read"):
            return self._searcher.doc(engine.load().DocAddress(*place)).get_first(field)

    def _layout(self, place: Place) -> NDArray[numpy.uint32]:
        """Return a document's layout; small ones are cached."""
        import numpy

        layout = self._layouts.get(place)
        if layout is None:
            layout = numpy.frombuffer(self._stored(place, LAYOUT), numpy.uint32)
            if layout.nbytes <= _MAX_CACHED_BYTES:
                if len(self._layouts) >= _CACHE_SIZE:
                    self._layouts.clear()
                self._layouts[place] = layout
        return layout

    def _idf(self, term: str) -> float:
        """Return the rarity (idf) of a term."""
        holders = self._searcher.doc_freq(TERMS, term)  # includes some deleted ones
        return math.log1p((max(len(self), holders) - holders + 0.5) / (holders + 0.5))  # Lucene's


def is_plain(text: str) -> bool:
    """Return whether a text can be written in UTF-8; one with lone surrogates cannot."""
    return text.isascii() or text == text.encode("utf-8", "replace").decode()
