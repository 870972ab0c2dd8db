"""Searching a folder of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.errors import InputError, InventoryError, MissingPackage
from chameleon.modules.search.folder import DocumentFolder
from chameleon.modules.search.providers_of_search import SearchSettings, choose_provider
from chameleon.web import Web


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "documents"
    (documents / "sea").mkdir(parents=True)
    tides = "# Tides\n\nThe Moon pulls at the sea, and so high tide comes twice a day.\n\n"
    (documents / "sea" / "tides.md").write_text(tides + "Boats wait. " * 300)
    metals = "<h1>Metals</h1><script>magnet</script><p>A magnet attracts <b>iron</b> and steel.</p>"
    (documents / "metals.html").write_text(metals)
    (documents / "birds.txt").write_bytes("Möwen nest on cliffs.".encode("latin-1"))
    (documents / "broken.pdf").write_text("magnet")
    (documents / "magnet.png").write_text("magnet")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("magnet outside")
    (documents / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (documents / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (documents / "circle").symlink_to(documents, target_is_directory=True)
    return documents


def test_the_passage_that_fits_is_found(folder: Path) -> None:
    documents = DocumentFolder(folder)
    best, *_ = documents.search("What does a magnet attract?", 3)
    assert (best.title, best.url, best.text) == ("Metals", "metals.html", "A magnet attracts iron and steel.")
    (tides,) = documents.search("when is high tide", 1)
    assert (tides.title, tides.url) == ("Tides", "sea/tides.md")
    assert "The Moon pulls at the sea" in tides.text and len(tides.text) < 1_300
    assert documents.search("möwen", 3)[0].url == "birds.txt"
    assert [each.url for each in documents.search("magnet outside", 9)] == ["metals.html"]
    assert documents.search("zebra?", 3) == [] and documents.search("", 3) == []


def test_a_folder_that_cannot_be_searched_is_an_error_of_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no folder"):
        DocumentFolder(tmp_path / "none").check()
    with pytest.raises(InputError, match="no text and no document"):
        DocumentFolder(tmp_path / "empty").check()
    (tmp_path / "empty" / "a.pdf").write_text("x")
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None if name == "pypdfium2" else name)
    with pytest.raises(MissingPackage, match=r"PDF files .*pip install .*\[papers\]"):
        DocumentFolder(tmp_path / "empty").check()
    with pytest.raises(InventoryError, match="needs a folder"):
        choose_provider(SearchSettings("folder"), Web())


def test_other_documents_have_another_digest(folder: Path) -> None:
    documents = DocumentFolder(folder)
    documents.check()
    first = documents.runtime_info()
    assert (first["documents"], first["folder"], len(first["sha256"])) == (4, "documents", 64)
    (folder / "magnet.png").write_text("what is not searched does not count")
    assert documents.runtime_info() == first
    (folder / "birds.txt").write_bytes("Möven nest on cliffs.".encode("latin-1"))
    second = documents.runtime_info()
    (folder / "sea" / "tides.md").rename(folder / "tides.md")
    assert len({each["sha256"] for each in (first, second, documents.runtime_info())}) == 3
