"""The notebooks of demos/ run from top to bottom, offline, and are kept without outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import environment

FOLDER = Path(__file__).parents[1] / "demos" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SHOWN = {
    "1_your_own_table": ["Kingsmere Town", "this kind of question is not understood", "$3.50"],
    "2_your_own_tools": ['convert (celsius: "$weather.temp", to: "F") → 39.2', "weather", "Rome is warmer."],
    "3_compare_inventories": ["Kept in", "declined", "image/png", "table_reader"],
}


def executed(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the cells of a notebook show, run by a kernel of this Python."""
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package)
    import nbformat
    from nbclient import NotebookClient

    for name, value in environment(CHAMELEON_STORE="off").items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(notebook, as_version=4)
    nbformat.validate(book)
    kernel = {"resources": {"metadata": {"path": str(FOLDER)}}, "timeout": 120, "kernel_name": "python3"}
    NotebookClient(book, **kernel).execute(env=dict(os.environ))
    outputs: list[Any] = [output for cell in book.cells for output in cell.get("outputs", ())]
    return json.dumps(outputs, ensure_ascii=False).replace('\\"', '"')


def test_smoke_first_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = executed(NOTEBOOKS[0], monkeypatch)
    assert all(each in shown for each in SHOWN[NOTEBOOKS[0].stem]), shown


@pytest.mark.parametrize("notebook", NOTEBOOKS[1:], ids=lambda path: path.stem)
def test_the_other_notebooks(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if notebook.stem.startswith("3"):
        pytest.importorskip("matplotlib")
    shown = executed(notebook, monkeypatch)
    assert all(each in shown for each in SHOWN[notebook.stem]), shown


def test_notebooks_are_kept_without_outputs() -> None:
    assert [each.stem for each in NOTEBOOKS] == list(SHOWN)
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code), notebook
