"""Places in an order: who came third, what is most common, the best three, how far behind."""

from __future__ import annotations

from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.counts import is_row_noun, neutral_places
from chameleon.modules.offline.grammar.deeds import key_column
from chameleon.modules.offline.grammar.extremes import best
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.groups import Scores, count_rows, score_groups
from chameleon.modules.offline.grammar.lexicon import NUMBER_WORDS, ORDINALS, word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish
from chameleon.modules.offline.grammar.quantities import is_added, measured
from chameleon.modules.offline.grammar.rows import renamed, row_code
from chameleon.modules.offline.grammar.shapes import is_money, labels
from chameleon.modules.offline.grammar.superlatives import Superlative, find_superlative
from chameleon.modules.offline.grammar.targets import asked_column
from chameleon.modules.offline.grammar.words import stem_set, stems
from chameleon.table import Column

_OFTEN = word_set("common frequent often frequently commonly")
_RANKS = stem_set("position rank place pos placing standing")
_FINISHING = word_set("finished finish finishes came come comes placed ranked ranks is was")


def read_most_common(problem: Problem) -> Draft | None:
    """ "What is the most common colour?", "Which item was ordered most often?"."""
    frame = Frame(problem)
    found = find_superlative(frame)
    if found is None or found.word not in {"most", "least"} or found.rank > 1:
        return None
    following = max(found.places) + 1
    if frame.texts.get(following) not in _OFTEN or frame.has("than"):
        return None
    names = {column.index: column for column in labels(frame.table) if column.kind != "date"}
    mentions = [m for m in frame.text_mentions() if not m.hinted and set(m.columns) & set(names)]
    if len(mentions) != 1 or len(mentions[0].columns) != 1:
        return None
    column = names[mentions[0].columns[0]]
    if len(set(column.cells)) == len(column.cells):
        raise Declined(f"no {column.name} stands there more than once")
    selection = frame.select().require_rows()
    read = frozenset({following, *mentions[0].places}) | neutral_places(frame) | frame.phrase("means", "of")
    return best(frame, found, selection, count_rows(selection, column), read)


def read_placed(problem: Problem) -> Draft | None:
    """ "Who finished third?", "Which team is in second place?": the name in a row of a given rank."""
    frame = Frame(problem)
    ranks = [c for c in frame.table.columns if c.kind == "number" and set(stems(c.name)) & _RANKS]
    places = frame.places_of(*ORDINALS)
    if len(ranks) != 1 or len(places) != 1 or find_superlative(frame) is not None or frame.cells:
        return None
    opening = frame.problem.words[frame.problem.asked[0]].text.lower()
    said = frame.places_of(*_FINISHING) | frame.places_of("place", "position")
    if opening not in {"who", "which"} or not said or frame.bounds or frame.dates:
        return None
    key = _names(frame)
    rank = ORDINALS[frame.texts[min(places)]]
    rows = [i for i, value in enumerate(ranks[0].values) if value.number == rank]
    if key is None or len(rows) != 1:
        raise Declined(f"no row, or more than one, has {ranks[0].name} {rank}")
    target = asked_column(frame)
    column = target.column if target and target.column != ranks[0] else key
    answer = choice_for(problem, column.cells[rows[0]].strip())
    read = places | said | (target.places if target else frozenset({frame.problem.asked[0]}))
    reading = f"{column.name} where {ranks[0].name} is {rank}"
    lines, cell = row_code(frame.table, rows[0], (ranks[0].index, key.index), column)
    lines += [f"ans = {cell}", *renamed(column.cells[rows[0]].strip(), answer)]
    return Draft(assemble(lines), reading, read, frozenset({column.index, ranks[0].index}))


def _names(frame: Frame) -> Column | None:
    return next(
        (c for c in labels(frame.table) if c.kind == "text" and len(set(c.cells)) == len(c.cells)), None
    )


def read_top(problem: Problem) -> Draft | None:
    """ "Which three teams have the most points?", "How many points do the top three teams have together?"."""
    frame = Frame(problem)
    asked = _how_many(frame)
    if asked is None or frame.has("than") or frame.bounds:
        return None
    found, count, cues = asked
    target = asked_column(frame)
    if target is None:
        noun = max(cues & set(frame.texts)) + 1
        key = key_column(frame.table)
        own = [m for m in frame.text_mentions() if noun in m.places and len(m.columns) == 1]
        if own:
            column, places = frame.table.columns[own[0].columns[0]], frozenset(own[0].places)
        elif key is not None and noun in frame.texts and is_row_noun(frame, noun):
            column, places = key, frozenset({noun})
        else:
            return None
    else:
        column, places = target.column, target.places
    selection = frame.select().require_rows()
    columns, named = measured(frame)
    if len(columns) != 1 or not named:
        return None
    frame.require_sense(frame.table.columns[columns[0]])
    scores = score_groups(frame, found, selection, column, columns)
    chosen = _first(scores, found, count)
    sums = frame.places_of("together", "total", "combined", "altogether", "sum")
    lists = frame.texts[frame.problem.asked[0]] in {"which", "what", "who", "name", "list"} and not sums
    whole = are_whole(scores.values.values())
    if sums and is_added(frame.table.columns[columns[0]]):
        money = any(map(is_money, frame.table.columns[columns[0]].values))
        lines = [*scores.code, f"numbers = sorted(scores.values(), reverse={found.is_high})[:{count}]"]
        lines += finish("sum(numbers)", whole=whole, money=money)
    elif lists and not frame.problem.choices:
        ranked = f"names = sorted(scores, key=scores.get, reverse={found.is_high})[:{count}]"
        lines = [*scores.code, ranked, 'ans = ", ".join(names)']
    else:
        return None
    reading = f"{'Sum of ' if sums else ''}the {count} {found.said} {scores.said}: {', '.join(chosen)}"
    read = cues | places | named | selection.places | sums | scores.read | frame.phrase("by")
    return Draft(assemble(lines), reading, read, scores.columns | selection.columns)


def _how_many(frame: Frame) -> tuple[Superlative, int, frozenset[int]] | None:
    """Which end, how many, and the words: "top three", "which two teams have the most"."""
    numbers = {i: n for i, text in frame.texts.items() if (n := _count(frame, i, text)) is not None}
    if len(numbers) != 1:
        return None
    place, count = next(iter(numbers.items()))
    before = frame.texts.get(place - 1, "")
    if before in {"top", "bottom"}:
        return (
            Superlative(before == "top", frozenset({place - 1, place}), "most"),
            count,
            frozenset({place - 1, place}),
        )
    found = find_superlative(frame)
    if found is None or found.rank > 1 or before not in {"which", "what", "the"}:
        return None
    return found, count, found.places | {place}


def _count(frame: Frame, place: int, text: str) -> int | None:
    number = NUMBER_WORDS.get(text) or (frame.problem.words[place].number if text.isdigit() else None)
    return int(number) if number is not None and 2 <= number <= 20 else None


def _first(scores: Scores, found: Superlative, count: int) -> list[str]:
    """The names with the best scores; raises `Declined` where equal scores make the last ones unclear."""
    names = sorted(scores.values, key=lambda name: scores.values[name], reverse=found.is_high)
    if len(names) < count:
        raise Declined(f"there are only {len(names)} of them")
    if len(names) > count and _same(scores, names[count - 1], names[count]):
        raise Declined(f"{names[count - 1]} and {names[count]} are equal, so the {count} are not clear")
    return names[:count]


def _same(scores: Scores, one: str, other: str) -> bool:
    return Fraction(scores.values[one]) == Fraction(scores.values[other])
