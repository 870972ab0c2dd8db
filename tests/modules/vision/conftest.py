"""Captioning models as small as they can be, saved once for all tests that load them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.modules.vision import captioning, weights


@pytest.fixture(scope="session")
def vit_gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.modules.vision.tiny_models import save_vit_gpt2

    return str(save_vit_gpt2(tmp_path_factory.mktemp("vit_gpt2")))


@pytest.fixture
def _nothing_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(captioning, "_captioners", {})
    weights.warn_of_download.cache_clear()
