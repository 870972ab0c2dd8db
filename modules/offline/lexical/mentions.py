"""Link the words of a statement to a table: which name cells, which name columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.codes import find_codes, find_strange_codes
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.english import SMALL, STEERING
from chameleon.modules.offline.lexical.fields import TABLES_KEPT, Field, fields_of, total_rows
from chameleon.modules.offline.lexical.figures import find_dates, find_numbers, find_results
from chameleon.modules.offline.lexical.links import Linked, Mention, Named, Option
from chameleon.modules.offline.lexical.words import ARTICLES, Token, key_of, tokens_of
from chameleon.table import Table

_LONGEST = 12


def linked(statement: str, table: Table) -> Linked:
    """The statement with its links: names of cells first (longest first), then columns, dates, numbers."""
    tokens = tokens_of(statement)
    fields = fields_of(table)
    taken: set[int] = set()
    mentions: list[Mention] = list(find_codes(statement, tokens, fields, taken))
    columns = list(_columns(tokens, fields, taken, whole=True, least=2))
    mentions += _names(tokens, table, taken, fields)
    columns += _columns(tokens, fields, taken, whole=True, least=1)
    columns += _columns(tokens, fields, taken, whole=False, least=1)
    columns = _told_apart(tokens, columns, taken)
    mentions += find_results(tokens, table, taken)
    mentions += find_dates(tokens, table, taken, fields)
    mentions += find_strange_codes(statement, tokens, taken)
    mentions += find_numbers(tokens, table, taken, fields)
    by_start = sorted(mentions, key=lambda mention: mention.start)
    return Linked(table, tokens, tuple(by_start), tuple(sorted(columns, key=lambda named: named.start)))


@dataclass(frozen=True)
class Grams:
    """Every run of words that some cell holds: by column the rows, and whether it is a whole cell."""

    rows: Mapping[tuple[str, ...], Mapping[int, frozenset[int]]]
    whole: Mapping[tuple[str, ...], Mapping[int, frozenset[int]]]
    longest: int


@lru_cache(maxsize=TABLES_KEPT)
def grams_of(table: Table) -> Grams:
    parts: dict[tuple[str, ...], dict[int, set[int]]] = {}
    wholes: dict[tuple[str, ...], dict[int, set[int]]] = {}
    skipped = total_rows(table)
    for field in fields_of(table):
        for row, cell in enumerate(field.cells):
            key = key_of(cell)
            if not key or (row in skipped and len(set(table.rows[row])) == 1):
                continue
            wholes.setdefault(key, {}).setdefault(field.index, set()).add(row)
            for start in range(len(key)):
                for end in range(start + 1, min(start + _LONGEST, len(key)) + 1):
                    parts.setdefault(key[start:end], {}).setdefault(field.index, set()).add(row)
    longest = max((len(key) for key in parts), default=0)
    return Grams(_frozen(parts), _frozen(wholes), longest)


def _frozen(
    found: Mapping[tuple[str, ...], Mapping[int, set[int]]],
) -> dict[tuple[str, ...], dict[int, frozenset[int]]]:
    return {key: {c: frozenset(rows) for c, rows in by.items()} for key, by in found.items()}


def _names(
    tokens: Sequence[Token], table: Table, taken: set[int], fields: Sequence[Field]
) -> Iterable[Mention]:
    grams = grams_of(table)
    by_index = {field.index: field for field in fields}
    trail = [n for n in range(len(tokens)) if _may_be_of_a_name(tokens, n)]
    header = {form for field in fields for form in field.key}
    for length in range(min(grams.longest, len(trail)), 0, -1):
        for at in range(len(trail) - length + 1):
            run = trail[at : at + length]
            key = tuple(tokens[n].form for n in run)
            if key not in grams.rows or taken.intersection(range(run[0], run[-1] + 1)):
                continue
            whole = key in grams.whole
            if not _may_name(tokens, run, key, whole=whole, header=header, fields=fields):
                continue
            found = grams.whole[key] if whole else grams.rows[key]
            if length == 1 and not whole and _names_most(found, table):
                continue
            written = " ".join(tokens[n].text for n in run)
            options = tuple(
                Option(by_index[c], Condition(by_index[c].name, "is" if whole else "has", written), rows)
                for c, rows in found.items()
            )
            taken.update(range(run[0], run[-1] + 1))
            kind: Literal["date", "name"] = "date" if any(tokens[n].date for n in run) else "name"
            yield Mention(run[0], run[-1] + 1, kind, options, whole)


def _may_be_of_a_name(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word may name a cell: marks do not, and an "a" does where no noun follows it ("an A in")."""
    token = tokens[place]
    if token.is_mark or token.text not in ARTICLES:
        return not token.is_mark
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    return token.text == "a" and (following is None or following.text in _AFTER_NAMES)


_AFTER_NAMES = word_set("in on for at with and or is was . , ? !")


def _names_most(found: Mapping[int, frozenset[int]], table: Table) -> bool:
    """Whether a word stands in so many cells that it says what rows are, rather than which are meant."""
    return len(table.rows) >= 4 and any(len(rows) > 0.6 * len(table.rows) for rows in found.values())


def _may_name(
    tokens: Sequence[Token],
    run: Sequence[int],
    key: Sequence[str],
    *,
    whole: bool,
    header: set[str],
    fields: Sequence[Field],
) -> bool:
    """Whether these words may name a cell: numbers alone and words that steer or name a column do not."""
    texts = [tokens[n].text for n in run]
    if len(run) == 1 and texts[0] in ARTICLES:
        return whole
    if all(tokens[n].number is not None or tokens[n].place is not None for n in run) and len(run) == 1:
        return False
    if len(run) == 1 and tokens[run[0]].date is not None:
        return whole
    if all(text in SMALL or text in STEERING for text in texts):
        return whole and len(run) > 1
    if len(run) == 1:
        if any(field.key == tuple(key) for field in fields):
            return False
        return whole or (len(texts[0]) > 2 and key[0] not in header and texts[0] not in _COMMON)
    if not whole and (texts[0] in SMALL or texts[-1] in SMALL):
        return False
    figures = sum(tokens[n].number is not None or tokens[n].place is not None for n in run)
    return whole or figures < len(run) or len(run) > 2


_COMMON = word_set("game games play player team season year time score point points win home away one two")


def _columns(
    tokens: Sequence[Token], fields: Sequence[Field], taken: set[int], *, whole: bool, least: int
) -> Iterable[Named]:
    """Column names: all words of a name next to each other, or with `whole` off any words of it."""
    trail = [n for n, token in enumerate(tokens) if not token.is_mark and token.text not in ARTICLES]
    lengths = range(max((len(field.key) for field in fields), default=0), least - 1, -1)
    for length in lengths if whole else range(4, 0, -1):
        for at in range(len(trail) - length + 1):
            run = trail[at : at + length]
            key = tuple(tokens[n].form for n in run)
            if taken.intersection(run) or (not whole and tokens[run[0]].text in SMALL):
                continue
            fitting = tuple(
                field for field in fields if _fits(key, field, whole=whole, text=tokens[run[0]].text)
            )
            if fitting:
                taken.update(range(run[0], run[-1] + 1))
                yield Named(run[0], run[-1] + 1, fitting, whole)


def _told_apart(tokens: Sequence[Token], columns: list[Named], taken: set[int]) -> list[Named]:
    """The columns, with a number apart that only some names have: "the population of arden in 2011"."""
    for place, token in enumerate(tokens):
        if token.number is None or place in taken:
            continue
        for at, named in enumerate(columns):
            fitting = tuple(field for field in named.fields if token.form in field.key)
            if fitting and len(named.fields) > 1:
                taken.add(place)
                columns[at] = replace(named, fields=fitting)
                columns.append(Named(place, place + 1, fitting, named.whole))
                break
    return columns


def _fits(key: tuple[str, ...], field: Field, *, whole: bool, text: str) -> bool:
    if whole:
        return key == field.key
    if len(key) == 1 and (text in STEERING or len(text) < 3 or text.isdecimal()):
        return False
    return any(field.key[start : start + len(key)] == key for start in range(len(field.key)))
