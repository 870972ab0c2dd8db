"""Tell whether a table bears a statement out, without a model.

A statement is a question with its answer: each value and number is taken out, asked for, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.algebra import Either, Exists, Form, Result, Unfit
from chameleon.modules.offline.conditions import Frame
from chameleon.modules.offline.grammar import costed
from chameleon.modules.offline.judge import DOUBT, NEAR, Answer
from chameleon.modules.offline.links import Item, Links, Reading
from chameleon.modules.offline.sheet import Sheet
from chameleon.modules.offline.table_reader import TableReader
from chameleon.modules.offline.templates import Templates
from chameleon.modules.offline.words import ENGLISH, Token, folded

_MOST = 0.9
_READINGS = 16
_NO = 0.25  # what it costs to deny a statement, for one that was misread is mostly denied
_WHOLES = frozenset((*ENGLISH.data["wholes"], "neither", "either", "none", "no", "up", "down"))


class StatementReader(TableReader):
    """Tells whether the table bears a statement out, without a model: "yes" or "no"; or declines."""

    def read(self, question: str, sheet: Sheet) -> Answer:
        """Return whether the statement holds. Raises `Declined` where that is not clear."""
        tokens = ENGLISH.tokens(question)
        links = Links(tokens, sheet)
        if _WHOLES & {token.low for token in tokens}:
            raise Declined("statements with only, both, each or all are not read")
        if links.unknown:
            raise Declined(f"these words were not understood: {', '.join(links.unknown)}")
        found = sorted(_asked(sheet, tokens, links.readings[:_READINGS]), key=lambda each: each[0])
        first: tuple[float, bool, Form, Result] | None = None
        for cost, form, stated in found:
            if cost > _MOST or (first is not None and cost > first[0] + NEAR):
                break
            try:
                result = form.run(sheet)
            except Unfit:
                continue
            truth = _agrees(result, stated, sheet)
            if truth is None:
                continue
            price = cost + (0.0 if truth else _NO)
            if first is None:
                first = price, truth, form, result
            elif truth != first[1]:
                raise Declined("two readings of the statement differ")
        if first is None:
            raise Declined("this kind of statement is not understood")
        cost, truth, form, result = first
        told = Result(("yes" if truth else "no",), result.rows, result.columns, "truth", steps=result.steps)
        return Answer(told, form, max(0.0, 1 - cost / DOUBT), sheet)


def _asked(
    sheet: Sheet, tokens: list[Token], readings: list[Reading]
) -> Iterator[tuple[float, Form, Item | None]]:
    """The questions in a statement: what each value and number would be, and whether a row has all of it."""
    for reading in readings:
        if any(item.kind == "ask" for item in reading.items):
            continue  # a question states nothing
        for place, item in enumerate(reading.items):
            rest = [*reading.items[:place], *reading.items[place + 1 :]]
            for asking in _asking(item, rest):
                for cost, form in costed(Frame(sheet, tokens, asking), Templates):
                    yield reading.cost + cost, form, item
        frame = Frame(sheet, tokens, reading.items)
        for cost, bounds, left in frame.bindings():
            lists = any(type(each.condition) is Either and not each.condition.negated for each in bounds)
            if len(bounds) > 1 and not lists:
                asked = Templates(frame, bounds, left)
                with suppress(Unfit):
                    for extra, form in asked.yields(0.1, Exists(asked.where)):
                        yield reading.cost + cost + extra, form, None


def _asking(item: Item, rest: list[Item]) -> Iterator[list[Item]]:
    """The items of the question that an item is the answer to."""
    if item.kind == "value":
        yield [Item(0, 0, "ask", 0.0, "which"), Item(0, 0, "column", 0.0, item.value.column), *rest]
    elif item.kind == "number" and not item.value.base and item.value.number.denominator == 1:
        before = [each for each in rest if each.end <= item.start]
        yield [*before, Item(item.start, item.start, "count", 0.0, "count"), *rest[len(before) :]]
    if item.kind == "number":
        yield rest


def _agrees(result: Result, said: Item | None, sheet: Sheet) -> bool | None:
    """Whether a result is what the statement says; None where the two are of different kinds."""
    if said is None:
        return result.values == ("yes",)
    if said.kind == "number":
        number = result.number
        if number is None or result.kind != "number":
            return None
        stated = Fraction(said.value.number)
        places = len(str(float(stated)).partition(".")[2]) if stated.denominator > 1 else 0
        return number == stated or (places > 0 and round(Fraction(number), places) == stated)
    if result.kind != "cells":
        return None
    told = {folded(value) for value in result.values}
    return bool(told & said.value.texts) if len(told) < 2 else None if told & said.value.texts else False
