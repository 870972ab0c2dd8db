"""Lines of pieces of text: in reading order, as on the level page where it is tilted, or not to be told."""

from importlib.util import find_spec
from itertools import pairwise, product
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


def piece(text: str, left: float, top: float, width: float = 20, height: float = 10) -> Piece:
    return Piece(text, rectangle(left, top, width, height), 0.9)


def read(*pieces: Piece) -> str:
    return text_of(lines_of(pieces))


def test_lines_run_down_and_right_may_slope_and_tall_pieces_swallow_none() -> None:
    found = [piece("d", 50, 31), piece("b", 50, 2), piece("c", 0, 28), piece("a", 0, 0)]
    assert read(*found) == "a b\nc d"
    axis = piece("Precipitation (mm)", 0, 0, width=12, height=100)
    ticks = [piece(str(10 * number), 20, 95 - 15 * number) for number in range(1, 6)]
    assert read(*ticks, axis) == "Precipitation (mm)\n50\n40\n30\n20\n10"
    assert read(*(piece(word, 30 * place, 2 * place) for place, word in enumerate("abcd"))) == "a b c d"
    written = Piece("x", rectangle(0.44, 1.58, 10, 5), 0.123456).to_json()
    box = [[0.4, 1.6], [10.4, 1.6], [10.4, 6.6], [0.4, 6.6]]
    assert written == {"text": "x", "box": box, "confidence": 0.123}
    assert Piece.from_json(written).to_json() == written


BOXES = st.lists(st.tuples(*[st.integers(0, 300)] * 2, *[st.integers(0, 90)] * 2), max_size=25)


@settings(max_examples=50)
@given(BOXES, st.integers(-50, 50))
def test_every_piece_is_read_once(boxes: list[tuple[int, int, int, int]], shift: int) -> None:
    pieces = [piece(str(number), *box) for number, box in enumerate(boxes)]
    lines = lines_of(pieces)
    assert sorted(p.text for line in lines for p in line) == sorted(p.text for p in pieces)
    assert all(p.left <= q.left for line in lines for p, q in pairwise(line))
    assert read(*reversed(pieces)) == text_of(lines)
    moved = [piece(p.text, p.left + shift, p.top, *boxes[int(p.text)][2:]) for p in pieces]
    assert read(*moved) == text_of(lines)


@settings(max_examples=50)
@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_table_is_read_row_by_row(rows: int, columns: int, chance: Random) -> None:
    places = product(range(rows), range(columns))
    cells = [piece(f"{row}{place}", 40 * place, 20 * row + chance.randint(-2, 2)) for row, place in places]
    wanted = "\n".join(" ".join(f"{row}{column}" for column in range(columns)) for row in range(rows))
    chance.shuffle(cells)
    assert read(*cells) == wanted


ROWS = [("Bread", "4.20"), ("Apple cake", "3.10"), ("VAT 10%", "0.73"), ("Total", "8.03"), ("Cash", "10.00")]
TEXT = "\n".join(" ".join(row) for row in ROWS)
TOTAL = {"question": "What is the total?"}


def receipt(gap: float = 460) -> list[Piece]:
    placed = ((40 * n, *each) for n, row in enumerate(ROWS) for each in zip((0, gap), row, strict=True))
    return [piece(text, left, top, 12 * len(text), 24) for top, left, text in placed]


def cache_of(pieces: list[Piece]) -> dict[str, object]:
    boxes = [piece.to_json() for line in lines_of(pieces) for piece in line]
    return dict(TextDetector("rapidocr").update_cache({}, boxes))


@settings(max_examples=25)
@given(st.floats(-40, 40), st.floats(100, 700), st.randoms(use_true_random=False))
def test_a_turned_receipt_is_read_row_by_row(angle: float, gap: float, chance: Random) -> None:
    pieces = [piece.turned(angle, (200, 90)) for piece in receipt(gap)]
    chance.shuffle(pieces)
    assert tilt_of(pieces).angle == pytest.approx(angle)
    cache = cache_of(pieces)
    assert cache["detected_text"] == TEXT
    assert LabelReader().run(State(input=TOTAL, cache=cache))["answer"] == "8.03"


@settings(max_examples=25)
@given(st.floats(-20, 20), st.lists(st.floats(-1, 1), min_size=10, max_size=10))
def test_pieces_that_are_tilted_differently_do_not_part_lines(angle: float, noise: list[float]) -> None:
    pieces = (p.at(off).turned(angle, (0, 0)) for p, off in zip(receipt(200), noise, strict=True))
    assert read(*pieces) == TEXT


@settings(max_examples=25)
@given(st.floats(-20, 20), st.integers(4, 12), st.randoms(use_true_random=False))
def test_where_angles_scatter_lines_cannot_be_told(angle: float, spread: int, chance: Random) -> None:
    pieces = [p.at(spread * (number % 3 - 1)).turned(angle, (0, 0)) for number, p in enumerate(receipt())]
    chance.shuffle(pieces)
    lines = lines_of(pieces)
    assert not lines_are_told(lines) or all(len(line) == 1 for line in lines)
    cache = cache_of(pieces)
    with pytest.raises(Declined):
        LabelReader().run(State(input=TOTAL, cache=cache))
    if not lines_are_told(lines):
        told = str(cache["detected_text"]).split("\n")
        assert told[0] == UNTOLD and sorted(told[1:]) == sorted(piece.text for piece in pieces)


def test_the_tilt_is_measured_in_pixels_and_letters_alone_do_not_tell_it() -> None:
    def magnets(left: float, top: float) -> list[Piece]:
        return [piece(pole, left + 60 * n, top, 12, 16) for n, pole in enumerate("NSNS")]

    assert cache_of(magnets(0, 0))["detected_text"] == "N S N S"
    three = magnets(0, 0) + magnets(400, 0) + magnets(0, 20)
    assert str(cache_of(three)["detected_text"]).startswith(UNTOLD)
    for angle in (-25, -6, 0, 4, 20):
        page = Image.new("RGB", (420, 420), "white")
        ImageDraw.Draw(page).text((60, 190), "Subtotal 123.45", "black", ImageFont.load_default(size=30))
        page = page.rotate(-angle, Image.Resampling.BICUBIC, fillcolor="white")
        ink = page.convert("L").point(lambda value: 255 * (value < 128))
        left, top, right, bottom = ink.getbbox() or (0,) * 4
        upright = piece("Subtotal 123.45", left, top, right - left, bottom - top)
        (found,) = measured(page, [upright])
        assert found.angle == pytest.approx(angle, abs=0.5)
        assert found.middle == pytest.approx(upright.middle)


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
