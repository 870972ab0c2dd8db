"""Codes such as "a-0007": a word that stands as a cell is that cell, and its digits are no number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.fields import Field
from chameleon.modules.offline.lexical.links import Mention, Option
from chameleon.modules.offline.lexical.words import Token, tokens_of

_CODE = re.compile(r"0\d+|(?=.*\d)(?=.*[^\W\d_])[^\W_]+(?:[-_/][^\W_]+)+")
_LETTERS_FIRST = re.compile(r"([^\W\d_]+)[-_/].*")
_MARKS = ".,;:?!()\"'"
_PREFIXES = word_set("mid pre post under over top non early late no")


def find_codes(
    statement: str, tokens: Sequence[Token], fields: Sequence[Field], taken: set[int]
) -> Iterator[Mention]:
    """The codes of the statement that are a cell as they are written, but for capitals."""
    for word, places in _codes(statement, tokens):
        options = []
        for field in fields:
            cells = (cell.strip().lower() for cell in field.cells)
            if rows := frozenset(row for row, cell in enumerate(cells) if cell == word):
                options.append(Option(field, Condition(field.name, "is", word), rows))
        if options and not taken.intersection(places):
            taken.update(places)
            yield Mention(places.start, places.stop, "name", tuple(options))


def find_strange_codes(statement: str, tokens: Sequence[Token], taken: set[int]) -> Iterator[Mention]:
    """The codes that begin with letters and name nothing in the table: they fit no column."""
    for word, places in _codes(statement, tokens):
        letters = _LETTERS_FIRST.fullmatch(word)
        free = [place for place in places if place not in taken and tokens[place].number is not None]
        if letters and letters[1] not in _PREFIXES and free:
            taken.update(places)
            yield Mention(free[0], places.stop, "number", ())


def _codes(statement: str, tokens: Sequence[Token]) -> Iterator[tuple[str, range]]:
    """Every word that is a code, with the places of its tokens; dates are none."""
    texts, start = [token.text for token in tokens], 0
    for word in (each.strip(_MARKS) for each in statement.lower().split()):
        parts = tokens_of(word)
        if not _CODE.fullmatch(word) or any(part.date is not None for part in parts):
            continue
        written = [part.text for part in parts]
        for place in range(start, len(texts) - len(written) + 1):
            if texts[place : place + len(written)] == written:
                start = place + len(written)
                yield word, range(place, start)
                break
