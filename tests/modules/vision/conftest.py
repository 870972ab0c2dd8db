"""Captioning models as small as they can be, and inventories of one module about a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory
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


def inventory_of(name: str, **settings: Any) -> Inventory:
    """Return an inventory whose plan is this module alone, with these settings."""
    planner, takes = {"use": "fixed", "plan": [name]}, {"question": "str", "image": "path"}
    return Inventory.parse({"name": "mine", "input": takes, "planner": planner, "modules": {name: settings}})
