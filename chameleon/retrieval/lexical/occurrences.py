"""Where each term stands in each document, so that a few documents can be looked into without reading them.

A document is a line of cells, numbered from 0: the column names, the caption, the text, and the cells of the
table row by row. The terms of all of them have places, numbered from 0. Beside the files of BM25's postings,
in whose `terms.npy` a term has its number, a segment has

    cells.npy          the place where each cell of the segment begins, and where the last ends
    first_cells.npy    the number of the first cell of each document, and how many there are
    widths.npy         the number of columns of each document
    names.npy          how many of its columns have a name with a term
    entries.npy        where the entries of each document begin, and where the last end
    entry_terms.npy    the term of each entry, ascending in a document
    entry_starts.npy   where the places of each entry begin, and where the last end
    places.npy         the places where the term of an entry stands, ascending
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index.arrays import load, save
from chameleon.retrieval.index.files import broken
from chameleon.retrieval.lexical.analysis import Reader
from chameleon.retrieval.lexical.fields import caption_of
from chameleon.retrieval.lexical.postings import digests

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

MOST_PLACES = 500
"""So many places of a term in one document are looked at, the first ones."""


def cells_of(document: Document) -> Iterator[str]:
    """The texts of a document's cells, in the order of their numbers."""
    yield from document.table.header if document.table else ()
    yield caption_of(document)
    yield document.text
    for row in document.table.rows if document.table else ():
        yield from row


def write_occurrences(documents: Sequence[Document], read: Reader, folder: Path) -> None:
    """Write the files of a segment into the folder where its postings are."""
    import numpy

    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    said: list[int] = []
    cells, first_cells, widths, names, lengths = [0], [0], [], [], []
    for document in documents:
        before = len(said)
        found = [read(cell) for cell in cells_of(document)]
        said.extend(map(numbers.__getitem__, chain.from_iterable(found)))
        cells.extend(islice(accumulate(map(len, found), initial=before), 1, None))
        width = len(document.table.header) if document.table else 0
        begin = first_cells[-1]
        names.append(sum(cells[n] < cells[n + 1] for n in range(begin, begin + width)))
        widths.append(width)
        first_cells.append(len(cells) - 1)
        lengths.append(len(said) - before)
    if len(said) >= 1 << 32:
        raise InputError("a segment of an index has too many words", where=str(folder))
    vocabulary, wanted = load(folder / "terms.npy"), digests(numbers)
    known: NDArray[Any] = numpy.asarray(numpy.searchsorted(vocabulary, wanted))
    # A term of fields of no weight alone has no number: it holds a place and is never asked for.
    known[~numpy.isin(wanted, vocabulary)] = len(vocabulary)
    ranked = known[numpy.array(said, numpy.int64)].astype(numpy.uint32)
    holders: NDArray[numpy.uint32] = numpy.repeat(numpy.arange(len(documents), dtype=numpy.uint32), lengths)
    places = numpy.lexsort((ranked, holders))  # stable: the places of an entry ascend
    ranked, holders = ranked[places], holders[places]
    new: NDArray[numpy.bool_] = numpy.ones(len(places), numpy.bool_)
    new[1:] = (ranked[1:] != ranked[:-1]) | (holders[1:] != holders[:-1])
    starts: NDArray[numpy.int64] = numpy.append(numpy.flatnonzero(new), len(places))
    save(folder / "cells.npy", numpy.array(cells, numpy.uint32))
    save(folder / "first_cells.npy", numpy.array(first_cells, numpy.int64))
    save(folder / "widths.npy", numpy.array(widths, numpy.int64))
    save(folder / "names.npy", numpy.array(names, numpy.int64))
    save(folder / "entries.npy", numpy.searchsorted(holders[new], numpy.arange(len(documents) + 1)))
    save(folder / "entry_terms.npy", ranked[new])
    save(folder / "entry_starts.npy", starts.astype(numpy.uint32))
    save(folder / "places.npy", places.astype(numpy.uint32))


class Occurrences(NamedTuple):
    """Places of terms, as arrays of one length; documents and terms are numbered as they were asked for."""

    documents: NDArray[numpy.int64]
    terms: NDArray[numpy.int64]
    places: NDArray[numpy.uint32]
    cells: NDArray[numpy.int64]


class Segment:
    """The files of one segment, opened."""

    def __init__(self, folder: Path) -> None:
        self.terms = load(folder / "terms.npy")
        self.cells = load(folder / "cells.npy")
        self.first_cells = load(folder / "first_cells.npy")
        self.widths = load(folder / "widths.npy")
        self.names = load(folder / "names.npy")
        self._entries = load(folder / "entries.npy")
        self._entry_terms = load(folder / "entry_terms.npy")
        self._starts = load(folder / "entry_starts.npy")
        self._places = load(folder / "places.npy")
        self.count = len(self.widths)
        if not self.count == len(self._entries) - 1 == len(self.first_cells) - 1 == len(self.names):
            raise broken(folder / "entries.npy")
        if int(self._entries[-1]) != len(self._entry_terms) or int(self._starts[-1]) != len(self._places):
            raise broken(folder / "entry_starts.npy")

    def entries(self, documents: NDArray[numpy.int64], known: NDArray[numpy.uint64]) -> NDArray[numpy.int64]:
        """The entry of each document (row) for each term (column), given by its digest; -1 where none is."""
        import numpy

        shape = (len(documents), len(known))
        nothing: NDArray[numpy.int64] = numpy.full(shape, -1, numpy.int64)
        if not len(self._entry_terms) or not len(known):
            return nothing
        wanted = numpy.minimum(numpy.searchsorted(self.terms, known), len(self.terms) - 1)
        is_known = self.terms[wanted] == known
        low: NDArray[Any] = numpy.broadcast_to(self._entries[documents][:, None], shape).copy()
        end = self._entries[documents + 1][:, None]
        high: NDArray[Any] = numpy.broadcast_to(end, shape).copy()
        last = len(self._entry_terms) - 1
        while (open_ := low < high).any():  # a binary search in all documents at once
            middle = (low + high) >> 1
            less = self._entry_terms[numpy.minimum(middle, last)] < wanted
            low = numpy.where(open_ & less, middle + 1, low)
            high = numpy.where(open_ & ~less, middle, high)
        here = self._entry_terms[numpy.minimum(low, last)] == wanted
        return numpy.where(is_known & here & (low < end), low, nothing)

    def occurrences(self, entries: NDArray[numpy.int64]) -> Occurrences:
        """The places of these entries, at most `MOST_PLACES` of each."""
        import numpy

        documents, terms = numpy.nonzero(entries >= 0)
        found = entries[documents, terms]
        begins = self._starts[found].astype(numpy.int64)
        counts = numpy.minimum(self._starts[found + 1] - begins, MOST_PLACES)
        owners: NDArray[numpy.int64] = numpy.repeat(numpy.arange(len(found)), counts)
        within = numpy.arange(len(owners)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
        places = self._places[begins[owners] + within]
        cells = numpy.searchsorted(self.cells, places, "right") - 1
        return Occurrences(documents[owners], terms[owners], places, cells)

    def first_places(self, entries: NDArray[numpy.int64]) -> NDArray[numpy.uint32]:
        """The first place of each entry; for -1 any."""
        import numpy

        if not len(self._places):
            return numpy.zeros(entries.shape, numpy.uint32)
        found: NDArray[numpy.uint32] = self._places[self._starts[numpy.maximum(entries, 0)]]
        return found
