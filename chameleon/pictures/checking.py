"""Whether what was read of a level picture is all that stands there, and stands if it is read once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chameleon.pictures.pieces import UNREAD, Piece
from chameleon.pictures.tilt import cut_out, ground_of

if TYPE_CHECKING:
    from PIL.Image import Image

_BESIDE, _ABOVE, _GAP = 1.7, 0.35, 0.15
"""How much around a piece is looked at, and how far its own ink goes beyond its box, in its heights."""
_HIGH, _EDGE = 32, 10  # pixels: low text is enlarged to so many, and so many are left around it


def confirmed(
    read_lines: Callable[[Sequence[Image]], list[str]], image: Image, pieces: Sequence[Piece]
) -> list[Piece]:
    """Read each piece once more with what is beside it and belongs to no other; other text is not read."""
    from PIL import ImageOps

    told = [piece for piece in pieces if piece.text != UNREAD]
    grey = image.convert("L")
    ground = ground_of(grey)
    cuts = [_cut(grey, ground, piece, pieces) for piece in told]
    times = [max(1, _HIGH / max(1, piece.height)) for piece in told]
    large = [ImageOps.scale(cut, by) for cut, by in zip(cuts, times, strict=True)]
    again = read_lines([ImageOps.expand(each, _EDGE, ground) for each in large])
    sure = {
        id(piece)
        for piece, cut, text in zip(told, cuts, again, strict=True)
        if _plain(text) == _plain(piece.text) and not _has_more(cut, piece)
    }
    return [piece if id(piece) in sure else replace(piece, text=UNREAD) for piece in pieces]


def _cut(grey: Image, ground: int, piece: Piece, pieces: Sequence[Piece]) -> Image:
    """Return the picture of a piece and its surroundings; pieces beside it are painted over."""
    left, top = piece.left - _BESIDE * piece.height, piece.top - _ABOVE * piece.height
    right, bottom = piece.right + _BESIDE * piece.height, piece.bottom + _ABOVE * piece.height
    cut = cut_out(grey, (int(left), int(top), int(right), int(bottom)), ground)
    for other in pieces:
        if other is not piece and (other.right < piece.left or other.left > piece.right):
            across, down = int(other.left - left) - 1, int(other.top - top) - 1
            wide, high = int(other.right - other.left) + 3, int(other.bottom - other.top) + 3
            cut.paste(ground, (across, down, across + wide, down + high))
    return cut


def _has_more(cut: Image, piece: Piece) -> bool:
    """Whether ink stands beside a piece that is as high as letters, and no rule."""
    values = cut.tobytes()
    half = (min(values) + max(values)) / 2
    is_dark = sorted(values)[len(values) // 2] > half
    ink = cut.point([255 * ((value < half) == is_dark) for value in range(256)])
    side, high = int((_BESIDE - _GAP) * piece.height), piece.height
    for left, right in ((0, side), (cut.width - side, cut.width)):
        found = ink.crop((left, int((_ABOVE + 0.1) * high), right, int((_ABOVE + 0.75) * high))).getbbox()
        if found and found[2] - found[0] > 1 and found[3] - found[1] > 0.3 * high:
            whole = ink.crop((left + found[0], 0, left + found[2], cut.height)).getbbox()
            if whole and whole[3] - whole[1] < cut.height:  # a rule or a drawing goes on
                return True
    return False


def _plain(text: str) -> str:
    """Text without spaces, capitals and leaders."""
    return re.sub(r"\s|\.+$", "", text).casefold()
