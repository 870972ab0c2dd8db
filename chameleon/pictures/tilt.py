"""Measure how far text in a picture is tilted by its pixels, independent of an engine's boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from chameleon.pictures.pieces import Piece, tilt_of

if TYPE_CHECKING:
    from PIL.Image import Image

_STEPS = ((2, 22), (0.5, 4), (0.25, 1), (0.125, 1))  # degrees per step, and the number of steps either way
_MARGIN_HEIGHTS, _MAX_HEIGHT = 3.0, 60  # heights measured on either side; the most pixels in a height
_STRIDE, _SCALE = 3, 3
"""Average so many pixels side by side, and refine rows three times, or level ones would look the sharpest."""


def measured(image: Image, pieces: Sequence[Piece]) -> list[Piece]:
    """Tilt the box of each piece as its text is; boxes too narrow to measure get the tilt of the others."""
    grey = image.convert("L")
    ground = sorted(grey.resize((16, 16)).tobytes())[176]  # the shade of most of the picture
    wide = {
        place: piece.at(_angle_in(grey, ground, piece)) for place, piece in enumerate(pieces) if piece.is_wide
    }
    usual = tilt_of(wide.values()).angle
    return [wide.get(place) or piece.at(usual) for place, piece in enumerate(pieces)]


def _angle_in(grey: Image, ground: int, piece: Piece) -> float:
    """Return the tilt, in degrees clockwise, that best separates dark lines from light gaps.

    A box with upright sides also cuts the lines above and below, and their cut edges look level. So the
    piece's columns are measured beyond the box, fading out.
    """
    from PIL.Image import Resampling, Transform

    # The cut may extend beyond the edges of the picture.
    half = math.ceil(_MARGIN_HEIGHTS * min(piece.height, _MAX_HEIGHT))
    left, top = math.floor(piece.left), int(piece.middle[1]) - half
    width, height = max(1, math.ceil(piece.right) - left), max(1, 2 * half)
    box = (left, top, left + width, top + height)
    crop = grey.transform((width, height), Transform.EXTENT, box, fillcolor=ground)
    lifted, fine = (max(2, width // _STRIDE), height), (max(2, width // _STRIDE), _SCALE * height)
    rough, sharp = (crop.resize(size, Resampling.BICUBIC) for size in (lifted, fine))

    def contrast(strip: Image, angle: float) -> float:
        """Return how much rows of pixels differ from the next ones after shearing the picture back."""
        slope = math.tan(math.radians(angle)) * width / strip.width * strip.height / height
        shear = (1, 0, 0, slope, 1, -slope * strip.width / 2)
        back = strip.transform(strip.size, Transform.AFFINE, shear, Resampling.BILINEAR, fillcolor=ground)
        rows = pairwise(back.reduce((strip.width, 1)).tobytes())
        return sum(part * (one - other) ** 2 for part, (one, other) in zip(_fading(back.height - 1), rows))  # noqa: B905

    angle = 0.0
    for step, count in _STEPS:
        strip = rough if step == _STEPS[0][0] else sharp
        angles = [angle + step * times for times in range(-count, count + 1)]
        angle = max((contrast(strip, angle), -abs(angle), angle) for angle in angles)[-1]
    return angle


@cache
def _fading(count: int) -> list[float]:
    return [math.sin(math.pi * (place + 1) / (count + 1)) ** 2 for place in range(count)]
