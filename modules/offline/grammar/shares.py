"""Parts of a whole: fractions, percentages and ratios."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.counts import each_row, is_row_noun, matching_code, neutral_places
from chameleon.modules.offline.grammar.deeds import key_column
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import SMALL_WORDS, word_set
from chameleon.modules.offline.grammar.poles import find_poles
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, percentage, share
from chameleon.modules.offline.grammar.quantities import is_added, measured
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.units import GROUPS

_PERCENT = frozenset({"percent", "percentage", "proportion", "share"})
_FRACTION = frozenset({"fraction"})
_VERBS = word_set(
    "is are was were did do does have has had use uses used take takes took come comes came get got"
)


def read_share(problem: Problem) -> Draft | None:
    """ "What fraction of the points did Ann score?", "What percentage of sales came from the North?"."""
    frame = Frame(problem)
    cues = frame.places_of(*(_PERCENT | _FRACTION))
    if len(cues) != 1 or frame.has("than"):
        return None
    part = frame.select()
    if not part.conditions or frame.bounds:
        return None
    columns, named = measured(frame)
    of_what = _of_what(frame, max(cues), part)
    if of_what is None and not _says_of_what(frame, max(cues), columns):
        return None
    if not all(is_added(frame.table.columns[i]) for i in columns):
        raise Declined("those numbers do not add up to a whole")
    if not _is_whole_table(frame, columns):
        raise Declined("the question does not say what the whole is")
    whole = part.without_named()
    part.require_rows()
    if not sum(whole.numbers(columns)):
        raise Declined("the whole is zero")
    lines, part_name = part.numbers_code(columns, "part")
    more, whole_name = whole.numbers_code(columns, "whole")
    lines += more
    is_percent = bool(cues & frame.places_of(*_PERCENT))
    if is_percent:
        lines += percentage(f"sum({part_name})", f"sum({whole_name})")
    else:
        lines += share(f"sum({part_name})", f"sum({whole_name})")
    names = " and ".join(frame.table.header[i] for i in columns)
    kind = "Percentage" if is_percent else "Fraction"
    total = frame.places_of("total", "all", "overall")
    reading = f"{kind} of all {names}{part.said}"
    return Draft(
        assemble(lines),
        reading,
        cues | named | part.places | total | (of_what or frozenset()),
        frozenset(columns) | part.columns,
    )


def read_share_of_rows(problem: Problem) -> Draft | None:
    """ "What share of the sales were online?", "What percentage of students from 7B passed?"."""
    frame = Frame(problem)
    cues = frame.places_of(*(_PERCENT | _FRACTION))
    if len(cues) != 1 or frame.has("than", "half") or frame.texts.get(max(cues) + 1) != "of":
        return None
    noun = _rows_after(frame, max(cues))
    if noun is None:
        return None
    part = frame.select_with_numbers()
    told = [condition for condition in part.conditions if condition.places]
    inside = [condition for condition in told if max(condition.places) < _verb_after(frame, noun)]
    if not told or len(inside) == len(told) or _names_one_row(frame, part):
        return None
    whole = Selection(frame.table, (*inside, *(c for c in part.conditions if not c.places)))
    if not whole.rows:
        raise Declined("the whole is empty")
    is_percent = bool(cues & frame.places_of(*_PERCENT))
    lines, counted = matching_code(part, each_row(frame), "part")
    more, of = matching_code(whole, each_row(frame), "whole")
    lines += more
    lines += (
        percentage(f"len({counted})", f"len({of})") if is_percent else share(f"len({counted})", f"len({of})")
    )
    reading = f"{'Percentage' if is_percent else 'Fraction'} of rows{whole.said}:{part.said}"
    named = {p for m in frame.numeric_mentions() if set(m.columns) & part.columns for p in m.places}
    read = cues | {noun} | part.places | named | neutral_places(frame) | frame.places_of("all")
    return Draft(assemble(lines), reading, read, part.columns)


def _names_one_row(frame: Frame, part: Selection) -> bool:
    """Whether the part is a row by its name: "what fraction of pets were cats", over numbers of each."""
    key = key_column(frame.table)
    return key is not None and any(c.column == key.index and c.places for c in part.conditions)


def _rows_after(frame: Frame, cue: int) -> int | None:
    """The noun for rows after "percentage of", names between them aside."""
    cells = {place for mention in frame.cells for place in mention.places}
    place = cue + 2
    while place in cells or frame.texts.get(place) in {"the", "all", "our"}:
        place += 1
    return place if place in frame.texts and is_row_noun(frame, place) else None


def _verb_after(frame: Frame, noun: int) -> int:
    """The first verb after the noun for rows: what comes before it belongs to the whole."""
    neutral = neutral_places(frame)
    verbs = [i for i in frame.texts if i > noun and (frame.texts[i] in _VERBS or i in neutral)]
    return min(verbs, default=noun + 1)


def _says_of_what(frame: Frame, cue: int, columns: tuple[int, ...]) -> bool:
    """Whether the words after "percentage of" name the quantity that is divided, not another whole."""
    if frame.texts.get(cue + 1) != "of":
        return False
    place = next(
        (i for i in range(cue + 1, cue + 5) if frame.texts.get(i) not in {"of", "the", "all", "total"}), cue
    )
    named = [m for m in frame.numeric_mentions() if place in m.places or place + 1 in m.places]
    return any(set(mention.columns) & set(columns) for mention in named)


def _of_what(frame: Frame, cue: int, part: Selection) -> frozenset[int] | None:
    """The "done by" of "what fraction of the driving was done by Ann", where all the numbers are of driving.

    None where the table has other columns than names and their numbers, or a group such as "girls" is
    the whole.
    """
    key = key_column(frame.table)
    if len(frame.table.header) != 2 or key is None or frame.texts.get(cue + 1) != "of" or not frame.cells:
        return None
    start = min(place for mention in frame.cells for place in mention.places)
    stemmed = {frame.problem.words[place].stem for place in range(cue + 2, start)}
    if not stemmed - SMALL_WORDS or part.columns != {key.index} or stemmed & GROUPS:
        return None
    return next((frozenset({i}) for i in frame.phrase("done", "by") if i < start), frozenset())


def _is_whole_table(frame: Frame, columns: tuple[int, ...]) -> bool:
    """Whether the named cells stand in one column, so that the rest of it is the whole."""
    named = {frame.column_of_cell(mention) for mention in frame.cells} | {c.column for c in frame.dates}
    return len(named) == 1 and len(columns) >= 1


def read_ratio(problem: Problem) -> Draft | None:
    """ "What is the ratio of boys to girls?", answered as "3/4"."""
    frame = Frame(problem)
    cues = frame.places_of("ratio")
    if len(cues) != 1:
        return None
    poles = find_poles(frame, frame.places_of("to"))
    if poles is None:
        return None
    lines, first = poles.first.selection.numbers_code(poles.first.columns, "first")
    more, second = poles.second.selection.numbers_code(poles.second.columns, "second")
    if not sum(poles.second.selection.numbers(poles.second.columns)):
        raise Declined("the ratio would divide by zero")
    lines += [*more, *share(f"sum({first})", f"sum({second})")]
    reading = f"Ratio of {poles.first.name} to {poles.second.name}"
    used = frozenset(poles.measured) | poles.first.selection.columns | poles.second.selection.columns
    return Draft(assemble(lines), reading, poles.read | cues | frame.places_of("to"), used)
