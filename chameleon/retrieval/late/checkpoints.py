"""Token encoders from checkpoints: those of ColBERT, and any encoder of transformers; loads torch."""

from __future__ import annotations

import json
import string
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from chameleon.errors import ModelError
from chameleon.retrieval.late.token_encoder import TokenEncoder
from chameleon.retrieval.torch_models import device, loading

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_TOKENS_AT_ONCE = 8192
_PROJECTION = "linear.weight"


@dataclass(frozen=True)
class Habits:
    """How a model was taught to read: lengths in word pieces, special tokens included.

    A ColBERT checkpoint says it in `artifact.metadata`; these are the values of its authors.
    """

    query_length: int = 32
    document_length: int = 220
    query_marker: str = "[unused0]"
    document_marker: str = "[unused1]"
    attends_to_masks: bool = False
    skips_punctuation: bool = True

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Habits:
        return cls(
            int(metadata.get("query_maxlen", cls.query_length)),
            int(metadata.get("doc_maxlen", cls.document_length)),
            str(metadata.get("query_token_id", cls.query_marker)),
            str(metadata.get("doc_token_id", cls.document_marker)),
            bool(metadata.get("attend_to_mask_tokens", cls.attends_to_masks)),
            bool(metadata.get("mask_punctuation", cls.skips_punctuation)),
        )


def load(source: str, name: str) -> TokenEncoder:
    """The encoder of a folder, or of a name that the hub knows.

    It is a ColBERT checkpoint if its weights hold a projection (`linear.weight`). Raises `ModelError`, in
    which it goes by `name`.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    with loading(name):
        weights = _colbert(source)
        tokenizer = AutoTokenizer.from_pretrained(source)
        if weights is None:
            return TransformerEncoder(tokenizer, AutoModel.from_pretrained(source))
        model = AutoModel.from_config(AutoConfig.from_pretrained(source))
        _fill(model, weights)
        projection = weights[_PROJECTION].to(torch.float32)
        return ColBertEncoder(tokenizer, model, projection, Habits.of(_metadata(source)))


def _colbert(source: str) -> Mapping[str, Any] | None:
    """The tensors of a ColBERT checkpoint, which are in one file; None of any other."""
    from safetensors import safe_open
    from safetensors.torch import load_file

    if path := _file(source, "model.safetensors"):
        with safe_open(path, "pt") as file:
            return load_file(path) if _PROJECTION in file.keys() else None  # noqa: SIM118 (it has no `in`)
    if path := _file(source, "pytorch_model.bin"):
        found: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        return found if _PROJECTION in found else None
    return None


def _metadata(source: str) -> Mapping[str, Any]:
    path = _file(source, "artifact.metadata")
    found = json.loads(Path(path).read_text("utf-8")) if path else {}
    return found if isinstance(found, dict) else {}


def _file(source: str, name: str) -> str | None:
    """Where a file of the folder, or of the hub, lies on this machine; None if there is none."""
    if Path(source).is_dir():
        return str(Path(source, name)) if Path(source, name).is_file() else None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        return str(hf_hub_download(source, name))
    except LocalEntryNotFoundError:  # the hub cannot be reached
        raise
    except EntryNotFoundError:
        return None


def _fill(model: Any, weights: Mapping[str, Any]) -> None:
    """Put a ColBERT checkpoint's weights into its encoder. Raises `ModelError` if some are missing."""
    prefix = f"{model.base_model_prefix}."
    own = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
    missing = [key for key in model.load_state_dict(own, strict=False).missing_keys if "pooler" not in key]
    if missing:
        raise ModelError(f"the checkpoint lacks weights: {', '.join(missing[:3])}")


class TransformerEncoder(TokenEncoder):
    """The vectors of the last layer; documents without punctuation, both without special tokens."""

    def __init__(self, tokenizer: Any, model: Any, habits: Habits | None = None) -> None:
        self.tokenizer, self.device = tokenizer, device()
        self.model = model.eval().to(self.device)
        self.habits = habits or Habits(query_length=256, document_length=256)
        signs = tokenizer(list(string.punctuation), add_special_tokens=False)["input_ids"]
        self._signs = {ids[0] for ids in signs if len(ids) == 1} if self.habits.skips_punctuation else set()
        self._lock = threading.Lock()  # the tokenizer takes one caller at a time

    def query(self, text: str) -> NDArray[numpy.float32]:
        with self._lock:
            ids = self._pieces([text], self.habits.query_length)
            (found,) = self._vectors(ids, [[1] * len(each) for each in ids])
        return found[1:-1]

    def documents(self, texts: Sequence[str]) -> list[NDArray[numpy.float32]]:
        with self._lock:
            ids = self._pieces(texts, self.habits.document_length)
            found = self._vectors(ids, [[1] * len(each) for each in ids])
        return [vectors[self._kept(each)][1:-1] for each, vectors in zip(ids, found, strict=True)]

    def _kept(self, ids: Sequence[int]) -> list[bool]:
        return [id not in self._signs for id in ids]

    def _pieces(self, texts: Sequence[str], length: int, marker: int | None = None) -> list[list[int]]:
        """The word pieces of texts between the special tokens, of which a marker is one."""
        special = [self.tokenizer.cls_token_id, *([] if marker is None else [marker])]
        end = self.tokenizer.sep_token_id
        found = self.tokenizer(
            list(texts), add_special_tokens=False, truncation=True, max_length=length - len(special) - 1
        )["input_ids"]
        return [[*special, *ids, end] for ids in found]

    def _vectors(
        self, ids: Sequence[Sequence[int]], attended: Sequence[Sequence[int]]
    ) -> list[NDArray[numpy.float32]]:
        """Unit vectors of all tokens; texts of about the same length are read together."""
        found: list[NDArray[numpy.float32]] = [None] * len(ids)
        order = sorted(range(len(ids)), key=lambda index: -len(ids[index]))
        while order:
            size = max(1, _TOKENS_AT_ONCE // len(ids[order[0]]))
            batch, order = order[:size], order[size:]
            vectors = self._read([ids[index] for index in batch], [attended[index] for index in batch])
            for index, each in zip(batch, vectors, strict=True):
                found[index] = each[: len(ids[index])]
        return found

    def _read(self, ids: Sequence[Sequence[int]], attended: Sequence[Sequence[int]]) -> Any:
        longest, pad = max(map(len, ids)), self.tokenizer.pad_token_id or 0

        def padded(rows: Sequence[Sequence[int]], filler: int) -> Any:
            return torch.tensor(
                [[*row, *[filler] * (longest - len(row))] for row in rows], device=self.device
            )

        with torch.inference_mode():
            read = self.model(input_ids=padded(ids, pad), attention_mask=padded(attended, 0))
            vectors = self._projected(read.last_hidden_state.to(torch.float32))
            return torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()

    def _projected(self, vectors: Any) -> Any:
        return vectors


class ColBertEncoder(TransformerEncoder):
    """ColBERT (Khattab and Zaharia, 2020; version 2: Santhanam et al., 2022).

    A marker stands behind [CLS], of queries another than of documents. A query is filled up with [MASK],
    whose vectors count as its other tokens' do; of a document the punctuation is left out.
    """

    def __init__(self, tokenizer: Any, model: Any, projection: Any, habits: Habits) -> None:
        super().__init__(tokenizer, model, habits)
        self._projection = projection.to(self.device)
        known = tokenizer.get_vocab()
        try:
            self._query_marker, self._document_marker = (
                known[marker] for marker in (habits.query_marker, habits.document_marker)
            )
        except KeyError as problem:
            raise ModelError(f"the tokenizer has no token {problem} to mark texts with") from problem

    def query(self, text: str) -> NDArray[numpy.float32]:
        with self._lock:
            (ids,) = self._pieces([text], self.habits.query_length, self._query_marker)
            masks = self.habits.query_length - len(ids)
            attended = [1] * len(ids) + [int(self.habits.attends_to_masks)] * masks
            (found,) = self._vectors([[*ids, *[self.tokenizer.mask_token_id] * masks]], [attended])
        return found

    def documents(self, texts: Sequence[str]) -> list[NDArray[numpy.float32]]:
        with self._lock:
            ids = self._pieces(texts, self.habits.document_length, self._document_marker)
            found = self._vectors(ids, [[1] * len(each) for each in ids])
        return [vectors[self._kept(each)] for each, vectors in zip(ids, found, strict=True)]

    def _projected(self, vectors: Any) -> Any:
        return vectors @ self._projection.T
