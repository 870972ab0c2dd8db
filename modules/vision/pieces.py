"""Pieces of text found in a picture, and the order in which a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words on one line.

    `box` has the four corners in pixels, clockwise from the top left of the text, which may be tilted;
    `confidence`, from 0 to 1, is what the engine says of itself.
    """

    text: str
    box: tuple[Point, Point, Point, Point]
    confidence: float

    @property
    def left(self) -> float:
        return min(x for x, _ in self.box)

    @property
    def top(self) -> float:
        return min(y for _, y in self.box)

    @property
    def bottom(self) -> float:
        return max(y for _, y in self.box)

    def scaled(self, across: float, down: float) -> Piece:
        """The piece in a picture that is so many times as large."""
        first, second, third, fourth = ((x * across, y * down) for x, y in self.box)
        return Piece(self.text, (first, second, third, fourth), self.confidence)

    def to_json(self) -> dict[str, Any]:
        """The form in which every engine's pieces are written: whole pixels, three decimals."""
        box = [[round(x), round(y)] for x, y in self.box]
        return {"text": self.text, "box": box, "confidence": round(self.confidence, 3)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Piece:
        first, second, third, fourth = ((x, y) for x, y in data["box"])
        return cls(data["text"], (first, second, third, fourth), data["confidence"])


def rectangle(left: float, top: float, width: float, height: float) -> tuple[Point, Point, Point, Point]:
    """The corners of an upright box."""
    right, bottom = left + width, top + height
    return (left, top), (right, top), (right, bottom), (left, bottom)


def lines_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """The pieces as lines from top to bottom, each from left to right.

    A piece belongs to the line that it shares at least half of the height with; so a tall piece, such as the
    title of an axis written upwards, is a line of its own and does not swallow what stands beside it.
    """
    lines: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.top, piece.left, piece.text)):
        best = max(lines, key=lambda line: _shared_height(line, piece), default=None)
        if best is None or _shared_height(best, piece) < 0.5:
            lines.append([piece])
        else:
            best.append(piece)
    lines.sort(key=lambda line: (_top(line), min(piece.left for piece in line)))
    return [sorted(line, key=lambda piece: (piece.left, piece.top)) for line in lines]


def text_of(lines: Sequence[Sequence[Piece]]) -> str:
    """What a person would read out: the texts of a line with spaces between, one line below the other."""
    return "\n".join(" ".join(piece.text for piece in line) for line in lines)


def _shared_height(line: Sequence[Piece], piece: Piece) -> float:
    """The part of the height that a line and a piece share, of the taller of the two."""
    top, bottom = _top(line), fmean(member.bottom for member in line)
    shared = min(bottom, piece.bottom) - max(top, piece.top)
    taller = max(bottom - top, piece.bottom - piece.top)
    return shared / taller if taller > 0 else float(shared == 0)


def _top(line: Sequence[Piece]) -> float:
    return fmean(piece.top for piece in line)
