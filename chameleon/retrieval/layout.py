"""The places of the terms in a document, for counting and for closer evidence.

A document is a line of cells: the column names, the caption, the text, and the cells of the table row by row.
`Layout.to_bytes` is kept with the document in the index, so reranking need not analyze it again.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING

from chameleon.retrieval.analysis import terms
from chameleon.retrieval.document import Document

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

CAPTION, HEADER = 3, 2
"""How often a term of the caption or of a column's name counts; one of a cell or of the text counts once."""
MOST_TERMS = 1 << 16
"""The most terms of a document for evidence; the rest of a longer one is ignored."""
_HEAD = 5  # width, height, names, cells, terms


@dataclass(frozen=True, slots=True)
class Layout:
    """The terms of each cell, with rows set apart from the table at the end; its width and height, or 0."""

    cells: list[tuple[str, ...]]
    width: int
    height: int

    @classmethod
    def of(cls, document: Document) -> Layout:
        table = document.table
        texts = [*(table.header if table else ()), caption_of(document), document.text]
        rows = (*table.rows, *(each.row for each in table.apart or ())) if table else ()
        cells = [terms(text) for text in chain(texts, *rows)]
        return cls(cells, len(table.header) if table else 0, len(table.rows) if table else 0)

    def weighted(self) -> Iterator[str]:
        """Yield each term as often as it counts."""
        names, rest = self.cells[: self.width], self.cells[self.width + 1 :]
        return chain.from_iterable((*names * HEADER, *[self.cells[self.width]] * CAPTION, *rest))

    def to_bytes(self) -> bytes:
        """Write the numbers of the terms, and the end of each cell."""
        ends = array("I", accumulate(map(len, self.cells)))
        if ends[-1] > MOST_TERMS:
            del ends[max(bisect_left(ends, MOST_TERMS) + 1, self.width + 2) :]  # keeps caption and text
            ends = array("I", [min(end, MOST_TERMS) for end in ends])
        numbers = array("I", map(number_of, islice(chain.from_iterable(self.cells), ends[-1])))
        names = sum(map(bool, self.cells[: self.width]))
        body = array("I", (self.width, self.height, names, len(ends), len(numbers))).tobytes()
        return body + ends.tobytes() + numbers.tobytes()


@lru_cache(maxsize=1 << 17)
def number_of(term: str) -> int:
    """Return the number of a term in a layout: its CRC-32."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def caption_of(document: Document) -> str:
    """Return the document's title and its table's caption, once if they are the same."""
    caption = document.table.caption if document.table else ""
    return "\n".join(dict.fromkeys((document.title, caption)))


class Layouts:
    """The layouts of several documents side by side, as arrays.

    `terms` are all of their terms; `cells` is where each cell begins among them, and where the last ends. For
    each document: `firsts`, the number of its first cell, `widths`, `heights`, and `names`, how many columns
    have a name with a term.
    """

    def __init__(self, encoded: Sequence[NDArray[numpy.uint32]]) -> None:
        import numpy

        heads: NDArray[numpy.int64] = numpy.array([one[:_HEAD] for one in encoded], numpy.int64)
        self.widths, self.heights, self.names, counts, sizes = heads.T
        begins = numpy.cumsum(sizes) - sizes
        counted = [*zip(encoded, counts.tolist(), strict=True)]
        ends = [one[_HEAD : _HEAD + n] for one, n in counted]
        self.terms = numpy.concatenate([one[_HEAD + n :] for one, n in counted])
        last = numpy.concatenate(ends) + numpy.repeat(begins, counts)
        self.cells: NDArray[numpy.int64] = numpy.append(0, last)
        self.firsts: NDArray[numpy.int64] = numpy.append(0, numpy.cumsum(counts))
        self._begins = begins

    def __len__(self) -> int:
        return len(self.widths)

    def find(
        self, numbers: NDArray[numpy.uint32]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]:
        """Find terms by their numbers: return document, index in `numbers`, place and cell of each."""
        import numpy

        is_near: NDArray[numpy.bool_] = numpy.zeros(1 << 16, numpy.bool_)
        is_near[numbers & 0xFFFF] = True  # by the lower half of each number: quick, and most terms fail it
        places = is_near[self.terms & 0xFFFF].nonzero()[0]  # a superset
        order = numpy.argsort(numbers)
        positions = numpy.searchsorted(numbers, self.terms[places], sorter=order)
        which = order[numpy.minimum(positions, len(order) - 1)]
        same = numbers[which] == self.terms[places]
        places, which = places[same], which[same]
        cells = numpy.searchsorted(self.cells, places, "right") - 1
        return numpy.searchsorted(self._begins, places, "right") - 1, which, places, cells
