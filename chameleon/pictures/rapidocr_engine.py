"""RapidOCR: PaddleOCR's models on ONNX Runtime. They lie inside its wheel, so that nothing is downloaded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from chameleon.errors import MissingPackage
from chameleon.pictures.lending import Lending
from chameleon.pictures.pieces import Piece

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST = 4


class RapidEngine:
    """Reads Latin and Chinese script.

    `longest`: pictures are scaled down to this many pixels on the longer side to find where text is, but,
    unlike by RapidOCR's defaults, never up, which costs most of the time and finds no more.
    """

    packages = ("rapidocr", "onnxruntime")

    def __init__(self, longest: int) -> None:
        self._readers: Lending[Any] = Lending(lambda: _reader(longest), min(os.cpu_count() or 1, _MOST))
        with self._readers.lend():  # a broken installation is told now, not at the first picture
            pass

    def read(self, image: Image) -> list[Piece]:
        """The pieces of text in a picture in RGB, in no particular order."""
        import numpy

        pixels = numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])  # it wants blue, green, red
        with self._readers.lend() as reader:
            found = reader(pixels)
        if found.txts is None or found.boxes is None or found.scores is None:  # a blank picture
            return []
        return [
            Piece(text, _corners(box), float(score))
            for text, box, score in zip(found.txts, found.boxes.tolist(), found.scores, strict=True)
        ]


def _reader(longest: int) -> Any:
    try:
        from rapidocr import RapidOCR
    except Exception as problem:  # a library of the system that is missing shows as any kind of error
        raise MissingPackage(
            f"RapidOCR is installed and does not start: {str(problem)[:200]}",
            hint="Mend its installation, or take another engine: tesseract (apt-get install tesseract-ocr).",
        ) from problem
    return RapidOCR(
        params={
            "Global.log_level": "critical",  # it prints to the terminal
            "Global.text_score": 0.0,  # weak pieces are left out by the module, alike for all engines
            "Global.use_cls": False,  # it turns upside down what is right: "b" becomes "q"
            "Det.limit_type": "max",
            "Det.limit_side_len": longest,
            # Pictures run beside each other; several threads for one of them get in each other's way.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _corners(box: list[list[float]]) -> Any:
    return tuple((x, y) for x, y in box)
