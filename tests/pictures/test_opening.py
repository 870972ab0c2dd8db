"""Pictures come out upright, in RGB and bounded; lines of pieces of text are read in order, or not told."""

import base64
import hashlib
import random
import sys
from functools import partial
from importlib.util import find_spec
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageColor, ImageDraw, ImageFont

from chameleon import Declined, State
from chameleon.errors import InputError, MissingPackage
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures import opening
from chameleon.pictures.engines import read_lines
from chameleon.pictures.opening import Attachment, check_picture, read_picture
from chameleon.pictures.pieces import (
    UNCLEAR,
    UNREAD,
    Piece,
    lines_are_clear,
    lines_of,
    rectangle,
    text_of,
    tilt_of,
)  # fmt: skip
from chameleon.pictures.tilt import measured
from chameleon.sandbox.bounded import Bounds
from tests.pictures.drawn import BLUE, RED, WHITE, colour_at, halves, near
from tests.pictures.tilted import DRAWINGS, NARROW, asked


def read(path: Path | str) -> Image.Image:
    return read_picture(path).image


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "tga", "pcx", "ico"])
def test_reads_common_formats_and_refuses_those_cut_off_or_damaged(suffix: str, tmp_path: Path) -> None:
    path, damaged = tmp_path / f"halves.{suffix}", tmp_path / "damaged"
    halves(64, 64).save(path)
    image = read(path)
    assert (image.mode, image.size) == ("RGB", (64, 64))
    assert near(colour_at(image, 0.2, 0.5), RED) and near(colour_at(image, 0.8, 0.5), BLUE)
    chance = random.Random(4)
    noise = Image.frombytes("RGB", (64, 64), chance.randbytes(64 * 64 * 3))
    noise.save(path)
    whole = path.read_bytes()
    for kept in (30, 60, 95) if suffix != "ico" else ():
        damaged.write_bytes(whole[: len(whole) * kept // 100])
        with pytest.raises(InputError, match="damaged"):
            check_picture(damaged)
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        damaged.write_bytes(data)
        try:
            assert read(damaged).mode == "RGB"
        except InputError as problem:
            assert "damaged" in str(problem)


def test_turns_pictures_as_their_exif_says(tmp_path: Path) -> None:
    upright = halves(40, 20, WHITE, WHITE)
    upright.paste(RED, (0, 0, 20, 10))
    upright.paste(BLUE, (20, 0, 40, 10))
    ways = (None, *(Image.Transpose(way) for way in (0, 3, 1, 5, 2, 6, 4)))
    for (orientation, undo), suffix in product(enumerate(ways, 1), ("png", "tiff")):
        exif, path = Image.Exif(), tmp_path / f"turned.{suffix}"
        exif[0x0112] = orientation
        (upright if undo is None else upright.transpose(undo)).save(path, exif=exif)
        picture = read_picture(path)
        assert picture.size == picture.image.size == (40, 20)
        assert colour_at(picture.image, 0.2, 0.2) == RED and colour_at(picture.image, 0.8, 0.2) == BLUE
        assert colour_at(picture.image, 0.2, 0.8) == WHITE


def test_lays_transparency_on_a_ground_and_takes_the_first_frame(tmp_path: Path) -> None:
    rgba = Image.new("RGBA", (10, 10), (*RED, 0))
    rgba.paste((*BLUE, 255), (0, 0, 5, 10))
    rgba.save(tmp_path / "rgba.png")
    palette = Image.new("P", (10, 10), 0)
    palette.putpalette([*RED, *BLUE])
    palette.paste(1, (0, 0, 5, 10))
    palette.save(tmp_path / "palette.png", transparency=0)
    for name in ("rgba.png", "palette.png"):
        image = read(tmp_path / name)
        assert colour_at(image, 0.2, 0.5) == BLUE and colour_at(image, 0.8, 0.5) == WHITE, name
    Image.new("LA", (10, 10), (0, 0)).save(tmp_path / "la.png")
    Image.new("RGB", (10, 10), RED).save(tmp_path / "key.png", transparency=RED)
    for name in ("la.png", "key.png"):
        assert colour_at(read(tmp_path / name), 0.5, 0.5) == WHITE
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, BLUE)]
    for name in ("moving.gif", "moving.png", "moving.webp"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:], lossless=True)
        assert near(colour_at(read(tmp_path / name), 0.5, 0.5), RED), name
    for drawn, ground in {"white": "black", "yellow": "black", "red": "white", "black": "white"}.items():
        layer = Image.new("RGBA", (100, 50), (255, 255, 255, 0))
        layer.paste(drawn, (10, 10, 40, 20))
        layer.save(tmp_path / "layer.png")
        assert read(tmp_path / "layer.png").getpixel((80, 40)) == ImageColor.getrgb(ground), drawn
        layer.paste("black", (60, 30, 70, 40))  # dark and light keep the ground that most programs show
        layer.save(tmp_path / "layer.png")
        assert read(tmp_path / "layer.png").getpixel((80, 40)) == WHITE


def test_brings_deep_grey_colours_for_print_and_huge_pictures_to_small_ones(tmp_path: Path) -> None:
    for mode, pixels, grey in (
        *((mode, [0, 32768, 65535], [0, 127, 255]) for mode in ("I;16", "I")),
        ("F", [0.0, 0.5, 1.0], [0, 127, 255]),
        ("F", [0.0, 127.0, 250.0], [0, 127, 250]),
        ("1", [0, 255, 255], [0, 255, 255]),
    ):
        image = Image.new(mode, (3, 1))
        for place, value in enumerate(pixels):
            image.putpixel((place, 0), value)
        image.save(tmp_path / "deep.tiff")
        found = read(tmp_path / "deep.tiff")
        assert [found.getpixel((place, 0))[0] for place in range(3)] == pytest.approx(grey, abs=1)  # type: ignore[index]
    for suffix in ("jpg", "tiff"):
        Image.new("CMYK", (16, 16), (0, 255, 255, 0)).save(tmp_path / f"red.{suffix}")
        assert near(colour_at(read(tmp_path / f"red.{suffix}"), 0.5, 0.5), RED, off=40)
    for path in (tmp_path / "huge.jpg", tmp_path / "huge.png"):
        halves(3000, 1000).save(path)
        picture = read_picture(path, max_side=600)
        assert (picture.size, picture.image.size, picture.scale) == ((3000, 1000), (600, 200), (5.0, 5.0))
        assert near(colour_at(picture.image, 0.2, 0.5), RED) and near(
            colour_at(picture.image, 0.8, 0.5), BLUE
        )
        assert read_picture(path, max_side=4000).image.size == (3000, 1000)


def test_attachments_are_known_by_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halves().save(tmp_path / "a.png")
    halves(400, 300).save(tmp_path / "b.jpg")
    drawing, photograph = (Attachment.of(read_picture(tmp_path / name)) for name in ("a.png", "b.jpg"))
    digest = hashlib.sha256((tmp_path / "a.png").read_bytes()).hexdigest()
    assert str(drawing) == f"[picture sha256:{digest} 40x20]"
    assert (drawing.mime_type, photograph.mime_type) == ("image/png", "image/jpeg")
    assert base64.b64decode(drawing.base64) == drawing.data and drawing.data.startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackage, match=r"pip install .*\[pictures\]"):
        read_picture(tmp_path / "a.png")


def piece(text: str, left: float, top: float, width: float = 20, height: float = 10) -> Piece:
    return Piece(text, rectangle(left, top, width, height), 0.9)


def lined(*pieces: Piece) -> str:
    return text_of(lines_of(pieces))


def test_lines_run_down_and_right_may_slope_and_tall_pieces_swallow_none() -> None:
    found = [piece("d", 50, 31), piece("b", 50, 2), piece("c", 0, 28), piece("a", 0, 0)]
    assert lined(*found) == "a b\nc d"
    axis = piece("Precipitation (mm)", 0, 0, width=12, height=100)
    ticks = [piece(str(10 * number), 20, 95 - 15 * number) for number in range(1, 6)]
    assert lined(*ticks, axis) == "Precipitation (mm)\n50\n40\n30\n20\n10"
    assert lined(*(piece(word, 30 * place, 2 * place) for place, word in enumerate("abcd"))) == "a b c d"
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
    assert lined(*reversed(pieces)) == text_of(lines)
    moved = [piece(p.text, p.left + shift, p.top, *boxes[int(p.text)][2:]) for p in pieces]
    assert lined(*moved) == text_of(lines)


@settings(max_examples=50)
@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_table_is_read_row_by_row(rows: int, columns: int, chance: Random) -> None:
    places = product(range(rows), range(columns))
    cells = [piece(f"{row}{place}", 40 * place, 20 * row + chance.randint(-2, 2)) for row, place in places]
    wanted = "\n".join(" ".join(f"{row}{column}" for column in range(columns)) for row in range(rows))
    chance.shuffle(cells)
    assert lined(*cells) == wanted


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
    assert lined(*pieces) == TEXT


@settings(max_examples=25)
@given(st.floats(-20, 20), st.integers(4, 12), st.randoms(use_true_random=False))
def test_where_angles_scatter_lines_cannot_be_told(angle: float, spread: int, chance: Random) -> None:
    pieces = [p.at(spread * (number % 3 - 1)).turned(angle, (0, 0)) for number, p in enumerate(receipt())]
    chance.shuffle(pieces)
    lines = lines_of(pieces)
    assert not lines_are_clear(lines) or all(len(line) == 1 for line in lines)
    cache = cache_of(pieces)
    with pytest.raises(Declined):
        LabelReader().run(State(input=TOTAL, cache=cache))
    if not lines_are_clear(lines):
        told = str(cache["detected_text"]).split("\n")
        assert told[0] == UNCLEAR and sorted(told[1:]) == sorted(piece.text for piece in pieces)


def test_the_tilt_is_measured_in_pixels_and_letters_alone_do_not_tell_it() -> None:
    def magnets(left: float, top: float) -> list[Piece]:
        return [piece(pole, left + 60 * n, top, 12, 16) for n, pole in enumerate("NSNS")]

    assert cache_of(magnets(0, 0))["detected_text"] == "N S N S"
    three = magnets(0, 0) + magnets(400, 0) + magnets(0, 20)
    assert str(cache_of(three)["detected_text"]).startswith(UNCLEAR)
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


def test_a_picture_that_takes_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (4000, 4000)).save(tmp_path / "a.jpg", progressive=True)
    data = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(data[:-2] + data[data.rindex(b"\xff\xda") : -2] * 1_000 + data[-2:])
    monkeypatch.setattr(opening, "called", partial(opening.called, bounds=Bounds(part=0.3)))
    with pytest.raises(InputError, match=r"a\.jpg: reading it takes more than 0 seconds"):
        read_picture(tmp_path / "a.jpg")


def test_a_line_with_an_unreadable_word_keeps_the_others() -> None:
    class Engine:
        def read(self, image: Image.Image) -> list[Piece]:
            words = [("Pier", 0.9), ("3", 0.1), ("North", 0.9)]
            return [
                Piece(text, rectangle(10 + 60 * n, 10, 50, 20), sure) for n, (text, sure) in enumerate(words)
            ]

    [line] = read_lines(Engine(), Image.new("RGB", (300, 60), "white"))
    assert [piece.text for piece in line] == ["Pier", UNREAD, "North"]
