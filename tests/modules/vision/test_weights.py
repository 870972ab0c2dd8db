"""A captioning model that is missing is reported by `check` where it can be, and else within seconds."""

from __future__ import annotations

import logging
import socket
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from huggingface_hub import constants
from pytest import LogCaptureFixture, MonkeyPatch

from chameleon.errors import InventoryError, ModuleError
from chameleon.modules.vision import captioning, weights
from chameleon.modules.vision.image_captioner import ImageCaptioner
from chameleon.run.steps import PreparedModule
from tests.loopback import LoopbackServer
from tests.modules.vision.conftest import inventory_of
from tests.modules.vision.tiny_models import save_vit_gpt2

NAME = "nobody/nothing"
pytestmark = pytest.mark.usefixtures("_nothing_is_loaded")


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


def test_check_refuses_a_folder_without_a_model(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for model in (str(tmp_path / "none"), "./none", "~/no such folder", "a/b/c", "what is this?"):
        assert "a folder that does not exist" in told(model)
    assert "has no config.json" in told("models")
    with pytest.raises(InventoryError, match=r"image_captioner cannot run here: model is .*does not exist"):
        inventory_of("image_captioner", model="./none").check()


def test_a_download_is_told_or_forbidden(monkeypatch: MonkeyPatch, caplog: LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "chameleon"):
        ImageCaptioner(NAME).check()
        ImageCaptioner(NAME).check()
    assert caplog.text.count("first run will download it (now: `hf download nobody/nothing`)") == 1
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in told(NAME) and "hf download nobody/nothing" in told(NAME)


def test_a_cached_model_needs_no_hub(tmp_path: Path, monkeypatch: MonkeyPatch, caplog: Any) -> None:
    save_vit_gpt2(cached(tmp_path / "hub", NAME))
    caplog.clear()  # of what transformers says of saving it
    monkeypatch.setattr(weights.Weights, "require_hub", lambda _: pytest.fail("the hub is asked"))
    PreparedModule(ImageCaptioner(NAME, device="cpu")).ready()
    assert caplog.text == ""


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


def test_check_refuses_bad_settings_and_a_device_that_is_not_there() -> None:
    for device in ("cuda:99", "cude", "cuda:x", "CPU", ""):
        assert f"there is no device '{device}' here" in told(NAME, device=device)
    for settings in ({"max_tokens": 1}, {"beams": 0}, {"model": " "}):
        with pytest.raises(InventoryError, match=next(iter(settings))):
            inventory_of("image_captioner", **settings)


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
