"""Token encoders from checkpoints that the tests themselves make: tiny, untrained, with ColBERT's files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

from chameleon.errors import MissingPackage, ModelError
from chameleon.retrieval.embeddings import MINILM
from chameleon.retrieval.late import encoder as encoders
from chameleon.retrieval.late import similarities
from chameleon.retrieval.late.encoder import encoder, missing_packages
from chameleon.retrieval.late.token_encoder import TokenEncoder

needs_torch = pytest.mark.skipif(bool(missing_packages("any")), reason="torch or transformers is missing")
needs_minilm = pytest.mark.skipif(bool(missing_packages(MINILM)), reason=f"{MINILM} is not installed")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
WORDS += ["tea", "rain", "wind", "green", "from", "china", ",", ".", "!", "##s"]
IDS = {word: number for number, word in enumerate(WORDS)}
HIDDEN, SIZE = 16, 8


def tiny(folder: Path) -> Any:
    """A tokenizer and an encoder of random weights, saved in the folder; the encoder."""
    from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

    set_seed(7)
    folder.mkdir()
    BertTokenizerFast(vocab=IDS).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    config.save_pretrained(folder)
    return BertModel(config).eval()


def colbert(folder: Path, *, pickled: bool = False, **metadata: Any) -> tuple[Any, Any]:
    """A ColBERT checkpoint: the encoder and the projection that it holds."""
    import torch
    from safetensors.torch import save_file

    model = tiny(folder)
    projection = torch.randn(SIZE, HIDDEN)
    weights = {f"bert.{key}": value.contiguous() for key, value in model.state_dict().items()}
    weights["linear.weight"] = projection
    if pickled:
        torch.save(weights, folder / "pytorch_model.bin")
    else:
        save_file(weights, folder / "model.safetensors")
    if metadata:
        (folder / "artifact.metadata").write_text(json.dumps(metadata), "utf-8")
    return model, projection


def read(model: Any, projection: Any, words: list[str], attended: int) -> Any:
    """What ColBERT makes of one text alone, written out."""
    import torch

    ids = torch.tensor([[IDS[word] for word in words]])
    mask = torch.tensor([[1] * attended + [0] * (len(words) - attended)])
    with torch.no_grad():
        vectors = model(input_ids=ids, attention_mask=mask).last_hidden_state[0] @ projection.T
    return (vectors / vectors.norm(dim=1, keepdim=True)).numpy()


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "_loaded", dict[str, TokenEncoder]())


@needs_torch
@pytest.mark.parametrize("pickled", [False, True])
def test_colbert_reads_documents_with_its_marker_and_without_punctuation(
    tmp_path: Path, pickled: bool
) -> None:
    model, projection = colbert(tmp_path / "model", pickled=pickled)
    found = encoder(str(tmp_path / "model")).documents(["Green tea, from China!", "rain", ""])
    words = ["[CLS]", "[unused1]", "green", "tea", ",", "from", "china", "!", "[SEP]"]
    whole = read(model, projection, words, len(words))
    assert found[0] == pytest.approx(whole[[0, 1, 2, 3, 5, 6, 8]], abs=1e-5)
    assert found[1] == pytest.approx(
        read(model, projection, ["[CLS]", "[unused1]", "rain", "[SEP]"], 4), abs=1e-5
    )
    assert found[2].shape == (3, SIZE)


@needs_torch
@pytest.mark.parametrize("attends", [False, True])
def test_colbert_fills_a_query_up_with_masks(tmp_path: Path, attends: bool) -> None:
    model, projection = colbert(tmp_path / "model", query_maxlen=9, attend_to_mask_tokens=attends)
    found = encoder(str(tmp_path / "model")).query("green tea!")
    words = ["[CLS]", "[unused0]", "green", "tea", "!", "[SEP]", "[MASK]", "[MASK]", "[MASK]"]
    assert found == pytest.approx(read(model, projection, words, 9 if attends else 6), abs=1e-5)


@needs_torch
def test_colbert_is_32_word_pieces_of_a_query_unless_its_checkpoint_says_otherwise(tmp_path: Path) -> None:
    colbert(tmp_path / "model")
    assert encoder(str(tmp_path / "model")).query("tea " * 50).shape == (32, SIZE)
    colbert(tmp_path / "shorter", doc_maxlen=6, mask_punctuation=False)
    (found,) = encoder(str(tmp_path / "shorter")).documents(["tea, " * 9])
    assert found.shape == (6, SIZE)


@needs_torch
def test_how_texts_are_batched_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    colbert(tmp_path / "model")
    texts = ["tea " * count for count in (1, 9, 0, 30, 2, 2, 17)]
    whole = encoder(str(tmp_path / "model")).documents(texts)
    from chameleon.retrieval.late import checkpoints

    monkeypatch.setattr(checkpoints, "_TOKENS_AT_ONCE", 40)
    for one, other in zip(whole, encoder(str(tmp_path / "model")).documents(texts), strict=True):
        assert one == pytest.approx(other, abs=1e-5)


@needs_torch
def test_any_encoder_of_transformers_gives_its_last_layer(tmp_path: Path) -> None:
    import torch

    model = tiny(tmp_path / "model")
    model.save_pretrained(tmp_path / "model")
    found = encoder(str(tmp_path / "model"))
    whole = read(model, torch.eye(HIDDEN), ["[CLS]", "green", "tea", ",", "from", "china", "[SEP]"], 7)
    assert found.query("green tea, from china") == pytest.approx(whole[1:-1], abs=1e-5)
    assert found.documents(["green tea, from china"])[0] == pytest.approx(whole[[1, 2, 4, 5]], abs=1e-5)
    assert similarities("tea", ["tea", "rain"], str(tmp_path / "model"))[0] == pytest.approx(1, abs=0.5)


class _Told:
    """Unpickled, it would make a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.path,)


@needs_torch
def test_a_checkpoint_that_would_run_code_is_refused(tmp_path: Path) -> None:
    tiny(tmp_path / "model")
    (tmp_path / "model" / "pytorch_model.bin").write_bytes(pickle.dumps(_Told(tmp_path / "made")))
    with pytest.raises(ModelError, match="cannot be loaded"):
        encoder(str(tmp_path / "model"))
    assert not (tmp_path / "made").exists()


@needs_torch
def test_a_checkpoint_that_lacks_something_is_told(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    tiny(tmp_path / "model")
    save_file({"linear.weight": torch.ones(SIZE, HIDDEN)}, tmp_path / "model" / "model.safetensors")
    with pytest.raises(ModelError, match="lacks weights"):
        encoder(str(tmp_path / "model"))
    colbert(tmp_path / "markers", query_token_id="[Q]")
    with pytest.raises(ModelError, match=r"\[Q\]"):
        encoder(str(tmp_path / "markers"))
    with pytest.raises(ModelError, match="cannot be loaded"):
        encoder(str(tmp_path / "nothing"))


def test_missing_packages_are_told_with_their_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match="pip install torch transformers safetensors"):
        encoder("some/colbert")


@needs_minilm
def test_minilm_knows_meanings_token_by_token() -> None:
    found = encoder(MINILM).documents(["Olympic Games, 1996: Atlanta, USA", "Rivers of Peru, by length"])
    query = encoder(MINILM).query("In which city were the games held?")
    assert query.shape[1] == 384
    scores = [float((query @ tokens.T).max(axis=1).sum()) for tokens in found]
    assert scores[0] > scores[1]
    assert numpy.linalg.norm(found[0], axis=1) == pytest.approx(1, abs=1e-5)
