"""`Index`: documents in a folder on disk, with what finds them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chameleon.errors import InputError
from chameleon.retrieval import engine
from chameleon.retrieval.analysis import query_weights
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import CONTENT, DOCUMENT, ID, LAYOUT, NUMBER, TERMS, Damaged, failing
from chameleon.retrieval.evidence import WEIGHTS, Question, evidence
from chameleon.retrieval.layout import Layouts
from chameleon.retrieval.manifest import BUILDING, WORDS, Manifest

if TYPE_CHECKING:
    import numpy
    import tantivy
    from numpy.typing import NDArray

_REMEMBERED = 1 << 15  # documents of which the terms are kept at hand
_PAGE = 4096


class Place(NamedTuple):
    """Where the engine has a document, as long as an index is open."""

    segment: int
    document: int


class Index:
    """Documents found by their words, and where it was built so by vectors; made by `open` and `build`.

    An opened index stays as it is while others build; one serves all threads.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        self._index = engine.open_index(path / WORDS)
        with failing(path, "read"):
            self._searcher = self._index.searcher()
        self._schema = self._index.schema
        self._known = lru_cache(maxsize=_REMEMBERED)(self._read)
        self._rarity = lru_cache(maxsize=_REMEMBERED)(self._count)

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """Open the index in a folder.

        Raises `InputError` for a folder that holds none, `Damaged` for one that is not as it was written.
        """
        folder = Path(path)
        manifest = Manifest.read(folder)
        is_same = manifest.check == engine.meta_check(folder / WORDS)
        if not is_same and not (folder / BUILDING).exists() and Manifest.read(folder) == manifest:
            raise Damaged("the file is damaged", where=str(folder / WORDS / "meta.json"))
        return cls(folder, manifest)

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r}: {len(self):,} documents)"

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self.places([id]))

    @property
    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents, in the order in which they were added."""
        return (self.id_at(place) for _, place in self.numbered())

    def documents(self) -> Iterator[Document]:
        """Yield all documents, in the order in which they were added."""
        return (self.document_at(place) for _, place in self.numbered())

    def document(self, id: str) -> Document:
        """Return the document with this id. Raises `InputError` if there is none."""
        return self.document_at(self.place(id))

    def document_at(self, place: Place) -> Document:
        line: Any = self._stored(place).get_first(DOCUMENT)
        return Document.from_json(json.loads(line))

    def id_at(self, place: Place) -> str:
        return self._known(place)[0]

    def place(self, id: str) -> Place:
        """Return where a document is. Raises `InputError` for an id that the index does not have."""
        found = self.places([id])
        if not found:
            raise InputError(f"the index has no document {id!r}", where=str(self.path))
        return found[id]

    def places(self, ids: Sequence[str]) -> dict[str, Place]:
        """Return where these documents are, without those that the index does not have."""
        return {self.id_at(place): place for place, _ in self._search(self._named(ids), len(ids))}

    def contents(self, places: Sequence[Place]) -> list[int]:
        """Return the digests of documents."""
        return self._numbers(CONTENT, places)

    def numbers(self, places: Sequence[Place]) -> list[int]:
        """Return the numbers of documents: when each came, and what vectors know it by."""
        return self._numbers(NUMBER, places)

    def find(self, query: str, k: int) -> list[tuple[Place, float]]:
        """Return up to `k` documents by BM25, the best first, ties in the order in which they were added."""
        clauses = self._clauses(query)
        if not clauses or k < 1:
            return []
        import tantivy

        whole, limit = tantivy.Query.boolean_query(clauses), k + 1
        found = self._search(whole, limit)
        while len(found) == limit and found[-1][1] == found[k - 1][1]:  # which of these came first?
            limit *= 4
            found = self._search(whole, limit)
        if len({score for _, score in found}) < len(found):
            order = dict(zip(found, self.numbers([place for place, _ in found]), strict=True))
            found.sort(key=lambda one: (-one[1], order[one]))
        return found[:k]

    def bm25(self, query: str, ids: Sequence[str]) -> list[float]:
        """Return the scores of these documents by BM25."""
        import tantivy

        clauses = self._clauses(query)
        if not clauses or not ids:
            return [0.0] * len(ids)
        only = tantivy.Query.const_score_query(self._named(ids), 0.0)
        whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, only), *clauses])
        found = {self.id_at(place): score for place, score in self._search(whole, len(ids))}
        return [found.get(id, 0.0) for id in ids]

    def evidence(self, query: str, places: Sequence[Place], first: Sequence[float]) -> NDArray[numpy.float64]:
        """Return the scores of documents by closer evidence, which `first`, those of BM25, are part of."""
        import numpy

        measures = self.measures(query, places) | {"first": numpy.array(first)}
        total: NDArray[numpy.float64] = numpy.zeros(len(places))
        for name, weight in WEIGHTS.items():
            total += weight * measures[name]
        return total

    def measures(self, query: str, places: Sequence[Place]) -> dict[str, NDArray[numpy.float64]]:
        """Return what `evidence` measures of documents, by the names of the measures."""
        layouts = Layouts([self._known(place)[1] for place in places])
        return evidence(Question(query, self._rarity), layouts)

    def _search(self, query: tantivy.Query, limit: int, **order: Any) -> list[tuple[Place, Any]]:
        """Return up to `limit` documents with their scores, or with the field that they are ordered by."""
        with failing(self.path, "read"):
            hits = self._searcher.search(query, limit=max(limit, 1), count=False, **order).hits
        return [(Place(address.segment_ord, address.doc), key) for key, address in hits]

    def _clauses(self, query: str) -> list[Any]:
        import tantivy

        found = []
        for term, weight in query_weights(query).items():
            clause = tantivy.Query.term_query(self._schema, TERMS, term)
            weighted = tantivy.Query.boost_query(clause, weight) if weight != 1 else clause
            found.append((tantivy.Occur.Should, weighted))
        return found

    def _named(self, ids: Sequence[str]) -> tantivy.Query:
        import tantivy

        return tantivy.Query.term_set_query(self._schema, ID, list(ids))

    def _numbers(self, field: str, places: Sequence[Place]) -> list[int]:
        import tantivy

        with failing(self.path, "read"):
            addresses = [tantivy.DocAddress(*place) for place in places]
            found: list[Any] = self._searcher.fast_field_values(field, addresses)
        return found

    def _stored(self, place: Place) -> tantivy.Document:
        import tantivy

        with failing(self.path, "read"):
            return self._searcher.doc(tantivy.DocAddress(*place))

    def _read(self, place: Place) -> tuple[str, NDArray[numpy.uint32]]:
        """Return a document's id and layout."""
        import numpy

        stored = self._stored(place)
        return str(stored.get_first(ID)), numpy.frombuffer(stored.get_first(LAYOUT), numpy.uint32)

    def _count(self, term: str) -> float:
        """Return how rare a term is: its idf."""
        holders = self._searcher.doc_freq(TERMS, term)  # with some that are deleted
        return math.log1p((max(len(self), holders) - holders + 0.5) / (holders + 0.5))

    def numbered(self) -> Iterator[tuple[int, Place]]:
        """Yield the number and place of every document, in the order in which they were added."""
        import tantivy

        for low in range(0, self.last_number() + 1, _PAGE):
            page = tantivy.Query.range_query(
                self._schema, NUMBER, tantivy.FieldType.Integer, low, low + _PAGE, True, False
            )
            found = self._search(page, _PAGE, order_by_field=NUMBER, order=tantivy.Order.Asc)
            yield from ((number, place) for place, number in found)

    def at_numbers(self, numbers: Sequence[int]) -> dict[int, Place]:
        """Return where the documents with these numbers are, without those that are gone."""
        import tantivy

        if not numbers:
            return {}
        wanted = tantivy.Query.term_set_query(self._schema, NUMBER, list(numbers))
        places = [place for place, _ in self._search(wanted, len(numbers))]
        return dict(zip(self.numbers(places), places, strict=True))

    def last_number(self) -> int:
        """Return the number of the document that came last; -1 where there is none."""
        import tantivy

        everything, order = tantivy.Query.all_query(), tantivy.Order.Desc
        found = self._search(everything, 1, order_by_field=NUMBER, order=order)
        return int(found[0][1]) if found else -1
