"""Tilted text: lines are made as on the level page, or it is said that they cannot be told."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from chameleon import Declined, State
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures.pieces import UNTOLD, Piece, lines_are_told, lines_of, rectangle, text_of, tilt_of
from chameleon.pictures.tilt import measured
from tests.pictures.tilted import DRAWINGS, NARROW, asked

ROWS = [("Bread", "4.20"), ("Apple cake", "3.10"), ("VAT 10%", "0.73"), ("Total", "8.03"), ("Cash", "10.00")]
TEXT = "\n".join(" ".join(row) for row in ROWS)


def receipt(*, gap: float = 460, pitch: float = 40) -> list[Piece]:
    return [
        Piece(text, rectangle(left, pitch * number, 12 * len(text), 24), 0.9)
        for number, row in enumerate(ROWS)
        for left, text in zip((0, gap), row, strict=True)
    ]


def cache_of(pieces: list[Piece]) -> dict[str, object]:
    boxes = [piece.to_json() for line in lines_of(pieces) for piece in line]
    return dict(TextDetector("rapidocr").update_cache({}, boxes))


@settings(max_examples=25)
@given(st.floats(-40, 40), st.floats(100, 700), st.randoms(use_true_random=False))
def test_a_turned_receipt_is_read_row_by_row(angle: float, gap: float, chance: Random) -> None:
    pieces = [piece.turned(angle, (200, 90)) for piece in receipt(gap=gap)]
    chance.shuffle(pieces)
    assert tilt_of(pieces).angle == pytest.approx(angle)
    cache = cache_of(pieces)
    assert cache["detected_text"] == TEXT
    state = State(input={"question": "What is the total?"}, cache=cache)
    assert LabelReader().run(state)["answer"] == "8.03"


@settings(max_examples=25)
@given(st.floats(-20, 20), st.lists(st.floats(-1, 1), min_size=10, max_size=10))
def test_pieces_that_are_tilted_a_little_differently_do_not_part_lines(
    angle: float, noise: list[float]
) -> None:
    pieces = [piece.at(off).turned(angle, (0, 0)) for piece, off in zip(receipt(gap=200), noise, strict=True)]
    assert text_of(lines_of(pieces)) == TEXT


@settings(max_examples=25)
@given(st.floats(-20, 20), st.integers(4, 12), st.randoms(use_true_random=False))
def test_where_angles_scatter_lines_cannot_be_told(angle: float, spread: int, chance: Random) -> None:
    pieces = [
        piece.at(spread * (number % 3 - 1)).turned(angle, (0, 0)) for number, piece in enumerate(receipt())
    ]
    chance.shuffle(pieces)
    lines = lines_of(pieces)
    assert not lines_are_told(lines) or all(len(line) == 1 for line in lines)
    cache = cache_of(pieces)
    state = State(input={"question": "What is the total?"}, cache=cache)
    with pytest.raises(Declined):
        LabelReader().run(state)
    if not lines_are_told(lines):
        told = str(cache["detected_text"]).split("\n")
        assert told[0] == UNTOLD and sorted(told[1:]) == sorted(piece.text for piece in pieces)


def test_letters_alone_do_not_tell_their_tilt_and_one_line_of_them_needs_none() -> None:
    def magnets(left: float, top: float) -> list[Piece]:
        return [Piece(pole, rectangle(left + 60 * n, top, 12, 16), 0.9) for n, pole in enumerate("NSNS")]

    assert cache_of(magnets(0, 0))["detected_text"] == "N S N S"
    three = magnets(0, 0) + magnets(400, 0) + magnets(0, 20)
    assert str(cache_of(three)["detected_text"]).startswith(UNTOLD)


def drawn_line(angle: float) -> tuple[Image.Image, Piece]:
    """A line of text in a picture, and the upright box around it."""
    page = Image.new("RGB", (420, 420), "white")
    ImageDraw.Draw(page).text((60, 190), "Subtotal 123.45", "black", ImageFont.load_default(size=30))
    page = page.rotate(-angle, Image.Resampling.BICUBIC, fillcolor="white")
    ink = page.convert("L").point(lambda value: 255 * (value < 128))
    left, top, right, bottom = ink.getbbox() or (0,) * 4
    return page, Piece("Subtotal 123.45", rectangle(left, top, right - left, bottom - top), 0.9)


@pytest.mark.parametrize("angle", [-25, -6, 0, 4, 20])
def test_the_tilt_is_measured_in_pixels(angle: float) -> None:
    page, piece = drawn_line(angle)
    (found,) = measured(page, [piece])
    assert found.angle == pytest.approx(angle, abs=0.5)
    assert found.middle == pytest.approx(piece.middle)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="rapidocr is not installed")
@pytest.mark.parametrize(("name", "angle"), [("menu", 5), ("park", -12), ("far", -1.5), ("salon", 2.5)])
def test_tilted_pictures_are_answered_rightly_or_declined(name: str, angle: float, tmp_path: Path) -> None:
    (drawing,) = (each for each in (*DRAWINGS, *NARROW) if each.name == name)
    cache, verdicts = asked(drawing, angle, tmp_path)
    assert not [each for each in verdicts if each[1] == "wrong"]
    if drawing in DRAWINGS:
        assert sum(verdict == "right" for _, verdict, _ in verdicts) * 2 > len(verdicts), verdicts
        rows = [" ".join(cell for cell in row if cell) for row in drawing.rows]
        lines = cache["detected_text"].replace("$ ", "$").split("\n")
        assert len(set(rows) & set(lines)) * 2 > len(rows)
