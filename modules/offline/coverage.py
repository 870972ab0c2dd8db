"""Which words of a question a table has, in its caption, its header, its cells or the name of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from chameleon.modules.documents.table_choice import Candidate
from chameleon.modules.offline.grammar.lexicon import FILLERS, SMALL_WORDS, STEERING
from chameleon.modules.offline.grammar.problem import with_synonyms
from chameleon.modules.offline.grammar.words import stem, tokenize

_WORD = re.compile(r"\w+")
_MOST_CELLS = 500_000


def telling_words(question: str) -> dict[str, str]:
    """The words of a question that tell tables apart, by stem: no articles, nor words such as "how many"."""
    small = FILLERS | STEERING | SMALL_WORDS
    return {
        word.stem: word.text
        for word in tokenize(question)
        if word.kind != "mark" and word.text.lower() not in small
    }


def covered(stems: Iterable[str], candidate: Candidate) -> frozenset[str]:
    """The stems that the table has, itself or by a synonym; of long tables the first cells are seen."""
    wanted = {word: with_synonyms([word]) for word in stems}
    words = set(_words(candidate))
    known = words | set(map(stem, words))
    return frozenset(word for word, group in wanted.items() if group & known)


def _words(candidate: Candidate) -> Iterator[str]:
    table = candidate.table
    cells = islice(chain.from_iterable(table.rows), _MOST_CELLS)
    for text in chain([candidate.name, *candidate.source.values()], table.header, cells):
        yield from _WORD.findall(text.lower().replace("_", " "))
