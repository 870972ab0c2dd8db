"""Tables of figures for a terminal: what finds no room beside the names goes below, nothing is left out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from chameleon.text import harmless

_GAP = "  "
_WIDEST_NAME, _WIDEST_CELL = 32, 60


def terminal_width() -> int:
    """Return how many places a line of figures may have, 40 at least."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: figures stand to the right, texts to the left. Cells may be any text."""

    name: str
    cells: Sequence[str]
    figures: bool = True

    def lines(self, most: int) -> list[str]:
        """Return header, rule and cells, all of one width: `most` places, or fewer."""
        texts = [Text(harmless(cell[: 4 * most]), overflow="ellipsis") for cell in (self.name, *self.cells)]
        wide = min(most, max(text.cell_len for text in texts))
        for text in texts:
            text.align("right" if self.figures else "left", wide)
        header, *cells = (text.plain for text in texts)
        return [header, "─" * wide, *cells]


def in_blocks(names: TextColumn, columns: Sequence[TextColumn], width: int) -> str:
    """Write the table in as many blocks as `width` places need, one below the other, each with the names.

    Names are cut at 32 places (at a third of a narrow terminal), other cells at 60 or the room there is.
    """
    first = replace(names, figures=False).lines(max(12, min(_WIDEST_NAME, width // 3)))
    room = width - Text(first[0]).cell_len
    blocks: list[list[list[str]]] = []
    left = 0
    for column in columns:
        lines = column.lines(min(_WIDEST_CELL, room - len(_GAP)))
        wide = len(_GAP) + Text(lines[0]).cell_len
        if not blocks or wide > left:
            blocks.append([first])
            left = room
        blocks[-1].append(lines)
        left -= wide
    return "\n\n".join(
        "\n".join(_GAP.join(parts).rstrip() for parts in zip(*block, strict=True)) for block in blocks
    )
