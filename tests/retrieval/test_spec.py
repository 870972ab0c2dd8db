"""Retrievers as mappings of YAML."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.spec import NAMES, RetrieverSpec


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_short_for_a_mapping(name: str) -> None:
    spec = RetrieverSpec.read(name)
    assert spec == RetrieverSpec.read({"first": name}) == RetrieverSpec.read(f"{{first: {name}}}")
    assert str(spec) == name and RetrieverSpec.read(spec) is spec
    assert spec.needs_vectors == (name in ("dense", "hybrid", "blend"))


MAPPINGS = {
    "{first: bm25, rerank: {cross_encoder: m/n}}": {"rerank": {"cross_encoder": "m/n"}},
    "{first: bm25, rerank: {late: minilm}, depth: 20}": {"rerank": {"late": "minilm"}, "depth": 20},
    "{embeddings: openai:small}": {"embeddings": {"model": "openai:small"}},
    "{embeddings: {model: a:b, query: 'q: '}}": {"embeddings": {"model": "a:b", "query": "q: "}},
    "{first: dense, store: hnsw}": {"store": "hnsw"},
    "{first: dense, store: {use: 'm:C', at: here}}": {"store": {"use": "m:C", "at": "here"}},
}


@pytest.mark.parametrize("given", MAPPINGS)
def test_mappings_are_read_from_text_and_told_as_text(given: str) -> None:
    spec = RetrieverSpec.read(given)
    assert MAPPINGS[given].items() <= spec.model_dump(exclude_defaults=True).items()
    assert RetrieverSpec.read(str(spec)) == spec


WRONG = [
    ("bm52", "there is no retriever 'bm52'. Did you mean 'bm25'?"),
    *((text, "there is no retriever") for text in ("", "okapi", "[bm25]", "{first: [")),
    ({"first": "bm52"}, "this is no retriever: first: input should be 'auto', 'bm25'"),
    ({"first": "bm25", "depth": 0}, "depth: input should be greater than 0"),
    ({"first": "bm25", "depht": 5}, "depht: extra inputs are not permitted"),
    ({"rerank": {"cross_encoder": 5}}, "this is no retriever: rerank"),
    ({"store": {"at": "here"}}, "this is no retriever: store"),
    ({1: 2}, "this is no retriever"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_is_none_is_told(given: Any, told: str) -> None:
    with pytest.raises(InputError) as problem:
        RetrieverSpec.read(given)
    assert told in str(problem.value) and "{first: bm25, rerank: evidence}" in str(problem.value)
