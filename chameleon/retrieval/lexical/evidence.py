"""How well a document fits a question, by where in it the question's words stand.

BM25 does not see whether words stand in one cell, in one row, or under the name that the question says. What
is measured here does; the sum of the measures with the fixed weights of `WEIGHTS` is the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chameleon.retrieval.lexical.columns import called_for
from chameleon.retrieval.lexical.fields import WEAK, Bm25Settings, query_terms, weak_terms
from chameleon.retrieval.lexical.occurrences import Occurrences, Segment
from chameleon.retrieval.lexical.postings import digests

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

WEIGHTS: Mapping[str, float] = {
    "first": 0.12,
    "said": 0.35,
    "share": 4.0,
    "whole caption": 0.7,
    "rows": -0.25,
    "one row": 0.18,
    "whole cells": 0.33,
    "whole names": 4.0,
    "called for": 0.75,
    "neighbours": 0.12,
    "under their names": 0.17,
    "length": -0.3,
}
"""What each measure counts for.

first              BM25's score
said               the weights of the question's terms that are anywhere in the document
share              the same, as a share of all of them
whole caption      those in the caption, times the share of the caption's terms that the question says
rows               those in the rows and the text; negative: what is in names and caption too says more
one row            those in the one row that has most of them
whole cells        those in cells of which the question says every term
whole names        the share of the columns' names of which the question says every term
called for         the rarities of names that the question calls for without saying them (`called_for`)
neighbours         of terms that stand side by side in the question and in a cell, the smaller weights
under their names  those of one row in whole cells of which the question says the column's name nearby
length             the logarithm of the number of rows: in many rows anything is found

Fitted as a softmax over the first forty documents on half of the questions over tables of TabFact, WikiTQ
and FeTaQA, and on the other half; rounded between the two, which differ little.
"""
_NEAR = 2
"""So many terms may a value be from the name of its column in a question."""


@dataclass(frozen=True)
class Question:
    """A question's different terms and what each weighs: its idf, and less for a weak word."""

    digests: NDArray[numpy.uint64]
    weights: NDArray[numpy.float64]
    next: NDArray[numpy.bool_]
    """Whether one term (row) stands right before another (column)."""
    near: NDArray[numpy.bool_]
    """Whether two terms stand within `_NEAR` of each other."""
    columns: NDArray[numpy.uint64]
    """The terms of column names that the question calls for, without saying them."""
    column_weights: NDArray[numpy.float64]

    @classmethod
    def read(cls, text: str, settings: Bm25Settings, idf: Callable[[Sequence[str]], Any]) -> Question:
        """The question in a text; `idf` gives the rarities of terms."""
        import numpy

        said = query_terms(text, settings)
        different = list(dict.fromkeys(said))
        number = {term: index for index, term in enumerate(different)}
        follows: NDArray[numpy.bool_] = numpy.zeros((len(different), len(different)), numpy.bool_)
        near = follows.copy()
        sequence = [number[term] for term in said]
        for index, one in enumerate(sequence):
            for distance, other in enumerate(sequence[index + 1 : index + 1 + _NEAR], 1):
                follows[one, other] |= distance == 1
                near[one, other] = near[other, one] = one != other
        weak = weak_terms() if settings.analysis == "english" else frozenset()
        factors = numpy.array([WEAK if term in weak else 1.0 for term in different])
        called = called_for(text, different) if settings.analysis == "english" else {}
        shares = numpy.array(list(called.values()), numpy.float64)
        rarities = numpy.asarray(idf([*different, *called]), numpy.float64)
        return cls(
            digests(different),
            rarities[: len(different)] * factors,
            follows,
            near,
            digests(called),
            rarities[len(different) :] * shares,
        )


def evidence(
    question: Question, segment: Segment, documents: NDArray[numpy.int64]
) -> dict[str, NDArray[numpy.float64]]:
    """The measures of `WEIGHTS` for these documents of a segment, all but "first", the score of BM25."""
    import numpy

    entries = segment.entries(documents, question.digests)
    found = segment.occurrences(entries)
    cells = _Cells(question, segment, documents, found)
    said = (entries >= 0) @ question.weights
    return {
        "said": said,
        "share": said / (question.weights.sum() or 1.0),
        "whole caption": cells.sums(cells.in_caption) * cells.caption_share(),
        "rows": cells.sums(cells.in_rows),
        "one row": cells.best_row(cells.in_rows, question.weights),
        "whole cells": cells.sums(cells.in_rows & cells.whole),
        "whole names": cells.names_share(),
        "called for": _called_for(question, segment, documents),
        "neighbours": cells.neighbours(),
        "under their names": cells.under_their_names(),
        "length": numpy.log(2 + cells.heights),
    }


def _called_for(
    question: Question, segment: Segment, documents: NDArray[numpy.int64]
) -> NDArray[numpy.float64]:
    """The weights of the columns called for that are there: names come first, so that one place tells."""
    entries = segment.entries(documents, question.columns)
    end = segment.cells[segment.first_cells[documents] + segment.widths[documents]]
    named = (entries >= 0) & (segment.first_places(entries) < end[:, None])
    total: NDArray[numpy.float64] = named @ question.column_weights
    return total


class _Cells:
    """The occurrences of a question's terms in some documents, by the cells that they stand in."""

    def __init__(
        self, question: Question, segment: Segment, documents: NDArray[numpy.int64], found: Occurrences
    ) -> None:
        import numpy

        self.question, self.segment, self.documents, self.found = question, segment, documents, found
        self.shape = (len(documents), len(question.weights))
        firsts, widths = segment.first_cells[documents], segment.widths[documents]
        self._captions = firsts + widths
        self.heights = (segment.first_cells[documents + 1] - self._captions - 2) // numpy.maximum(widths, 1)
        width = widths[found.documents]
        number = found.cells - firsts[found.documents]
        self.in_names, self.in_caption, self.in_rows = number < width, number == width, number > width
        beyond = number - width - 2  # -1 in the text, which counts as a row
        self.in_table = beyond >= 0
        columns = numpy.maximum(width, 1)
        most = int(self.heights.max(initial=0)) + 2
        self.rows = found.documents * most + beyond // columns + 1
        self._most_columns = int(widths.max(initial=0)) + 1
        self._columns = found.documents * self._most_columns + numpy.where(
            self.in_names, number, beyond % columns
        )
        sizes = segment.cells[found.cells + 1] - segment.cells[found.cells]
        _, cell, counts = numpy.unique(found.cells, return_inverse=True, return_counts=True)
        self.whole = counts[cell] == sizes

    def sums(self, where: NDArray[numpy.bool_]) -> NDArray[numpy.float64]:
        """Of each document the weights of the terms that are there, each once."""
        import numpy

        there: NDArray[numpy.bool_] = numpy.zeros(self.shape, numpy.bool_)
        there[self.found.documents[where], self.found.terms[where]] = True
        total: NDArray[numpy.float64] = there @ self.question.weights
        return total

    def best_row(
        self, where: NDArray[numpy.bool_], weights: NDArray[numpy.float64]
    ) -> NDArray[numpy.float64]:
        """Of each document the largest sum over the different terms that are there in one row."""
        import numpy

        most: NDArray[numpy.float64] = numpy.zeros(self.shape[0])
        keys, first = numpy.unique(
            self.rows[where] * self.shape[1] + self.found.terms[where], return_index=True
        )
        if len(keys):
            row, term = numpy.divmod(keys, self.shape[1])
            begins = numpy.flatnonzero(numpy.append(True, row[1:] != row[:-1]))
            sums = numpy.add.reduceat(weights[term], begins)
            numpy.maximum.at(most, self.found.documents[where][first[begins]], sums)
        return most

    def caption_share(self) -> NDArray[numpy.float64]:
        """What share of the caption's terms the question says."""
        import numpy

        cells = self.segment.cells
        sizes = cells[self._captions + 1] - cells[self._captions]
        said = numpy.bincount(self.found.documents[self.in_caption], minlength=self.shape[0])
        return said / numpy.maximum(sizes, 1)

    def names_share(self) -> NDArray[numpy.float64]:
        """What share of the columns that have names the question says whole."""
        import numpy

        whole = self.in_names & self.whole
        first = numpy.unique(self.found.cells[whole], return_index=True)[1]
        holders = self.found.documents[whole][first]
        said = numpy.bincount(holders, minlength=self.shape[0])
        return said / numpy.maximum(self.segment.names[self.documents], 1)

    def neighbours(self) -> NDArray[numpy.float64]:
        """The smaller weights of the pairs of terms that are neighbours in the question and in a cell."""
        import numpy

        found, weights, count = self.found, self.question.weights, self.shape[1]
        order = numpy.argsort(found.places, kind="stable")
        places, cells, terms = found.places[order], found.cells[order], found.terms[order]
        both = (places[1:] - places[:-1] == 1) & (cells[1:] == cells[:-1])
        both &= self.question.next[terms[:-1], terms[1:]]
        holders = found.documents[order][1:][both]
        keys = numpy.unique((holders * count + terms[:-1][both]) * count + terms[1:][both])
        holder, pair = numpy.divmod(keys, count * count)
        one, other = numpy.divmod(pair, count)
        sums = numpy.bincount(holder, numpy.minimum(weights[one], weights[other]), minlength=self.shape[0])
        return sums

    def under_their_names(self) -> NDArray[numpy.float64]:
        """The best row by whole cells of which the question says the column's name nearby."""
        import numpy

        names, columns = numpy.unique(self._columns[self.in_names], return_inverse=True)
        if not len(names):
            return numpy.zeros(self.shape[0])
        said: NDArray[numpy.float32] = numpy.zeros((len(names), self.shape[1]), numpy.float32)
        said[columns, self.found.terms[self.in_names]] = 1
        nearby = said @ self.question.near.astype(numpy.float32) > 0
        place = numpy.minimum(numpy.searchsorted(names, self._columns), len(names) - 1)
        linked = (names[place] == self._columns) & nearby[place, self.found.terms]
        # A small number is in every table; under its name it says as much as a word.
        weights = numpy.maximum(self.question.weights, 1.0)
        return self.best_row(self.in_table & self.whole & linked, weights)
