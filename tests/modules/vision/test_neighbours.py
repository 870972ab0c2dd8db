"""The captioner and the text detector beside each other: at the same time, and with the same outcome."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.modules.vision.image_captioner import ImageCaptioner
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.planners.fixed import Fixed

PLAN = ["image_captioner", "text_detector"]


def outcomes(captioner: ImageCaptioner, detector: TextDetector, image: Path, parallel: bool) -> State:
    modules = {"image_captioner": captioner, "text_detector": detector}
    executor = Executor(Inventory("pictures", Fixed(PLAN), modules), parallel=parallel)
    return executor.run({"question": "What is it?", "image": str(image)})


class Watched:
    """Notes from when to when each function that it wraps is at work."""

    def __init__(self) -> None:
        self.spans: dict[str, tuple[float, float]] = {}
        self.meet: Callable[[], object] = lambda: None

    def wrap(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            begun = time.perf_counter()
            self.meet()  # begun and not done: whoever comes here is at work
            result = work(*given)
            self.spans[name] = (begun, time.perf_counter())
            return result

        return timed

    @property
    def overlap(self) -> bool:
        first, second = self.spans.values()
        return max(first[0], second[0]) < min(first[1], second[1])


def test_the_real_ones_overlap_and_the_outcome_is_that_of_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("PIL", "torch", "transformers", "rapidocr", "onnxruntime"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from chameleon.modules.vision.captioning import Model
    from chameleon.pictures.package_engines import RapidEngine
    from tests.modules.vision.tiny_models import save_vit_gpt2
    from tests.pictures.drawn import text_picture

    image = text_picture(tmp_path / "map.png", {(20, 15): "Nile", (200, 100): "Red Sea"})
    captioner = ImageCaptioner(str(save_vit_gpt2(tmp_path / "model")))
    watched = Watched()
    monkeypatch.setattr(Model, "describe", watched.wrap("captions", Model.describe))
    monkeypatch.setattr(RapidEngine, "read", watched.wrap("text", RapidEngine.read))
    apart = outcomes(captioner, TextDetector("rapidocr"), image, parallel=False)
    assert len(watched.spans) == 2 and not watched.overlap
    watched.meet = threading.Barrier(2, timeout=20).wait  # it breaks when one is at work without the other
    together = outcomes(captioner, TextDetector("rapidocr"), image, parallel=True)
    assert watched.overlap
    assert together.cache == apart.cache and list(together.cache) == list(apart.cache)
    assert together.cache["detected_text"] == "Nile\nRed Sea" and together.cache["image_caption"]
    assert [(record.step, record.output) for record in together.history] == [
        (record.step, record.output) for record in apart.history
    ]
