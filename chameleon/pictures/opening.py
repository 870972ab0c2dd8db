"""Load pictures from files for modules: upright, in RGB, without transparency, with a bounded size."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from chameleon.errors import InputError, require
from chameleon.sandbox.bounded import called
from chameleon.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 256 << 20
"""Size of a file. Photographs take about 10 MB, TIFF scans about 100."""
MAX_PIXELS = 89_000_000
"""The size at which Pillow warns of decompression bombs: 256 MB unpacked."""
MAX_LENGTH = 65_535
"""Pixels per side, the limit of JPEG: scaling a longer, narrower picture takes gigabytes."""
MAX_SIDE = 4096
"""The longer side of a loaded picture, in pixels, unless the caller sets another."""

_WHITE_VALUES = (1.0, 255.0, 65535.0)  # possible values of white in deep grayscale
_LOST_BRIGHTNESS, _MIN_SEEN_SHARE = 192, 0.01
"""The brightness (of 255) from which pixels are lost on white, and the share of pixels that may be lost."""

_opening_lock = threading.Lock()
_safe_digests: set[bytes] = set()  # digests of pictures already unpacked safely in a separate process
_ADDRESS = re.compile(r"data:|[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # a `Path` keeps one slash of two


@dataclass(frozen=True)
class Picture:
    """A picture read from a file.

    Attributes:
        image: upright RGB, transparency filled with white or black, no side longer than requested.
        size: width and height of the original in pixels, upright, before scaling.
        digest: SHA-256 of the file in hexadecimal.
        format: the file's format, as Pillow calls it ("PNG", "JPEG", …).
    """

    image: Image
    size: tuple[int, int]
    digest: str
    format: str

    @property
    def scale(self) -> tuple[float, float]:
        """Return the factors from coordinates in `image` to those in the original: across, down."""
        return self.size[0] / self.image.width, self.size[1] / self.image.height


def read_picture(path: str | Path, *, max_side: int = MAX_SIDE) -> Picture:
    """Read a picture in any format that Pillow knows, its longer side at most `max_side` pixels.

    It is turned by its EXIF orientation, transparency becomes white (or black if all visible pixels are
    light), 16 bits become 8, and the first frame of an animation is taken. Addresses are never followed,
    and the file is first unpacked in a separate process, with limits on memory and seconds.

    Raises:
        InputError: if the file is missing, broken, cut off, too large or not a picture.
        MissingPackage: if Pillow is not installed.
    """
    data = check_picture(path)
    with opened(data, str(path)) as image:
        kind = image.format or "unknown"
        scaled, size = in_rgb(image, max_side)
    return Picture(scaled, size, hashlib.sha256(data).hexdigest(), kind)


def check_picture(path: str | Path) -> bytes:
    """Return the bytes of a picture. Raises the errors of `read_picture`, also for a wrong checksum."""
    require_pillow(str(path))
    data = _bytes_of(path)
    if (digest := hashlib.sha256(data).digest()) not in _safe_digests:
        list(called(unpacked, str(path), name=str(path), data=data))
        _safe_digests.add(digest)
    return data


def unpacked(data: bytes, where: str) -> Iterator[None]:
    """Unpack a picture, a JPEG at a fraction of its size: only this shows that a file is cut off."""
    with opened(data, where) as image:
        image.verify()
    with opened(data, where) as image:  # `verify` leaves a picture unusable
        image.draft(None, (64, 64))
        image.load()
    yield from ()


def is_address(place: str | Path) -> bool:
    """Return whether this names something on the web, or holds its own data, rather than a file."""
    return _ADDRESS.match(str(place)) is not None


def require_pillow(where: str = "") -> None:
    """Raise `MissingPackage` if Pillow is not installed; does not load it."""
    require("pillow", "pictures need", "pictures", module="PIL", where=where)


@dataclass(frozen=True)
class Attachment:
    """A picture in the form sent to a chat model."""

    data: bytes
    mime_type: str
    digest: str
    size: tuple[int, int]

    @classmethod
    def of(cls, picture: Picture) -> Attachment:
        """Encode photographs as JPEG and all else, such as drawings with text, as PNG."""
        packed, form = io.BytesIO(), "jpeg" if picture.format in ("JPEG", "MPO") else "png"
        picture.image.save(packed, form, quality=90)
        return cls(packed.getvalue(), f"image/{form}", picture.digest, picture.image.size)

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode("ascii")

    def __str__(self) -> str:
        """Return the reference to the picture used in logs, traces and the response store."""
        return f"[picture sha256:{self.digest} {self.size[0]}x{self.size[1]}]"


def _bytes_of(path: str | Path) -> bytes:
    """Read the whole file of a picture. Raises `InputError`."""
    where, file = str(path), Path(path)
    if is_address(where):
        what = "is an address, but images are read from files only"
        raise InputError(what, where=where[:80], hint="Download it first.")
    try:
        if not file.exists():
            raise InputError("there is no such file", where=where, hint="Check the path.")
        if not file.is_file():
            raise InputError("is not a file", where=where, hint="Give the path of one image.")
        if file.stat().st_size > MAX_BYTES:
            raise _too_large(f"has {file.stat().st_size / 1e6:,.0f} MB", where)
        return file.read_bytes()
    except OSError as problem:
        raise InputError(f"the image cannot be read: {problem}", where=where) from problem


@contextmanager
def opened(data: bytes, where: str, page: int = 0) -> Iterator[Image]:
    """Open a picture, or a page of it, and read its header.

    Whatever Pillow raises, now or later, becomes an `InputError`, and its warnings, which name installed
    files, are not printed. Only one picture is open at a time: large ones take a gigabyte each, and neither
    Python's warnings nor Pillow's search for its formats are thread-safe.
    """
    require("pillow", "pictures need", "pictures", module="PIL.Image", where=where, imports=True)
    from PIL import Image, UnidentifiedImageError

    try:
        with _opening_lock, warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="PIL")
            Image.init()
            formats = [name for name in Image.OPEN if name != "EPS"]  # Ghostscript would run it as a program
            with Image.open(io.BytesIO(data), formats=formats) as image:
                image.seek(page)
                if image.width * image.height > MAX_PIXELS or max(image.size) > MAX_LENGTH:
                    raise _too_large(f"has {image.width:,} × {image.height:,} pixels", where)
                yield image
    except (InputError, MemoryError):
        raise
    except UnidentifiedImageError:
        what = "is not an image, is in an unknown format, or is damaged"
        raise InputError(what, where=where, hint="Give a PNG, JPEG, GIF, WebP, BMP or TIFF file.") from None
    except Image.DecompressionBombError:
        raise _too_large(f"has more than {MAX_PIXELS / 1e6:.0f} million pixels", where) from None
    except Exception as problem:  # damaged files make Pillow raise errors without a common base class
        message = one_line(str(problem) or type(problem).__name__, 120)
        what, hint = f"the picture is damaged or cut off ({message})", "Save or download it again."
        raise InputError(what, where=where, hint=hint) from None


def _too_large(what: str, where: str) -> InputError:
    limits = f"{MAX_PIXELS / 1e6:.0f} million pixels, {MAX_LENGTH:,} a side and {MAX_BYTES >> 20} MB"
    hint = f"Scale it down below {limits}."
    return InputError(f"the picture {what}, too large to be unpacked safely", where=where, hint=hint)


def in_rgb(image: Image, max_side: int) -> tuple[Image, tuple[int, int]]:
    """Return an opened picture in the form modules see, and its size before scaling; close the original."""
    from PIL import Image as pillow
    from PIL import ImageOps

    size = image.size
    image.draft(None, (max_side, max_side))  # scales a JPEG down while unpacking
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    if (size[0] < size[1]) != (image.width < image.height):  # Pillow may turn a TIFF's size itself
        size = size[::-1]
    tops = _WHITE_VALUES[-1:] if image.mode.startswith("I;16") else _WHITE_VALUES
    is_deep = image.mode == "F" or image.mode.startswith("I")
    mode = "RGBA" if image.has_transparency_data else "F" if is_deep else "RGB"
    if image.mode != mode:
        original, image = image, image.convert(mode)
        original.close()  # two copies of a large one do not fit in memory
    if mode == "F":  # deep grayscale; the lightest pixel decides which value is white
        low, high = cast("tuple[float, float]", image.getextrema())
        low, high = min(low, 0.0), next((top for top in tops if high <= top), high)
        factor = 255.0 / (high - low)
        image = image.point(lambda value: value * factor - low * factor)
    image.thumbnail((max_side, max_side))
    if mode == "RGBA":
        image = pillow.alpha_composite(pillow.new("RGBA", image.size, _ground(image)), image)
    return image.convert("L" if mode == "F" else "RGB").convert("RGB"), size


def _ground(layer: Image) -> str:
    """Return the color behind transparency: white, or black if almost nothing would be visible on white."""
    visible = layer.getchannel("A").point(lambda alpha: 255 if alpha >= 128 else 0)
    shades = layer.convert("RGB").convert("L").histogram(visible)
    seen_on_white, visible_at_all = sum(shades[:_LOST_BRIGHTNESS]), sum(shades)
    lost = visible_at_all > 0 and seen_on_white <= _MIN_SEEN_SHARE * visible_at_all
    return "black" if lost else "white"
