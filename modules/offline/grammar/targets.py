"""What a question wants to hear: which column its "which", "who", "where" or "when" asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import is_flag
from chameleon.modules.offline.grammar.deeds import key_column, row_nouns
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import MONTHS, WEEKDAYS, word_set
from chameleon.modules.offline.grammar.routes import route
from chameleon.modules.offline.grammar.shapes import is_year, labels
from chameleon.modules.offline.grammar.words import agents, stem, stem_set, stems
from chameleon.table import Column


@dataclass(frozen=True)
class Target:
    """The column of the answer, and the words that ask for it."""

    column: Column
    places: frozenset[int]


_PEOPLE = stem_set(
    """
    guest client buyer patron adult citizen contestant family camper
    name person player student employee teacher friend member runner customer child author driver
    worker manager owner artist candidate partner farmer beautician respondent actor swimmer winner
    singer
    """
)
_PLACES = stem_set(
    """
    location place city town country state venue region stadium destination store branch station stop
    """
)
_TIMES = stem_set("day month year date time week season quarter")


def asked_column(frame: Frame, skip: tuple[int, ...] = ()) -> Target | None:
    """The column of names that the question asks for; None where it asks for a number or nothing.

    Raises `Declined` for a "which" whose noun names no column and no kind of row.
    """
    opening = _question_word(frame)
    if opening is None:
        return None
    place, word = opening
    # A column of yes and no describes what is asked for: "which vegetarian dish".
    found = [c for c in labels(frame.table) if c.index not in skip and not is_flag(c)]
    if word in {"who", "whose"} and (acting := _by_deed(frame, found)) is not None:
        return Target(acting.column, acting.places | {place})
    if word in {"who", "whose"}:
        return _by_kind(frame, found, _PEOPLE, place)
    if word == "where" and (side := _end_of_journey(frame, found)) is not None:
        return Target(side, frozenset({place}))
    if word == "where":
        return _by_kind(frame, found, _PLACES, place)
    if word == "when":
        return _by_kind(frame, found, _TIMES, place) or _only_date(found, place)
    return _by_noun(frame, found, place)


def asked_period(frame: Frame) -> frozenset[int] | None:
    """The words that ask for one of the columns: "which month" over columns January, February, March."""
    names = {column.name.strip().lower() for column in frame.spread}
    kinds = {
        "month": all(stem(name) in _MONTH_STEMS for name in names),
        "day": all(stem(name) in _DAY_STEMS for name in names),
        "year": all(name.isdigit() and len(name) == 4 for name in names),
        "quarter": all(name in {"q1", "q2", "q3", "q4"} for name in names),
    }
    for kind, fits in kinds.items():
        asking = frame.phrase("which", kind) or frame.phrase("what", kind)
        if names and fits and asking:
            return asking
    return None


_MONTH_STEMS = frozenset(stem(month) for month in MONTHS)
_DAY_STEMS = frozenset(stem(day) for day in WEEKDAYS)


def is_person_noun(word: str) -> bool:
    """Whether a stem is a common noun for people: students, members, guests."""
    return word in _PEOPLE


def people_named(column: Column, others: Sequence[str] = ()) -> frozenset[str]:
    """The stems of the nouns for those whom a column names: any kind of person for "Name".

    The names of other columns may show that it names no people: pets have a species and an owner.
    """
    own = frozenset(stems(column.name))
    if any(set(stems(name)) & _OF_THINGS for name in others):
        return own
    if own & {"name", "person"}:
        return _PEOPLE
    return own | {"person"} if own & _PEOPLE else frozenset()


_OF_THINGS = stem_set("species breed owner price author genre supplier category capital population elevation")


def _question_word(frame: Frame) -> tuple[int, str] | None:
    for i, text in frame.texts.items():
        if text in {"which", "who", "whose", "where", "when"}:
            return i, text
        if text == "what":
            following = frame.texts.get(i + 1, "")
            return None if following in _BE else (i, text)
        if text == "name":
            return i, text
    return None


_BE = frozenset({"is", "was", "are", "were", "'s", "s"})


def _by_deed(frame: Frame, found: list[Column]) -> Target | None:
    """The column of doers that the verb names: "who owns" asks for Owner, "who supplies" for Supplier."""
    for mention in frame.text_mentions():
        for column in found:
            stemmed = {frame.problem.words[place].stem for place in mention.places}
            said_by = column.name.lower().endswith(" by") and not mention.hinted
            if mention.columns == (column.index,) and said_by:
                return Target(column, frozenset(mention.places))
            if mention.columns == (column.index,) and stemmed & agents(column.name) - set(stems(column.name)):
                return Target(column, frozenset(mention.places))
    return None


def _by_kind(frame: Frame, found: list[Column], kind: frozenset[str], place: int) -> Target | None:
    fitting = [column for column in found if set(stems(column.name)) & kind]
    if len(fitting) == 1:
        return Target(fitting[0], frozenset({place}))
    if kind is _PEOPLE and frame.label in fitting and frame.label is not None:
        return Target(frame.label, frozenset({place}))
    if not fitting and kind is _PEOPLE and len(found) == 1 and found[0].kind == "text":
        return Target(found[0], frozenset({place}))
    return None


def _end_of_journey(frame: Frame, found: list[Column]) -> Column | None:
    """The column of destinations for "where does it go", of origins for "where does it leave from"."""
    sides = route(frame.table)
    leaving = frame.places_of("leave", "depart", "start", "from")
    going = frame.places_of("go", "arrive", "end", "to")
    if sides is None or bool(leaving) == bool(going):
        return None
    return next((c for c in found if c.index == sides[0 if leaving else 1]), None)


def _only_date(found: list[Column], place: int) -> Target | None:
    """The only column of dates, whatever it is called: "Hired", "Sold on"."""
    dates = [column for column in found if column.kind == "date"] or list(filter(is_year, found))
    return Target(dates[0], frozenset({place})) if len(dates) == 1 else None


def _by_noun(frame: Frame, found: list[Column], place: int) -> Target | None:
    """The column named right after "which"; else the first one, if the noun is the table's topic."""
    near = _until_stop(frame, place)
    indexes = {column.index: column for column in found}
    key = key_column(frame.table)
    if near and key in found and key is not None and frame.texts[near[0]] in row_nouns(frame.table):
        return Target(key, frozenset({place, near[0]}))
    for mention in frame.text_mentions():
        options = [i for i in mention.columns if i in indexes]
        if options and mention.places[0] in near:
            if len(options) > 1:
                names = ", ".join(frame.table.header[i] for i in options)
                raise Declined(f"the question may ask for any of {names}")
            return Target(indexes[options[0]], frozenset({place, *mention.places}))
    kinds = {i for mention in frame.cells for i in mention.places}
    if near and key in found and key is not None and near[0] in kinds:
        return Target(key, frozenset({place}))
    nouns = [frame.problem.words[i].stem for i in near]
    for column in found:
        if any(_is_kind_of(noun, column) for noun in nouns):
            return Target(column, frozenset({place, *near[:1]}))
    if (among := _among(frame, found, place)) is not None:
        return among
    label = frame.label
    if label is not None and label in found and nouns and _is_topic(frame, nouns):
        return Target(label, frozenset({place}))
    if label is not None and label in found and not nouns and frame.texts[place] != "what":
        return Target(label, frozenset({place}))
    return None


def _among(frame: Frame, found: list[Column], place: int) -> Target | None:
    """The column named before a "which" without a noun: "of the countries shown, which received most"."""
    opening = frame.phrase("of", "the")
    noun = max(opening, default=0) + 1
    if not opening or min(opening) != frame.problem.asked[0] or not noun < place:
        return None
    named = [c for c in found if frame.problem.words[noun].stem in stems(c.name)]
    return Target(named[0], frozenset({place})) if len(named) == 1 else None


def _until_stop(frame: Frame, place: int) -> list[int]:
    """The positions of the noun phrase after the question word."""
    near: list[int] = []
    for i in range(place + 1, place + 6):
        text = frame.texts.get(i, "")
        if not text or text in _STOPS or (frame.problem.words[i].kind == "mark"):
            break
        near.append(i)
    return near


_STOPS = word_set(
    """
    is was are were has have had does do did will would can could of the a an in on at with from for
    by to charges sold
    """
)


def _is_kind_of(noun: str, column: Column) -> bool:
    """ "day" for a column of weekdays, "month" for one of months, whatever its name."""
    first = {stem(cell) for cell in column.cells if cell.strip()}
    if noun == "day":
        return bool(first) and first <= _DAY_STEMS
    if noun == "month":
        return bool(first) and first <= _MONTH_STEMS
    return False


def _is_topic(frame: Frame, nouns: list[str]) -> bool:
    """Whether a noun is one that the caption, the story or every name in the label column uses."""
    label = frame.label
    shared = set.intersection(*(set(stems(cell)) for cell in label.cells)) if label and label.cells else set()
    return any(noun in frame.problem.topic or noun in shared for noun in nouns[:3])
