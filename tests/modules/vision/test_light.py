"""Importing the modules that see and search, and checking an inventory with them, load no heavy package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import chameleon

HEAVY = {
    *("PIL", "numpy", "torch", "transformers", "rapidocr", "onnxruntime", "easyocr", "cv2"),
    *("langchain_core", "requests", "lxml", "bm25s", "ddgs", "primp"),
}
CODE = """\
import chameleon.modules.vision.multimodal_captioner
from chameleon import Inventory
from chameleon.errors import InventoryError
plan = ["image_captioner", "text_detector", "web_search", "wikipedia_search"]
modules = {name: {} for name in plan} | {"web_search": {"provider": "wikipedia"}}
inventory = Inventory.parse(
    {"name": "mine", "input": {"image": "path", "question": "str"}, "modules": modules,
     "planner": {"use": "fixed", "plan": plan}}
)
try:
    inventory.check()
except InventoryError:
    pass
"""


@pytest.mark.slow
def test_is_light(tmp_path: Path) -> None:
    root = str(Path(chameleon.__file__).resolve().parent.parent)
    begin = f"import json, sys\nsys.path.insert(0, {root!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}{CODE}\nprint(json.dumps(list(sys.modules)))"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=True,
    )  # fmt: skip
    assert not HEAVY & set(json.loads(done.stdout))
