"""Small pictures that tests make and save."""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

RED, BLUE, WHITE, BLACK = (255, 0, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)


def halves(width: int = 40, height: int = 20, left: Any = RED, right: Any = BLUE) -> Image.Image:
    image = Image.new("RGB", (width, height), right)
    image.paste(left, (0, 0, width // 2, height))
    return image


def colour_at(image: Image.Image, across: float, down: float) -> tuple[int, int, int]:
    found = image.getpixel((int(across * image.width), int(down * image.height)))
    assert isinstance(found, tuple)
    return found  # type: ignore[return-value]


def near(found: Sequence[float], wanted: Sequence[float], off: float = 12) -> bool:
    return all(abs(a - b) <= off for a, b in zip(found, wanted, strict=True))


def text_picture(path: Path, words: dict[tuple[int, int], str], size: tuple[int, int] = (420, 160)) -> Path:
    image = Image.new("RGB", size, WHITE)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=26)
    for place, text in words.items():
        draw.text(place, text, BLACK, font=font)
    image.save(path)
    return path


def png(width: int, height: int, colour: int | None = None) -> bytes:
    """A PNG whose header promises that many pixels; it holds them where they are few or in colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, colour or 0, 0, 0, 0)
    held = height if colour or width * height < 10**6 else 0
    row = b"\0" + b"\xff" * min(width, 10**6) * {None: 1, 6: 4}[colour]
    pack = zlib.compressobj(1)
    rows = b"".join(pack.compress(row) for _ in range(held)) + pack.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
