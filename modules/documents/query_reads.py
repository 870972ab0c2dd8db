"""What an SQL query reads: names, values that columns have to equal, and what it joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from chameleon.modules.documents.read_rows import CellCondition, Reads, Ref
from chameleon.modules.sql.query_faults import KEYWORDS, tokens_of

_OTHER_WORDS = frozenset(
    ("<", ">", "<=", ">=", "!=", "<>", "NOT", "LIKE", "GLOB", "BETWEEN", "EXCEPT", "CASE", "OFFSET")
)
_CLAUSES = frozenset(("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "ON", "UNION", "USING"))
_UNTIED = frozenset(("USING", "NATURAL"))


@dataclass(eq=False)
class _Select:
    """One SELECT: the tables of its FROM by alias, and the SELECTs around and within it."""

    around: _Select | None = None
    tables: dict[str, str] = field(default_factory=dict)
    within: list[_Select] = field(default_factory=list)

    def groups(self, owner: str = "") -> tuple[tuple[str, ...], ...]:
        """Return the tables that a name may be a column of, the nearest first."""
        outer = [tuple(each.tables.values()) for each in self.outwards()]
        if owner:
            named = next((each.tables[owner] for each in self.outwards() if owner in each.tables), owner)
            return (named,), self.inner()
        return outer[0], self.inner(), *outer[1:]

    def outwards(self) -> Iterator[_Select]:
        """Yield this SELECT and those around it."""
        at: _Select | None = self
        while at is not None:
            yield at
            at = at.around

    def inner(self) -> tuple[str, ...]:
        """Return the tables of the SELECTs within it."""
        return tuple(name for each in self.within for name in (*each.tables.values(), *each.inner()))


@dataclass
class _Token:
    text: str
    kind: str
    select: _Select
    clause: str = ""

    @property
    def is_name(self) -> bool:
        return self.kind in ("quoted", "other") or (self.kind == "word" and self.upper not in KEYWORDS)

    @property
    def is_literal(self) -> bool:
        return self.kind in ("text", "number")

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind in ("word", "sign") else ""

    @property
    def value(self) -> str:
        if self.kind in ("text", "quoted"):
            mark = self.text[0]
            return self.text[1:-1].replace(mark * 2, mark)
        return self.text[1:-1] if self.kind == "other" else self.text


@dataclass
class _Query:
    tokens: Sequence[_Token]

    @classmethod
    def of(cls, sql: str) -> Self:
        """Read a query's tokens, each with the SELECT and the clause in which it stands."""
        depths, clauses, found = [_Select()], [""], list[_Token]()
        expects = False
        for match in tokens_of(sql):
            token = _Token(match[0], match.lastgroup or "", depths[-1], clauses[-1])
            if token.upper == "(":
                depths.append(depths[-1])
                clauses.append(clauses[-1])
            elif token.upper == ")" and len(depths) > 1:
                depths.pop()
                clauses.pop()
            elif token.upper == "SELECT":
                around = depths[-2] if len(depths) > 1 else None
                depths[-1] = token.select = _Select(around)
                if around is not None:
                    around.within.append(depths[-1])
            if token.upper in _CLAUSES:
                clauses[-1] = token.clause = token.upper
            starts = token.upper in ("FROM", "JOIN") or (token.upper == "," and clauses[-1] == "FROM")
            if expects and token.is_name:
                table = token.value.casefold()
                token.select.tables[table] = table
            elif token.is_name and found and clauses[-1] == "FROM":
                before = found[-2 if found[-1].upper == "AS" else -1 :][0]
                if (
                    before.is_name
                    and before.value.casefold() in token.select.tables
                    and before.clause == "FROM"
                ):
                    token.select.tables[token.value.casefold()] = before.value.casefold()
            clauses[-1] = "FROM" if token.upper == "JOIN" else clauses[-1]
            token.clause = clauses[-1]
            expects = starts
            found.append(token)
        return cls(found)

    def at(self, place: int) -> _Token:
        """Return a token, or an empty one beyond the ends."""
        inside = 0 <= place < len(self.tokens)
        return self.tokens[place] if inside else _Token("", "", _Select())

    def left(self, place: int) -> Ref | None:
        """Return the column that ends before a place, alone or in a function."""
        if self.at(place - 1).upper == ")" and self.at(place - 2).is_name:
            place -= 1
        if not (name := self.at(place - 1)).is_name:
            return None
        owner = self.at(place - 3).value.casefold() if self.at(place - 2).upper == "." else ""
        return Ref(name.select.groups(owner), name.value.casefold())

    def right(self, place: int) -> Ref | None:
        """Return the column that begins at a place, alone or in a function."""
        if not self.at(place).is_name:
            return None
        if self.at(place + 1).upper == "(":  # in a function
            return self.right(place + 2)
        is_owned = self.at(place + 1).upper == "."
        return self.left(place + 3 if is_owned else place + 1)

    def selected(self, place: int) -> Ref | None:
        """Return the column that a SELECT in brackets at a place gives."""
        if self.at(place).upper != "(" or self.at(place + 1).upper != "SELECT":
            return None
        return self.right(place + 3 if self.at(place + 2).upper == "DISTINCT" else place + 2)

    def listed(self, place: int) -> Iterator[str]:
        """Yield the values in brackets at a place."""
        while self.at(place).upper in ("(", ","):
            if self.at(place + 1).is_literal:
                yield self.at(place + 1).value
            place += 2


def reads_of_query(sql: str) -> Reads:
    """Return what a query reads."""
    query = _Query.of(sql)
    conditions, links = list[CellCondition](), list[tuple[Ref, Ref]]()
    for place, token in enumerate(query.tokens):
        column = query.left(place)
        if token.upper in ("=", "==", "IS"):
            before, after = query.at(place - 1), query.at(place + 1)
            if column is not None and after.is_literal:
                conditions.append(CellCondition(column, (after.value,)))
            elif before.is_literal and (other := query.right(place + 1)) is not None:
                conditions.append(CellCondition(other, (before.value,)))
            elif column and (other := query.right(place + 1) or query.selected(place + 1)):
                links.append((column, other))
        elif token.upper == "IN" and column is not None:
            if (other := query.selected(place + 1)) is not None:
                links.append((column, other))
            elif values := tuple(query.listed(place + 1)):
                conditions.append(CellCondition(column, values))
    names = {each.value.casefold() for each in query.tokens if each.is_name}
    words = {each.upper for each in query.tokens}
    return Reads(
        frozenset(names),
        tuple(conditions),
        tuple(links),
        is_plain=not words & _OTHER_WORDS,
        is_any="OR" in words,
        is_loose=bool(words & _UNTIED),
    )
