"""The notebooks of demos/ run from top to bottom, offline, and show what they are kept with."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import environment

FOLDER = Path(__file__).parents[1] / "demos" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def executed(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a notebook run by a kernel of this Python, without the pages that it shows in frames."""
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package)
    import nbformat
    from nbclient import NotebookClient

    for name, value in environment(CHAMELEON_STORE="off").items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(notebook, as_version=4)
    nbformat.validate(book)
    kernel = {"resources": {"metadata": {"path": str(FOLDER)}}, "timeout": 120, "kernel_name": "python3"}
    NotebookClient(book, record_timing=False, **kernel).execute(env=dict(os.environ))
    for cell in book.cells:
        shown = [each for each in cell.get("outputs", ()) if each.get("name") != "stderr"]
        cell.update({"outputs": [each for each in shown if "<iframe" not in str(each)]} if shown else {})
        for each in shown:
            each.update({"text": each["text"].replace("\r\n", "\n")} if "text" in each else {})
    book.metadata["language_info"] = {"name": "python"}
    return book


def text_of(book: Any) -> str:
    """The texts and the types of what the cells show, without the times that steps took."""
    outputs = [each for cell in book.cells for each in cell.get("outputs", ())]
    shown = [
        [each["text"]] if "text" in each else [*each["data"], each["data"]["text/plain"]] for each in outputs
    ]
    return re.sub(r"[\d.]+ m?s\b|0x\w+", "", "".join(each for texts in shown for each in sorted(texts)))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(notebook: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    if notebook.stem.startswith("3"):
        pytest.importorskip("matplotlib")
    book, nbformat = executed(notebook, monkeypatch), pytest.importorskip("nbformat")
    if request.config.getoption("--update-golden"):
        nbformat.write(book, notebook)
    assert len(text_of(book)) > 300 and text_of(nbformat.read(notebook, as_version=4)) == text_of(book)
