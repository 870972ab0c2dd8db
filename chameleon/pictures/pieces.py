"""Pieces of text found in a picture, in the order a person reads them."""

import cmath
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import fmean
from typing import Any, NamedTuple

Point = tuple[float, float]
UNCLEAR = "(Text is tilted to differing degrees: which of these pieces are side by side is unknown.)"
UNREAD = "[…]"
"""Replaces an unreadable piece on a line with readable ones."""
_WIDE_RATIO = 1.5  # of width to height, from which a box shows its tilt
_TILT_ERROR, _PIECE_ERROR = 1.0, 3.2
"""Measuring error of the tilt of a text, and of a piece, in degrees for one as wide as high."""
_DEFAULT_SPREAD = 5.0
"""How far text may be tilted, in degrees, if no piece is wide enough to show it."""


class Tilt(NamedTuple):
    """The tilt of text, in degrees clockwise, and the deviation from it that a quarter of it exceeds."""

    angle: float
    spread: float


@dataclass(frozen=True, slots=True)
class Piece:
    """One or more words on one line.

    Attributes:
        box: the four corners in pixels, clockwise from the top left of the text, which may be tilted.
        confidence: the engine's own estimate, from 0 to 1.
    """

    text: str
    box: tuple[Point, Point, Point, Point]
    confidence: float

    @property
    def left(self) -> float:
        return min(x for x, _ in self.box)

    @property
    def right(self) -> float:
        return max(x for x, _ in self.box)

    @property
    def top(self) -> float:
        return min(y for _, y in self.box)

    @property
    def bottom(self) -> float:
        return max(y for _, y in self.box)

    @property
    def middle(self) -> Point:
        return fmean(x for x, _ in self.box), fmean(y for _, y in self.box)

    @property
    def width(self) -> float:
        """The length of the base line."""
        return math.dist(self.box[3], self.box[2])

    @property
    def height(self) -> float:
        """The length of the left side."""
        return math.dist(self.box[3], self.box[0])

    @property
    def is_wide(self) -> bool:
        """Whether the base line is long enough to show how far the text is tilted."""
        return self.width > _WIDE_RATIO * self.height

    @property
    def angle(self) -> float:
        """The tilt of the base line in degrees, clockwise."""
        (left, down), (right, further_down) = self.box[3], self.box[2]
        return math.degrees(math.atan2(further_down - down, right - left))

    def at(self, angle: float) -> "Piece":
        """Return the piece with its box as a rectangle, same center and sides, tilted by `angle` degrees."""
        if angle == self.angle:
            return self
        (across, down), width, height = self.middle, self.width, self.height
        upright = rectangle(across - width / 2, down - height / 2, width, height)
        return Piece(self.text, upright, self.confidence).turned(angle, self.middle)

    def turned(self, angle: float, around: Point) -> "Piece":
        """Return the piece in a picture that is turned clockwise by `angle` degrees."""
        center, turn = complex(*around), cmath.rect(1, math.radians(angle))
        turned = [center + (complex(*corner) - center) * turn for corner in self.box]
        return self.of_corners(self.text, [(at.real, at.imag) for at in turned], self.confidence)

    def scaled(self, across: float, down: float) -> "Piece":
        """Return the piece in a picture scaled by these factors."""
        return self.of_corners(self.text, [(x * across, y * down) for x, y in self.box], self.confidence)

    def pitch(self, level: Iterable["Piece"]) -> float:
        """Return the distance from its middle to the nearest one above or below; infinity without any."""
        pitch = math.inf
        for other in level:
            off = abs(self.middle[1] - other.middle[1])
            shared = min(self.right, other.right) - max(self.left, other.left)
            if off > min(self.height, other.height) / 2 and shared > min(self.width, other.width) / 2:
                pitch = min(pitch, off)
        return pitch

    def room(self, level: Sequence["Piece"]) -> float:
        """Return how far from its middle its line extends; boxes overlap, or are as low as letters."""
        pitch, height = self.pitch(level), self.height
        if pitch == math.inf:
            return height / 2
        return min(pitch, max(height, min(1.4 * height, 0.8 * pitch))) / 2

    def rise(self, other: "Piece", spread: float) -> float:
        """Return the largest height difference of two level pieces if they are tilted by `spread` degrees."""
        for piece in (self, other):
            if piece.is_wide and abs(piece.angle) > _PIECE_ERROR * piece.height / piece.width:
                spread = max(spread, abs(piece.angle))
        (left, up), (right, down) = self.middle, other.middle
        return abs(right - left) * math.sin(math.radians(spread)) + abs(down - up)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of a piece, the same for every engine.

        Tenths of pixels, because whole ones would tilt a short piece by two degrees.
        """
        box = [[round(x, 1), round(y, 1)] for x, y in self.box]
        return {"text": self.text, "box": box, "confidence": round(self.confidence, 3)}

    @classmethod
    def of_corners(cls, text: str, corners: Iterable[Any], confidence: float) -> "Piece":
        """Make a piece from a package's output; the four corners may be any kind of numbers."""
        first, second, third, fourth = ((float(x), float(y)) for x, y in corners)
        return cls(text, (first, second, third, fourth), float(confidence))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Piece":
        return cls.of_corners(data["text"], data["box"], data["confidence"])


def rectangle(left: float, top: float, width: float, height: float) -> tuple[Point, Point, Point, Point]:
    """Return the corners of an upright box."""
    right, bottom = left + width, top + height
    return (left, top), (right, top), (right, bottom), (left, bottom)


def tilt_of(pieces: Iterable[Piece]) -> Tilt:
    """Return the usual tilt of wide pieces, weighted by their width."""
    wide = [piece for piece in pieces if piece.is_wide]
    if not wide:
        return Tilt(0, _DEFAULT_SPREAD)
    angle = _quantile([(piece.angle, piece.width**2) for piece in wide], 0.5)
    scatter = _quantile([(abs(piece.angle - angle), piece.width) for piece in wide], 0.75)
    aspect = _quantile([(piece.height / piece.width, piece.width**2) for piece in wide], 0.25)
    return Tilt(angle, max(scatter, aspect * _TILT_ERROR))


def lines_are_clear(lines: Iterable[Sequence[Piece]]) -> bool:
    """Return whether each piece is on its line at every likely angle of the text.

    The likely angles are the usual tilt, the spread around it, and the tilts of two neighboring pieces
    themselves. The pieces of a single line cannot be on another one.
    """
    lines = list(lines)
    if len(lines) == 1:
        return True
    pieces = [piece for line in lines for piece in line]
    angle, spread = tilt_of(pieces)
    level = [piece.turned(-angle, (0, 0)) for piece in pieces]
    remaining = iter(level)
    return all(
        one.rise(other, spread) <= max(one.room(level), other.room(level))
        for line in lines
        for one, other in pairwise([next(remaining) for _ in line])
    )


def lines_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Order leveled pieces as lines from top to bottom, each from left to right.

    A piece belongs to the line that it shares at least half of the height with, so a tall piece, such as the
    title of an axis written upwards, gets a separate line and does not absorb the lines next to it.
    `lines_are_clear` says whether the lines can be relied on.
    """
    originals = list(pieces)
    angle = tilt_of(originals).angle
    high = [piece.turned(-angle, (0, 0)) for piece in originals]
    level = []
    for piece in high:
        height = min(piece.bottom - piece.top, piece.pitch(high))
        box = rectangle(piece.left, piece.middle[1] - height / 2, piece.right - piece.left, height)
        level.append(replace(piece, box=box))
    lines: list[list[Piece]] = []
    for piece in sorted(level, key=lambda piece: (piece.top, piece.left, piece.text)):
        best = max(lines, key=lambda line: _shared_height(line, piece), default=None)
        if best is None or _shared_height(best, piece) < 0.5:
            lines.append([piece])
        else:
            best.append(piece)
    lines = [sorted(line, key=lambda piece: (piece.left, piece.top)) for line in lines]
    lines.sort(key=lambda line: (fmean(piece.top for piece in line), line[0].left))
    original_of = {id(one): other for one, other in zip(level, originals, strict=True)}
    return [[original_of[id(piece)] for piece in line] for line in lines]


def text_of(lines: Sequence[Sequence[Piece]]) -> str:
    """Return the text as a person would read it: the pieces of a line joined by spaces, line by line.

    If lines cannot be relied on, each piece gets a separate line, below a note that says so.
    """
    if not lines_are_clear(lines):
        return "\n".join([UNCLEAR, *(piece.text for line in lines for piece in line)])
    return "\n".join(" ".join(piece.text for piece in line) for line in lines)


def _shared_height(line: Sequence[Piece], piece: Piece) -> float:
    """Return the height that a line and a piece share, as a fraction of the taller one."""
    top, bottom = fmean(member.top for member in line), fmean(member.bottom for member in line)
    shared = min(bottom, piece.bottom) - max(top, piece.top)
    taller = max(bottom - top, piece.bottom - piece.top)
    return shared / taller if taller > 0 else float(shared == 0)


def _quantile(weighted: Iterable[tuple[float, float]], part: float) -> float:
    """Return the smallest value at which the cumulative weight reaches this part of the total."""
    ordered = sorted(weighted)
    sums = list(accumulate(weight for _, weight in ordered))
    return ordered[bisect_left(sums, part * sums[-1])][0]
