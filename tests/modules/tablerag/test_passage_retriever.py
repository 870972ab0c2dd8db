"""Passages beside a table: which are kept, how much of them, and in which order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chameleon.modules.tablerag.passage_retriever import PassageRetriever
from chameleon.text import estimated_tokens
from tests.modules.tablerag.running import output, run

FILLER = "The weather was mild and the town was quiet that year. "
HARBOUR = {
    "title": "Quay Field",
    "text": FILLER * 30 + "The lighthouse of Skerry was lit in 1861. " + FILLER * 30,
}
PARK = {"title": "Weir Park", "text": FILLER * 40}
KEEPER = {"title": "Anna Brede", "text": "Anna Brede kept the lighthouse of Skerry for ten years."}
QUESTION = "Who kept the lighthouse of Skerry?"


def kept(passages: list[Any], max_tokens: int = 150, **given: Any) -> tuple[Any, Any]:
    state, _ = run(PassageRetriever(max_tokens, by="bm25"), passages=passages, question=QUESTION, **given)
    return output(state, "passage_retriever"), state.input["passages"]


def test_what_is_near_to_the_question_stays() -> None:
    told, passages = kept([PARK, HARBOUR, KEEPER])
    assert [each["title"] for each in passages] in (["Quay Field", "Anna Brede"], ["Anna Brede"])
    assert passages[-1] == KEEPER and told["kept"][0] < told["kept"][1]
    _, passages = kept([PARK, HARBOUR, KEEPER], 400)
    assert "lit in 1861" in next(each["text"] for each in passages if each["title"] == "Quay Field")


def test_what_fits_stays_whole() -> None:
    told, passages = kept([KEEPER, "A sentence alone."], 1000)
    assert passages == (KEEPER, "A sentence alone.") and "kept" not in told


def test_there_may_be_none() -> None:
    for nothing in ([], None):
        state, _ = run(PassageRetriever(by="bm25"), passages=nothing)
        assert output(state, "passage_retriever") == {"passages": ()}


def test_a_sentence_without_end_keeps_its_beginning() -> None:
    _, passages = kept([{"title": "Skerry", "text": "lighthouse of Skerry " * 500}, PARK])
    assert 0 < estimated_tokens(passages[0]["text"]) <= 150


@given(
    st.lists(
        st.fixed_dictionaries(
            {"title": st.sampled_from(["", "Skerry"]), "text": st.text("ab .\nZ", max_size=900)}
        ),
        max_size=4,
    ),
    st.integers(20, 200),
)
def test_never_more_than_may_be_kept(passages: list[dict[str, str]], most: int) -> None:
    told, left = kept(passages, most)
    if "kept" in told:
        assert sum(estimated_tokens(f"{each['title']}: {each['text']}") for each in left) <= most + 3 * len(
            passages
        )
        words = {word for each in passages for word in each["text"].split()}
        assert all(set(each["text"].split()) <= words for each in left)
