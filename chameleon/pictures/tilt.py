"""How far text in a picture is tilted, measured in its pixels, whatever boxes an engine draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from chameleon.pictures.pieces import Piece, tilt_of

if TYPE_CHECKING:
    from PIL.Image import Image

_MARGIN = 2
_STEEPEST, _FIRST_STEP, _STEPS = 44, 4, (2, 1, 0.5, 0.25)
_NOTABLE = 1.0
"""From which tilt, in degrees, an engine with upright boxes reads the picture once more, turned level."""


def read_tilted(read: Callable[[Image], list[Piece]], image: Image) -> list[Piece]:
    """Read a picture; boxes of the pieces are tilted as their text is.

    An engine that draws upright boxes alone also reads tilted text less well. It reads the picture once more,
    turned level, and the reading with more text counts.
    """
    pieces = read(image)
    first = measured(image, pieces)
    angle = tilt_of(first).angle
    if abs(angle) < _NOTABLE or sum(piece.angle == 0 for piece in pieces) * 2 < len(pieces):
        return first
    from PIL.Image import Resampling

    around = (image.width / 2, image.height / 2)
    ground = image.resize((1, 1)).getpixel((0, 0))
    level = image.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=ground)
    off = ((image.width - level.width) / 2, (image.height - level.height) / 2)
    again = [piece.moved(*off).turned(angle, around) for piece in measured(level, read(level))]
    return max(first, again, key=_amount)


def measured(image: Image, pieces: Sequence[Piece]) -> list[Piece]:
    """Tilt the box of each piece as its text is; boxes too narrow to tell are tilted as the others are."""
    grey = image.convert("L")
    wide = {place: piece.at(_angle_in(grey, piece)) for place, piece in enumerate(pieces) if piece.is_wide}
    usual = tilt_of(wide.values()).angle
    return [wide.get(place) or piece.at(usual) for place, piece in enumerate(pieces)]


def _angle_in(grey: Image, piece: Piece) -> float:
    """Return the tilt, in degrees clockwise, that parts dark lines from light gaps best."""
    left, top = max(0, int(piece.left) - _MARGIN), max(0, int(piece.top) - _MARGIN)
    right = min(grey.width, math.ceil(piece.right) + _MARGIN)
    bottom = min(grey.height, math.ceil(piece.bottom) + _MARGIN)
    if left >= right or top >= bottom:
        return 0.0
    whole = grey.crop((left, top, right, bottom))
    small = whole.copy()
    small.thumbnail((64, 64))
    best = max(
        range(-_STEEPEST, _STEEPEST + 1, _FIRST_STEP),
        key=lambda angle: (_contrast(small, angle), -abs(angle)),
    )
    angle = float(best)
    for step in _STEPS:
        angle = max((angle, angle - step, angle + step), key=lambda angle: _contrast(whole, angle))
    return angle


def _contrast(grey: Image, angle: float) -> float:
    """Return how much rows of pixels differ from the next ones, once the picture is turned back."""
    from PIL.Image import Resampling

    ground = sorted(grey.resize((16, 16)).tobytes())[176]
    turned = grey.rotate(angle, Resampling.BILINEAR, expand=True, fillcolor=ground)
    rows = turned.resize((1, turned.height), Resampling.BOX).tobytes()
    return turned.width**2 * sum((one - other) ** 2 for one, other in pairwise(rows))


def _amount(pieces: Sequence[Piece]) -> float:
    return sum(len(piece.text) * piece.confidence for piece in pieces)
