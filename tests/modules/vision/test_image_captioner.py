"""`image_captioner` with real models of transformers, as small as they can be, and their weights."""

import logging
import random
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from huggingface_hub import constants
from PIL import Image
from pytest import LogCaptureFixture, MonkeyPatch

from chameleon import State
from chameleon.core.prompt import context_of
from chameleon.errors import InventoryError, MissingPackage, ModuleError
from chameleon.modules.vision import captioning, weights
from chameleon.modules.vision.captioning import Captioner, captioner
from chameleon.modules.vision.image_captioner import SMOLVLM, ImageCaptioner
from chameleon.run.steps import PreparedModule
from tests.engine.doubles import executor, why
from tests.loopback import LoopbackServer
from tests.modules.vision.conftest import inventory_of
from tests.modules.vision.tiny_models import SIDE, save_blip, save_idefics3, save_vit_gpt2

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="session")
def vit_gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_vit_gpt2(tmp_path_factory.mktemp("vit_gpt2")))


@pytest.fixture
def _nothing_is_loaded(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(captioning, "_captioners", {})
    weights.warn_of_download.cache_clear()


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


def test_auto_is_the_accelerator_that_torch_finds_and_else_the_cpu(monkeypatch: MonkeyPatch) -> None:
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
def test_what_does_not_load_is_told(vit_gpt2: str, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
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


NAME = "nobody/nothing"


def cached(folder: Path, name: str) -> Path:
    """The folder in which the hub's cache under `folder` keeps that model."""
    kept = folder / f"models--{name.replace('/', '--')}"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("0" * 40)
    snapshot = kept / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    return snapshot


def told(model: str, **settings: Any) -> str:
    with pytest.raises((InventoryError, ModuleError)) as caught:
        ImageCaptioner(model, **settings).check()
    return str(caught.value)


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_check_refuses_a_folder_without_a_model(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for model in (str(tmp_path / "none"), "./none", "~/no such folder", "a/b/c", "what is this?"):
        assert "a folder that does not exist" in told(model)
    assert "has no config.json" in told("models")
    with pytest.raises(InventoryError, match=r"image_captioner cannot run here: model is .*does not exist"):
        inventory_of("image_captioner", model="./none").check()


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_a_download_is_told_or_forbidden(monkeypatch: MonkeyPatch, caplog: LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "chameleon"):
        ImageCaptioner(NAME).check()
        ImageCaptioner(NAME).check()
    assert caplog.text.count("first run will download it (now: `hf download nobody/nothing`)") == 1
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in told(NAME) and "hf download nobody/nothing" in told(NAME)


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_a_cached_model_needs_no_hub(tmp_path: Path, monkeypatch: MonkeyPatch, caplog: Any) -> None:
    save_vit_gpt2(cached(tmp_path / "hub", NAME))
    caplog.clear()  # of what transformers says of saving it
    monkeypatch.setattr(weights.Weights, "require_hub", lambda _: pytest.fail("the hub is asked"))
    PreparedModule(ImageCaptioner(NAME, device="cpu")).ready()
    assert caplog.text == ""


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_a_hub_may_not_know_it_or_be_silent(loopback: Any, monkeypatch: MonkeyPatch, capfd: Any) -> None:
    server: LoopbackServer = loopback()
    monkeypatch.setattr(constants, "ENDPOINT", server.url.removesuffix("/v1"))
    with pytest.raises(ModuleError, match=r"nobody/nothing is not on this.*404.*hf download.*multimodal"):
        PreparedModule(ImageCaptioner(NAME, device="cpu")).ready()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(weights, "_SECONDS", 0.1)
        with pytest.raises(ModuleError, match=r"cannot be downloaded.*multimodal_captioner"):
            PreparedModule(ImageCaptioner(NAME, device="cpu")).ready()
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_check_refuses_bad_settings_and_a_device_that_is_not_there() -> None:
    for device in ("cuda:99", "cude", "cuda:x", "CPU", ""):
        assert f"there is no device '{device}' here" in told(NAME, device=device)
    for settings in ({"max_tokens": 1}, {"beams": 0}, {"model": " "}):
        with pytest.raises(InventoryError, match=next(iter(settings))):
            inventory_of("image_captioner", **settings)


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_weights_and_device_are_told_without_loading(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    import torch

    def weights_of(model: Path | str) -> Any:
        return ImageCaptioner(str(model), device="cpu").runtime_info()["weights"]

    for name, seed in (("one", b"1"), ("same", b"1"), ("other", b"2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_bytes(seed * 1000)
    one, same, other = (weights_of(tmp_path / name) for name in ("one", "same", "other"))
    assert one == same != other and len(one) == 64
    assert weights_of(NAME) is None and weights_of(tmp_path / "none") is None
    (cached(tmp_path / "hub", NAME) / "config.json").write_text("{}")
    assert weights_of(NAME) == "0" * 40
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    found = ImageCaptioner(NAME).runtime_info()
    assert found["device"] == "cpu" and found["versions"]["torch"] == version("torch")
    assert ImageCaptioner(NAME, device="cuda:99").runtime_info()["device"] is None
    assert captioning._captioners == {}
