"""Yes or no: whether a number is within a bound, for one row, for any or for all."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import yes_or_no
from chameleon.modules.offline.grammar.counts import each_row, is_row_noun, matching_code, neutral_places
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.quantities import is_added
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.table import Column

_OPENINGS = word_set("did do does is are was were has have")


def read_verdict(problem: Problem) -> Draft | None:
    """ "Did the Lions score more than 50 goals?", "Are there any teams with fewer than 5 wins?"."""
    frame = Frame(problem)
    if next(iter(frame.texts.values()), "") not in _OPENINGS or len(frame.bounds) != 1 or frame.has("or"):
        return None
    bound = frame.bounds[0]
    column = frame.column_of(bound)
    base = frame.select(bounds=False)
    read = base.places | frozenset(bound.places)
    read |= frozenset(
        place for mention in frame.columns for place in mention.places if column.index in mention.columns
    )
    used = base.columns | {column.index}
    every, some = frame.places_of("all", "every", "each"), frame.places_of("any", "there")
    if every or some:
        read |= every | some | frozenset(p for m in frame.text_mentions() for p in m.places)
        code, reading = _over_rows(frame, base, column, all_of=bool(every))
        return Draft(code, reading, read, used)
    if not frame.cells:
        return None
    numbers = base.require_rows().numbers((column.index,))
    if len(numbers) > 1 and not is_added(column):
        raise Declined(f"several rows fit{base.said}, and {column.name} does not add up")
    yes, no = yes_or_no(problem)
    lines, name = base.numbers_code((column.index,), "numbers")
    lines += [f"number = sum({name})", f"ans = {yes!r} if {bound.code('number')} else {no!r}"]
    return Draft(assemble(lines), f"Whether {column.name} is {bound.say()}{base.said}", read, used)


def read_existence(problem: Problem) -> Draft | None:
    """ "Is there a train from Leeds to York?": whether any row fits names and dates."""
    frame = Frame(problem)
    opening = next(
        (p for words in _THERE if (p := frame.phrase(*words)) and min(p) == problem.asked[0]), None
    )
    if opening is None or frame.bounds or frame.has("or") or frame.has("more"):
        return None
    nouns = [i for i in frame.texts if is_row_noun(frame, i)]
    selection = frame.select()
    if len(nouns) != 1 or not selection.places:
        return None
    yes, no = yes_or_no(problem)
    lines, names = matching_code(selection, each_row(frame))
    lines.append(f"ans = {yes!r} if {names} else {no!r}")
    read = opening | frozenset(nouns) | selection.places | neutral_places(frame) | frame.places_of("any")
    return Draft(assemble(lines), f"Whether there is a row{selection.said}", read, selection.columns)


_THERE = tuple((be, "there") for be in ("is", "are", "was", "were"))


def _over_rows(frame: Frame, base: Selection, column: Column, *, all_of: bool) -> tuple[str, str]:
    """The program and the reading of "is there any ..." or "does every ..."."""
    bound = frame.bounds[0]
    yes, no = yes_or_no(frame.problem)
    lines, name = base.require_rows().numbers_code((column.index,), "numbers")
    test = f"{'all' if all_of else 'any'}({bound.code('number')} for number in {name})"
    lines.append(f"ans = {yes!r} if {test} else {no!r}")
    reading = f"Whether {column.name} is {bound.say()} in {'every' if all_of else 'any'} row{base.said}"
    return assemble(lines), reading
