"""Tesseract: the program that Debian and others package, asked for its table of words."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chameleon.errors import ModuleError
from chameleon.pictures.pieces import Piece, rectangle

if TYPE_CHECKING:
    from PIL.Image import Image

_SECONDS = 60.0
_WORD = "5"  # the level of a row that holds a word
_SPARSE = "11"  # text here and there, as in diagrams and maps, in place of a page
_LINE = "7"  # a single line


class TesseractEngine:
    """Reads printed text; `languages` are Tesseract's codes, by default English ("eng")."""

    packages = ()

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self._languages = "+".join(languages) or "eng"
        self._program = _program()

    def read(self, image: Image) -> list[Piece]:
        """The pieces of text in a picture in RGB, in no particular order. Raises `ModuleError`."""
        packed = io.BytesIO()
        image.save(packed, "PNG", compress_level=1)
        return pieces_in(self._table(packed.getvalue(), _SPARSE))

    def read_lines(self, strips: Sequence[Image]) -> list[str]:
        """The text of each picture of a single line. Raises `ModuleError`."""
        if not strips:
            return []
        packed = io.BytesIO()  # one call for all: each start takes longer than a line
        strips[0].save(packed, "TIFF", save_all=True, append_images=strips[1:])
        texts: list[list[str]] = [[] for _ in strips]
        for word in _words(self._table(packed.getvalue(), _LINE)):
            texts[int(word.line[0]) - 1].append(word.text)
        return [" ".join(words) for words in texts]

    def _table(self, picture: bytes, layout: str) -> str:
        command = [self._program, "stdin", "stdout", "-l", self._languages, "--psm", layout, "tsv"]
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and nothing of the input is in the command
                command,
                input=picture,
                capture_output=True,
                timeout=_SECONDS,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads make small pictures slower
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ModuleError(f"tesseract took longer than {_SECONDS:.0f} seconds") from None
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise ModuleError(
                f"tesseract failed: {said[-1][:200]}",
                hint=f"Check its language data for {self._languages}: `tesseract --list-langs`.",
            )
        return done.stdout.decode("utf-8", "replace")


def installed_languages() -> set[str]:
    """The codes of the language data that are installed. Raises `ModuleError` when it does not start."""
    return set(_said("--list-langs").splitlines()[1:])  # the first line says where they lie


def installed_version() -> str:
    """As it says itself. Raises `ModuleError` when it does not start."""
    return _said("--version").partition("\n")[0].removeprefix("tesseract").strip()


def _said(option: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - no shell
            [_program(), option], capture_output=True, timeout=_SECONDS, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise ModuleError(
            f"tesseract does not start: {problem}", hint="Install it anew: apt-get install tesseract-ocr."
        ) from problem
    return done.stdout or done.stderr  # older ones write it there


def _program() -> str:
    program = shutil.which("tesseract")
    assert program is not None, "the caller has looked for it"
    return program


@dataclass(frozen=True)
class _Word:
    line: tuple[str, ...]
    left: int
    top: int
    width: int
    height: int
    confidence: float
    text: str


def pieces_in(table: str) -> list[Piece]:
    """The pieces of text in Tesseract's TSV: words of a line that stand no further apart than they are high.

    The confidence of a piece is that of its least certain word. Raises `ModuleError` for a broken table.
    """
    pieces: list[list[_Word]] = []
    for word in _words(table):
        last = pieces[-1][-1] if pieces else None
        near = last is not None and word.left - (last.left + last.width) <= max(last.height, word.height)
        if last is not None and near and last.line == word.line:
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return [_joined(words) for words in pieces]


def _words(table: str) -> list[_Word]:
    words = []
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
            line = tuple(fields[1:5])
            words.append(_Word(line, left, top, width, height, confidence, fields[11].strip()))
    return words


def _joined(words: Sequence[_Word]) -> Piece:
    left, top = min(word.left for word in words), min(word.top for word in words)
    right = max(word.left + word.width for word in words)
    bottom = max(word.top + word.height for word in words)
    box = rectangle(left, top, right - left, bottom - top)
    return Piece(" ".join(word.text for word in words), box, min(word.confidence for word in words))
