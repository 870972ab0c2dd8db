"""The captioner and the text detector beside each other: at the same time, and with the same outcome."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.modules.image_captioner import ImageCaptioner
from chameleon.modules.text_detector import TextDetector
from chameleon.planners.fixed import Fixed

PLAN = ["image_captioner", "text_detector"]


def outcomes(captioner: ImageCaptioner, detector: TextDetector, image: Path, parallel: bool) -> State:
    modules = {"image_captioner": captioner, "text_detector": detector}
    executor = Executor(Inventory("pictures", Fixed(PLAN), modules), parallel=parallel)
    return executor.run({"question": "What is it?", "image": str(image)})


def test_both_are_at_work_at_the_same_time(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=20)  # it opens when both have come, and breaks when one comes alone

    class Captions(ImageCaptioner):
        """Waits for the other one."""

        def setup(self) -> None:
            pass

        def run(self, state: State) -> str:
            both.wait()
            return "a map"

    class Detects(TextDetector):
        """Waits for the other one."""

        def setup(self) -> None:
            pass

        def run(self, state: State) -> list[dict[str, Any]]:
            both.wait()
            return [{"text": "Nile", "box": [[0, 0], [9, 0], [9, 9], [0, 9]], "confidence": 1.0}]

    state = outcomes(Captions(), Detects(), tmp_path / "any.png", parallel=True)
    assert state.ended is not None and state.ended.reason == "answered"
    assert list(state.cache) == ["image_caption", "detected_text", "text_boxes"], "merged in plan order"


def test_the_outcome_is_that_of_one_after_the_other(tmp_path: Path) -> None:
    for package in ("PIL", "torch", "transformers", "rapidocr", "onnxruntime"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from tests.vision.pictures import text_picture
    from tests.vision.tiny_models import save_vit_gpt2

    image = text_picture(tmp_path / "map.png", {(20, 15): "Nile", (200, 100): "Red Sea"})
    captioner = ImageCaptioner(str(save_vit_gpt2(tmp_path / "model")))
    together, apart = (
        outcomes(captioner, TextDetector("rapidocr"), image, parallel) for parallel in (True, False)
    )
    assert together.cache == apart.cache and list(together.cache) == list(apart.cache)
    assert together.cache["detected_text"] == "Nile\nRed Sea" and together.cache["image_caption"]
    assert [(record.step, record.output) for record in together.history] == [
        (record.step, record.output) for record in apart.history
    ]
