"""Which engine reads text in pictures, and what to install where there is none."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol

from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.pictures import versions_of
from chameleon.pictures.package_engines import EasyEngine, RapidEngine
from chameleon.pictures.pieces import Piece
from chameleon.pictures.tesseract_engine import (
    TesseractEngine,
    installed_languages,
    installed_version,
)

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
_KINDS: Mapping[str, type[EasyEngine | RapidEngine]] = {"easyocr": EasyEngine, "rapidocr": RapidEngine}
_log = logging.getLogger("chameleon")
_lock = threading.Lock()
_made: dict[tuple[str, tuple[str, ...], int], Engine] = {}


class Engine(Protocol):
    """What reads the text in a picture; safe to use from many threads."""

    def read(self, image: Image) -> list[Piece]: ...


def chosen_engine(name: EngineName, languages: Sequence[str]) -> EngineName:
    """Choose an engine, as far as that can be told without loading it; with `auto` the first of `IN_ORDER`.

    Raises `MissingPackage` when it, or with `auto` every one, is missing, and `InventoryError` for languages
    that it does not know.
    """
    problems = []
    for each in _candidates(name, languages):
        try:
            _check_languages(each, languages)
            return each
        except ChameleonError as problem:
            problems.append(problem)
    raise problems[0]


def resolved_engine(name: EngineName, languages: Sequence[str]) -> dict[str, Any]:
    """Return what the settings come to: the engine, None where there is none, and its versions."""
    try:
        chosen = chosen_engine(name, languages)
    except ChameleonError:  # a record of settings; `chosen_engine` tells it where it matters
        return {"engine": None, "versions": versions_of("pillow")}
    packages = versions_of(*(() if chosen == "tesseract" else _KINDS[chosen].packages), "pillow")
    program = {"tesseract": installed_version()} if chosen == "tesseract" else {}
    return {"engine": chosen, "versions": program | packages}


def shared_engine(name: EngineName, languages: Sequence[str], max_side: int) -> Engine:
    """Return the engine, loaded once in this process; `auto` is the first of `IN_ORDER` that works here.

    `max_side` matters to RapidOCR only. Raises `MissingPackage` or, where an engine is installed and cannot
    be loaded, `ModuleError`; `auto` goes on to the next one and logs why.
    """
    if name != "auto":
        return _loaded(chosen_engine(name, languages), languages, max_side)
    reasons = []
    for each in _candidates(name, languages):
        try:
            _check_languages(each, languages)
            return _loaded(each, languages, max_side)
        except ChameleonError as problem:
            _log.warning("the text engine %s is skipped: %s", each, problem)
            reasons.append(problem)
    raise reasons[0]


def _candidates(name: EngineName, languages: Sequence[str]) -> list[EngineName]:
    """Return the engines, at least one, that are there and may be told languages."""
    there = [each for each in (IN_ORDER if name == "auto" else (name,)) if _is_there(each)]
    if not there and name == "auto":
        listed = "; or ".join(f"`{_HINTS[each]}`" for each in IN_ORDER)
        raise MissingPackage("no engine for text in pictures is installed", hint=f"Run {listed}.")
    if not there:
        needed = "program" if name == "tesseract" else "package"
        raise MissingPackage(f"the text engine {name} needs the {needed} {name}", hint=_HINTS[name])
    usable = [each for each in there if not (languages and each == "rapidocr")]
    if not usable:
        raise InventoryError("rapidocr, the only text engine here, cannot be told languages")
    return usable


def _check_languages(name: EngineName, languages: Sequence[str]) -> None:
    """Raise `InventoryError` for a language that Tesseract lacks; others tell when they are loaded."""
    if name != "tesseract":
        return
    known = installed_languages()
    wanted = languages or ("eng",)
    if unknown := sorted({part for code in wanted for part in code.split("+")} - known):
        listed = ", ".join(sorted(known))
        raise InventoryError(
            f"languages has {', '.join(unknown)}, which {name} does not have here",
            hint=f"It has {listed if len(listed) < 400 else listed[:400] + ' …'}.",
        )


def _loaded(name: EngineName, languages: Sequence[str], max_side: int) -> Engine:
    make: Mapping[str, Callable[[], Engine]] = {
        "easyocr": lambda: EasyEngine(languages),
        "rapidocr": lambda: RapidEngine(max_side),
        "tesseract": lambda: TesseractEngine(languages),
    }
    with _lock:
        key = (name, tuple(languages), max_side)
        if key not in _made:
            _made[key] = make[name]()
        return _made[key]


def _is_there(name: EngineName) -> bool:
    if name == "tesseract":
        return shutil.which("tesseract") is not None
    return all(find_spec(package) is not None for package in _KINDS[name].packages)
