"""Models of sentence-transformers, made here: tiny ones of random weights that know a few words."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

from chameleon.errors import ModelError
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import embedder
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.models import missing_packages
from chameleon.retrieval.ranking import similarities
from chameleon.retrieval.sentence_transformer import cross_encoder, late_encoder
from chameleon.retrieval.spec import MINILM
from chameleon.retrieval.texts import texts
from tests.retrieval.hashed import WORDS, questions, tables

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")
needs_minilm = pytest.mark.skipif(bool(missing_packages(MINILM)), reason=f"{MINILM} is not installed")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
VOCABULARY = [*SPECIAL, *sorted({*WORDS, *".,!?:", "ask", "tell", "query", "passage"})]
IDS = {word: number for number, word in enumerate(VOCABULARY)}
TEXTS = ["river", "bridge, harbour market! library.", "castle " * 90, "", "south, east. west"]


def saved(folder: Path, kind: str, **more: Any) -> Any:
    import transformers

    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, initializer_range=0.5, **more,
    )  # fmt: skip
    model = getattr(transformers, kind)(config).eval()
    transformers.BertTokenizerFast(vocab=IDS, model_max_length=64).save_pretrained(folder)
    model.save_pretrained(folder)
    return model


def hidden(model: Any, words: list[str], attended: int) -> Any:
    ids = torch.tensor([[IDS[word] for word in words]])
    mask = torch.tensor([[1] * attended + [0] * (len(words) - attended)])
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask).last_hidden_state[0].numpy()


def unit(vectors: Any) -> Any:
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


def colbert(folder: Path, **metadata: Any) -> tuple[Any, Any]:
    """Save a checkpoint in the form of ColBERT's authors; return its encoder and projection."""
    from safetensors.torch import save_file

    model, projection = saved(folder, "BertModel"), torch.randn(8, 32)
    weights = {f"bert.{key}": value.contiguous() for key, value in model.state_dict().items()}
    save_file(weights | {"linear.weight": projection}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "artifact.metadata").write_text(json.dumps(metadata))
    return model, projection.numpy()


@pytest.mark.parametrize("prompts", [{}, {"query": "ask: ", "document": "tell: "}])
def test_a_folder_embeds_with_its_own_prompts(tmp_path: Path, prompts: dict[str, str]) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = saved(tmp_path / "bert", "BertModel")
    made = SentenceTransformer(str(tmp_path / "bert"))
    made.prompts.update(prompts)
    made.save(str(tmp_path / "e5"))  # without prompts of its own, it is known by its name
    model = embedder(f"sentence-transformers:{tmp_path / 'e5'}")
    found = model.query("river"), model.passages(["castle " * 90, "river"])[1]
    for prompt, vector in zip(("ask", "tell") if prompts else ("query", "passage"), found, strict=True):
        means = hidden(encoder, ["[CLS]", prompt, ":", "river", "[SEP]"], 5).mean(0)
        assert vector == pytest.approx(unit(means), abs=1e-5)


def test_a_cross_encoder_puts_the_first_in_its_order(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = str(tmp_path / "cross")
    encoder = saved(tmp_path / "cross", "BertForSequenceClassification", num_labels=1)
    read = partial(AutoTokenizer.from_pretrained(folder), truncation=True, max_length=64, return_tensors="pt")
    with torch.no_grad():
        logits = [encoder(**read(["river bridge?"], [text])).logits for text in TEXTS]
    wanted = [1 / (1 + numpy.exp(-float(each))) for each in logits]
    assert cross_encoder(folder).scores("river bridge?", TEXTS) == pytest.approx(wanted, abs=1e-4)
    index = build_index(tmp_path / "index", tables(40), "bm25")
    spec = {"first": "bm25", "rerank": {"cross_encoder": folder}, "depth": 9}
    found = make_retriever(index, spec)
    for query in questions(3):
        first, hits = make_retriever(index, "bm25").search(query, 20), found.search(query, 20)
        assert {hit.id for hit in hits[:9]} == {hit.id for hit in first[:9]}
        assert [hit.id for hit in hits[9:]] == [hit.id for hit in first[9:]]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    long = Document("long", text="castle. " * 300 + "river. " * 300)
    (hit,) = make_retriever(build_index(tmp_path / "long", [long], "bm25"), spec).search("river")
    scores = cross_encoder(folder).scores("river", texts(long, 3, 400))
    assert len(scores) == 3 and hit.score == pytest.approx(max(scores), abs=1e-5)


@pytest.mark.parametrize("attends", [False, True])
def test_a_colbert_checkpoint_scores_by_maxsim(tmp_path: Path, attends: bool) -> None:
    encoder, projection = colbert(tmp_path / "colbert", query_maxlen=9, attend_to_mask_tokens=attends)
    folder = str(tmp_path / "colbert")
    asked = ["[CLS]", "[unused0]", "river", "bridge", "!", "[SEP]", "[MASK]", "[MASK]", "[MASK]"]
    told = ["[CLS]", "[unused1]", "bridge", ",", "harbour", "market", "!", "library", ".", "[SEP]"]
    query = unit(hidden(encoder, asked, 9 if attends else 6) @ projection.T)
    tokens = unit(hidden(encoder, told, len(told)) @ projection.T)[[0, 1, 2, 4, 5, 7, 9]]  # no punctuation
    wanted = float((query @ tokens.T).max(axis=1).sum())
    scores = late_encoder(folder).scores("river bridge!", TEXTS)
    assert scores[1] == pytest.approx(wanted, abs=1e-4)
    assert similarities("river bridge!", TEXTS, f"late:{folder}") == scores
    documents = [Document(str(number), text=text) for number, text in enumerate(TEXTS)]
    index = build_index(tmp_path / "index", documents, "bm25")
    hits = make_retriever(index, {"first": "bm25", "rerank": {"late": folder}}).search("bridge castle")
    assert {hit.id for hit in hits} == {"1", "2"} and hits[0].score >= hits[1].score


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    saved(tmp_path / "three", "BertForSequenceClassification", num_labels=3)
    saved(tmp_path / "bert", "BertModel")
    (tmp_path / "empty").mkdir()
    for load, name, said in (
        (cross_encoder, "three", "gives one score, and this model 3"),
        (cross_encoder, "nowhere", "cannot be loaded"),
        (late_encoder, "empty", "cannot be loaded"),
        (late_encoder, "bert", "no model of late interaction"),
        (lambda name: embedder(f"sentence-transformers:{name}"), "nowhere", "cannot be loaded"),
    ):
        with pytest.raises(ModelError, match=said) as told:
            load(str(tmp_path / name))
        assert name in str(told.value) and "\n" not in str(told.value)


@needs_minilm
def test_minilm_knows_meanings() -> None:
    texts = ["forecasts of rain", "prices of shares"]
    assert embedder(MINILM).query("tea").shape == (384,)
    for by in ("auto", "dense", "late"):
        near = similarities("Will it be wet tomorrow?", texts, by)
        assert near[0] > near[1]
