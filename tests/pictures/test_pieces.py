"""The order in which pieces of text are read."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.pictures.pieces import Piece, lines_of, rectangle, text_of


def piece(text: str, left: float, top: float, width: float = 20, height: float = 10) -> Piece:
    return Piece(text, rectangle(left, top, width, height), 0.9)


def read(*pieces: Piece) -> str:
    return text_of(lines_of(pieces))


def test_reads_lines_from_top_to_bottom_and_from_left_to_right() -> None:
    found = [piece("d", 50, 31), piece("b", 50, 2), piece("c", 0, 28), piece("a", 0, 0)]
    assert read(*found) == "a b\nc d"


def test_a_tall_piece_does_not_swallow_the_lines_beside_it() -> None:
    axis = piece("Precipitation (mm)", 0, 0, width=12, height=100)
    ticks = [piece(str(10 * number), 20, 95 - 15 * number) for number in range(1, 6)]
    assert read(*ticks, axis) == "Precipitation (mm)\n50\n40\n30\n20\n10"


def test_a_line_may_slope_a_little() -> None:
    assert read(*(piece(word, 30 * place, 2 * place) for place, word in enumerate("abcd"))) == "a b c d"


def test_a_piece_is_written_in_tenths_of_pixels_and_read_back() -> None:
    written = Piece("x", rectangle(0.44, 1.58, 10, 5), 0.123456).to_json()
    box = [[0.4, 1.6], [10.4, 1.6], [10.4, 6.6], [0.4, 6.6]]
    assert written == {"text": "x", "box": box, "confidence": 0.123}
    assert Piece.from_json(written).to_json() == written


BOXES = st.lists(st.tuples(*[st.integers(0, 300)] * 2, *[st.integers(0, 90)] * 2), max_size=25)


@settings(max_examples=50)
@given(BOXES, st.integers(-50, 50))
def test_every_piece_is_read_once_and_lines_run_from_left_to_right(
    boxes: list[tuple[int, int, int, int]], shift: int
) -> None:
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
