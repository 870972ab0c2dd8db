"""Which engine reads text in pictures, and what to install where there is none."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.modules.vision.easy_engine import EasyEngine
from chameleon.modules.vision.pieces import Piece
from chameleon.modules.vision.rapid_engine import RapidEngine
from chameleon.modules.vision.tesseract_engine import TesseractEngine

if TYPE_CHECKING:
    from PIL.Image import Image

EngineName = Literal["auto", "easyocr", "rapidocr", "tesseract"]
IN_ORDER: tuple[EngineName, ...] = ("easyocr", "rapidocr", "tesseract")
"""What `auto` tries: the paper's engine, then the one that needs no download, then the system's."""

_HINTS = {
    "easyocr": "pip install easyocr",
    "rapidocr": "pip install rapidocr onnxruntime",
    "tesseract": "apt-get install tesseract-ocr",
}
_log = logging.getLogger("chameleon")
_lock = threading.Lock()
_made: dict[tuple[str, tuple[str, ...], int], Engine] = {}


class Engine(Protocol):
    """What reads the text in a picture; safe to use from many threads."""

    def read(self, image: Image) -> list[Piece]: ...


def require_engine(name: EngineName) -> None:
    """Raise `MissingPackage` when the engine, or with `auto` every engine, is missing; nothing is loaded."""
    if name == "auto":
        if not any(_is_there(each) for each in IN_ORDER):
            listed = "; or ".join(f"`{_HINTS[each]}`" for each in IN_ORDER)
            raise MissingPackage("no engine for text in pictures is installed", hint=f"Run {listed}.")
    elif not _is_there(name):
        needed = "program" if name == "tesseract" else "package"
        raise MissingPackage(f"the text engine {name} needs the {needed} {name}", hint=_HINTS[name])


def shared_engine(name: EngineName, languages: Sequence[str], longest: int) -> Engine:
    """The engine, loaded once in this process; `auto` is the first of `IN_ORDER` that works here.

    `longest` matters to RapidOCR only. Raises `MissingPackage` or, where an engine is installed and cannot
    be loaded, `ModuleError`; `auto` goes on to the next one and logs why.
    """
    require_engine(name)
    if name != "auto":
        return _loaded(name, languages, longest)
    reasons = []
    for each in IN_ORDER:
        if not _is_there(each) or (languages and each == "rapidocr"):
            continue
        try:
            return _loaded(each, languages, longest)
        except ChameleonError as problem:
            _log.warning("the text engine %s is passed over: %s", each, problem)
            reasons.append(problem)
    if reasons:
        raise reasons[0]
    raise InventoryError("rapidocr, the only text engine here, cannot be told languages")


def _loaded(name: EngineName, languages: Sequence[str], longest: int) -> Engine:
    with _lock:
        key = (name, tuple(languages), longest)
        if key not in _made:
            _made[key] = _make(name, languages, longest)
        return _made[key]


def _make(name: EngineName, languages: Sequence[str], longest: int) -> Engine:
    if name == "easyocr":
        return EasyEngine(languages)
    return TesseractEngine(languages) if name == "tesseract" else RapidEngine(longest)


def _is_there(name: EngineName) -> bool:
    if name == "tesseract":
        return shutil.which("tesseract") is not None
    kind = EasyEngine if name == "easyocr" else RapidEngine
    return all(find_spec(package) is not None for package in kind.packages)
