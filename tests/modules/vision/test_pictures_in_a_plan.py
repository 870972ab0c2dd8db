"""A plan from a YAML file: a caption, the text in the picture, and a module of one's own that needs both."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")
pytest.importorskip("rapidocr", reason="text needs rapidocr: pip install rapidocr onnxruntime")
pytest.importorskip("onnxruntime", reason="text needs onnxruntime: pip install rapidocr onnxruntime")

from chameleon import Executor, Inventory
from chameleon.log import EventLog
from tests.engine.doubles import why
from tests.modules.vision.tiny_models import WORDS, save_vit_gpt2
from tests.pictures.drawn import text_picture

INVENTORY = """\
name: seen_and_read
input: {question: str, image: path}
planner: {use: fixed, plan: [image_captioner, text_detector, tells_both]}
modules:
  image_captioner: {model: MODEL, device: cpu, max_tokens: 6, beams: 2}
  text_detector: {engine: rapidocr}
  tells_both: {use: "telling:TellsBoth"}
"""
OWN = '''\
from chameleon import Module


class TellsBoth(Module):
    """Says what is seen and what is read."""

    reads = ("cache.image_caption", "cache.detected_text")
    writes = ("cache.answer",)

    def run(self, state):
        return {"seen": state.cache["image_caption"], "read": state.cache["detected_text"]}

    def update_cache(self, cache, output):
        return {"answer": f"{output['seen']} | {output['read']}"}
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    model = save_vit_gpt2(tmp_path / "captioner")
    (tmp_path / "telling.py").write_text(OWN, "utf-8")
    (tmp_path / "seen_and_read.yaml").write_text(INVENTORY.replace("MODEL", str(model)), "utf-8")
    return tmp_path / "seen_and_read.yaml"


def test_a_later_module_has_the_caption_and_the_text(file: Path, tmp_path: Path) -> None:
    inventory = Inventory.load(file)
    inventory.check()
    image = text_picture(tmp_path / "map.png", {(20, 15): "Nile", (200, 100): "Red Sea"})
    answers = []
    for parallel in (True, False):
        with EventLog(tmp_path / f"{parallel}.jsonl") as log:
            executor = Executor(Inventory.load(file), parallel=parallel)
            state = executor.run({"question": "Where?", "image": str(image)}, log)
        assert [record.step.module for record in state.history] == list(inventory.modules)
        answers.append(state.cache["answer"])
        seen, _, read = answers[-1].partition(" | ")
        assert seen and set(seen.split()) <= set(WORDS) and read == "Nile\nRed Sea"
    assert answers[0] == answers[1]


def test_a_broken_picture_ends_the_run_naming_its_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture")
    state = Executor(Inventory.load(file)).run({"question": "?", "image": str(tmp_path / "broken.png")})
    assert "broken.png" in why(state) and "answer" not in state.cache
