"""The engines that read text in pictures: EasyOCR, from the Chameleon paper, or RapidOCR."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from chameleon.errors import ChameleonError, InventoryError, MissingPackage, ModuleError, versions_of
from chameleon.pictures.pieces import UNREAD, Piece, lines_of
from chameleon.pictures.tilt import measured

if TYPE_CHECKING:
    from PIL.Image import Image

_MAX_READERS = 4
_log = logging.getLogger("chameleon")


class PackageEngine:
    """An engine from Python packages; the first one names it."""

    packages: ClassVar[tuple[str, ...]]
    hint: ClassVar[str]

    @classmethod
    def check(cls, languages: Sequence[str]) -> None:
        """Raise `MissingPackage` if the engine is not installed; nothing is loaded."""
        if not all(map(find_spec, cls.packages)):
            name = cls.packages[0]
            raise MissingPackage(f"the OCR engine {name} needs the package {name}", hint=cls.hint)


class EasyEngine(PackageEngine):
    """EasyOCR reads many scripts; `languages` are its codes, by default English. Uses a GPU if available.

    It downloads its weights on first use.
    """

    packages = ("easyocr", "torch", "torchvision")
    hint = "pip install easyocr"

    def __init__(self, languages: Sequence[str] = ()) -> None:
        languages = list(languages) or ["en"]
        try:
            import easyocr
            import torch

            gpu = torch.accelerator.is_available()
            self._reader = easyocr.Reader(languages, gpu=gpu, verbose=False)
        except (ImportError, OSError, ValueError, RuntimeError) as problem:  # RuntimeError: mismatched builds
            what = f"easyocr is installed but cannot load its models for {', '.join(languages)}: {problem}"
            hint = "Go online once to download them, match torch and torchvision, or set engine: rapidocr."
            raise ModuleError(what, hint=hint) from problem
        self._turn = threading.Lock()

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in an RGB picture, in no particular order."""
        with self._turn:
            results = self._reader.readtext(_pixels(image))
        return [Piece.of_corners(text, box, confidence) for box, text, confidence in results]


class RapidEngine(PackageEngine):
    """RapidOCR (PaddleOCR's models on ONNX Runtime, using CUDA if installed) reads Latin and Chinese script.

    The models come with its wheel, so nothing is downloaded. Pictures are scaled down to find text but,
    unlike by RapidOCR's defaults, never up, which costs most of the time and finds no more.
    """

    packages = ("rapidocr", "onnxruntime")
    hint = "pip install rapidocr onnxruntime"

    def __init__(self, languages: Sequence[str] = ()) -> None:
        """Load one reader, so that a broken installation fails now; others when threads need them."""
        self._readers: LifoQueue[Any] = LifoQueue()  # each is lent to one thread at a time
        more = min(os.cpu_count() or 1, _MAX_READERS) - 1
        for reader in [None] * more + [self._start()]:
            self._readers.put(reader)

    @classmethod
    def check(cls, languages: Sequence[str]) -> None:
        super().check(languages)
        if languages:
            what = "rapidocr takes no languages: one model reads Latin and Chinese script"
            raise InventoryError(what, hint="Leave languages out, or set engine: easyocr.")

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in an RGB picture, in no particular order."""
        reader = self._readers.get()
        try:
            reader = reader or self._start()
            result = reader(_pixels(image))
        finally:
            self._readers.put(reader)
        if result.txts is None or result.boxes is None or result.scores is None:  # a blank picture
            return []
        triples = zip(result.txts, result.boxes.tolist(), result.scores, strict=True)
        return [Piece.of_corners(text, box, score) for text, box, score in triples]

    @staticmethod
    def _start() -> Any:
        try:
            from onnxruntime import get_available_providers
            from rapidocr import RapidOCR
        except Exception as problem:  # a missing system library can raise any error
            what = f"RapidOCR is installed but does not start: {str(problem)[:200]}"
            raise ModuleError(what, hint="Reinstall it, or set engine: easyocr.") from problem
        return RapidOCR(
            params={
                "Global.log_level": "critical",  # it prints to the terminal
                "Global.text_score": 0.0,  # `read_lines` leaves out weak pieces, the same way for all engines
                "Global.use_cls": False,  # it turns upright letters upside down: "b" becomes "q"
                "Det.limit_type": "max",
                "Det.limit_side_len": 736,
                "Rec.rec_batch_num": 1,  # six lines at once take twice the memory and no less time
                # Pictures are read in parallel; several threads for one of them would compete.
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "EngineConfig.onnxruntime.use_cuda": "CUDAExecutionProvider" in get_available_providers(),
            }
        )


def _pixels(image: Image) -> Any:
    import numpy

    return numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])  # the engines expect BGR


T = TypeVar("T")
Engine = EasyEngine | RapidEngine
EngineName = Literal["auto", "easyocr", "rapidocr"]
ENGINES: Mapping[str, type[Engine]] = {"easyocr": EasyEngine, "rapidocr": RapidEngine}
"""The engines in the order that `auto` tries them: the paper's, then the one without a download."""

_lock = threading.Lock()
_engines: dict[tuple[str, tuple[str, ...]], Engine] = {}


def chosen_engine(name: EngineName, languages: Sequence[str]) -> str:
    """Choose an engine without loading it; `auto` chooses the first that is installed.

    Raises:
        MissingPackage: if the engine, or with "auto" every engine, is not installed.
        InventoryError: if the engine does not know the languages.
    """
    return _first_working(name, languages, lambda each: each)


def resolved_engine(name: EngineName, languages: Sequence[str]) -> dict[str, Any]:
    """Return the engine that these settings choose, or None, and its versions."""
    try:
        engine = chosen_engine(name, languages)
    except ChameleonError:  # this only records settings; `chosen_engine` raises the error when it matters
        return {"engine": None, "versions": versions_of("pillow")}
    return {"engine": engine, "versions": versions_of(*ENGINES[engine].packages, "pillow")}


def shared_engine(name: EngineName, languages: Sequence[str]) -> Engine:
    """Return the engine, loaded once in this process and safe to use from many threads.

    If an engine cannot be loaded, "auto" tries the next one and logs why. Raises as `chosen_engine` does, and
    `ModuleError` if the engine is installed but cannot be loaded.
    """

    def load(each: str) -> Engine:
        with _lock:
            key = (each, tuple(languages))
            if key not in _engines:
                _engines[key] = ENGINES[each](languages)
            return _engines[key]

    return _first_working(name, languages, load)


def read_lines(engine: Engine, image: Image, least_confidence: float = 0.5) -> list[list[Piece]]:
    """Return the lines of text in an RGB picture, with `UNREAD` for pieces below `least_confidence`."""
    pieces = list[Piece]()
    for piece in engine.read(image):
        if piece.confidence >= least_confidence and piece.text.strip():
            pieces.append(piece)
        elif any(map(str.isalnum, piece.text)):
            pieces.append(replace(piece, text=UNREAD))
    return [line for line in lines_of(measured(image, pieces)) if any(piece.text != UNREAD for piece in line)]


def _first_working(name: EngineName, languages: Sequence[str], use: Callable[[str], T]) -> T:
    """Return the result of `use` for the engine; `auto` takes the first engine that works."""
    failed = None
    for each in ENGINES if name == "auto" else (name,):
        try:
            ENGINES[each].check(languages)
            return use(each)
        except ChameleonError as problem:
            if name != "auto":
                raise
            if isinstance(problem, MissingPackage):
                continue
            _log.warning("the OCR engine %s is skipped: %s", each, problem)
            failed = failed or problem
    commands = "; or ".join(f"`{engine.hint}`" for engine in ENGINES.values())
    missing = MissingPackage("no OCR engine is installed", hint=f"Run {commands}.")
    raise failed or missing
