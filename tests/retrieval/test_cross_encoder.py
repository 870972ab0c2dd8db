"""Reranking by a cross-encoder: a tiny one, made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import MissingPackage, ModelError
from chameleon.retrieval import cross_encoder as module
from chameleon.retrieval.cross_encoder import CrossEncoderModel, cross_encoder
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import parts_for
from tests.retrieval.corpora import WORDS, questions, tables


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a model of random weights that knows the words of our tables."""
    return made(tmp_path_factory.mktemp("models") / "tiny", 1)


def made(folder: Path, labels: int) -> str:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    words = sorted({*WORDS, *".,?"})
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]), "utf-8"
    )
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(words) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=labels,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def by_the_book(name: str, query: str, text: str) -> float:
    """The score of one pair alone, without padding."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    given = AutoTokenizer.from_pretrained(name)(
        [query], [text], truncation=True, max_length=64, return_tensors="pt"
    )
    with torch.inference_mode():
        found = AutoModelForSequenceClassification.from_pretrained(name).eval()(**given)
    return float(found.logits[0, 0])


def test_scores_are_those_of_each_pair_alone(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 2)
    texts = ["river", "bridge harbour market library", "castle " * 200, "", "south, east. west"]
    pairs = [("river bridge?", text) for text in texts]
    found = CrossEncoderModel(model).scores(pairs)
    wanted = [by_the_book(model, *pair) for pair in pairs]
    assert found == pytest.approx(wanted, abs=1e-4) and len({round(each, 3) for each in found}) == 5
    assert CrossEncoderModel(model).scores([]) == []


def test_the_hundred_first_are_put_in_its_order(model: str, tmp_path: Path) -> None:
    index = Index.build(tmp_path / "index", tables(40), parts_for(f"bm25+rerank:{model}"))
    assert list(index.settings) == ["bm25"]
    found = retriever(index, f"bm25+rerank:{model}")
    for query in questions(3):
        first = {hit.id for hit in retriever(index, "bm25").search(query, 100)}
        hits = found.search(query, 100)
        assert {hit.id for hit in hits} == first
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert cross_encoder(model) is cross_encoder(model)


def test_a_model_that_is_none_is_told(tmp_path: Path, model: str) -> None:
    index = Index.build(tmp_path / "index", tables(5), parts_for("bm25"))
    nowhere = retriever(index, f"bm25+rerank:{tmp_path / 'nowhere'}")
    with pytest.raises(ModelError, match="nowhere"):
        nowhere.search("river bridge harbour lighthouse")
    with pytest.raises(ModelError, match="gives one score, and this model 3"):
        cross_encoder(made(tmp_path / "three", 3))


def test_missing_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(tmp_path / "index", tables(5), parts_for("bm25"))

    def nothing(_: str) -> Any:
        return None

    monkeypatch.setattr(module, "find_spec", nothing)
    with pytest.raises(MissingPackage, match="pip install torch transformers"):
        retriever(index, "bm25+rerank:some/model")
