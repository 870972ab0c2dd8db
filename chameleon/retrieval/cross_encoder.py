"""Cross-encoders: a model that reads the query and a document together, and scores how well they fit."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from chameleon.errors import MissingPackage, ModelError
from chameleon.retrieval.retriever import Reranker
from chameleon.retrieval.vectors.texts import texts

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index

_BATCH = 32
_WINDOW, _TEXTS, _LONGEST = 400, 3, 512
_lock = threading.Lock()
_loaded: dict[str, CrossEncoderModel] = {}


class CrossEncoder(Reranker):
    """Scores documents of an index by a cross-encoder (Nogueira and Cho, 2019).

    A document's score is that of the best of its texts; of a long one the first three of some 400 word pieces
    are read. Loads the model with the first query. Raises `MissingPackage`; `scores` raises `ModelError`.
    """

    def __init__(self, index: Index, name: str) -> None:
        self.index, self.name = index, name
        if missing := [package for package in ("torch", "transformers") if find_spec(package) is None]:
            raise MissingPackage(
                f"the cross-encoder {name} needs packages that are not installed: {', '.join(missing)}",
                hint=f"pip install {' '.join(missing)}, or rerank by a part of the index: +rerank.",
            )

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        written = [texts(self.index.document(id), _TEXTS, _WINDOW) for id in ids]
        pairs = [(query, text) for some in written for text in some]
        found = iter(cross_encoder(self.name).scores(pairs))
        return [max(next(found) for _ in some) for some in written]


class CrossEncoderModel:
    """A classifier of transformers for pairs of texts that gives one score; serves all threads."""

    def __init__(self, name: str) -> None:
        """`name` is a folder, or a name that the Hugging Face hub knows. Raises `ModelError`."""
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        from chameleon.retrieval.torch_models import device, loading

        with loading(name):
            self._tokenizer = AutoTokenizer.from_pretrained(name)
            self._model = AutoModelForSequenceClassification.from_pretrained(name)
            config = self._model.config
            if config.num_labels != 1:
                raise ModelError(
                    f"a cross-encoder gives one score, and this model {config.num_labels}", where=name
                )
            self._device = device()
            self._model = self._model.eval().to(self._device)
        room = getattr(config, "max_position_embeddings", _LONGEST)
        self._longest = min(_LONGEST, int(room), int(self._tokenizer.model_max_length))
        self._lock = threading.Lock()  # the tokenizer takes one caller at a time

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The score of each pair of a query and a text: higher is better. Raises `ModelError`."""
        import torch

        # Texts of about the same length are read together: little of a batch is padding.
        order = sorted(range(len(pairs)), key=lambda place: -len(pairs[place][1]))
        found = [0.0] * len(pairs)
        try:
            with self._lock, torch.inference_mode():
                for start in range(0, len(order), _BATCH):
                    places = order[start : start + _BATCH]
                    read = self._read([pairs[place] for place in places])
                    for place, score in zip(places, read, strict=True):
                        found[place] = score
        except RuntimeError as problem:  # of torch: memory above all
            raise ModelError(f"the cross-encoder failed: {problem}") from problem
        return found

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        queries, written = ([pair[side] for pair in pairs] for side in (0, 1))
        given = self._tokenizer(
            queries, written, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        )
        found: list[float] = self._model(**given.to(self._device)).logits[:, 0].float().tolist()
        return found


def cross_encoder(name: str) -> CrossEncoderModel:
    """The model of that name, loaded on the first call and once for all threads. Raises `ModelError`."""
    with _lock:
        if name not in _loaded:
            _loaded[name] = CrossEncoderModel(name)
        return _loaded[name]
