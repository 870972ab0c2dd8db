"""What a question asks for: which column its answer stands in, or a number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import ideas
from chameleon.modules.offline.grammar.words import stem, stem_set
from chameleon.modules.offline.lexical.english import LEAST, MOST
from chameleon.modules.offline.lexical.fields import Field, fields_of, is_of_years, time_field
from chameleon.modules.offline.lexical.links import Linked, Named
from chameleon.table import Table

_PEOPLE = stem_set(
    """name player driver athlete rider swimmer cyclist artist singer actor actress winner candidate member
    director writer author judge champion captain coach manager incumbent person people president governor
    opponent skipper golfer wrestler winners teacher student pupil leader owner
    employee worker doctor speaker instructor trainer host guide composer"""
)
_PLACES = stem_set("location place venue city country town site stadium state county nation")
_REACH = 4
_ASKING = word_set("what which who whom whose when where name tell list give")
_SPANS = word_set("long far tall")
_HOW = word_set("long far tall high old fast heavy much large big deep wide")


@dataclass(frozen=True)
class Asked:
    """What is wanted: "cells" of a column or the "number" of rows; `places` are the words that say so.

    `named` is set where the question names the column, and is not set where it only fits.
    """

    kind: Literal["cells", "number"]
    field: Field | None
    places: frozenset[int]
    named: bool = True


def asked_of(linked: Linked) -> Asked | None:
    """What the question asks for; None where it does not ask in a way that is known."""
    counted = next(
        (place for place in range(min(9, len(linked.tokens))) if _asks_number(linked, place)), None
    )
    if counted is not None:
        return _number(linked, counted)
    for place, token in enumerate(linked.tokens):
        following = linked.text(place + 1)
        if token.text == "how" and following in _HOW:
            return _measure(linked, place, following)
        if token.text in _ASKING:
            return _cells(linked, place)
    return None


def _asks_number(linked: Linked, place: int) -> bool:
    """ "how many …", or "the number of …" near the beginning."""
    pair = (linked.text(place), linked.text(place + 1))
    is_ranked = linked.text(place - 1) in MOST | LEAST
    return pair == ("how", "many") or (pair in _NUMBER_OF and place <= 6 and not is_ranked)


_NUMBER_OF = {("number", "of"), ("amount", "of")}


def _number(linked: Linked, place: int) -> Asked:
    named = next((each for each in linked.columns if 0 < each.start - place <= _REACH), None)
    places = frozenset(range(place, place + 2)) | (frozenset(named.places) if named else frozenset())
    return Asked("number", named.fields[0] if named else None, places, named is not None)


def _measure(linked: Linked, place: int, word: str) -> Asked | None:
    for field in fields_of(linked.table):
        if word in _SPANS and is_of_years(field):
            continue
        if field.datatype != "text" and (stem(word) in ideas(field.name) or stem(word) in field.key):
            return Asked("cells", field, frozenset({place, place + 1}), named=False)
    return None


def _cells(linked: Linked, place: int) -> Asked | None:
    word = linked.text(place)
    places = frozenset({place})
    if word in ("when",):
        field, timely = time_field(linked.table), [f for f in fields_of(linked.table) if f.datatype == "date"]
        return Asked("cells", field, places, named=len(timely) < 2) if field is not None else None
    if word == "where":
        return _kind_of_column(linked.table, _PLACES, places)
    if word in ("who", "whom", "whose"):
        named = _column_after(linked, place) if linked.text(place + 1) in ("is", "was") else None
        if named is not None and named.fields[0].datatype == "text":
            return Asked("cells", named.fields[0], places | set(named.places))
        return _kind_of_column(linked.table, _PEOPLE, places)
    named = _column_after(linked, place)
    if named is not None:
        return Asked("cells", named.fields[0], places | set(named.places))
    field = name_field(linked.table)
    return Asked("cells", field, places, named=False) if field is not None else None


def _column_after(linked: Linked, place: int) -> Named | None:
    """The column that is named right after an asking word; of "name of the team" the team."""
    near = [named for named in linked.columns if named.start > place]
    for number, named in enumerate(near):
        if not all(_may_stand_between(linked, n) for n in range(place + 1, named.start)):
            break
        of = linked.text(named.end) == "of" and linked.text(named.start) in ("name", "names")
        if of and number + 1 < len(near) and near[number + 1].start - named.end <= 2:
            return near[number + 1]
        return named
    asks_plainly = linked.text(place + 1) in _BETWEEN  # "what was x's time?", not "which runner had …"
    return near[0] if near and asks_plainly and linked.text(near[0].end) in ("?", "") else None


def _may_stand_between(linked: Linked, place: int) -> bool:
    return linked.text(place) in _BETWEEN or linked.tokens[place].is_mark


_BETWEEN = (
    MOST
    | LEAST
    | word_set(
        "is was were are the name names of did me us one a an total all each next previous only same other"
    )
)


def _kind_of_column(table: Table, kinds: frozenset[str], places: frozenset[int]) -> Asked | None:
    fitting = [field for field in fields_of(table) if kinds & set(field.key) and field.datatype == "text"]
    if fitting:
        return Asked("cells", fitting[0], places)
    field = name_field(table) if kinds is _PEOPLE else None  # no place is known by being the first name
    return Asked("cells", field, places, named=False) if field is not None else None


def name_field(table: Table) -> Field | None:
    """The column that names the rows: the first of text whose cells are mostly different."""
    fields = fields_of(table)
    texts = [field for field in fields if field.datatype == "text" or not field.pure]
    telling = [field for field in texts if _variety(field.cells) > 0.7]
    return next(iter([*telling, *texts, *fields]), None)


def _variety(cells: Sequence[str]) -> float:
    filled = [cell for cell in cells if cell.strip()]
    return len(set(filled)) / len(filled) if filled else 0.0
