"""Pages that are pictures, in a PDF or as separate files, read by an OCR engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from chameleon.documents.parts import DocumentPart, unread_page
from chameleon.errors import MissingPackage
from chameleon.sandbox.bounded import going_on

if TYPE_CHECKING:
    from PIL.Image import Image

    from chameleon.pictures.engines import EngineName

SIDE = 2_000  # pixels of a page's longer side
_SECONDS, _PAGE_SECONDS = 120.0, 60.0  # for all pages; for one, or to load an engine


def picture_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the text of a picture, or of a TIFF's pages. Raises `MissingPackage` (engine), `InputError`."""
    from chameleon.pictures.opening import in_rgb, opened

    def page(number: int) -> Image:
        with opened(data, name, number) as image:
            return in_rgb(image, SIDE)[0]

    with opened(data, name) as image:
        # in other formats, frames are an animation
        count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    for part in read_pages(range(count), page, name).values():
        yield part if count > 1 else part._replace(page=None)


def engine_installed() -> EngineName | Literal[""]:
    """Return the engine for pages, or "": RapidOCR first, since EasyOCR may need too much memory."""
    from chameleon.pictures.engines import resolved_engine

    names: tuple[EngineName, ...] = ("rapidocr", "easyocr")
    return next((name for name in names if resolved_engine(name, ())["engine"]), "")


def read_pages(numbers: Sequence[int], picture: Callable[[int], Image], name: str) -> dict[int, DocumentPart]:
    """Read pages, counted from 0; after 2 minutes, explain in a line instead. Raises `MissingPackage`."""
    from chameleon.pictures.engines import read_lines, shared_engine
    from chameleon.pictures.pieces import text_of

    going_on(_PAGE_SECONDS)
    try:
        engine = shared_engine(engine_installed() or "auto", ())
    except MissingPackage as problem:
        what = "its pages are images, and no OCR engine is installed"
        raise MissingPackage(what, where=name, hint=problem.hint) from None
    parts, end = dict[int, DocumentPart](), time.monotonic() + _SECONDS
    for number in numbers:
        going_on()
        if time.monotonic() > end:
            parts[number] = unread_page(number + 1, "there are too many of them")
            continue
        image = picture(number)
        going_on(_PAGE_SECONDS)
        parts[number] = DocumentPart(text_of(read_lines(engine, image)), page=number + 1)
    return parts
