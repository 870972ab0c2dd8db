"""Postings of BM25: which documents have which terms, by segment, then of the whole index with scores.

A term is known by the first 64 bits of its BLAKE2b digest: a vocabulary is a sorted array that stays on disk.
A segment keeps counts:

    terms.npy      digests of its terms, ascending
    starts.npy     where the postings of each term begin, and where the last end
    documents.npy  their documents, numbered within the segment, ascending for each term
    counts.npy     how often the term stands in the document, by the weights of its fields
    lengths.npy    the length of each document

The whole index keeps scores, in the layout of bm25s (Lù, 2024), the columns being terms:

    terms.npy, indptr.npy, indices.npy (positions), data.npy (scores), and df.npy (documents with the term)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chameleon.retrieval.document import Document
from chameleon.retrieval.index.arrays import ArrayWriter, load, save
from chameleon.retrieval.lexical.analysis import Reader, reader
from chameleon.retrieval.lexical.fields import Bm25Settings, term_counts

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_POSTINGS_AT_ONCE = 1 << 22
_EPSILON = 0.25
"""By what of the mean a negative idf is replaced (package rank_bm25; BM25Okapi's epsilon)."""


def digests(terms: Iterable[str]) -> NDArray[numpy.uint64]:
    """The numbers of many terms, in their order."""
    import numpy

    return numpy.frombuffer(b"".join(map(_digest, terms)), "<u8")


def _digest(term: str) -> bytes:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def write_segment(
    documents: Sequence[Document], settings: Bm25Settings, folder: Path, read: Reader | None = None
) -> None:
    """Count the terms of these documents and write a segment's files; `read` is as in `term_counts`."""
    import numpy

    read = read or reader(settings.analysis)
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    terms: list[int] = []
    counts: list[float] = []
    sizes: list[int] = []
    lengths: list[float] = []
    for document in documents:
        counted, length = term_counts(document, settings, read)
        terms.extend(map(numbers.__getitem__, counted))
        counts.extend(counted.values())
        sizes.append(len(counted))
        lengths.append(length)
    known = digests(numbers)
    ascending = numpy.argsort(known, kind="stable")
    ranks: NDArray[numpy.int32] = numpy.empty(len(known), numpy.int32)
    ranks[ascending] = numpy.arange(len(known), dtype=numpy.int32)
    ranked = ranks[numpy.array(terms, numpy.int32)]
    order = numpy.argsort(ranked, kind="stable")
    held: NDArray[Any] = numpy.repeat(numpy.arange(len(sizes), dtype=_smallest(len(sizes))), sizes)
    save(folder / "terms.npy", known[ascending])
    save(folder / "starts.npy", _starts(numpy.bincount(ranked, minlength=len(known))))
    save(folder / "documents.npy", held[order])
    save(folder / "counts.npy", _compact(numpy.array(counts, numpy.float64))[order])
    save(folder / "lengths.npy", numpy.array(lengths, numpy.float64))


def _smallest(count: int) -> Any:
    import numpy

    return numpy.uint16 if count <= 1 << 16 else numpy.uint32


def _compact(counts: NDArray[numpy.float64]) -> NDArray[Any]:
    """The counts in a byte each where all are whole and small."""
    import numpy

    small = counts.astype(numpy.uint8)
    return small if numpy.array_equal(small, counts) else counts.astype(numpy.float32)


def _starts(counts: NDArray[Any]) -> NDArray[numpy.int64]:
    import numpy

    starts: NDArray[numpy.int64] = numpy.zeros(len(counts) + 1, numpy.int64)
    numpy.cumsum(counts, out=starts[1:])
    return starts


class Segment:
    """The files of one segment, opened; `first` is the position of its first document."""

    def __init__(self, folder: Path, first: int) -> None:
        self.first = first
        self.terms = load(folder / "terms.npy")
        self.starts = load(folder / "starts.npy")
        self.documents = load(folder / "documents.npy")
        self.counts = load(folder / "counts.npy")

    def between(self, low: int, high: int) -> Postings:
        """The postings of the terms whose digests lie from `low` up to and without `high`."""
        import numpy

        begin = int(numpy.searchsorted(self.terms, numpy.uint64(low)))
        # The last bound is one more than an array of digests can be asked for.
        end = len(self.terms) if high >> 64 else int(numpy.searchsorted(self.terms, numpy.uint64(high)))
        starts = self.starts[begin : end + 1]
        first, last = int(starts[0]), int(starts[-1])
        return Postings(
            self.terms[begin:end],
            numpy.diff(starts),
            self.documents[first:last].astype(numpy.uint32) + numpy.uint32(self.first),
            self.counts[first:last].astype(numpy.float32),
        )


class Postings(NamedTuple):
    """Terms, how many postings each of them has, and the positions and counts of these, term by term."""

    terms: NDArray[numpy.uint64]
    sizes: NDArray[numpy.int64]
    positions: NDArray[numpy.uint32]
    counts: NDArray[numpy.float32]

    def living(self, alive: NDArray[numpy.bool_]) -> Postings:
        """Without the documents that are deleted; a term may be left without a posting."""
        import numpy

        kept = alive[self.positions]
        owners: NDArray[numpy.int64] = numpy.repeat(numpy.arange(len(self.terms)), self.sizes)
        sizes = numpy.bincount(owners[kept], minlength=len(self.terms))
        return Postings(self.terms, sizes, self.positions[kept], self.counts[kept])


def merged(parts: Sequence[Postings]) -> Postings:
    """The postings of several segments as one, each term's in the order of the segments: a counting sort."""
    import numpy

    terms = numpy.unique(numpy.concatenate([part.terms for part in parts]))
    ranks = [numpy.searchsorted(terms, part.terms) for part in parts]
    sizes: NDArray[numpy.int64] = numpy.zeros(len(terms), numpy.int64)
    for part, rank in zip(parts, ranks, strict=True):
        numpy.add.at(sizes, rank, part.sizes)
    positions: NDArray[numpy.uint32] = numpy.empty(int(sizes.sum()), numpy.uint32)
    counts: NDArray[numpy.float32] = numpy.empty(len(positions), numpy.float32)
    heads = _starts(sizes)[:-1]
    for part, rank in zip(parts, ranks, strict=True):
        begins = _starts(part.sizes)[:-1]
        places = numpy.repeat(heads[rank] - begins, part.sizes) + numpy.arange(len(part.positions))
        positions[places], counts[places] = part.positions, part.counts
        numpy.add.at(heads, rank, part.sizes)
    kept = sizes > 0
    return Postings(terms[kept], sizes[kept], positions, counts)


def write_index(
    folders: Sequence[Path], alive: NDArray[numpy.bool_], settings: Bm25Settings, folder: Path
) -> None:
    """Merge the segments into the files of the whole index, and score every posting by BM25.

    The terms are taken in blocks of some four million postings, so that memory grows with the number of
    documents (by some bytes for each), not with what they say.
    """
    import numpy

    lengths = numpy.concatenate([numpy.empty(0), *(load(path / "lengths.npy") for path in folders)])
    living = int(alive.sum())
    mean = float(lengths[alive].mean()) if living else 1.0
    norms = settings.k1 * (1 - settings.b + settings.b * lengths / (mean or 1.0))
    scoring = _Scoring(settings, living, norms)
    types = {"terms": "<u8", "df": "<u4", "indptr": "<i8", "indices": "<u4", "data": "<f4"}
    files = {name: ArrayWriter(folder / f"{name}.npy", kind) for name, kind in types.items()}
    with ExitStack() as close:
        for file in files.values():
            close.enter_context(file)
        files["indptr"].append(numpy.zeros(1))
        for block in _blocks(folders, alive):
            ends = files["indices"].count + numpy.cumsum(block.sizes)
            files["data"].append(scoring.scores(block, files["indices"].count))
            files["indices"].append(block.positions)
            files["terms"].append(block.terms)
            files["df"].append(block.sizes)
            files["indptr"].append(ends)
    scoring.mend(folder / "data.npy")


def _blocks(folders: Sequence[Path], alive: NDArray[numpy.bool_]) -> Iterator[Postings]:
    """The merged postings of all segments, in blocks of ascending digests."""
    segments, first = [], 0
    for path in folders:
        segments.append(Segment(path, first))
        first += len(load(path / "lengths.npy"))
    postings = sum(len(segment.documents) for segment in segments)
    count = -(-postings // _POSTINGS_AT_ONCE)
    bounds = [(number << 64) // count for number in range(count)] + [1 << 64] if count else []
    whole = bool(alive.all())
    for low, high in pairwise(bounds):
        parts = [segment.between(low, high) for segment in segments]
        yield merged(parts if whole else [part.living(alive) for part in parts])


class _Scoring:
    """Scores postings by BM25, and mends those of terms whose idf had to wait for the mean of all."""

    def __init__(self, settings: Bm25Settings, living: int, norms: NDArray[numpy.float64]) -> None:
        self.settings, self.living, self.norms = settings, living, norms
        self.sum, self.terms = 0.0, 0
        self.negative: list[tuple[int, int]] = []

    def scores(self, block: Postings, begin: int) -> NDArray[numpy.float32]:
        """The scores of a block whose first posting is number `begin` of the whole index."""
        import numpy

        odds = (self.living - block.sizes + 0.5) / (block.sizes + 0.5)
        idf = numpy.log1p(odds) if self.settings.idf == "lucene" else numpy.log(odds)
        self.sum += float(idf.sum())
        self.terms += len(idf)
        starts = begin + _starts(block.sizes)
        below = numpy.flatnonzero(idf < 0)
        self.negative += zip(starts[below].tolist(), starts[below + 1].tolist(), strict=True)
        idf[below] = 1.0
        counts = block.counts.astype(numpy.float64)
        saturated = counts * (self.settings.k1 + 1) / (counts + self.norms[block.positions])
        scores: NDArray[numpy.float32] = (numpy.repeat(idf, block.sizes) * saturated).astype(numpy.float32)
        return scores

    def mend(self, path: Path) -> None:
        """Give the terms whose idf is negative a quarter of the mean idf (the rule of rank_bm25)."""
        import numpy

        if not self.negative:
            return
        factor = numpy.float32(_EPSILON * self.sum / self.terms)
        data = numpy.load(path, mmap_mode="r+", allow_pickle=False)
        for begin, end in self.negative:
            data[begin:end] *= factor
        data.flush()
