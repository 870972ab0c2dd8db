"""Tesseract, the program that Debian and others package: asked for words, and asked again for each piece."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chameleon.errors import InventoryError, MissingPackage, ModuleError
from chameleon.pictures.pieces import UNREAD, Piece, rectangle
from chameleon.pictures.tilt import cut_out, ground_of
from chameleon.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

_SECONDS = 60.0
_WORD = "5"  # the level of a row that holds a word
_SPARSE = "11"  # text here and there, as in diagrams and maps, in place of a page
_LINE = "7"  # a single line
_BESIDE, _ABOVE, _GAP = 1.7, 0.35, 0.15
"""How much around a piece is looked at, and how far its own ink goes beyond its box, in its heights."""
_RULE = 0.9  # the part of a column's height that is ink in a rule; a letter's is six tenths
_HIGH, _EDGE = 32, 10  # pixels: low text is enlarged to so many, and so many are left around it


class TesseractEngine:
    """Reads printed text; `languages` are Tesseract's codes, by default English ("eng")."""

    hint = "apt-get install tesseract-ocr"

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self._languages = "+".join(languages) or "eng"

    @classmethod
    def check(cls, languages: Sequence[str]) -> None:
        """Raise `MissingPackage` where it is not installed, `InventoryError` for languages that it lacks."""
        if shutil.which("tesseract") is None:
            raise MissingPackage("the text engine tesseract needs the program tesseract", hint=cls.hint)
        known = set(_said("--list-langs").splitlines()[1:])  # the first line says where they lie
        if unknown := sorted({part for code in languages or ["eng"] for part in code.split("+")} - known):
            raise InventoryError(
                f"languages has {', '.join(unknown)}, which tesseract does not have here",
                hint=f"It has {one_line(', '.join(sorted(known)), 400)}.",
            )

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"tesseract": _said("--version").partition("\n")[0].removeprefix("tesseract").strip()}

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in a picture in RGB, in no particular order. Raise `ModuleError`."""
        packed = io.BytesIO()
        image.save(packed, "PNG", compress_level=1)
        return pieces_in(self._table(packed.getvalue(), _SPARSE))

    def confirmed(self, image: Image, pieces: Sequence[Piece]) -> list[Piece]:
        """Read each piece of a level picture once more, with what is beside it and belongs to no other.

        Return the pieces, without the text of those that are read otherwise or go on.
        """
        grey = image.convert("L")
        ground = ground_of(grey)
        strips = [_Strip(grey, ground, piece, pieces) for piece in pieces]
        again = [""] * len(strips)
        if strips:
            packed, (first, *others) = io.BytesIO(), [strip.enlarged(ground) for strip in strips]
            first.save(
                packed, "TIFF", save_all=True, append_images=others
            )  # each start takes longer than a line
            for (page, *_), word in _words(self._table(packed.getvalue(), _LINE)):
                again[int(page) - 1] += word.text
        return [
            piece
            if _plain(text) == _plain(piece.text) and not strip.has_more()
            else replace(piece, text=UNREAD)
            for piece, strip, text in zip(pieces, strips, again, strict=True)
        ]

    def _table(self, picture: bytes, layout: str) -> str:
        return _said("stdin", "stdout", "-l", self._languages, "--psm", layout, "tsv", given=picture)


def pieces_in(table: str) -> list[Piece]:
    """Join words of a line in Tesseract's TSV that stand no further apart than they are high.

    The confidence of a piece is that of its least certain word. Raises `ModuleError` for a broken table.
    """
    pieces: list[list[Piece]] = []
    line_before = None
    for line, word in _words(table):
        last = pieces[-1][-1] if pieces else word
        if line == line_before and word.left - last.right <= max(last.height, word.height):
            pieces[-1].append(word)
        else:
            pieces.append([word])
        line_before = line
    found = []
    for words in pieces:
        left, top = min(word.left for word in words), min(word.top for word in words)
        right, bottom = max(word.right for word in words), max(word.bottom for word in words)
        box = rectangle(left, top, right - left, bottom - top)
        found.append(
            Piece(" ".join(word.text for word in words), box, min(word.confidence for word in words))
        )
    return found


def _words(table: str) -> Iterator[tuple[list[str], Piece]]:
    """Yield the words, each with the numbers of its page, block, paragraph and line."""
    for row in table.split("\n")[1:]:
        fields = row.rstrip("\r").split("\t", 11)
        if len(fields) < 12 or fields[0] != _WORD or not fields[11].strip():
            continue
        try:
            left, top, width, height = (int(field) for field in fields[6:10])
            confidence = float(fields[10]) / 100
        except ValueError:
            raise ModuleError(f"tesseract's table has the row {row[:80]!r}") from None
        if confidence >= 0:  # it marks what is no word with -1
            yield fields[1:5], Piece(fields[11].strip(), rectangle(left, top, width, height), confidence)


def _said(*arguments: str, given: bytes = b"") -> str:
    """Run the program and return what it writes. Raise `ModuleError`."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and nothing of the input is in the command
            [shutil.which("tesseract") or "tesseract", *arguments],
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads make small pictures slower
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModuleError(f"tesseract took longer than {_SECONDS:.0f} seconds") from None
    except OSError as problem:
        raise ModuleError(
            f"tesseract does not start: {problem}", hint="Install it anew: apt-get install tesseract-ocr."
        ) from problem
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ModuleError(
            f"tesseract failed: {said[-1][:200]}",
            hint="Check its language data: `tesseract --list-langs`.",
        )
    return (done.stdout or done.stderr).decode("utf-8", "replace")  # older ones write versions there


class _Strip:
    """A piece and its surroundings, cut out of a picture; other pieces and upright rules are painted over."""

    def __init__(self, grey: Image, ground: int, piece: Piece, pieces: Sequence[Piece]) -> None:
        self._high = piece.height
        left, top = piece.left - _BESIDE * piece.height, piece.top - _ABOVE * piece.height
        right, bottom = piece.right + _BESIDE * piece.height, piece.bottom + _ABOVE * piece.height
        self._cut = cut_out(grey, (int(left), int(top), int(right), int(bottom)), ground)
        for other in pieces:
            if other is not piece and (other.right < piece.left or other.left > piece.right):
                across, down = int(other.left - left) - 1, int(other.top - top) - 1
                wide, high = int(other.right - other.left) + 3, int(other.bottom - other.top) + 3
                self._cut.paste(ground, (across, down, across + wide, down + high))
        self._side = int((_BESIDE - _GAP) * piece.height)
        self._hide_rules(ground)

    def enlarged(self, ground: int) -> Image:
        """Return the strip as large as Tesseract reads well, with an edge around it."""
        from PIL import ImageOps

        times = max(1, _HIGH / max(1, self._high))
        return ImageOps.expand(ImageOps.scale(self._cut, times), _EDGE, ground)

    def has_more(self) -> bool:
        """Tell whether ink as high as letters, and no rule, stands beside the piece."""
        cut, ink, high = self._cut, self._ink(), self._high
        for left, right in self._sides():
            found = ink.crop((left, int((_ABOVE + 0.1) * high), right, int((_ABOVE + 0.75) * high))).getbbox()
            if found and found[2] - found[0] > 1 and found[3] - found[1] > 0.3 * high:
                whole = ink.crop((left + found[0], 0, left + found[2], cut.height)).getbbox()
                if whole and whole[3] - whole[1] < cut.height:  # a rule or a drawing goes on
                    return True
        return False

    def _hide_rules(self, ground: int) -> None:
        """Paint over the columns beside the piece that are ink from top to bottom: a frame reads as "|"."""
        high = self._cut.height
        columns = self._ink().reduce((1, high)).tobytes()
        for left, right in self._sides():
            for x in range(left, right):
                if columns[x] >= 255 * _RULE:
                    self._cut.paste(ground, (x - 1, 0, x + 2, high))

    def _ink(self) -> Image:
        values = self._cut.tobytes()
        half = (min(values) + max(values)) / 2
        is_dark = sorted(values)[len(values) // 2] > half
        return self._cut.point([255 * ((value < half) == is_dark) for value in range(256)])

    def _sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (0, self._side), (self._cut.width - self._side, self._cut.width)


def _plain(text: str) -> str:
    """Return text without spaces, capitals and leaders."""
    return re.sub(r"\s|\.+$", "", text).casefold()
