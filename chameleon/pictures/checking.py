"""Whether what was read of a level picture is all that stands there, and stands if it is read once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chameleon.pictures.pieces import UNREAD, Piece

if TYPE_CHECKING:
    from PIL.Image import Image

_BESIDE, _ABOVE = 1.0, 0.35
"""How much of what is around a piece is read with it, in its heights."""
_HIGH = 32
"""To how many pixels low text is enlarged."""
_EDGE = 10


def confirmed(
    read_lines: Callable[[Sequence[Image]], list[str]], image: Image, pieces: Sequence[Piece]
) -> list[Piece]:
    """Read each piece once more with what is beside it and belongs to no other; other text is not read."""
    told = [piece for piece in pieces if piece.text != UNREAD]
    grey = image.convert("L")
    again = read_lines([_strip(grey, piece, pieces) for piece in told])
    sure = {id(piece) for piece, text in zip(told, again, strict=True) if _plain(text) == _plain(piece.text)}
    return [piece if id(piece) in sure else replace(piece, text=UNREAD) for piece in pieces]


def _strip(grey: Image, piece: Piece, pieces: Sequence[Piece]) -> Image:
    """Return the picture of a piece and its surroundings; other pieces are painted over."""
    from PIL import Image as images

    high, ground = piece.height, sorted(grey.resize((16, 16)).tobytes())[176]
    left, top = int(piece.left - _BESIDE * high), int(piece.top - _ABOVE * high)
    right, bottom = int(piece.right + _BESIDE * high), int(piece.bottom + _ABOVE * high)
    cut = images.new("L", (max(1, right - left), max(1, bottom - top)), ground)
    cut.paste(grey, (-left, -top))
    for other in pieces:
        if other is not piece and (other.right < piece.left or other.left > piece.right):
            cut.paste(
                ground,
                tuple(
                    map(
                        int,
                        (other.left - left, other.top - top, other.right - left + 1, other.bottom - top + 1),
                    )
                ),
            )
    times = max(1.0, _HIGH / high)
    strip = cut.resize((round(cut.width * times), round(cut.height * times)))
    framed = images.new("L", (strip.width + 2 * _EDGE, strip.height + 2 * _EDGE), ground)
    framed.paste(strip, (_EDGE, _EDGE))
    return framed


def _plain(text: str) -> str:
    """Text without spaces, capitals and leaders."""
    return re.sub(r"\s|\.+$", "", text).casefold()
