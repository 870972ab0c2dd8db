"""What is kept by likeness: how many rows, columns and passages, which, and in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Table
from chameleon.errors import ChameleonError
from chameleon.modules.tablerag.similarity import PassageRetriever, SemanticFilter, top
from chameleon.text import estimated_tokens
from tests.benchmarks.shared_data import DATA, needs_data
from tests.modules.tablerag.running import REGATTA, output, run

MANY = Table(
    ["Ship", "Port", "Length"],
    [[f"Ship {n}", "Arvik" if n in (3, 7, 11) else "Selmark", f"{n} m"] for n in range(20)],
)


def kept(**given: Any) -> tuple[Any, Table]:
    parameters = {key: given.pop(key) for key in ("rows", "columns", "order") if key in given}
    state, _ = run(SemanticFilter(by="bm25", **parameters), table=given.pop("table", MANY), **given)
    return output(state, "semantic_filter"), state.input["table"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"rows": 3, "question": "Which ships lie in Arvik?"}, MANY.take_rows([3, 7, 11])),
        ({"rows": None, "columns": 1, "question": "Which port?"}, MANY.take_columns([1])),
        ({"rows": 10, "table": REGATTA}, REGATTA),
        ({"table": Table(["a"])}, Table(["a"])),
        ({"rows": 2, "question": "Who knows?"}, MANY),  # nothing tells the rows apart
    ],
)
def test_what_is_like_the_question_stays_in_order(given: dict[str, Any], expected: Table) -> None:
    told, table = kept(**given)
    assert table == expected and bool(told.get("whole")) == (expected == given.get("table", MANY))


def test_rows_may_stand_in_the_order_of_likeness_the_nearest_last() -> None:
    told, _ = kept(rows=2, order="similarity", question="Ship 7 in Arvik")
    assert told["rows"][-1] == 7
    with pytest.raises(ChameleonError, match="guesswork"):
        SemanticFilter(by="guesswork").check()


def test_what_was_cut_before_is_counted_from_the_whole() -> None:
    first, second = SemanticFilter(6, by="bm25"), SemanticFilter(2, 2, by="bm25")
    first.name, second.name = "first", "second"
    state, _ = run([first, second], table=MANY, question="Ship 11 and Ship 7 in which port?")
    assert state.cache["kept"] == {"rows": (7, 11), "columns": (0, 1)}
    assert state.input["table"] == MANY.take_rows([7, 11]).take_columns([0, 1])


@needs_data
def test_the_published_vectors() -> None:
    """30 of 30, in the published order; by default the same rows stand in the order of the table."""
    numpy = pytest.importorskip("numpy")
    stored = numpy.load(DATA / "tablerag/row_embeddings.npz")["emb"]
    lines = (DATA / "tablerag/row_embeddings_index.jsonl").read_text("utf-8").splitlines()
    places = {row["file"]: row for row in map(json.loads, lines)}
    recorded = (DATA / "vectors/tablerag_semantic_topk.jsonl").read_text("utf-8").splitlines()
    vectors = list(map(json.loads, recorded))
    assert len(vectors) == 30
    for vector in vectors:
        place = places[vector["file"]]
        rows = stored.astype(float)[place["offset"] : place["offset"] + len(place["rows"])]
        asked = rows[vector["query_row"]]
        near = (rows @ asked / (numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(asked))).tolist()
        returned = vector["indices_returned"]
        assert top(near, vector["k"], "similarity") == returned
        assert top(near, vector["k"]) == sorted(returned)
        assert [near[each] for each in returned] == pytest.approx(vector["similarity"], abs=1e-4)


FILLER = "The weather was mild and the town was quiet that year. "
LIT = "The lighthouse of Skerry was lit in 1861. "
HARBOUR = {"title": "Quay Field", "text": FILLER * 30 + LIT + FILLER * 30}
PARK = {"title": "Weir Park", "text": FILLER * 40}
KEEPER = {"title": "Anna Brede", "text": "Anna Brede kept the lighthouse of Skerry for ten years."}
QUESTION = "Who kept the lighthouse of Skerry?"


def kept_passages(passages: list[Any], max_tokens: int = 150, **given: Any) -> tuple[Any, Any]:
    state, _ = run(PassageRetriever(max_tokens, by="bm25"), passages=passages, question=QUESTION, **given)
    return output(state, "passage_retriever"), state.input["passages"]


def test_what_is_near_to_the_question_stays_and_what_fits_stays_whole() -> None:
    told, passages = kept_passages([PARK, HARBOUR, KEEPER])
    assert passages[-1] == KEEPER and told["kept"][0] < told["kept"][1]
    _, passages = kept_passages([PARK, HARBOUR, KEEPER], 400)
    assert "lit in 1861" in next(each["text"] for each in passages if each["title"] == "Quay Field")
    told, passages = kept_passages([KEEPER, "A sentence alone."], 1000)
    assert passages == (KEEPER, "A sentence alone.") and "kept" not in told


PASSAGE = st.fixed_dictionaries(
    {"title": st.sampled_from(["", "Skerry"]), "text": st.text("ab .\nZ", max_size=900)}
)


@settings(max_examples=20)
@given(st.lists(PASSAGE, max_size=4), st.integers(20, 200))
def test_never_more_than_may_be_kept(passages: list[dict[str, str]], most: int) -> None:
    told, left = kept_passages(passages, most)
    if "kept" in told:
        tokens = sum(estimated_tokens(f"{each['title']}: {each['text']}") for each in left)
        assert tokens <= most + 3 * len(passages)
        words = {word for each in passages for word in each["text"].split()}
        assert all(set(each["text"].split()) <= words for each in left)
