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
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, MissingPackage

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 256 << 20
"""Of a file. Photographs have some 10 MB, scans in TIFF some 100."""
MAX_PIXELS = 89_000_000
"""Where Pillow begins to warn of decompression bombs: 256 MB once they are unpacked."""
LARGEST = 4096
"""The longer side of a loaded picture, in pixels, unless the caller says otherwise."""

_GLANCE = 64
_BRIGHT, _NEXT_TO_NOTHING = 192, 0.01
"""From which brightness, of 255, pixels are lost on white, and what part of them is too few to matter."""

_opening = threading.Lock()
_ADDRESS = re.compile(r"data:|[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # a `Path` keeps one slash of two
_PROGRAMS = frozenset({"EPS"})  # PostScript is a program: Pillow would hand it to Ghostscript


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
        """What coordinates in `image` are multiplied by to be those of the original: across, down."""
        return self.size[0] / self.image.width, self.size[1] / self.image.height


def load_picture(path: str | Path, *, largest: int = LARGEST) -> Image:
    """The picture in a file as a Pillow image in RGB; see `read_picture`."""
    return read_picture(path, largest=largest).image


def read_picture(path: str | Path, *, largest: int = LARGEST) -> Picture:
    """Read a picture of any format that Pillow knows, its longer side at most `largest` pixels.

    It is turned as its EXIF orientation says, transparency becomes white, or black where all that is
    visible is light, 16 bits become 8, and of an animation the first frame is taken. Addresses are never
    followed. Raises `InputError` naming the file for one that is missing, broken, cut off, no picture or too
    large; `MissingPackage` without Pillow.
    """
    data = _bytes_of(path)
    where = str(path)
    with _opened(data, where) as image:
        _require_size(image, where)
        kind = image.format or "unknown"
        turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        size = (image.height, image.width) if turned else (image.width, image.height)
        image.draft(None, (largest, largest))  # a JPEG is scaled down while it is unpacked
        image.load()
        upright = _upright(_in_rgb(image), image)
        if max(upright.size) > largest:
            upright.thumbnail((largest, largest))
    return Picture(upright, size, hashlib.sha256(data).hexdigest(), kind)


@dataclass(frozen=True)
class Attachment:
    """A picture as it is sent to a chat model."""

    data: bytes
    mime_type: str
    digest: str
    size: tuple[int, int]

    @classmethod
    def of(cls, picture: Picture) -> Attachment:
        """Photographs are packed as JPEG, and everything else, such as drawings with text, as PNG."""
        packed = io.BytesIO()
        if picture.format in ("JPEG", "MPO"):
            picture.image.save(packed, "JPEG", quality=90)
            return cls(packed.getvalue(), "image/jpeg", picture.digest, picture.image.size)
        picture.image.save(packed, "PNG")
        return cls(packed.getvalue(), "image/png", picture.digest, picture.image.size)

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode("ascii")

    def __str__(self) -> str:
        """The reference that stands for the picture in logs, traces and the response store."""
        return f"[picture sha256:{self.digest} {self.size[0]}x{self.size[1]}]"


def check_picture(path: str | Path) -> None:
    """Raise what `read_picture` would raise, and for checksums that do not fit.

    The picture is unpacked once, a JPEG at a fraction of its size: nothing less shows that one is cut off.
    """
    data, where = _bytes_of(path), str(path)
    with _opened(data, where) as image:
        _require_size(image, where)
        image.verify()
    with _opened(data, where) as image:  # a picture that was verified cannot be unpacked any more
        image.draft(None, (_GLANCE, _GLANCE))
        image.load()


def is_address(place: str | Path) -> bool:
    """Whether this names something on the web, or holds its own data, rather than a file."""
    return _ADDRESS.match(str(place)) is not None


def require_pillow() -> None:
    """Raise `MissingPackage` when Pillow is not installed; it is not loaded."""
    from importlib.util import find_spec

    if find_spec("PIL") is None:
        raise _no_pillow()


def _bytes_of(path: str | Path) -> bytes:
    text = str(path)
    if is_address(text):
        raise InputError(
            "is an address, and pictures are read from files only", where=text[:80], hint="Download it first."
        )
    file = Path(path)
    try:
        if not file.exists():
            raise InputError("there is no such picture", where=text, hint="Check the path.")
        if not file.is_file():
            kind = "a folder" if file.is_dir() else "a device or a pipe"
            raise InputError(f"is {kind}, not a file", where=text, hint="Give the path of one picture.")
        if file.stat().st_size > MAX_BYTES:
            raise _too_large(f"has {file.stat().st_size / 1e6:,.0f} MB", text)
        return file.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the path
        raise InputError(f"the picture cannot be read: {problem}", where=text) from problem


@contextmanager
def _opened(data: bytes, where: str) -> Iterator[Image]:
    """The picture, unpacked as far as its header; whatever it raises, then or later, is an `InputError`."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise _no_pillow(where) from None
    try:
        with _begun(data) as image:
            yield image
    except InputError:
        raise
    except UnidentifiedImageError:
        raise _not_a_picture(data, where) from None
    except Image.DecompressionBombError:
        raise _too_large(f"has more than {MAX_PIXELS / 1e6:.0f} million pixels", where) from None
    except Exception as problem:  # Pillow names no base class for what damaged files make it raise
        said = " ".join(str(problem).split()) or type(problem).__name__
        raise InputError(
            f"the picture is damaged or cut off ({said[:120]})",
            where=where,
            hint="Save or download it again.",
        ) from None


def _require_size(image: Image, where: str) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise _too_large(f"has {image.width:,} × {image.height:,} pixels", where)


def _begun(data: bytes) -> Image:
    """The picture with its header read, without Pillow's warning of large ones: we refuse them ourselves.

    One thread at a time: Pillow guards neither the search for its formats nor Python its list of warnings.
    """
    from PIL import Image

    with _opening, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        Image.init()
        formats = [name for name in Image.OPEN if name not in _PROGRAMS]
        return Image.open(io.BytesIO(data), formats=formats)


def _in_rgb(image: Image) -> Image:
    from PIL import Image as pillow

    if image.has_transparency_data:
        layer = image.convert("RGBA")
        ground = pillow.new("RGBA", layer.size, _ground(layer))
        return pillow.alpha_composite(ground, layer).convert("RGB")
    if image.mode == "LAB":
        return _from_lab(image)
    if image.mode == "F" or image.mode.startswith("I"):
        return _in_eight_bits(image).convert("RGB")
    return image.convert("RGB")  # always a copy, so that the file behind the original can be closed


def _ground(layer: Image) -> str:
    """What transparency is laid on: white, or black where next to nothing would be seen on white."""
    visible = layer.getchannel("A").point(lambda alpha: 255 if alpha >= 128 else 0)
    shades = layer.convert("RGB").convert("L").histogram(visible)
    seen_on_white, visible_at_all = sum(shades[:_BRIGHT]), sum(shades)
    lost = visible_at_all > 0 and seen_on_white <= _NEXT_TO_NOTHING * visible_at_all
    return "black" if lost else "white"


def _in_eight_bits(image: Image) -> Image:
    """Deep grey as 0 to 255: 16 bits keep their upper half, other ranges are stretched to fit."""
    wide = image.convert("I").convert("F") if image.mode.startswith("I") else image
    least, most = wide.getextrema()
    assert isinstance(least, float) and isinstance(most, float)
    if image.mode.startswith("I;16") or (image.mode == "I" and least >= 0 and 255 < most <= 65535):
        least, most = 0.0, 65535.0
    elif least >= 0 and most <= 255:
        least, most = 0.0, (1.0 if image.mode == "F" and most <= 1 else 255.0)
    factor = 255.0 / (most - least) if most > least else 0.0
    return wide.point(lambda value: value * factor - least * factor).convert("L")


def _from_lab(image: Image) -> Image:
    from PIL import ImageCms

    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(lab, srgb, "LAB", "RGB")
    converted: Any = ImageCms.applyTransform(image, transform)
    return converted  # type: ignore[no-any-return]


def _upright(image: Image, original: Image) -> Image:
    """The image turned and mirrored as the original's EXIF orientation says."""
    from PIL.Image import Transpose

    ways = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    way = ways.get(original.getexif().get(0x0112, 1))
    return image if way is None else image.transpose(way)


def _not_a_picture(data: bytes, where: str) -> InputError:
    if data.lstrip()[:4] == b"%!PS" or data[:4] == b"\xc5\xd0\xd3\xc6":
        what = "is PostScript, which is a program"
    elif not data:
        what = "is empty"
    elif b"\0" not in data and _is_utf8(data):
        return InputError("is no picture but text", where=where, hint="Did you mean --text?")
    else:
        what = "is no picture, or one of an unknown format or damaged from its beginning"
    return InputError(what, where=where, hint="Give a PNG, JPEG, GIF, WebP, BMP or TIFF file.")


def _is_utf8(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _too_large(what: str, where: str) -> InputError:
    return InputError(
        f"the picture {what}, too large to be unpacked safely",
        where=where,
        hint=f"Scale it down below {MAX_PIXELS / 1e6:.0f} million pixels and {MAX_BYTES >> 20} MB.",
    )


def _no_pillow(where: str = "") -> MissingPackage:
    return MissingPackage("pictures need the package pillow", where=where, hint="pip install pillow")
