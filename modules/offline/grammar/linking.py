"""Links spans of a question to the table: which words name a column, which name a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chameleon.modules.offline.grammar.called import TABLES_KEPT, cell_names, clock
from chameleon.modules.offline.grammar.lexicon import FILLERS, IDEAS, MONTHS, SMALL_WORDS, STEERING
from chameleon.modules.offline.grammar.words import Word, agents, content, stem, stems, tokenize
from chameleon.table import Table


@dataclass(frozen=True)
class CellMention:
    """Words that name cells: the rows that hold them, by column; `places` are positions of the words."""

    text: str
    places: tuple[int, ...]
    rows_of: tuple[tuple[int, tuple[int, ...]], ...]
    exact: bool = True

    @property
    def column(self) -> int:
        return self.rows_of[0][0]

    @property
    def rows(self) -> tuple[int, ...]:
        return self.rows_of[0][1]


@dataclass(frozen=True)
class ColumnMention:
    """Words that name a column, or one of several that they fit equally well.

    `exact` is set where all of the name is there, `hinted` where words only point to it ("oldest").
    """

    columns: tuple[int, ...]
    places: tuple[int, ...]
    exact: bool = False
    hinted: bool = False


def find_cells(table: Table, words: Sequence[Word], places: Iterable[int]) -> tuple[CellMention, ...]:
    """The cells that these words name, longest names first, no word used twice.

    A name is found by its stems in order, small words aside; part of a name will do when the part
    belongs to that name alone and is written as there, with or without a capital.
    """
    taken: set[int] = set()
    found: list[CellMention] = []
    trail = [i for i in places if words[i].kind != "mark" and not _is_small(words[i])]
    names = cell_names(table)
    asked = {_key_at(words[i]) for i in trail}
    for key in sorted((key for key in names if asked.issuperset(key)), key=lambda key: (-len(key), key)):
        for run in _runs(words, trail, key):
            if not taken.intersection(run):
                taken.update(run)
                found.append(_mention(table, names[key], run, exact=True))
    found += _partial(table, words, [i for i in trail if i not in taken])
    return tuple(sorted(found, key=lambda mention: mention.places))


def _is_small(word: Word) -> bool:
    return word.stem in SMALL_WORDS


def _key_at(word: Word) -> str:
    return clock(word.text) if word.kind == "time" else word.stem


def _runs(words: Sequence[Word], trail: Sequence[int], key: tuple[str, ...]) -> Iterable[tuple[int, ...]]:
    for start in range(len(trail) - len(key) + 1):
        run = tuple(trail[start : start + len(key)])
        if all(_key_at(words[i]) == part for i, part in zip(run, key, strict=True)) and (
            len(key) > 1 or _may_name(words[run[0]])
        ):
            yield run


def _called_total(table: Table, words: Sequence[Word], trail: Sequence[int]) -> Iterable[ColumnMention]:
    """The column called "Total", where the word is not "the total revenue" or "in total"."""
    columns = tuple(c.index for c in table.columns if c.name.strip().lower() == "total")
    others = {word for name in table.header for word in stems(name)}
    for place in trail if len(columns) == 1 else ():
        before = words[place - 1].text.lower() if place else ""
        following = words[place + 1].stem if place + 1 < len(words) else ""
        if words[place].text.lower() == "total" and before != "in" and following not in others | {"number"}:
            yield ColumnMention(columns, (place,), exact=True)


def _may_name(word: Word) -> bool:
    """A single small or steering word names a cell only where it is written like a name."""
    return word.kind != "word" or word.is_name or word.text.lower() not in (FILLERS | STEERING)


def _mention(
    table: Table, cells: Iterable[tuple[int, int]], places: tuple[int, ...], *, exact: bool
) -> CellMention:
    by_column: dict[int, list[int]] = {}
    for column, row in cells:
        by_column.setdefault(column, []).append(row)
    rows_of = tuple((column, tuple(rows)) for column, rows in by_column.items())
    return CellMention(table.rows[rows_of[0][1][0]][rows_of[0][0]], places, rows_of, exact)


@dataclass(frozen=True)
class TextNames:
    """The names in one column of text: rows and spelling by their stems, and in how many a stem occurs."""

    rows: Mapping[tuple[str, ...], list[int]]
    written: Mapping[tuple[str, ...], str]
    owners: Mapping[str, int]


@lru_cache(maxsize=TABLES_KEPT)
def _text_names(table: Table) -> tuple[tuple[int, TextNames], ...]:
    found = []
    for column in table.columns:
        if column.kind != "text":
            continue
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, cell in enumerate(column.cells):
            rows.setdefault(stems(cell), []).append(row)
        written = {key: column.cells[indexes[-1]] for key, indexes in rows.items()}
        owners = Counter(word for key in rows for word in set(key))
        found.append((column.index, TextNames(rows, written, owners)))
    return tuple(found)


def _partial(table: Table, words: Sequence[Word], free: Sequence[int]) -> list[CellMention]:
    found = []
    header = {word for name in table.header for word in stems(name)}
    if any(column.kind == "date" for column in table.columns):
        header |= _MONTH_STEMS
    taken: set[int] = set()
    asked = {words[i].stem for i in free}
    for column, names in _text_names(table):
        fitting = (key for key in names.rows if not asked.isdisjoint(key))
        for key in sorted(fitting, key=lambda key: (-len(key), key)):
            own = {word for word in key if names.owners[word] == 1 and word not in header}
            lower = {stem(word.text) for word in tokenize(names.written[key]) if not word.is_name}
            places = tuple(
                i
                for i in free
                if i not in taken
                and _may_name(words[i])
                and words[i].stem in key
                and (words[i].is_name or words[i].stem in lower)
            )
            hits = {words[i].stem for i in places}
            is_number = len(key) > 1 and all(hit.isdigit() for hit in hits)
            if not hits & own or is_number or len(places) != len(hits) or not _together(words, places):
                continue
            cells = [(column, row) for row in names.rows[key]]
            found.append(_mention(table, cells, places, exact=False))
            taken.update(places)
    return found


_MONTH_STEMS = {stem(month) for month in MONTHS}


def _together(words: Sequence[Word], places: Sequence[int]) -> bool:
    between = range(places[0], places[-1] + 1)
    return all(i in places or _is_small(words[i]) for i in between)


def find_columns(table: Table, words: Sequence[Word], places: Iterable[int]) -> tuple[ColumnMention, ...]:
    """The columns that these words name, whole names first; words that fit several columns name all."""
    trail = [i for i in places if words[i].kind in {"word", "number"} and not _is_small(words[i])]
    taken: set[int] = set()
    found: list[ColumnMention] = []
    names = {column.index: name_stems(column.name) for column in table.columns}
    for index in sorted(names, key=lambda index: -len(names[index])):
        key = names[index]
        for run in _runs(words, trail, key) if key else ():
            if not taken.intersection(run):
                taken.update(run)
                same = tuple(other for other in names if names[other] == key)
                found.append(ColumnMention(same, run, exact=True))
    for mention in _called_total(table, words, [i for i in trail if i not in taken]):
        taken.update(mention.places)
        found.append(mention)
    for group in _neighbours([i for i in trail if i not in taken], words):
        found += _best_fit(table, words, group, names)
    return tuple(sorted(found, key=lambda mention: mention.places))


def name_stems(name: str) -> tuple[str, ...]:
    """The stems of a column's name without "number of" and without a unit in brackets."""
    plain = name.split("(", maxsplit=1)[0]
    key = stems(plain)
    if len(key) > 1 and key[0] in {"number", "amount", "total"}:
        key = key[1:]
    return key or stems(name)


def _neighbours(places: Sequence[int], words: Sequence[Word]) -> list[list[int]]:
    """Runs of places that only small words separate."""
    groups: list[list[int]] = []
    for place in places:
        if groups and all(_is_small(words[i]) for i in range(groups[-1][-1] + 1, place)):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _best_fit(
    table: Table, words: Sequence[Word], group: Sequence[int], names: dict[int, tuple[str, ...]]
) -> list[ColumnMention]:
    named: dict[int, tuple[int, ...]] = {}
    hinted: dict[int, tuple[int, ...]] = {}
    for column in table.columns:
        known = {*names[column.index], *stems(column.name)} - {"number", "amount", "total"} | agents(
            column.name
        )
        pointing = ideas(column.name)
        named[column.index] = tuple(i for i in group if words[i].stem in known)
        hinted[column.index] = tuple(i for i in group if roots(words[i]) & pointing)
    found = _most_words_first(named, hinted=False)
    taken = {place for mention in found for place in mention.places}
    rest = {index: tuple(i for i in places if i not in taken) for index, places in hinted.items()}
    return found + _most_words_first(rest, hinted=True)


def _most_words_first(hits: dict[int, tuple[int, ...]], *, hinted: bool) -> list[ColumnMention]:
    """Gives every word to the columns that most words fit."""
    left = {index: places for index, places in hits.items() if places}
    found: list[ColumnMention] = []
    while left:
        most = max(len(places) for places in left.values())
        places = next(places for places in left.values() if len(places) == most)
        found.append(ColumnMention(tuple(i for i in left if left[i] == places), places, hinted=hinted))
        rest = {index: tuple(i for i in own if i not in places) for index, own in left.items()}
        left = {index: own for index, own in rest.items() if own}
    return found


def roots(word: Word) -> frozenset[str]:
    """The stem, and that of the adjective in "older", "cheapest" or "heavier"."""
    plain = word.text.lower()
    found = {word.stem}
    for ending in ("er", "est"):
        if plain.endswith(ending) and len(plain) > len(ending) + 2:
            base = plain.removesuffix(ending)
            doubled = base[:-1] if len(base) > 2 and base[-1] == base[-2] else base
            found |= {stem(base), stem(base + "e"), stem(doubled), stem(base.removesuffix("i") + "y")}
    return frozenset(found)


def ideas(name: str) -> frozenset[str]:
    """The stems that point to a column of this name without being in it: "old" to "Age"."""
    own = set(content(tokenize(name)))
    return frozenset(word for named, pointing in _IDEAS if named & own for word in pointing)


_IDEAS = tuple(
    (frozenset(stem(word) for word in named), frozenset(stem(word) for word in pointing))
    for named, pointing in IDEAS
)
