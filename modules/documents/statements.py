"""What a paper says, piece by piece: lines and sentences of its text, and cells of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chameleon import Table
from chameleon.modules.documents.short import TYPED, figure, value_kind
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.labelled import split_label
from chameleon.table.raised import without_marks

_NUMBER = re.compile(
    r"(?:[-*+•–]\s+)?(?:\d{1,3}(?:\.\d{1,3})+[.)]?\s+(?=\D)|\d{1,2}[.)]\s+(?=[^\W\d_])|\(?[a-z]\)\s+)?"
)
_BOLD = re.compile(r"\*\*|__")
_CONTENTS = re.compile(r"(?:(?:\. ?){3,}|\s*…+|\s*·{3,}|\s*_{3,})\s*(?:\d{1,4}|[ivxl]{1,6})\s*$")
_CONTENTS_HEADING = re.compile(r"(?:table of )?contents|index", re.IGNORECASE)
_ENDS_IN_NUMBER = re.compile(r"\d\s*$")
_SENTENCES = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+(?=[A-Z\"“(])|(?<=[\d)%²³][.!?])\s+(?=[A-Z\"“(])")
_MONTH = re.compile(r"\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_ABBREVIATED = re.compile(r"\b(?:art|approx|nos?|sec|etc|mrs?|dr|inc|ltd|corp)\.$", re.IGNORECASE)
_STOPS, _LONG = ".;:!?", 60
_FOOTNOTE = re.compile(r"\s*(?:\(\d{1,2}\)|\[\w{1,2}\]|[⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾]+|[*†‡]+)$")
_GENERIC = word_set(
    """item items key field name term terms description label detail details particulars property attribute
    parameter what feature figure amount value amounts values information data subject entry specification
    content contents"""
)
_OF_FORMS = word_set(
    """landlord tenant lessor lessee seller buyer borrower lender licensor licensee vendor purchaser insurer
    insured employer rent deposit term start end date price notice address premises currency interest law
    period fee total due number email phone telephone"""
)
_YEAR, _DIGIT = re.compile(r"\b(?:19|20)\d\d\b"), re.compile(r"\d")


@dataclass(frozen=True)
class Piece:
    """A line or a sentence, with what stands below it and beside it in its paragraph.

    `whole`: it is a line as it stands, and no sentence among others of one line.
    """

    text: str
    passage: int
    below: str
    others: tuple[str, ...]
    whole: bool


@dataclass(frozen=True)
class Cell:
    """A cell by its row and column (from 0); `group` is the row above that names several: "Costs:".

    `keyed`: the row's name alone says what the cell is.
    """

    text: str
    passage: int
    row: int
    column: int
    label: str
    group: str
    name: str
    keyed: bool

    @property
    def told(self) -> str:
        return f"{self.label} for {self.name}: {self.text}"


def pieces(passage: Mapping[str, Any], number: int) -> Iterator[Piece]:
    """The lines and sentences of a passage of text, without numbers of clauses and lists of contents."""
    headings = str(passage.get("title") or "").split(" > ")
    listed = _CONTENTS_HEADING.fullmatch(headings[-1].strip()) is not None
    for paragraph in re.split(r"\n\s*\n", str(passage["text"])):
        lines = [_NUMBER.sub("", _BOLD.sub("", line).strip(), count=1) for line in paragraph.splitlines()]
        told = [
            line
            for line in _rejoined(list(filter(None, lines)))
            if not (_CONTENTS.search(line) or (listed and _ENDS_IN_NUMBER.search(line)))
        ]
        cut = [(sentence, line) for line in told for sentence in sentences(line)]
        for place, (sentence, line) in enumerate(cut):
            below = cut[place + 1][0] if place + 1 < len(cut) else ""
            others = tuple(other for n, (other, _) in enumerate(cut) if n != place)
            yield Piece(sentence, number, below, others, sentence == line)


def _rejoined(lines: list[str]) -> Iterator[str]:
    """The lines; one that its author did not end there, with the next."""
    held = ""
    for line in lines:
        goes_on = held and held[-1] not in _STOPS and not split_label(line) and not split_label(held)
        if goes_on and not _CONTENTS.search(held) and (line[0].islower() or len(held) >= _LONG):
            held = f"{held} {line}"
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def sentences(line: str) -> list[str]:
    """The sentences of a line; "3. June" and "approx. EUR 5" are not parted."""
    found, begin = list[str](), 0
    for end in _SENTENCES.finditer(line):
        before = line[begin : end.start()]
        dated = before[-2:-1].isdigit() and _MONTH.match(line, end.end())
        if not dated and not _ABBREVIATED.search(before):
            found.append(before)
            begin = end.end()
    return [*found, line[begin:]]


def cells(passage: Mapping[str, Any], number: int) -> Iterator[Cell]:
    """The cells of a passage's table, without the marks of footnotes at their names.

    Blank ones are among them, but those of a form, which says of them nothing at all.
    """
    table = passage["table"]
    header = [_name(name) for name in table.header]
    keyed, group = is_keyed(table), ""
    rows = [table.header, *table.rows] if keyed and not _is_header(table) else table.rows
    for place, row in enumerate(rows):
        label = _name(row[0])
        if label and not any(row[1:]):
            group = label.rstrip(":").strip()
            continue
        for column, cell in enumerate(row[1:], 1):
            if label and (cell.strip() or not keyed):
                yield Cell(cell, number, place, column, label.rstrip(":"), group, header[column], keyed)


def is_keyed(table: Table) -> bool:
    """Whether a table of two columns says of each name in the first what it is, as a form does.

    Its header is empty or says no more than "Item | Amount"; or it is a row as those below, of which some
    values are numbers and some are words.
    """
    if len(table.header) != 2 or not table.rows:
        return False
    return _is_header(table) or _is_row(table)


def _is_header(table: Table) -> bool:
    first, second = (_name(name).lower() for name in table.header)
    return (not first or first in _GENERIC) and (not second or second in _GENERIC)


def _is_row(table: Table) -> bool:
    """Whether the header is a row: its second cell is a value, or its names are those of a form."""
    name, value = map(_name, table.header)
    if not name or not value or name.lower() in _GENERIC or value.lower() in _GENERIC or _YEAR.search(value):
        return False
    kinds = {kind for row in table.rows if (kind := value_kind(figure(row[1]), TYPED)) is not None}
    if _DIGIT.search(value):
        kind = value_kind(value, TYPED)
        return kind in TYPED and (kind in ("money", "date") or not kinds <= {"money", "number"})
    labels = [
        words[-1].lower() for each in (name, *(row[0] for row in table.rows)) if (words := each.split())
    ]
    return bool(kinds) and sum(label.strip(":") in _OF_FORMS for label in labels) > 1


def _name(text: str) -> str:
    return _FOOTNOTE.sub("", without_marks(" ".join(text.split())))
