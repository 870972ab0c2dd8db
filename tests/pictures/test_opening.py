"""Pictures of every kind come out upright, in RGB and of a bounded size; what is wrong is refused."""

import base64
import hashlib
import random
import sys
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from PIL import Image, ImageColor

from chameleon.errors import InputError, MissingPackage
from chameleon.pictures.opening import Attachment, check_picture, read_picture
from tests.pictures.drawn import BLUE, RED, WHITE, colour_at, halves, near


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
