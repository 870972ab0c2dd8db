"""The largest and the smallest: which row, group or column has it, and how much it is."""

from __future__ import annotations

from collections.abc import Iterable

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.counts import neutral_places
from chameleon.modules.offline.grammar.deeds import implied_by, key_column, row_nouns
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.groups import Scores, count_rows, score_columns, score_groups
from chameleon.modules.offline.grammar.linking import ColumnMention
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish
from chameleon.modules.offline.grammar.quantities import is_added, measured
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.shapes import is_money
from chameleon.modules.offline.grammar.superlatives import Superlative, directed, find_superlative
from chameleon.modules.offline.grammar.targets import Target, asked_column, asked_period


def read_extreme(problem: Problem) -> Draft | None:
    """ "Which shop sold the most apples?", "What is the second highest price?"."""
    frame = Frame(problem)
    found = find_superlative(frame)
    if found is None or frame.has("than") or frame.has("how", "many", "more"):
        return None
    selection = frame.select().require_rows()
    if (period := asked_period(frame)) is not None:
        columns = tuple(column.index for column in frame.spread)
        return best(frame, found, selection, score_columns(selection, columns), period)
    target = _described(frame, found) or asked_column(frame)
    if target is not None and _is_given(selection, target):
        target = None
    if target is not None and (counted := _counted(frame, found, target)):
        counted |= target.places | neutral_places(frame)
        return best(frame, found, selection, count_rows(selection, target.column), counted)
    columns, named = measured(frame)
    frame.require_sense(frame.table.columns[columns[0]])
    if target is not None and _names_another(frame, found, target):
        return None
    found = directed(frame, found, columns)
    read = named | frame.phrase("number", "of")
    if target is None:
        return _value(frame, found, selection, columns, read) if _asks_value(frame) else None
    _require_own(frame, target)
    scores = score_groups(frame, found, selection, target.column, columns)
    return best(frame, found, selection, scores, read | target.places)


def _described(frame: Frame, found: Superlative) -> Target | None:
    """The column of names right after the superlative: "what is the biggest country", not "price"."""
    if not _asks_value(frame) or "how" in frame.texts.values():
        return None
    after = range(max(found.places) + 1, max(found.places) + 4)
    key = key_column(frame.table)
    rows = [i for i in after if frame.texts.get(i) in row_nouns(frame.table)]
    if rows and key is not None and not frame.has("of", "the"):
        return Target(key, frozenset(rows[:1]))
    kinds = {place for mention in frame.cells for place in mention.places}
    if key is not None and not rows:
        described = next((i for i in after if i in kinds or i not in frame.texts), None)
        if described in kinds and _only_hints(frame, range(max(found.places), described or 0)):
            return Target(key, frozenset())
    if any(not m.hinted and m.places[0] < min(found.places) for m in frame.numeric_mentions()):
        return None
    for mention in frame.text_mentions():
        if mention.places[0] in after and len(mention.columns) == 1:
            return Target(frame.table.columns[mention.columns[0]], frozenset(mention.places))
    return None


def _is_given(selection: Selection, target: Target) -> bool:
    """Whether the question names the one cell that could be the answer: "the highest amount paid by Ann"."""
    cells = {target.column.cells[row] for row in selection.rows}
    return target.column.index in selection.columns and len(cells) == 1


def _only_hints(frame: Frame, places: Iterable[int]) -> bool:
    """Whether the words there only point to a quantity: "expensive" in "the most expensive flat"."""
    hinting = {i for mention in frame.columns if mention.hinted for i in mention.places}
    return all(i in hinting or frame.texts.get(i) in {"most", "least"} for i in places)


def _require_own(frame: Frame, target: Target) -> None:
    """Raises `Declined` for "who is the oldest" where ages are of pets and the names of their owners."""
    keys = [c for c in frame.table.columns if c.kind == "text" and len(set(c.cells)) == len(c.cells)]
    is_own = len(set(target.column.cells)) == len(target.column.cells)
    is_said_of = any(frame.has(be, "the") for be in ("is", "was", "are", "were"))
    if keys and not is_own and is_said_of and not frame.has("what"):
        raise Declined(f"the rows are about {keys[0].name}, not about {target.column.name}")


def _names_another(frame: Frame, found: Superlative, target: Target) -> bool:
    """Whether the superlative is about a name itself: "which country has the longest name"."""
    place = max(found.places) + 1
    beside = [mention for mention in frame.text_mentions() if mention.places[0] == place]
    beside = [mention for mention in beside if target.column.index not in mention.columns]
    return bool(beside) and not set(beside[0].places) <= target.places


def _counted(frame: Frame, found: Superlative, target: Target) -> frozenset[int]:
    """The words after "most" that name rows to be counted: "which city has the most people"."""
    if found.word not in {"most", "fewest", "least"} or frame.numeric_mentions():
        return frozenset()
    place = max(found.places) + 1
    if place not in frame.texts:
        return frozenset()
    for mention in frame.text_mentions():
        if mention.places[0] == place and target.column.index not in mention.columns:
            return frozenset(mention.places)
    if frame.texts[place] not in row_nouns(frame.table):
        return frozenset()
    if frame.texts[place] == "sales" and len(frame.measures) > 1:
        raise Declined(
            '"the most sales" may mean how many there were, or how much they came to',
            hint="Name a column of numbers, or ask for the most rows.",
        )
    return frozenset({place})


def _asks_value(frame: Frame) -> bool:
    return "what" in list(frame.texts.values())[:8] or "how" in list(frame.texts.values())[:3]


def _value(
    frame: Frame, found: Superlative, selection: Selection, columns: tuple[int, ...], read: frozenset[int]
) -> Draft | None:
    """The extreme number itself: "What is the highest price?"."""
    outright = {
        index for mention in frame.numeric_mentions() if not mention.hinted for index in mention.columns
    }
    outright |= {i for m in frame.numeric_mentions() if _is_asked(frame, found, m) for i in m.columns}
    is_only = len(frame.measures) == 1 and not frame.numeric_mentions()
    if is_only and frame.texts.get(max(found.places) + 1) in row_nouns(frame.table):
        outright = set(columns)
    if len(columns) != 1 or columns[0] not in outright or found.absolute or _has_average(frame):
        return None
    column = frame.table.columns[columns[0]]
    numbers = selection.numbers(columns)
    lines, name = selection.numbers_code(columns)
    pick = f"{'max' if found.is_high else 'min'}({name})"
    if found.rank > 1:
        pick = f"sorted(set({name}), reverse={found.is_high})[{found.rank - 1}]"
    if len(set(numbers)) < found.rank:
        raise Declined(f"there are not {found.rank} different values of {column.name}")
    lines += finish(pick, whole=are_whole(numbers), money=any(map(is_money, column.values)))
    # The lowest price of all is that of the cheapest product, however often products stand there.
    named = [m for m in frame.text_mentions() if m.places[0] - 1 in found.places | read]
    described = named if len(named) == 1 and not is_added(column) else []
    read |= {place for mention in described for place in mention.places}
    reading = f"{found.said.capitalize()} {column.name}{selection.said}"
    used = selection.columns.union(columns, *(mention.columns for mention in described))
    return Draft(assemble(lines), reading, read | found.places | selection.places, used)


def _is_asked(frame: Frame, found: Superlative, mention: ColumnMention) -> bool:
    """Whether a hint asks for the number itself: "how old is the youngest", "the cheapest ticket"."""
    after = frame.problem.words[max(found.places) + 1 :][:1]
    meant = implied_by(frame.table, frozenset(mention.columns))
    if len(mention.columns) == 1 and after and after[0].stem in meant:
        return True
    return frame.has("how", "much", "is") or any(frame.texts.get(i - 1) == "how" for i in mention.places)


def _has_average(frame: Frame) -> bool:
    return bool(frame.places_of("average", "mean", "total"))


_MOST_WINNERS = 20


def best(
    frame: Frame, found: Superlative, selection: Selection, scores: Scores, read: frozenset[int]
) -> Draft:
    """The name with the extreme score; several names, joined by commas, where they are equal."""
    values = {name: abs(value) if found.absolute else value for name, value in scores.values.items()}
    ranked = sorted(set(values.values()), reverse=found.is_high)
    if len(ranked) < found.rank:
        raise Declined(f"there are not {found.rank} different values to rank")
    winners = [name for name, value in values.items() if value == ranked[found.rank - 1]]
    if len(winners) > 1 and frame.problem.choices:
        raise Declined(f"{' and '.join(winners)} are equal, so no single choice is right")
    if len(winners) > _MOST_WINNERS:
        raise Declined(f"{len(winners):,} of the {len(values):,} share the {found.said} {scores.said}")
    lines = [*scores.code, *_ranking(found)]
    answer = winners[0] if len(winners) > 1 else choice_for(frame.problem, winners[0])
    if answer != winners[0]:
        lines.append(f"ans = {{{winners[0]!r}: {answer!r}}}.get(ans, ans)")
    sign = ", signs left aside" if found.absolute else ""
    reading = f"{scores.named} with the {found.said} {scores.said}{selection.said}{sign}"
    read = read | scores.read | found.places | selection.places
    return Draft(assemble(lines), reading, read, scores.columns | selection.columns)


def _ranking(found: Superlative) -> list[str]:
    best = f"{'max' if found.is_high else 'min'}(scores.values())"
    if found.rank > 1:
        best = f"sorted(set(scores.values()), reverse={found.is_high})[{found.rank - 1}]"
    absolute = ["scores = {name: abs(score) for name, score in scores.items()}"] if found.absolute else []
    return [*absolute, f"best = {best}", 'ans = ", ".join(name for name in scores if scores[name] == best)']
