"""Pictures in files, as modules see them: upright, in RGB, without transparency, of a bounded size."""

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
"""Of a file. Photographs have some 10 MB, scans in TIFF some 100."""
MAX_PIXELS = 89_000_000
"""Where Pillow begins to warn of decompression bombs: 256 MB once they are unpacked."""
MAX_LENGTH = 65_535
"""Of a side in pixels, JPEG's own bound: to scale what is longer and narrower takes gigabytes."""
MAX_SIDE = 4096
"""The longer side of a loaded picture, in pixels, unless the caller says otherwise."""

_TOPS = (1.0, 255.0, 65535.0)  # what is white in deep grey
_BRIGHT, _NEXT_TO_NOTHING = 192, 0.01
"""From which brightness, of 255, pixels are lost on white, and what part of them is too few to matter."""

_opening = threading.Lock()
_harmless: set[bytes] = set()  # digests of what was unpacked in a process of its own
_ADDRESS = re.compile(r"data:|[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # a `Path` keeps one slash of two


@dataclass(frozen=True)
class Picture:
    """A picture that was read from a file.

    - `image`: upright, in RGB, transparency laid on white or black, no side longer than was asked for.
    - `size`: width and height of the original in pixels, upright, before it was scaled down.
    - `digest`: SHA-256 of the file in hexadecimal digits.
    - `format`: the file's, as Pillow calls it ("PNG", "JPEG", …).
    """

    image: Image
    size: tuple[int, int]
    digest: str
    format: str

    @property
    def scale(self) -> tuple[float, float]:
        """Return what makes coordinates in `image` those of the original: across, down."""
        return self.size[0] / self.image.width, self.size[1] / self.image.height


def read_picture(path: str | Path, *, max_side: int = MAX_SIDE) -> Picture:
    """Read a picture of any format that Pillow knows, its longer side at most `max_side` pixels.

    It is turned as its EXIF orientation says, transparency becomes white, or black where all that is
    visible is light, 16 bits become 8, and of an animation the first frame is taken. Addresses are never
    followed, and all is unpacked in a process of its own first, with bounds on memory and seconds.

    Raises:
        InputError: names the file; it is missing, broken, cut off, no picture or too large.
        MissingPackage: Pillow is not installed.
    """
    data = check_picture(path)
    with opened(data, str(path)) as image:
        kind = image.format or "unknown"
        shown, size = in_rgb(image, max_side)
    return Picture(shown, size, hashlib.sha256(data).hexdigest(), kind)


def check_picture(path: str | Path) -> bytes:
    """Return the bytes of a picture. Raise what `read_picture` would raise, and for a wrong checksum."""
    require_pillow(str(path))
    data = _bytes_of(path)
    if (digest := hashlib.sha256(data).digest()) not in _harmless:
        list(called(unpacked, str(path), name=str(path), data=data))
        _harmless.add(digest)
    return data


def unpacked(data: bytes, where: str) -> Iterator[None]:
    """Unpack a picture, a JPEG at a fraction of its size: nothing less shows that one is cut off."""
    with opened(data, where) as image:
        image.verify()
    with opened(data, where) as image:  # a picture that was verified cannot be unpacked any more
        image.draft(None, (64, 64))
        image.load()
    yield from ()


def is_address(place: str | Path) -> bool:
    """Tell whether this names something on the web, or holds its own data, rather than a file."""
    return _ADDRESS.match(str(place)) is not None


def require_pillow(where: str = "") -> None:
    """Raise `MissingPackage` when Pillow is not installed; it is not loaded."""
    require("pillow", "pictures need", "pictures", module="PIL", where=where)


@dataclass(frozen=True)
class Attachment:
    """A picture as it is sent to a chat model."""

    data: bytes
    mime_type: str
    digest: str
    size: tuple[int, int]

    @classmethod
    def of(cls, picture: Picture) -> Attachment:
        """Pack photographs as JPEG, and everything else, such as drawings with text, as PNG."""
        packed, form = io.BytesIO(), "jpeg" if picture.format in ("JPEG", "MPO") else "png"
        picture.image.save(packed, form, quality=90)
        return cls(packed.getvalue(), f"image/{form}", picture.digest, picture.image.size)

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode("ascii")

    def __str__(self) -> str:
        """Return the reference that stands for the picture in logs, traces and the response store."""
        return f"[picture sha256:{self.digest} {self.size[0]}x{self.size[1]}]"


def _bytes_of(path: str | Path) -> bytes:
    """Read a file that is to hold a picture as a whole. Raise `InputError`."""
    where, file = str(path), Path(path)
    if is_address(where):
        what = "is an address, and pictures are read from files only"
        raise InputError(what, where=where[:80], hint="Download it first.")
    try:
        if not file.exists():
            raise InputError("there is no such picture", where=where, hint="Check the path.")
        if not file.is_file():
            raise InputError("is not a file", where=where, hint="Give the path of one picture.")
        if file.stat().st_size > MAX_BYTES:
            raise _too_large(f"has {file.stat().st_size / 1e6:,.0f} MB", where)
        return file.read_bytes()
    except OSError as problem:
        raise InputError(f"the picture cannot be read: {problem}", where=where) from problem


@contextmanager
def opened(data: bytes, where: str, page: int = 0) -> Iterator[Image]:
    """Unpack the header of a picture, or of a page of it.

    Whatever Pillow raises, then or later, becomes an `InputError`, and its warnings, which name files of the
    installation, are not printed. One picture is open at a time: large ones take a gigabyte each, and neither
    Python's warnings nor Pillow's search for its formats are made for threads.
    """
    require("pillow", "pictures need", "pictures", module="PIL.Image", where=where, imports=True)
    from PIL import Image, UnidentifiedImageError

    try:
        with _opening, warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="PIL")
            Image.init()
            formats = [name for name in Image.OPEN if name != "EPS"]  # a program, which Ghostscript would run
            with Image.open(io.BytesIO(data), formats=formats) as image:
                image.seek(page)
                if image.width * image.height > MAX_PIXELS or max(image.size) > MAX_LENGTH:
                    raise _too_large(f"has {image.width:,} × {image.height:,} pixels", where)
                yield image
    except (InputError, MemoryError):
        raise
    except UnidentifiedImageError:
        what = "is no picture, or one of an unknown format or damaged from its beginning"
        hint = "Give a PNG, JPEG, GIF, WebP, BMP or TIFF file."
        raise InputError(what, where=where, hint=hint) from None
    except Image.DecompressionBombError:
        raise _too_large(f"has more than {MAX_PIXELS / 1e6:.0f} million pixels", where) from None
    except Exception as problem:  # Pillow names no base class for what damaged files make it raise
        said = one_line(str(problem) or type(problem).__name__, 120)
        what, hint = f"the picture is damaged or cut off ({said})", "Save or download it again."
        raise InputError(what, where=where, hint=hint) from None


def _too_large(what: str, where: str) -> InputError:
    most = f"{MAX_PIXELS / 1e6:.0f} million pixels, {MAX_LENGTH:,} a side and {MAX_BYTES >> 20} MB"
    hint = f"Scale it down below {most}."
    return InputError(f"the picture {what}, too large to be unpacked safely", where=where, hint=hint)


def in_rgb(image: Image, max_side: int) -> tuple[Image, tuple[int, int]]:
    """Return an opened picture as modules see it, and its size before it was scaled down; close it."""
    from PIL import Image as pillow
    from PIL import ImageOps

    size = image.size
    image.draft(None, (max_side, max_side))  # a JPEG is scaled down while it is unpacked
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    if (size[0] < size[1]) != (image.width < image.height):  # Pillow turns a TIFF's size by itself
        size = size[::-1]
    tops = _TOPS[-1:] if image.mode.startswith("I;16") else _TOPS
    is_deep = image.mode == "F" or image.mode.startswith("I")
    mode = "RGBA" if image.has_transparency_data else "F" if is_deep else "RGB"
    if image.mode != mode:
        whole, image = image, image.convert(mode)
        whole.close()  # of a large one there is no room for both
    if mode == "F":  # deep grey; what is white is told by the lightest
        least, most = cast("tuple[float, float]", image.getextrema())
        least, most = min(least, 0.0), next((top for top in tops if most <= top), most)
        factor = 255.0 / (most - least)
        image = image.point(lambda value: value * factor - least * factor)
    image.thumbnail((max_side, max_side))
    if mode == "RGBA":
        image = pillow.alpha_composite(pillow.new("RGBA", image.size, _ground(image)), image)
    return image.convert("L" if mode == "F" else "RGB").convert("RGB"), size


def _ground(layer: Image) -> str:
    """Return what transparency is laid on: white, or black where next to nothing would be seen on white."""
    visible = layer.getchannel("A").point(lambda alpha: 255 if alpha >= 128 else 0)
    shades = layer.convert("RGB").convert("L").histogram(visible)
    seen_on_white, visible_at_all = sum(shades[:_BRIGHT]), sum(shades)
    lost = visible_at_all > 0 and seen_on_white <= _NEXT_TO_NOTHING * visible_at_all
    return "black" if lost else "white"
