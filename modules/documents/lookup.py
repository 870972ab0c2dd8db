"""The one value of a paper that a question asks for, by its label, or by its row and column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeGuard

from chameleon import Declined, Table
from chameleon.modules.documents.measures import unit_of, without_unit
from chameleon.modules.documents.periods import asked_period, columns_of, period_of
from chameleon.modules.documents.short import TYPED, figure, tells_more, value_kind
from chameleon.modules.documents.statements import Cell, Piece, cells, pieces
from chameleon.modules.offline.lexical.label_questions import (
    Label,
    Wanted,
    ordered,
    same,
    singular,
    wanted_by,
    words_of,
)
from chameleon.modules.offline.lexical.labelled import split_label
from chameleon.modules.offline.lexical.short_values import OPEN
from chameleon.table.raised import without_marks

_BARE = re.compile(
    r"(what|when|who|how much) (is|are|was|were) (?!(?:the|an?|it|this|that|these|those|there)\b)"
)
_IN_A = re.compile(r"\b(?:in|at|on|during|as of|from)\b")
_COUNTING = re.compile(r"(?:the )?(?:number|count|amount|total|sum|quantity|percentage|rate|share) of .+")
_CONNECTORS = re.compile(r"\b(?:of|for|in|at|on|during|as of|from)\b")
_ARTICLES = frozenset(("a", "an", "the"))
_WORD = re.compile(r"\w+")
_LEADERS = re.compile(r"^(?:\s|\.(?!\d))+")
_SENTENCE = re.compile(
    r"(?:(?:the|an?|our|its) )?(?P<label>[^,;:.]{2,60}?) (?P<verb>is|are|was|were|shall be|will be"
    r"|amounts? to|comes? to|equals?) (?P<value>[^;]+?)\.?",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:however|unless|except\w*|but|instead|otherwise|provided|reduced|increased|rises|falls|until|if"
    r"|thereafter|instead of|from (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[a-z\d$€£¥(+&/,;•–-]")
_SHOWN = 60
_MOST_PARTS = 4
_WHOLE = frozenset(("total", "net", "gross", "adjusted", "all", "overall", "aggregate", "subtotal", "sum"))


@dataclass(frozen=True)
class Answer:
    """A value with its unit as it is told, and the number of the passage that has it."""

    text: str
    passage: int


@dataclass(frozen=True)
class _Found:
    """A value at its label. `typed`: it must be of a kind that is no part of a sentence."""

    label: str
    value: str
    typed: bool
    as_asked: bool
    at: Piece | Cell


def looked_up(question: str, passages: Sequence[Mapping[str, Any]], *, with_unit: bool = True) -> Answer:
    """The value that a question (in lower case, without its mark) asks for.

    Raises `Declined` where no label is that of the question, several are, or value, period or unit are not
    certain.
    """
    wanted = _wanted(question)
    dated = asked_period(question)
    of_period = _wanted(dated[0]) if dated is not None else None
    if wanted is None and of_period is None:
        raise Declined("the paper does not answer such a question by itself")
    told, held = list[Piece](), list[Cell]()
    for number, passage in enumerate(passages, 1):
        if isinstance(passage.get("table"), Table):
            held += cells(passage, number)
        else:
            told += pieces(passage, number)
    found = list[_Found]()
    if wanted is not None:
        found += [each for piece in told if (each := _beside(wanted, piece, question)) is not None]
        found += [each for cell in held if (each := _named(wanted, cell)) is not None]
    if of_period is not None and dated is not None:
        certain = {
            number: columns_of(dated[1], passage["table"].header, _about(passage))
            for number, passage in enumerate(passages, 1)
            if isinstance(passage.get("table"), Table)
        }
        rows = [each for cell in held if (each := _of_row(of_period, cell)) is not None]
        found += [
            each for each in rows if isinstance(each.at, Cell) and each.at.column in certain[each.at.passage]
        ]
        if rows and not found:
            raise Declined(
                f"no column is certain to be that of {dated[1].year}",
                hint="Ask with the column's whole name.",
            )
    asked = wanted or of_period
    assert asked is not None
    best = _only(asked, found, told, held)
    value = _value(asked if not isinstance(best.at, Cell) or of_period is None else of_period, best)
    unit = ""
    if isinstance(best.at, Cell) and with_unit:
        unit = unit_of(best.at, passages[best.at.passage - 1])
    if unit == "%":
        return Answer(f"{value}%", best.at.passage)
    return Answer(f"{value} ({unit})" if unit else value, best.at.passage)


def _wanted(question: str) -> Wanted | None:
    return wanted_by(_BARE.sub(r"\1 \2 the ", question, count=1))


def _about(passage: Mapping[str, Any]) -> str:
    """What may say that the columns of a table are parts of years: its caption and its corner."""
    table: Table = passage["table"]
    return f"{table.caption} {table.header[0]} {str(passage.get('title') or '').rpartition(' > ')[2]}"


def _only(wanted: Wanted, found: Sequence[_Found], told: Sequence[Piece], held: Sequence[Cell]) -> _Found:
    """What is found, if it is one thing and nothing else speaks of it."""
    name = f'"{wanted.name[:_SHOWN]}"'
    found = _without_spacers(found)
    distinct = {_said(each): each for each in reversed(found)}
    if not distinct and (names := _columns_of(wanted, held)):
        raise Declined(
            f"the row {name} is told by columns: {', '.join(names)}", hint="Name the row and one of them."
        )
    if not distinct:
        raise Declined(
            f"no line of the paper has the label {name}", hint="Ask with the label as it is written."
        )
    best = found[0]
    speaking = set(_speaking(wanted, best, told, held))
    if len(distinct) > 1 or len(speaking - set(distinct)) > 0:
        raise Declined(
            f"more than one line of the paper speaks of {name}", hint="Ask for one of them in full."
        )
    return best


def _columns_of(wanted: Wanted, held: Sequence[Cell]) -> list[str]:
    """The names of the first columns of a row that the question names, and of which it names none."""
    cells = [cell for cell in held if cell.name.strip() and _of_row(wanted, cell) is not None]
    return list(dict.fromkeys(cell.name[:_SHOWN] for cell in cells))[:_MOST_PARTS]


def _without_spacers(found: Sequence[_Found]) -> Sequence[_Found]:
    """What is found without blank cells of its rows, and nothing where all of it is blank.

    What stays beside a blank cell of another row of that name is not certain to be what is meant.
    """
    told = {
        (each.at.passage, each.at.row) for each in found if isinstance(each.at, Cell) and each.at.text.strip()
    }
    kept = [each for each in found if not _is_blank(each.at) or (each.at.passage, each.at.row) not in told]
    return () if all(_is_blank(each.at) for each in kept) else kept


def _is_blank(at: Piece | Cell) -> TypeGuard[Cell]:
    return isinstance(at, Cell) and not at.text.strip()


def _said(found: _Found) -> str:
    return found.at.text if isinstance(found.at, Piece) else found.at.told


def _speaking(wanted: Wanted, best: _Found, told: Sequence[Piece], held: Sequence[Cell]) -> Iterator[str]:
    """What has all words of the question; beside a cell that is found, only rows such as "total" of it.

    Its other rows and columns are known to be others by their names.
    """
    content = frozenset(word for word in wanted.content if not _CONNECTORS.fullmatch(word))
    for piece in told:
        if content <= set(map(singular, words_of(piece.text))):
            yield piece.text
    for cell in held:
        words = set(map(singular, words_of(f"{cell.group} {cell.told}")))
        if _is_blank(cell):
            continue
        if isinstance(best.at, Cell) and cell.passage == best.at.passage:
            more = set(map(singular, _plain(cell.label))) - set(map(singular, _plain(best.at.label)))
            if cell.row == best.at.row or not more <= _WHOLE:
                continue
        if content <= words:
            yield cell.told


def _beside(wanted: Wanted, piece: Piece, question: str) -> _Found | None:
    """What stands beside the label on its line: before a colon, at the beginning, or before "is"."""
    parted = split_label(piece.text)
    if parted is None and (sentence := _SENTENCE.fullmatch(piece.text)) is not None:
        past = sentence["verb"].lower() in ("was", "were")
        if (not past or re.search(r"\b(?:was|were|did)\b", question)) and _is_label(
            wanted, sentence["label"]
        ):
            return _Found(sentence["label"], sentence["value"], True, True, piece)
    pairs = [parted] if parted else _splits(piece.text)
    for before, value in reversed(pairs):
        if _is_label(wanted, before):
            words = words_of(before) if wanted.exact else ordered(before)
            as_asked = any(
                words[-1:] == label[-1:] or tuple(words[-1:]) == label[-1:] for label in wanted.labels
            )
            rest = _LEADERS.sub("", value).rstrip()
            return _Found(before, rest, parted is None, as_asked, piece)
    return None


def _splits(line: str) -> list[tuple[str, str]]:
    return [(line[: end.end()], line[end.end() :]) for end in _WORD.finditer(line)]


def _is_label(wanted: Wanted, text: str) -> bool:
    if wanted.exact:
        return tuple(words_of(text)) in wanted.labels
    label = ordered(_IN_A.sub("for", text.lower()) if re.search(r"\b(?:19|20)\d\d\b", text) else text)
    return any(same(asked, label) for asked in _asked(wanted))


def _asked(wanted: Wanted, *, in_table: bool = False) -> set[Label]:
    """The forms of the label that is asked for, its parts in any order: "depth of Arvik", "Arvik depth".

    "The number of rooms" is no room number, unless `in_table` the two are the names of a row and a column.
    """
    labels = set(wanted.labels)
    if wanted.exact or (not in_table and _COUNTING.fullmatch(wanted.name.strip())):
        return labels
    parts = [_plain(part) for part in _CONNECTORS.split(wanted.name)]
    if 1 < len(parts) <= _MOST_PARTS:
        labels |= {tuple(word for part in order for word in part) for order in permutations(parts)}
    return labels


def _plain(text: str) -> list[str]:
    return [word for word in words_of(_CONNECTORS.sub(" ", text.lower())) if word not in _ARTICLES]


def _names(cell: Cell) -> Iterator[list[str]]:
    """The words of a row's name, with its unit and without, also with those of its group."""
    group = _plain(cell.group)
    for name in dict.fromkeys((cell.label, without_unit(cell.label))):
        label = _plain(name)
        yield label
        if group:
            yield from (label + group, group + label)


def _named(wanted: Wanted, cell: Cell) -> _Found | None:
    """The cell if the question names its row and its column, or its row where that is enough."""
    column = _plain(cell.name)
    columns = [column, _plain(without_unit(cell.name))]
    labels = [[*name, *each] for name in _names(cell) for each in columns]
    labels += [[*each, *name] for name in _names(cell) for each in columns]
    if cell.keyed:
        labels = [*_names(cell)]
    elif not column or period_of(cell.name) is not None:
        return None
    return _matching(wanted, cell, labels, in_table=not cell.keyed)


def _of_row(wanted: Wanted, cell: Cell) -> _Found | None:
    return None if cell.keyed else _matching(wanted, cell, [*_names(cell)])


def _matching(
    wanted: Wanted, cell: Cell, labels: Sequence[list[str]], *, in_table: bool = False
) -> _Found | None:
    asked = {tuple(_plain(" ".join(label))) for label in _asked(wanted, in_table=in_table)}
    matching = [label for label in labels if any(same(each, tuple(label)) for each in asked)]
    if not matching or (wanted.exact and not any(tuple(label) in asked for label in matching)):
        return None
    as_asked = any(tuple(label) in asked for label in matching)
    return _Found(cell.label, figure(cell.text), False, as_asked, cell)


def _value(wanted: Wanted, found: _Found) -> str:
    """The value of a label. Raises `Declined` where it is not of the kind that is asked for, or may go on."""
    name = f'"{wanted.name[:_SHOWN]}"'
    text = (
        found.value.rstrip()
        if isinstance(found.at, Cell)
        else without_marks(found.value.rstrip().rstrip("."))
    )
    kinds = [kind for kind in wanted.kinds if not found.typed or kind in TYPED]
    kind = value_kind(text, kinds)
    if kind is None or (kind == "number" and not found.as_asked):
        told = f': "{text[:_SHOWN]}"' if text else ""
        raise Declined(f"what stands beside {name} is not {wanted.needed}{told}")
    if isinstance(found.at, Piece):
        _refuse_more(found.at, kind, name, sentence=found.typed and found.at.text.rstrip().endswith("."))
    return text


def _refuse_more(piece: Piece, kind: str, name: str, *, sentence: bool) -> None:
    """Raise `Declined` where the value may go on below, or the text beside it may limit or change it."""
    if (sentence or not piece.whole) and any(
        _LIMITS.search(other) or tells_more(other, kind) for other in piece.others
    ):
        raise Declined(f"the text says more of {name} than one value", hint="Read the passage whole.")
    ended = piece.text.rstrip().endswith(".")
    if ended or not piece.below or split_label(piece.below):
        return
    if kind in OPEN or _GOES_ON.match(piece.below):
        raise Declined(f"what stands beside {name} may go on in the next line")
