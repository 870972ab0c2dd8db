"""What stands in the row at the top: "the salary of the oldest employee", "who was hired first"."""

from __future__ import annotations

from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.counts import neutral_places
from chameleon.modules.offline.grammar.deeds import key_column, row_nouns
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import FILLERS, ORDINALS, word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, finish
from chameleon.modules.offline.grammar.rows import is_code, renamed, top_rows_code
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.shapes import is_money, is_year
from chameleon.modules.offline.grammar.superlatives import directed, find_superlative
from chameleon.modules.offline.grammar.targets import Target, asked_column
from chameleon.modules.offline.grammar.words import tokenize
from chameleon.table import Column, Value

_EARLY = word_set("first earliest oldest")
_LATE = word_set("last latest newest")
_ORIGINS = word_set(
    "year born birth birthday birthdate built made created founded established opened published released"
)


@dataclass(frozen=True)
class Summit:
    """The rows at one end of a column, and the words and columns that say so."""

    rows: tuple[int, ...]
    column: int
    places: frozenset[int]
    start: int
    said: str
    is_high: bool
    rank: int = 1


def read_summit(problem: Problem) -> Draft | None:
    """ "What is the salary of the oldest employee?": another column of the row with the extreme number."""
    frame = Frame(problem)
    if frame.has("than") or frame.has("how", "many", "more") or frame.places_of(*_SUMS):
        return None
    selection = frame.select().require_rows()
    summit = _by_number(frame, selection)
    if summit is None:
        return None
    before = [m for m in frame.columns if m.places[-1] < summit.start and summit.column not in m.columns]
    numeric = {column.index for column in frame.measures}
    key = key_column(frame.table)
    asked = [m for m in before if not m.hinted or set(m.columns) & numeric]
    if len(asked) > 1 and key is not None:
        asked = [mention for mention in asked if key.index not in mention.columns]
    named = asked_column(frame)
    if asked and named is not None and frame.has("which") and named.column.index not in asked[0].columns:
        return None  # "which team scored the fewest goals" asks for a team, whatever "scored" may mean
    target = None if asked else named
    if target is not None:
        column, places = target.column, target.places
    elif len(asked) == 1 and len(asked[0].columns) == 1:
        column, places = frame.table.columns[asked[0].columns[0]], frozenset(asked[0].places)
    else:
        return None
    if target is not None and (key is None or column == key or not _names_row(frame, summit)):
        return None
    if target is None and column.kind == "text" and not _names_row(frame, summit):
        return None
    if column.index == summit.column or not _speaks_of_rows(frame, summit, column):
        return None
    return _draft(frame, selection, summit, column, places)


_SUMS = word_set("total average mean median sum together combined altogether")


def _by_number(frame: Frame, selection: Selection) -> Summit | None:
    found = find_superlative(frame)
    if found is None or found.absolute:
        return None
    start = min(found.places)
    after = [mention for mention in frame.numeric_mentions() if mention.places[0] >= start]
    outright = [m for m in after if not m.hinted] or after
    options = set.intersection(*(set(m.columns) for m in outright)) if outright else set[int]()
    options &= {column.index for column in frame.measures}
    if len(options) != 1:
        return None
    column = frame.table.columns[options.pop()]
    frame.require_sense(column)
    found = directed(frame, found, (column.index,))
    selection.numbers((column.index,))  # different units are not compared
    numbers = {row: column.values[row].number for row in selection.rows}
    ranked = sorted({n for n in numbers.values() if n is not None}, reverse=found.is_high)
    if len(ranked) < found.rank:
        raise Declined(f"there are not {found.rank} different values of {column.name}")
    rows = tuple(row for row, number in numbers.items() if number == ranked[found.rank - 1])
    places = found.places | {place for mention in after for place in mention.places}
    said = f"{found.said} {column.name}"
    return Summit(rows, column.index, places, start, said, found.is_high, found.rank)


def _names_row(frame: Frame, summit: Summit) -> bool:
    """Whether a noun for rows stands in the superlative: "the longest book"."""
    known = row_nouns(frame.table)
    return any(text in known for place, text in frame.texts.items() if place >= summit.start - 3)


def _speaks_of_rows(frame: Frame, summit: Summit, column: Column) -> bool:
    """Whether the noun after the superlative means single rows: none, their name, or the key's name."""
    key = key_column(frame.table)
    if key is None:
        return False
    known = row_nouns(frame.table)
    for mention in frame.text_mentions():
        own = {key.index, summit.column}
        if mention.places[0] >= summit.start - 2 and not set(mention.columns) & own:
            return all(frame.texts[place] in known for place in mention.places)
    return True


def _draft(
    frame: Frame, selection: Selection, summit: Summit, column: Column, places: frozenset[int]
) -> Draft:
    cells = list(dict.fromkeys(column.cells[row].strip() for row in summit.rows))
    if len(cells) > 1 and column.kind != "text":
        raise Declined(f"{len(summit.rows)} rows share the {summit.said}{selection.said}")
    value = column.values[summit.rows[0]]
    if not all(cells):
        raise Declined(f"{column.name} is empty there")
    by = frame.table.columns[summit.column]
    lines = top_rows_code(selection, column, by, is_high=summit.is_high, rank=summit.rank)
    if column.kind == "number" and value.number is not None and not is_code(column):
        money = any(map(is_money, column.values))
        whole = value.number.denominator == 1
        lines += finish("found[0]" if whole else "Fraction(str(found[0]))", whole=whole, money=money)
    else:
        lines.append('ans = ", ".join(map(str, found))')
        lines += renamed(cells[0], choice_for(frame.problem, cells[0])) if len(cells) == 1 else []
    reading = f"{column.name} of the row with the {summit.said}{selection.said}"
    read = places | summit.places | selection.places | neutral_places(frame)
    used = frozenset({column.index, summit.column}) | selection.columns
    return Draft(assemble(lines), reading, read, used)


def read_dated(problem: Problem) -> Draft | None:
    """ "Who was hired first?", "When was the last order?", "Which book is the newest?"."""
    frame = Frame(problem)
    recent = frame.phrase("most", "recent") or frame.phrase("most", "recently")
    cues = [max(recent)] if recent else [i for i, text in frame.texts.items() if text in _EARLY | _LATE]
    column = _time_line(frame)
    if len(cues) != 1 or column is None or frame.texts.get(cues[0] - 1) in ORDINALS:
        return None
    if frame.texts[cues[0]] == "oldest" and not _ORIGINS & {w.text.lower() for w in tokenize(column.name)}:
        return None  # who was hired first need not be the oldest
    hinting = [m for m in frame.columns if cues[0] in m.places and column.index not in m.columns]
    following = frame.problem.words[cues[0] + 1] if cues[0] + 1 < len(frame.problem.words) else None
    if (
        hinting
        or any(column.index not in m.columns for m in frame.numeric_mentions())
        or (following is not None and following.number is not None)
    ):
        return None
    if frame.texts.get(cues[0] + 1, "") in _SPANS or frame.bounds:
        return None
    selection = frame.select().require_rows()
    moments = {row: _moment(column.values[row]) for row in selection.rows}
    filled = {row: moment for row, moment in moments.items() if moment is not None}
    if not filled:
        raise Declined(f"{column.name} is empty there")
    pick = min if frame.texts[cues[0]] in _EARLY else max
    end = pick(filled.values())
    rows = tuple(row for row, moment in filled.items() if moment == end)
    said = f"{'earliest' if pick is min else 'latest'} {column.name}"
    places = (
        recent
        | frozenset(cues)
        | {p for m in frame.text_mentions() if column.index in m.columns for p in m.places}
    )
    summit = Summit(rows, column.index, places, cues[0], said, is_high=pick is max)
    target = asked_column(frame) or _named_rows(frame, cues[0] + 1)
    if target is None or (key_column(frame.table) is None and target.column != column):
        return None
    if target.column == column and _asks_which_row(frame, target):
        return None
    if target.column != column and not _speaks_of_rows(frame, summit, target.column):
        return None
    return _draft(frame, selection, summit, target.column, target.places)


def _asks_which_row(frame: Frame, target: Target) -> bool:
    """Whether "which" asks for something else than the moment: "which member joined first"."""
    nouns = {place + 1 for place in frame.places_of("which")} - target.places
    return any(frame.texts.get(place, "").isalpha() and frame.texts[place] not in FILLERS for place in nouns)


def _named_rows(frame: Frame, place: int) -> Target | None:
    """The key, where its rows are named right after "newest": "the newest film"."""
    key = key_column(frame.table)
    asks = frame.has("what", "is") or frame.has("what", "was")
    if key is None or not asks or frame.texts.get(place) not in row_nouns(frame.table):
        return None
    return Target(key, frozenset({place})) if not frame.has("of", "the") else None


_SPANS = word_set("day days week weeks month months year years quarter quarters half")


def _time_line(frame: Frame) -> Column | None:
    """The only column of dates, else the only one of years."""
    dates = [column for column in frame.table.columns if column.kind == "date"]
    years = [column for column in frame.table.columns if column.kind == "number" and is_year(column)]
    found = dates or years
    if len(found) > 1:
        named = {i for mention in frame.columns for i in mention.columns}
        found = [column for column in found if column.index in named]
    return found[0] if len(found) == 1 else None


def _moment(value: Value) -> int | None:
    if value.date is not None:
        return value.date.toordinal()
    return int(value.number) if value.number is not None else None
