"""What the words of a statement name in a table: cells, columns, numbers and dates."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.fields import Field
from chameleon.modules.offline.lexical.words import Token
from chameleon.table import Table


@dataclass(frozen=True)
class Option:
    """One way to take a mention: as this condition on a column, which these rows meet."""

    field: Field
    condition: Condition
    rows: frozenset[int]


@dataclass(frozen=True)
class Mention:
    """Words from `start` to `end` that name cells; `whole` where they name all that a cell says."""

    start: int
    end: int
    kind: Literal["name", "number", "date", "result"]
    options: tuple[Option, ...]
    whole: bool = True

    @property
    def places(self) -> range:
        return range(self.start, self.end)

    def option_in(self, column: str) -> Option | None:
        return next((option for option in self.options if option.field.name == column), None)


@dataclass(frozen=True)
class Named:
    """Words that name a column, or several that they fit equally well."""

    start: int
    end: int
    fields: tuple[Field, ...]
    whole: bool

    @property
    def places(self) -> range:
        return range(self.start, self.end)


@dataclass(frozen=True)
class Linked:
    """A statement's tokens over a table, with what they name."""

    table: Table
    tokens: tuple[Token, ...]
    mentions: tuple[Mention, ...]
    columns: tuple[Named, ...]

    @property
    def named_places(self) -> frozenset[int]:
        """The places of all words that name a cell or a column."""
        mentioned = {place for mention in self.mentions for place in mention.places}
        return frozenset(mentioned | {place for named in self.columns for place in named.places})

    def text(self, place: int) -> str:
        """The token at a place, "" beyond the ends."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def places_of(self, words: Container[str]) -> frozenset[int]:
        """The places of these words."""
        return frozenset(place for place, token in enumerate(self.tokens) if token.text in words)

    def is_mentioned(self, place: int) -> bool:
        """Whether the word at a place names a cell."""
        return any(place in mention.places for mention in self.mentions)
