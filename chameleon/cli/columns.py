"""Tables of figures for a terminal: what finds no room beside the names goes below, nothing is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chameleon.table.formats import ELLIPSIS, places
from chameleon.text import harmless

_GAP = "  "
_WIDEST_NAME, _WIDEST_CELL = 32, 60


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: figures stand to the right, texts to the left. Cells may be any text."""

    name: str
    cells: Sequence[str]
    figures: bool = True


def in_blocks(names: TextColumn, columns: Sequence[TextColumn], width: int) -> str:
    """The table in as many blocks below each other as `width` places need, each with the names in front.

    Names are cut at 32 places (at a third of a narrow terminal), other cells at 60 or the room there is.
    """
    first = _lines(names, max(12, min(_WIDEST_NAME, width // 3)), to_right=False)
    room = width - places(first[0]) - len(_GAP)
    drawn = [_lines(column, min(_WIDEST_CELL, room), to_right=column.figures) for column in columns]
    return "\n\n".join(
        "\n".join(_GAP.join(parts).rstrip() for parts in zip(first, *block, strict=True))
        for block in _blocks(drawn, room)
    )


def _blocks(drawn: Sequence[list[str]], room: int) -> Iterator[list[list[str]]]:
    block: list[list[str]] = []
    used = 0
    for lines in drawn:
        wide = places(lines[0]) + len(_GAP)
        if block and used + wide > room + len(_GAP):
            yield block
            block, used = [], 0
        block.append(lines)
        used += wide
    yield block


def _lines(column: TextColumn, most: int, *, to_right: bool) -> list[str]:
    """Header, rule and cells, all of one width."""
    texts = [_cut(harmless(text[: 4 * most]), most) for text in (column.name, *column.cells)]
    wide = max(map(places, texts))
    spaces = [" " * (wide - places(text)) for text in texts]
    lines = [space + text if to_right else text + space for text, space in zip(texts, spaces, strict=True)]
    return [lines[0], "─" * wide, *lines[1:]]


def _cut(text: str, most: int) -> str:
    if places(text) <= most:
        return text
    while places(text) > most - 1:
        text = text[:-1]
    return text + ELLIPSIS
