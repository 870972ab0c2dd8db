"""Importing the modules that see, loading an inventory with them and checking it load no heavy package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import chameleon

HEAVY = {
    "PIL",
    "numpy",
    "torch",
    "transformers",
    "rapidocr",
    "onnxruntime",
    "easyocr",
    "cv2",
    "langchain_core",
}
SEEING = ("image_captioner", "text_detector", "multimodal_captioner")


@pytest.mark.parametrize(
    "code",
    [
        "import chameleon.pictures.opening, "
        + ", ".join(f"chameleon.modules.vision.{name}" for name in SEEING),
        "from chameleon import Inventory\n"
        "plan = {'use': 'fixed', 'plan': ['image_captioner', 'text_detector']}\n"
        "modules = {'image_captioner': {}, 'text_detector': {}}\n"
        "given = {'name': 'mine', 'input': {'image': 'path'}, 'planner': plan, 'modules': modules}\n"
        "inventory = Inventory.parse(given)\n"
        "try:\n    inventory.check()\nexcept chameleon.errors.InventoryError as problem:\n    pass",
    ],
)
def test_is_light(code: str, tmp_path: Path) -> None:
    root = str(Path(chameleon.__file__).resolve().parent.parent)
    begin = f"import json, sys\nsys.path.insert(0, {root!r})\nimport chameleon.errors\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}{code}\nprint(json.dumps(list(sys.modules)))"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=True,
    )  # fmt: skip
    assert not HEAVY & set(json.loads(done.stdout))
