"""EasyOCR, the engine of the Chameleon paper. It downloads its weights when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import ModuleError
from chameleon.pictures.lending import Lending
from chameleon.pictures.pieces import Piece

if TYPE_CHECKING:
    from PIL.Image import Image


class EasyEngine:
    """Reads many scripts; `languages` are EasyOCR's codes, by default English. Uses a GPU if there is one."""

    packages = ("easyocr", "torch", "torchvision")

    def __init__(self, languages: Sequence[str] = ()) -> None:
        reader = _reader(list(languages) or ["en"])
        self._readers = Lending(lambda: reader, 1)

    def read(self, image: Image) -> list[Piece]:
        """The pieces of text in a picture in RGB, in no particular order."""
        import numpy

        pixels = numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])  # it wants blue, green, red
        with self._readers.lend() as reader:
            found = reader.readtext(pixels)
        return [Piece(text, _corners(box), float(confidence)) for box, text, confidence in found]


def known_languages() -> set[str]:
    """The codes that it knows, none where that cannot be told; its list is read without loading it."""
    found = find_spec("easyocr")
    folders = found.submodule_search_locations if found else None
    file = Path(folders[0]) / "config.py" if folders else None
    spec = spec_from_file_location("_easyocr_config", file) if file and file.is_file() else None
    if spec is None or spec.loader is None:
        return set()
    config = module_from_spec(spec)
    spec.loader.exec_module(config)
    return set(getattr(config, "all_lang_list", ()))


def _reader(languages: list[str]) -> Any:
    try:
        import easyocr
        import torch
    except (ImportError, RuntimeError) as problem:  # a torchvision of another build raises RuntimeError
        raise ModuleError(
            f"easyocr is installed and cannot be loaded: {problem}",
            hint="Install builds of torch and torchvision that fit each other, or set engine: rapidocr.",
        ) from problem
    try:
        return easyocr.Reader(languages, gpu=torch.cuda.is_available(), verbose=False)
    except (OSError, ValueError, RuntimeError) as problem:
        raise ModuleError(
            f"easyocr cannot load its models for {', '.join(languages)}: {problem}",
            hint="Let it download them once where there is a network, or set engine: rapidocr.",
        ) from problem


def _corners(box: Any) -> Any:
    return tuple((float(x), float(y)) for x, y in box)
