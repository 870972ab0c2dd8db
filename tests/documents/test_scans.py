"""Pictures of pages as documents: read by an OCR engine, page by page."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from PIL import Image

from chameleon.documents.parts import DocumentPart
from chameleon.documents.reading import SUFFIXES, kind_of, parts_of, read_passages
from chameleon.documents.scans import picture_parts
from chameleon.errors import InputError, MissingPackage
from chameleon.pictures.pieces import Piece, rectangle
from tests.pictures.drawn import png, text_picture


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """An engine that reads the width of a picture; returns the sizes of those that it was given."""
    sizes: list[tuple[int, int]] = []

    class Engine:
        def read(self, image: Image.Image) -> list[Piece]:
            sizes.append(image.size)
            found = Piece(f"Berth {image.width}", rectangle(5, 5, image.width - 10, 10), 0.9)
            return [found, Piece("~", rectangle(0, 0, 9, 9), 0.1)]

    monkeypatch.setattr("chameleon.pictures.engines.shared_engine", lambda name, languages: Engine())
    return sizes


def written(form: str, *widths: int) -> bytes:
    pages = [Image.new("RGB", (width, 30), "white") for width in widths]
    file = io.BytesIO()
    pages[0].save(file, form, **({"save_all": True, "append_images": pages[1:]} if pages[1:] else {}))
    return file.getvalue()


def test_a_picture_is_known_by_its_first_bytes_or_its_name(engine: list[Any]) -> None:
    for suffix in ("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp"):
        data = written({"jpg": "jpeg", "tif": "tiff"}.get(suffix, suffix), 80)
        assert f".{suffix}" in SUFFIXES
        assert kind_of(data, "page") == kind_of(b"", f"page.{suffix}") == "picture"
        assert list(parts_of(data, "page")) == [DocumentPart("Berth 80")]
    cut = written("png", 80)[:60]
    for data, why in ((cut, "cut off"), (b"Opens at 9.", "is no picture"), (png(70_000, 1), "too large")):
        with pytest.raises(InputError, match=rf"scan\.png.*{why}"):
            list(picture_parts(data, "scan.png"))


def test_tiffs_and_pdfs_are_read_page_by_page_and_large_pages_smaller(engine: list[Any]) -> None:
    found = list(picture_parts(written("tiff", 80, 5_000, 90), "fax.tif"))
    wanted = enumerate((80, 2000, 90), 1)
    assert found == [DocumentPart(f"Berth {width}", page=page) for page, width in wanted]
    assert engine == [(80, 30), (2_000, 12), (90, 30)]
    assert list(picture_parts(written("webp", 80, 80), "moving.webp")) == [DocumentPart("Berth 80")]
    pytest.importorskip("pypdfium2")
    (found,) = parts_of(written("pdf", 300), "scan.pdf")
    assert found == DocumentPart(f"Berth {engine[-1][0]}", page=1)


@pytest.mark.parametrize("form", ["png", "pdf"])
def test_without_an_engine_what_to_install_is_named(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    def missing(*_: object) -> Any:
        raise MissingPackage("none", hint="pip install rapidocr")

    monkeypatch.setattr("chameleon.pictures.engines.shared_engine", missing)
    with pytest.raises(MissingPackage, match=rf"scan.{form}: .*pip install rapidocr"):
        list(parts_of(written(form, 80), f"scan.{form}"))


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="rapidocr is not installed")
def test_a_scan_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = text_picture(tmp_path / "scan.png", {(20, 20): "Berth fees", (20, 90): "are 40 crowns"})
    (found,) = read_passages(path.read_bytes(), "port/scan.png")
    assert found == {"title": "", "text": "Berth fees\nare 40 crowns", "file": "scan.png"}
    text_picture(path, {})
    with pytest.raises(InputError, match=r"scan\.png: the document holds no text"):
        read_passages(path.read_bytes(), "scan.png")
