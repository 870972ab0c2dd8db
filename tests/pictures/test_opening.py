"""Pictures of every kind come out upright, in RGB and of a bounded size; what is wrong is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import random
import struct
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from PIL import Image, ImageColor

from chameleon.errors import InputError, MissingPackage
from chameleon.pictures import opening
from chameleon.pictures.opening import Attachment, check_picture, read_picture
from chameleon.sandbox.bounded import Bounds, called
from tests.pictures.drawn import BLUE, RED, WHITE, colour_at, halves, near, png


def read(path: Path | str) -> Image.Image:
    return read_picture(path).image


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "tga", "pcx", "ico"])
def test_reads_common_formats_and_refuses_those_cut_off_or_damaged(suffix: str, tmp_path: Path) -> None:
    path, damaged = tmp_path / f"halves.{suffix}", tmp_path / "damaged"
    halves(64, 64).save(path)
    image = read(path)
    assert (image.mode, image.size) == ("RGB", (64, 64))
    assert near(colour_at(image, 0.2, 0.5), RED) and near(colour_at(image, 0.8, 0.5), BLUE)
    whole, chance = path.read_bytes(), random.Random(4)
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        damaged.write_bytes(bytes(data[: chance.choice([len(data), len(data) // 2])]))
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


def test_a_picture_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    noise = Image.frombytes("RGB", (200, 150), random.Random(0).randbytes(90_000))
    for suffix in ("png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "tga", "jp2", "pcx"):
        noise.save(path := tmp_path / f"noise.{suffix}")
        whole = path.read_bytes()
        check_picture(path)
        for kept in (30, 60, 95):
            path.write_bytes(whole[: len(whole) * kept // 100])
            with pytest.raises(InputError, match=f"noise.{suffix}"):
                check_picture(path)


def test_refuses_broken_files_naming_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for name, why in {
        **dict.fromkeys(
            ("http://127.0.0.1/a.png", "file:///etc/hostname", "data:image/png;base64,AA"),
            r"is an address.*Download it first",
        ),
        **{"nul\0.png": "no such picture", str(tmp_path / "none.png"): "no such picture"},
        **{str(tmp_path): "not a file", str(tmp_path / "pipe.png"): "not a file"},
    }.items():
        with pytest.raises(InputError, match=why):
            read_picture(name)
    halves(200, 200).save(tmp_path / "whole.png")
    broken = bytearray(png(900, 900))
    broken[broken.index(b"IDAT") + 9] ^= 1
    for name, data, why in (
        ("empty.png", b"", "is no picture"),
        ("note.txt", b"Opens at 9.", "is no picture"),
        ("script.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n", "is no picture"),
        ("page.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is no picture"),
        ("checksum.png", bytes(broken), "damaged or cut off"),
        ("promises.png", png(5000, 5000), "damaged or cut off"),
        ("smaller.png", png(10_000, 9_500), "too large to be unpacked.*89 million"),
        ("long.png", png(1, 70_000), "1 × 70,000 pixels, too large.*65,535 a side"),
    ):
        (tmp_path / name).write_bytes(data)
        for look in (read_picture, check_picture):
            with pytest.raises(InputError, match=rf"{name}.*{why}") as caught:
                look(tmp_path / name)
            assert caught.value.hint
    monkeypatch.setattr(opening, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="too large"):
        read_picture(tmp_path / "whole.png")


def test_memory_and_time_are_bounded_and_a_corrupt_tiff_prints_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(png(65_535, 339, colour=6))
    found = called(sizes, str(tmp_path / "a.png"), name="a.png", bounds=Bounds(60, 60, 280_000_000))
    assert list(found) == [[64, 1]]
    exif = Image.Exif()
    exif[0x010E] = "a description"
    halves().save(tmp_path / "a.tiff", exif=exif)
    data = bytearray((tmp_path / "a.tiff").read_bytes())
    at = data.index(struct.pack("<HH", 0x010E, 2)) + 4
    data[at : at + 4] = struct.pack("<I", 1 << 20)  # its length
    (tmp_path / "a.tiff").write_bytes(data)
    with pytest.warns(UserWarning, match="Tag data larger"), Image.open(tmp_path / "a.tiff") as image:
        image.load()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert colour_at(read(tmp_path / "a.tiff"), 0.2, 0.5) == RED
    file = io.BytesIO()
    Image.new("L", (4000, 4000)).save(file, "JPEG", progressive=True)
    data = file.getvalue()
    (tmp_path / "a.jpg").write_bytes(data[:-2] + data[data.rindex(b"\xff\xda") : -2] * 1_000 + data[-2:])
    monkeypatch.setattr(opening, "called", partial(called, bounds=Bounds(part=0.3)))
    with pytest.raises(InputError, match=r"a\.jpg: reading it takes more than 0 seconds"):
        read(tmp_path / "a.jpg")


def sizes(path: str) -> Iterator[tuple[int, int]]:
    yield read_picture(path, max_side=64).image.size


def test_attachments_are_known_by_digest_without_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
