"""`image_captioner` with real models of transformers, as small as they can be."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from PIL import Image

from chameleon import State
from chameleon.core.prompt import context_of
from chameleon.errors import MissingPackage, ModuleError
from chameleon.modules.vision import captioning
from chameleon.modules.vision.captioning import Captioner, captioner
from chameleon.modules.vision.image_captioner import SMOLVLM, ImageCaptioner
from chameleon.run.steps import PreparedModule
from tests.engine.doubles import executor, why
from tests.modules.vision.tiny_models import SIDE, save_blip, save_idefics3

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[State]:
    """Sixteen pictures of colored squares."""
    folder = tmp_path_factory.mktemp("pictures")
    return [State(input={"image": str(squares(folder / f"{number}.png", number))}) for number in range(16)]


def squares(path: Path, seed: int) -> Path:
    chance = random.Random(seed)
    image = Image.new("RGB", (SIDE, SIDE))
    for x in range(0, SIDE, 8):
        for y in range(0, SIDE, 8):
            image.paste(tuple(chance.randrange(256) for _ in range(3)), (x, y, x + 8, y + 8))
    image.save(path)
    return path


def ready(model: str, **settings: Any) -> ImageCaptioner:
    module = ImageCaptioner(model, device="cpu", **settings)
    PreparedModule(module).ready()
    return module


def test_captions_one_picture(vit_gpt2: str, states: list[State]) -> None:
    paper = ImageCaptioner(vit_gpt2, max_tokens=16, beams=4)
    state = executor({"image_captioner": paper}).run({"question": "?", **states[0].input})
    caption = state.cache["image_caption"]
    assert 1 <= len(caption.split()) <= 15, "sixteen tokens, of which the first begins the caption"
    assert context_of(state) == f"Image caption: {caption}"
    assert len(ready(vit_gpt2, max_tokens=5, beams=1).run(states[1]).split()) <= 4


def test_runs_share_one_model(vit_gpt2: str, states: Any, monkeypatch: Any) -> None:
    module = ready(vit_gpt2)
    captions = [module.run(state) for state in states]
    assert len(set(captions)) > 8, "the model looks at the pictures"
    monkeypatch.setattr(Captioner, "_load", lambda _: pytest.fail("it is loaded again"))
    again = ready(vit_gpt2, max_tokens=64)
    inputs = [{"question": "?", **state.input} for state in states]
    ended = list(executor({"image_captioner": again}).batch(inputs, workers=4))
    assert [state.cache["image_caption"] for state in ended] == captions


@pytest.mark.parametrize("save", [save_blip, save_idefics3])
def test_models_with_own_processors_see_the_picture(save: Any, states: list[State], tmp_path: Path) -> None:
    module = ready(str(save(tmp_path / "model")))
    captions = [module.run(state) for state in states[:4]]
    assert all(captions) and len(set(captions)) > 1


def test_the_default_is_a_chat_model_which_is_asked_for_one_sentence(tmp_path: Path) -> None:
    assert ImageCaptioner().model == SMOLVLM == "HuggingFaceTB/SmolVLM-256M-Instruct"
    model = captioner(str(save_idefics3(tmp_path / "smol")), "cpu")
    assert type(model.network).__name__ == "Idefics3ForConditionalGeneration"
    requests: list[Any] = []
    generate = model.network.generate
    model.network.generate = lambda **request: (requests.append(request), generate(**request))[1]
    caption = model.describe(Image.effect_noise((300, 90), 90).convert("RGB"), max_tokens=9)
    assert 1 <= len(caption.split()) <= 9 and "User" not in caption
    (request,) = requests
    assert request["pixel_values"].shape[:2] == (1, 1), "the picture whole, in no parts"
    prompt = model.tokenizer.decode(request["input_ids"][0])
    assert prompt.startswith("<|im_start|>") and prompt.count("<image>") == 4


def test_auto_is_the_accelerator_that_torch_finds_and_else_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("mps"))
    for is_available, device in ((True, "mps"), (False, "cpu")):
        monkeypatch.setattr(torch.accelerator, "is_available", lambda found=is_available: found)
        assert captioning.device_for("auto") == device


def test_a_failing_model_fails_the_step(vit_gpt2: str, states: Any, monkeypatch: Any) -> None:
    def fails(**_: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(captioner(vit_gpt2, "cpu").network, "generate", fails)
    state = executor({"image_captioner": ready(vit_gpt2)}).run({"question": "?", **states[0].input})
    assert "failed on cpu: CUDA out of memory" in why(state)
    assert state.ended and state.ended.error and "device: cpu" in state.ended.error.hint


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_what_does_not_load_is_told(vit_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "transformers", "PIL"):
        with monkeypatch.context() as without, pytest.raises(MissingPackage, match="multimodal_captioner"):
            without.setitem(sys.modules, package, None)
            ImageCaptioner().check()
    with pytest.raises(ModuleError, match="is no captioning model"):
        captioner(str(tmp_path))

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr(Captioner, "_read", broken)
    with pytest.raises(ModuleError, match="must fit torch"):
        ready(vit_gpt2)
