"""`image_captioner` with real models of transformers, as small as they can be."""

from __future__ import annotations

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from PIL import Image

from chameleon import Executor, Inventory, Module, State
from chameleon.errors import InventoryError, MissingPackage, ModuleError
from chameleon.modules.vision import captioning, devices
from chameleon.modules.vision.image_captioner import ImageCaptioner
from chameleon.prompt import context_of
from chameleon.steps import PreparedModule
from tests.engine.doubles import executor, why
from tests.modules.vision.tiny_models import SIDE, save_blip, save_llava, save_vit_gpt2

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


class ReadsNothing(Module):
    """Finds nothing."""

    reads = ("input.image",)

    def run(self, state: State) -> str:
        return "nothing"


@pytest.fixture(scope="module")
def vit_gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_vit_gpt2(tmp_path_factory.mktemp("vit_gpt2")))


@pytest.fixture(scope="module")
def blip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_blip(tmp_path_factory.mktemp("blip")))


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[State]:
    """Sixteen pictures of coloured squares."""
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


def count_passes(module: ImageCaptioner, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Notes how many pictures go through the encoder each time that it runs."""
    sizes: list[int] = []
    (network,) = {
        model.network for (name, *_), model in captioning._models.items() if name == module.settings.model
    }
    forward = network.encoder.forward

    def counted(pixel_values: Any, *args: Any, **options: Any) -> Any:
        sizes.append(len(pixel_values))
        return forward(pixel_values, *args, **options)

    monkeypatch.setattr(network.encoder, "forward", counted)
    return sizes


def test_captions_one_picture(vit_gpt2: str, states: list[State]) -> None:
    state = executor({"image_captioner": ImageCaptioner(vit_gpt2)}).run({"question": "?", **states[0].input})
    caption = state.cache["image_caption"]
    assert 1 <= len(caption.split()) <= 15, "sixteen tokens, of which the first begins the caption"
    assert context_of(state) == f"Image caption: {caption}"


def test_a_batch_says_what_each_picture_says_alone(vit_gpt2: str, states: list[State]) -> None:
    alone = [ready(vit_gpt2, wait=0).run(state) for state in states]
    assert len(set(alone)) > 8, "the model looks at the pictures"
    (model,) = {model for (name, *_), model in captioning._models.items() if name == vit_gpt2}
    pictures = [Image.open(state.input["image"]) for state in states]
    assert model.describe(pictures, captioning.Captioning(vit_gpt2)) == alone


def test_sixteen_threads_at_once_are_one_batch_with_the_same_results(
    vit_gpt2: str, states: list[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ready(vit_gpt2, wait=30_000)
    alone = [ready(vit_gpt2, wait=0).run(state) for state in states]
    sizes = count_passes(module, monkeypatch)
    begin = threading.Barrier(16)

    def run(state: State) -> str:
        begin.wait()
        return module.run(state)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(run, states)) == alone
    assert sizes == [16]


def test_runs_of_an_executor_share_batches(
    vit_gpt2: str, states: list[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ready(vit_gpt2, wait=30_000, batch=8)
    sizes = count_passes(module, monkeypatch)
    inputs = [{"question": "?", **state.input} for state in states]
    ended = list(executor({"image_captioner": module}).batch(inputs, workers=16))
    assert [state.cache["image_caption"] for state in ended] == [
        ready(vit_gpt2, wait=0).run(state) for state in states
    ]
    assert sizes[:2] == [8, 8]


def test_a_model_is_loaded_once_for_all_modules(vit_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(vit_gpt2)
    loads: list[Any] = []
    monkeypatch.setattr(captioning.Model, "load", loads.append)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda beams: ready(vit_gpt2, beams=beams), range(1, 9)))
    assert loads == []


def test_beams_and_length_are_settings(vit_gpt2: str, states: list[State]) -> None:
    assert len(ready(vit_gpt2, max_tokens=5, beams=1).run(states[1]).split()) <= 4


@pytest.mark.parametrize(
    ("processors", "torchs_own", "settings", "threads"),
    [(4, 4, {}, 3), (8, 4, {}, 4), (1, 1, {}, 1), (4, 4, {"threads": 4}, 4), (4, 4, {"threads": 1}, 1)],
)
def test_threads_leave_a_processor_free_unless_set(
    vit_gpt2: str,
    processors: int,
    torchs_own: int,
    settings: dict[str, int],
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    before = torch.get_num_threads()
    monkeypatch.setattr(devices.sys, "platform", "any")
    monkeypatch.setattr(devices.os, "cpu_count", lambda: processors)
    monkeypatch.setattr(captioning, "_captioners", {})
    try:
        torch.set_num_threads(torchs_own)
        ready(vit_gpt2, **settings)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(torch.get_num_threads).result() == threads
    finally:
        torch.set_num_threads(before)


def test_half_precision_is_a_setting(vit_gpt2: str, states: list[State]) -> None:
    import torch

    assert ready(vit_gpt2, half=True).run(states[2])
    (model,) = {model for (name, _, half), model in captioning._models.items() if name == vit_gpt2 and half}
    assert model.network.dtype == torch.float16


def test_models_with_a_processor_of_their_own_work_too(blip: str, states: list[State]) -> None:
    module = ready(blip, wait=30_000, batch=4)
    alone = [ready(blip, wait=0).run(state) for state in states[:4]]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(module.run, states[:4])) == alone
    assert len(set(alone)) > 1
    assert ready(blip, instruction="word1 word2").run(states[0]).startswith("word1 word2")


def test_models_that_chat_are_told_what_to_do_and_their_prompt_is_no_caption(
    tmp_path: Path, states: list[State]
) -> None:
    llava = str(save_llava(tmp_path / "llava"))
    told = {"instruction": "word1 word2 word3", "max_tokens": 6}
    alone = [ready(llava, wait=0, **told).run(state) for state in states[:4]]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ready(llava, wait=30_000, batch=4, **told).run, states[:4])) == alone
    assert len(set(alone)) > 1
    assert all(len(caption.split()) <= 6 and "word1 word2 word3" not in caption for caption in alone)
    assert ready(llava, wait=0, instruction="word9", max_tokens=6).run(states[0]) != alone[0]


def test_a_broken_picture_harms_no_other(vit_gpt2: str, states: list[State], tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture")
    inputs = [{"question": "?", "image": str(tmp_path / "broken.png")}, {"question": "?", **states[0].input}]
    broken, whole = executor({"image_captioner": ready(vit_gpt2)}).batch(inputs, workers=2)
    assert "broken.png" in why(broken) and whole.cache["image_caption"]


def test_a_model_that_fails_is_told_to_every_run(
    vit_gpt2: str, states: list[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    module = ready(vit_gpt2, wait=30_000, batch=3)
    (model,) = {m for (name, _, half), m in captioning._models.items() if name == vit_gpt2 and not half}
    monkeypatch.setattr(model.network, "generate", fails)
    inputs = [{"question": "?", **state.input} for state in states[:3]]
    for state in executor({"image_captioner": module}).batch(inputs, workers=3):
        assert "failed on a picture: CUDA out of memory" in why(state)
    monkeypatch.undo()
    assert ready(vit_gpt2, wait=0).run(states[0])


def test_weights_that_are_not_there_are_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub.constants as hub

    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(captioning, "_failed", {})
    tries: list[str] = []
    read = captioning.Model._read

    def counted(name: str, half: bool, **options: Any) -> captioning.Model:
        tries.append(name)
        return read(name, half, **options)

    monkeypatch.setattr(captioning.Model, "_read", counted)
    for _ in range(3):
        with pytest.raises(
            ModuleError, match=r"nobody/nothing is not on this machine.*hf download.*multimodal"
        ):
            captioning.captioner(captioning.Captioning("nobody/nothing"))
    assert len(tries) == 1, "the cache; then it is remembered"
    with pytest.raises(ModuleError, match="is no captioning model"):
        captioning.captioner(captioning.Captioning(str(tmp_path)))


def test_what_check_refuses_a_run_refuses_in_the_same_words(tmp_path: Path) -> None:
    module = ImageCaptioner("./no such captioner")
    with pytest.raises(InventoryError, match="a folder that does not exist") as checked:
        module.check()
    with pytest.raises(InventoryError) as run:
        PreparedModule(module).ready()
    assert str(run.value) == str(checked.value)


def test_the_plan_goes_on_as_the_inventory_says(tmp_path: Path, states: list[State]) -> None:
    inventory = Inventory.parse(
        {
            "name": "mine",
            "input": {"question": "str", "image": "path"},
            "planner": {"use": "fixed", "plan": ["image_captioner", "text_detector"]},
            "modules": {
                "image_captioner": {"model": str(tmp_path), "on_error": "skip"},
                "text_detector": {"use": "tests.modules.vision.test_image_captioner:ReadsNothing"},
            },
        }
    )
    state = Executor(inventory).run({"question": "?", **states[0].input})
    assert state.ended is not None and state.ended.reason == "answered"
    assert state.cache["text_detector"] == "nothing" and "image_caption" not in state.cache


@pytest.mark.parametrize("package", ["torch", "transformers", "PIL"])
def test_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=r"pip install torch transformers pillow.*multimodal_captioner"):
        ImageCaptioner().check()
    with pytest.raises(MissingPackage):
        PreparedModule(ImageCaptioner()).ready()


def test_bad_settings_are_told() -> None:
    for settings in ({"max_tokens": 1}, {"beams": 0}, {"batch": 0}, {"wait": -1.0}, {"threads": 0}):
        with pytest.raises(InventoryError, match=next(iter(settings))):
            ImageCaptioner(**settings)
    for device in ("cude", "cuda:", "cuda:x", "CPU", ""):
        with pytest.raises(InventoryError, match=f"device is '{device}'.*auto, cuda, cuda:NUMBER, mps"):
            ImageCaptioner("any", device=device)
    with pytest.raises(InventoryError, match=r"wait is nan"):
        ImageCaptioner(wait=float("nan"))
    with pytest.raises(InventoryError, match="model is empty"):
        ImageCaptioner(" ")


def test_a_torchvision_that_does_not_fit_is_told(vit_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr(captioning.Model, "_read", broken)
    monkeypatch.setattr(captioning, "_models", {})
    monkeypatch.setattr(captioning, "_captioners", {})
    monkeypatch.setattr(captioning, "_failed", {})
    with pytest.raises(ModuleError, match="must fit torch"):
        ready(vit_gpt2)
