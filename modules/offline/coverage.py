"""Which words of a question a table has, in its caption, header, cells or the name of its file, or a text."""

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


def covered(stems: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """The stems that texts have, themselves or by a synonym."""
    wanted = {word: with_synonyms([word]) for word in stems}
    words = {word for text in texts for word in _WORD.findall(text.lower().replace("_", " "))}
    known = words | set(map(stem, words))
    return frozenset(word for word, group in wanted.items() if group & known)


def texts_in(candidate: Candidate) -> Iterator[str]:
    """The texts of a table; of long ones the first cells are seen."""
    table = candidate.table
    cells = islice(chain.from_iterable(table.rows), _MOST_CELLS)
    return chain([candidate.name, *candidate.source.values()], table.header, cells)
