"""The OCR engines that are Python packages: EasyOCR, of the Chameleon paper, and RapidOCR."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, ClassVar

from chameleon.errors import InventoryError, MissingPackage, ModuleError
from chameleon.pictures import versions_of
from chameleon.pictures.pieces import Piece

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_READERS = 4


class PackageEngine:
    """An engine that Python packages bring, the first of which names it."""

    packages: ClassVar[tuple[str, ...]]
    hint: ClassVar[str]

    @classmethod
    def check(cls, languages: Sequence[str]) -> None:
        """Raise `MissingPackage` where it is not installed; nothing is loaded."""
        if not all(find_spec(package) for package in cls.packages):
            name = cls.packages[0]
            raise MissingPackage(f"the text engine {name} needs the package {name}", hint=cls.hint)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return versions_of(*cls.packages)


class EasyEngine(PackageEngine):
    """EasyOCR reads many scripts; `languages` are its codes, by default English. Uses a GPU if there is one.

    It downloads its weights when it is first used.
    """

    packages = ("easyocr", "torch", "torchvision")
    hint = "pip install easyocr"

    def __init__(self, languages: Sequence[str] = ()) -> None:
        languages = list(languages) or ["en"]
        try:
            import easyocr
            import torch

            self._reader = easyocr.Reader(languages, gpu=torch.cuda.is_available(), verbose=False)
        except (ImportError, OSError, ValueError, RuntimeError) as problem:  # RuntimeError: of other builds
            raise ModuleError(
                f"easyocr is installed and cannot load its models for {', '.join(languages)}: {problem}",
                hint="Let it download them once where there is a network, install builds of torch and "
                "torchvision that fit each other, or set engine: rapidocr.",
            ) from problem
        self._turn = threading.Lock()

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in a picture in RGB, in no particular order."""
        with self._turn:
            found = self._reader.readtext(_pixels(image))
        return [Piece.of_corners(text, box, confidence) for box, text, confidence in found]


class RapidEngine(PackageEngine):
    """RapidOCR, PaddleOCR's models on ONNX Runtime, reads Latin and Chinese script.

    They are inside its wheel, so that nothing is downloaded. Pictures are scaled down to find where text is,
    but, unlike by RapidOCR's defaults, never up, which costs most of the time and finds no more.
    """

    packages = ("rapidocr", "onnxruntime")
    hint = "pip install rapidocr onnxruntime"

    def __init__(self, languages: Sequence[str] = ()) -> None:
        """Make a reader, so that a broken installation is told now; others when threads need them."""
        self._readers: LifoQueue[Any] = LifoQueue()  # each is lent to one thread at a time
        for _ in range(min(os.cpu_count() or 1, _MOST_READERS) - 1):
            self._readers.put(None)
        self._readers.put(self._start())

    @classmethod
    def check(cls, languages: Sequence[str]) -> None:
        super().check(languages)
        if languages:
            raise InventoryError(
                "rapidocr takes no languages: one model reads Latin and Chinese script",
                hint="Leave languages out, or set engine: tesseract.",
            )

    def read(self, image: Image) -> list[Piece]:
        """Return the pieces of text in a picture in RGB, in no particular order."""
        reader = self._readers.get()
        try:
            reader = reader or self._start()
            found = reader(_pixels(image))
        finally:
            self._readers.put(reader)
        if found.txts is None or found.boxes is None or found.scores is None:  # a blank picture
            return []
        read = zip(found.txts, found.boxes.tolist(), found.scores, strict=True)
        return [Piece.of_corners(text, box, score) for text, box, score in read]

    @staticmethod
    def _start() -> Any:
        try:
            from rapidocr import RapidOCR
        except Exception as problem:  # a library of the system that is missing shows as any kind of error
            raise ModuleError(
                f"RapidOCR is installed and does not start: {str(problem)[:200]}",
                hint="Mend its installation, or take another engine: apt-get install tesseract-ocr.",
            ) from problem
        return RapidOCR(
            params={
                "Global.log_level": "critical",  # it prints to the terminal
                "Global.text_score": 0.0,  # weak pieces are left out by the module, alike for all engines
                "Global.use_cls": False,  # it turns upside down what is right: "b" becomes "q"
                "Det.limit_type": "max",
                "Det.limit_side_len": 736,
                # Pictures run beside each other; several threads for one of them get in each other's way.
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )


def _pixels(image: Image) -> Any:
    import numpy

    return numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])  # they want blue, green, red
