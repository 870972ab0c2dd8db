"""Which engine reads text in pictures, and what to install where there is none."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from chameleon.errors import ChameleonError, MissingPackage
from chameleon.pictures import versions_of
from chameleon.pictures.package_engines import EasyEngine, RapidEngine
from chameleon.pictures.pieces import UNREAD, Piece
from chameleon.pictures.tesseract_engine import TesseractEngine
from chameleon.pictures.tilt import read_tilted

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
Engine = EasyEngine | RapidEngine | TesseractEngine
EngineName = Literal["auto", "easyocr", "rapidocr", "tesseract"]
ENGINES: Mapping[str, type[Engine]] = {
    "easyocr": EasyEngine,
    "rapidocr": RapidEngine,
    "tesseract": TesseractEngine,
}
"""What `auto` tries: the paper's engine, then the one that needs no download, then the system's."""

_log = logging.getLogger("chameleon")
_lock = threading.Lock()
_made: dict[tuple[str, tuple[str, ...]], Engine] = {}


def chosen_engine(name: EngineName, languages: Sequence[str]) -> str:
    """Choose an engine, as far as that can be told without loading it; with `auto` the first that is there.

    Raises `MissingPackage` when it, or with `auto` every one, is missing, and `InventoryError` for languages
    that it does not know.
    """
    return _first(name, languages, lambda each: each)


def resolved_engine(name: EngineName, languages: Sequence[str]) -> dict[str, Any]:
    """Return what the settings come to: the engine, None where there is none, and its versions."""
    try:
        chosen = chosen_engine(name, languages)
    except ChameleonError:  # a record of settings; `chosen_engine` tells it where it matters
        return {"engine": None, "versions": versions_of("pillow")}
    return {"engine": chosen, "versions": ENGINES[chosen].versions() | versions_of("pillow")}


def shared_engine(name: EngineName, languages: Sequence[str]) -> Engine:
    """Return the engine, loaded once in this process and safe to use from many threads.

    Raises `MissingPackage` or, where an engine is installed and cannot be loaded, `ModuleError`; `auto` goes
    on to the next one and logs why.
    """

    def load(each: str) -> Engine:
        with _lock:
            key = (each, tuple(languages))
            if key not in _made:
                _made[key] = ENGINES[each](languages)
            return _made[key]

    return _first(name, languages, load)


def read_pieces(engine: Engine, image: Image, least_confidence: float = 0.5) -> list[Piece]:
    """Return the pieces of text in a picture in RGB; of what the engine is not sure of, `UNREAD` is left."""

    def read(image: Image) -> list[Piece]:
        found = [piece for piece in engine.read(image) if piece.text.strip()]
        sure = [piece for piece in found if piece.confidence >= least_confidence]
        unsure = [piece for piece in found if piece.confidence < least_confidence]
        return sure + [replace(piece, text=UNREAD) for piece in unsure if any(map(str.isalnum, piece.text))]

    def check(image: Image, pieces: list[Piece]) -> list[Piece]:
        return engine.confirmed(image, pieces) if isinstance(engine, TesseractEngine) else pieces

    return read_tilted(read, image, check)


def _first(name: EngineName, languages: Sequence[str], use: Callable[[str], T]) -> T:
    """Return what comes of using the engine, with `auto` the first one of which something comes."""
    problems = []
    for each in ENGINES if name == "auto" else (name,):
        try:
            ENGINES[each].check(languages)
            return use(each)
        except MissingPackage as problem:
            if name != "auto":
                raise
            _log.debug("the text engine %s is skipped: %s", each, problem)
        except ChameleonError as problem:
            if name != "auto":
                raise
            _log.warning("the text engine %s is skipped: %s", each, problem)
            problems.append(problem)
    if problems:
        raise problems[0]
    listed = "; or ".join(f"`{engine.hint}`" for engine in ENGINES.values())
    raise MissingPackage("no engine for text in pictures is installed", hint=f"Run {listed}.")
