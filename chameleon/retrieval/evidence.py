"""Closer evidence: how well a document fits a question, by the places of the question's words in it.

BM25 does not see whether words are in one cell, in one row, or under the name that the question mentions. The
measures here do; their sum with the fixed weights of `WEIGHTS` is the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from chameleon.retrieval.analysis import WEAK, terms, weak_terms
from chameleon.retrieval.layout import Layouts, number_of

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[numpy.float64]
    Bools: TypeAlias = NDArray[numpy.bool_]

WEIGHTS: Mapping[str, float] = {
    "first": 0.12,
    "said": 0.32,
    "share": 2.4,
    "whole caption": 0.88,
    "rows": -0.25,
    "one row": 0.18,
    "whole cells": 0.36,
    "whole names": 3.5,
    "neighbors": 0.3,
    "under their names": 0.27,
    "length": -0.33,
}
"""The weight of each measure.

first              BM25's score
said               the weights of the question's terms that are anywhere in the document
share              the same, as a share of all of them
whole caption      the weights of terms in the caption, times the share of the caption's terms in the question
rows               the same in the rows and the text; negative: terms in names and caption say more
one row            the same in the row that has most of them
whole cells        the same in cells whose terms are all in the question
whole names        the share of the column names whose terms are all in the question
neighbors         of terms that are adjacent in the question and in a cell, the smaller weights
under their names  the same in whole cells of one row with the column's name nearby in the question
length             the logarithm of the number of rows: in many rows anything is found

Fitted on half of the questions over tables of TabFact, WikiTQ and FeTaQA, by a softmax over the first forty
documents and then a search along each weight; the other half has the same figures.
"""
_MAX_TERMS = 500  # terms of a question to look at
_MAX_DISTANCE = 2  # terms between a value and the name of its column in a question


class AskedWords:
    """A question's distinct terms: their numbers, their weights, and which are near each other.

    A term has its `rarity` (its idf in the index) as weight, reduced for weak words.
    """

    def __init__(self, text: str, rarity: Callable[[str], float]) -> None:
        import numpy

        query_terms = terms(text)[:_MAX_TERMS]
        number = {term: index for index, term in enumerate(dict.fromkeys(query_terms))}
        weak = weak_terms()
        self.numbers: NDArray[numpy.uint32] = numpy.array([number_of(term) for term in number], numpy.uint32)
        weights = [rarity(term) * (WEAK if term in weak else 1.0) for term in number]
        self.weights: Floats = numpy.array(weights, numpy.float64)
        self.next: Bools = numpy.zeros((len(number), len(number)), numpy.bool_)
        """Whether one term (row) comes right before another (column)."""
        self.near: Bools = self.next.copy()
        """Whether two terms are within `_MAX_DISTANCE` of each other."""
        sequence = [number[term] for term in query_terms]
        for index, one in enumerate(sequence):
            for distance, other in enumerate(sequence[index + 1 : index + 1 + _MAX_DISTANCE], 1):
                self.next[one, other] |= distance == 1
                self.near[one, other] = self.near[other, one] = one != other


def evidence(question: AskedWords, layouts: Layouts) -> dict[str, Floats]:
    """Return the measures of `WEIGHTS` for each document, except "first", the score of BM25."""
    import numpy

    matches = _Matches(question, layouts)
    sums = matches.sums(slice(None))
    return {
        "said": sums,
        "share": sums / (question.weights.sum() or 1.0),
        "whole caption": matches.sums(matches.in_caption) * matches.caption_share(),
        "rows": matches.sums(matches.in_rows),
        "one row": matches.best_row(matches.in_rows, question.weights),
        "whole cells": matches.sums(matches.in_rows & matches.is_whole),
        "whole names": matches.names_share(),
        "neighbors": matches.neighbors(),
        "under their names": matches.under_their_names(),
        "length": numpy.log(2 + layouts.heights),
    }


class _Matches:
    """The places of a question's terms in some documents, with the cells that contain them."""

    def __init__(self, question: AskedWords, layouts: Layouts) -> None:
        import numpy

        self.question, self.layouts = question, layouts
        self.documents, self.terms, self.places, self.cells = layouts.find(question.numbers)
        self.shape = (len(layouts), len(question.weights))
        width = layouts.widths[self.documents]
        # A document's cells: `width` names, the caption, the text, then the table row by row (`layout`).
        number = self.cells - layouts.firsts[self.documents]
        self.in_names, self.in_caption, self.in_rows = number < width, number == width, number > width
        beyond = number - width - 2  # -1 in the text, which counts as a row
        self.in_table = beyond >= 0
        columns = numpy.maximum(width, 1)
        self.rows = self.documents * (int(layouts.heights.max(initial=0)) + 2) + beyond // columns + 1
        column = numpy.where(self.in_names, number, beyond % columns)
        self.columns = self.documents * (int(layouts.widths.max(initial=0)) + 1) + column
        sizes = layouts.cells[self.cells + 1] - layouts.cells[self.cells]
        _, cell, counts = numpy.unique(self.cells, return_inverse=True, return_counts=True)
        self.is_whole = counts[cell] == sizes

    def sums(self, where: Bools | slice) -> Floats:
        """Sum the weights of the terms in each document, counting each term once."""
        import numpy

        there: Bools = numpy.zeros(self.shape, numpy.bool_)
        there[self.documents[where], self.terms[where]] = True
        total: Floats = there @ self.question.weights
        return total

    def best_row(self, where: Bools, weights: Floats) -> Floats:
        """Return, for each document, the largest sum over the distinct terms in one row."""
        import numpy

        best: Floats = numpy.zeros(self.shape[0])
        keys, first = numpy.unique(self.rows[where] * self.shape[1] + self.terms[where], return_index=True)
        if len(keys):
            row, term = numpy.divmod(keys, self.shape[1])
            begins = numpy.flatnonzero(numpy.append(True, row[1:] != row[:-1]))  # keys ascend
            sums = numpy.add.reduceat(weights[term], begins)
            numpy.maximum.at(best, self.documents[where][first[begins]], sums)
        return best

    def caption_share(self) -> Floats:
        """Return the share of the caption's terms that the question contains."""
        import numpy

        captions = self.layouts.firsts[:-1] + self.layouts.widths
        sizes = self.layouts.cells[captions + 1] - self.layouts.cells[captions]
        counts = numpy.bincount(self.documents[self.in_caption], minlength=self.shape[0])
        return counts / numpy.maximum(sizes, 1)

    def names_share(self) -> Floats:
        """Return the share of the named columns whose whole name is in the question."""
        import numpy

        mask = self.in_names & self.is_whole
        first = numpy.unique(self.cells[mask], return_index=True)[1]
        counts = numpy.bincount(self.documents[mask][first], minlength=self.shape[0])
        return counts / numpy.maximum(self.layouts.names, 1)

    def neighbors(self) -> Floats:
        """Sum the smaller weights of terms that are neighbors in the question and in a cell."""
        import numpy

        weights, count = self.question.weights, self.shape[1]  # places ascend
        both = (numpy.diff(self.places) == 1) & (numpy.diff(self.cells) == 0)
        both &= self.question.next[self.terms[:-1], self.terms[1:]]
        pairs = self.terms[:-1][both] * count + self.terms[1:][both]
        keys = numpy.unique(self.documents[1:][both] * count * count + pairs)
        holder, pair = numpy.divmod(keys, count * count)
        one, other = numpy.divmod(pair, count)
        return numpy.bincount(holder, numpy.minimum(weights[one], weights[other]), minlength=self.shape[0])

    def under_their_names(self) -> Floats:
        """Return the best row by whole cells with the column's name nearby in the question."""
        import numpy

        names, columns = numpy.unique(self.columns[self.in_names], return_inverse=True)
        if not len(names):
            return numpy.zeros(self.shape[0])
        name_terms: NDArray[numpy.float32] = numpy.zeros((len(names), self.shape[1]), numpy.float32)
        name_terms[columns, self.terms[self.in_names]] = 1
        nearby = name_terms @ self.question.near.astype(numpy.float32) > 0
        place = numpy.minimum(numpy.searchsorted(names, self.columns), len(names) - 1)
        linked = (names[place] == self.columns) & nearby[place, self.terms]
        # A small number is in every table; under its name it means as much as a word.
        weights = numpy.maximum(self.question.weights, 1.0)
        return self.best_row(self.in_table & self.is_whole & linked, weights)
