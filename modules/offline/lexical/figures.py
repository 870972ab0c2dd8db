"""Link numbers, dates and results of games to the columns that hold such."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chameleon.modules.offline.lexical.calendar import MONTHS
from chameleon.modules.offline.lexical.conditions import Condition, rows_where
from chameleon.modules.offline.lexical.directions import is_of_places
from chameleon.modules.offline.lexical.english import DRAWN, LOST, WON
from chameleon.modules.offline.lexical.fields import Field, fields_of, total_rows
from chameleon.modules.offline.lexical.links import Mention, Option
from chameleon.modules.offline.lexical.words import Token, key_of
from chameleon.table import Table

_YEARS = range(1500, 2101)


def find_results(tokens: Sequence[Token], table: Table, taken: set[int]) -> Iterable[Mention]:
    """ "won" and "lost" as the w and l of a column of results."""
    for place, token in enumerate(tokens):
        for words, marks in ((WON, ("w", "win")), (LOST, ("l", "lose")), (DRAWN, ("d", "draw", "t", "tie"))):
            if place in taken or token.text not in words:
                continue
            options = tuple(_result_options(table, marks))
            if options:
                taken.add(place)
                yield Mention(place, place + 1, "result", options)


def _result_options(table: Table, marks: Sequence[str]) -> Iterable[Option]:
    for field in fields_of(table):
        keys = [key_of(cell) for cell in field.cells]
        ends = [key[:1] for key in keys], [key[-1:] for key in keys]
        for relation, found in (("begins", ends[0]), ("has", ends[1])):
            letters = [end for end in found if end in _RESULTS]
            if len(letters) < 0.7 * len([key for key in keys if key]) or len(letters) < 2:
                continue
            mark = next((mark for mark in marks if (mark,) in letters), marks[0])
            condition = Condition(field.name, "begins" if relation == "begins" else "has", mark)
            yield Option(field, condition, frozenset(rows_where(table, [condition])))
            break


_RESULTS = {(mark,) for mark in ("w", "l", "d", "t", "win", "lose", "draw", "tie")}


def find_dates(
    tokens: Sequence[Token], table: Table, taken: set[int], fields: Sequence[Field]
) -> Iterable[Mention]:
    for place, token in enumerate(tokens):
        value = str(token.text) if token.date is not None else _month_alone(tokens, place)
        if place in taken or not value:
            continue
        options = []
        for field in fields:
            condition = Condition(field.name, "on", value)
            rows = frozenset(rows_where(table, [condition]))
            if field.datatype == "date" or (rows and field.datatype == "text"):
                options.append(Option(field, condition, rows))
        if options:
            taken.add(place)
            yield Mention(place, place + 1, "date", tuple(options))


def _month_alone(tokens: Sequence[Token], place: int) -> str:
    text = tokens[place].text
    if text not in MONTHS or (len(text) < 4 and text != "may"):
        return ""
    before = tokens[place - 1].text if place else ""
    return text if text not in {"may", "march"} or before in {"in", "of", "during"} else ""


def find_numbers(
    tokens: Sequence[Token], table: Table, taken: set[int], fields: Sequence[Field]
) -> Iterable[Mention]:
    for place, token in enumerate(tokens):
        number = token.number if token.number is not None else token.place
        if place in taken or number is None or token.text in {"first", "second", "third"}:
            continue
        options = []
        for field in fields:
            option = _number_option(table, field, token)
            if option is not None:
                options.append(option)
        taken.add(place)
        if not _is_of_the_caption(token, options, table):
            yield Mention(place, place + 1, "number", tuple(options))


def _is_of_the_caption(token: Token, options: Sequence[Option], table: Table) -> bool:
    """Whether a year only repeats the caption, and tells no row from another."""
    if not _is_year(token) or token.form not in key_of(table.caption):
        return False
    body = set(range(len(table.rows))) - total_rows(table)
    return all(len(option.rows & body) >= 0.9 * len(body) or not option.field.pure for option in options)


def _is_year(token: Token) -> bool:
    return token.number is not None and token.number in _YEARS and token.text.isdecimal()


def _number_option(table: Table, field: Field, token: Token) -> Option | None:
    value = str(token.place) if token.place is not None else token.form
    if token.place is not None and field.datatype == "number" and field.pure and not is_of_places(field):
        return None
    if field.datatype == "date" and _is_year(token):
        condition = Condition(field.name, "on", value)
    elif field.datatype == "number" and field.pure:
        condition = Condition(field.name, "=", value)
    else:
        condition = Condition(field.name, "has", value)
    rows = frozenset(rows_where(table, [condition]))
    return Option(field, condition, rows) if rows else None
