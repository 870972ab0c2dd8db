"""The OCR engines that are Python packages: EasyOCR, of the Chameleon paper, and RapidOCR."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from chameleon.errors import MissingPackage, ModuleError
from chameleon.pictures.pieces import Piece

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
_MOST_READERS = 4


class Lending(Generic[T]):
    """Lends out up to `most` equal things, each to one thread at a time; others wait.

    A thing is made when it is first needed, so that a program with one thread holds one.
    """

    def __init__(self, make: Callable[[], T], most: int) -> None:
        self._make = make
        self._idle: LifoQueue[T | None] = LifoQueue()
        for _ in range(most):
            self._idle.put(None)

    @contextmanager
    def lend(self) -> Iterator[T]:
        thing = self._idle.get()
        try:
            if thing is None:
                thing = self._make()
            yield thing
        finally:
            self._idle.put(thing)


class EasyEngine:
    """EasyOCR reads many scripts; `languages` are its codes, by default English. Uses a GPU if there is one.

    It downloads its weights when it is first used.
    """

    packages = ("easyocr", "torch", "torchvision")

    def __init__(self, languages: Sequence[str] = ()) -> None:
        languages = list(languages) or ["en"]
        try:
            import easyocr
            import torch
        except (ImportError, RuntimeError) as problem:  # a torchvision of another build raises RuntimeError
            raise ModuleError(
                f"easyocr is installed and cannot be loaded: {problem}",
                hint="Install builds of torch and torchvision that fit each other, or set engine: rapidocr.",
            ) from problem
        try:
            reader = easyocr.Reader(languages, gpu=torch.cuda.is_available(), verbose=False)
        except (OSError, ValueError, RuntimeError) as problem:
            raise ModuleError(
                f"easyocr cannot load its models for {', '.join(languages)}: {problem}",
                hint="Let it download them once where there is a network, or set engine: rapidocr.",
            ) from problem
        self._readers = Lending(lambda: reader, 1)

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in a picture in RGB, in no particular order."""
        with self._readers.lend() as reader:
            found = reader.readtext(_pixels(image))
        return [Piece.of_corners(text, box, confidence) for box, text, confidence in found]


class RapidEngine:
    """RapidOCR, PaddleOCR's models on ONNX Runtime, reads Latin and Chinese script.

    They are inside its wheel, so that nothing is downloaded. `max_side`: pictures are scaled down to so many
    pixels on the longer side to find where text is, but, unlike by RapidOCR's defaults, never up, which costs
    most of the time and finds no more.
    """

    packages = ("rapidocr", "onnxruntime")

    def __init__(self, max_side: int) -> None:
        self._max_side = max_side
        self._readers: Lending[Any] = Lending(self._start, min(os.cpu_count() or 1, _MOST_READERS))
        with self._readers.lend():  # a broken installation is told now, not at the first picture
            pass

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in a picture in RGB, in no particular order."""
        with self._readers.lend() as reader:
            found = reader(_pixels(image))
        if found.txts is None or found.boxes is None or found.scores is None:  # a blank picture
            return []
        read = zip(found.txts, found.boxes.tolist(), found.scores, strict=True)
        return [Piece.of_corners(text, box, score) for text, box, score in read]

    def _start(self) -> Any:
        try:
            from rapidocr import RapidOCR
        except Exception as problem:  # a library of the system that is missing shows as any kind of error
            raise MissingPackage(
                f"RapidOCR is installed and does not start: {str(problem)[:200]}",
                hint="Mend its installation, or take another engine: apt-get install tesseract-ocr.",
            ) from problem
        return RapidOCR(
            params={
                "Global.log_level": "critical",  # it prints to the terminal
                "Global.text_score": 0.0,  # weak pieces are left out by the module, alike for all engines
                "Global.use_cls": False,  # it turns upside down what is right: "b" becomes "q"
                "Det.limit_type": "max",
                "Det.limit_side_len": self._max_side,
                # Pictures run beside each other; several threads for one of them get in each other's way.
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )


def _pixels(image: Image) -> Any:
    import numpy

    return numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])  # they want blue, green, red
