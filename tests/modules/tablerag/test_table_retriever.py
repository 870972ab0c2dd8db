"""Finding the table in an index: what it becomes, what is told, and that an index is opened once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, Table
from chameleon.errors import ChameleonError
from chameleon.modules.tablerag import table_retriever as opening
from chameleon.modules.tablerag.table_retriever import TableRetriever, opened
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index
from chameleon.retrieval.spec import RetrieverSpec
from tests.modules.tablerag.running import REGATTA, output, run

TRAINS = Table(["Train", "To", "Fare"], [["Polar Star", "Ostrand", "49"], ["Mill Owl", "Selmark", "29"]])
BREWERIES = Table(["Brewery", "Founded"], [["Tolle", "1871"], ["Old Weir", "1924"]], "Breweries of Arvik")
DOCUMENTS = [
    Document("regatta", REGATTA, source={"file": "sport.csv"}),
    Document("trains", TRAINS, title="Night trains"),
    Document("tolle", title="Tolle brewery", text="The brewery Tolle in Arvik makes beer."),
    Document("breweries", BREWERIES),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("index") / "tables"
    build_index(folder, DOCUMENTS, "lexical")
    return str(folder)


def found(question: str, index: str, **parameters: Any) -> Any:
    parameters = {"retriever": "bm25"} | parameters
    state, _ = run(TableRetriever(**parameters), question=question, table=None, index=index)
    assert state.ended is not None
    return state


def test_the_nearest_table_is_the_one_to_answer_from_with_its_title_for_a_caption(index: str) -> None:
    state = found("What is the fare of the train Mill Owl?", index, k=1)
    assert state.input["table"] == TRAINS.with_caption("Night trains") and state.input["tables"] == ()
    state = found("When was the brewery Tolle founded?", index)
    assert state.input["table"] == BREWERIES
    (passage,) = state.input["passages"]
    assert passage == {"title": "Tolle brewery", "text": "The brewery Tolle in Arvik makes beer."}
    told = state.cache["retrieved"]
    assert {each["id"] for each in told} == {"breweries", "tolle"}
    assert [each["score"] for each in told] == sorted((each["score"] for each in told), reverse=True)


def test_earlier_questions_belong_to_the_query_and_without_an_index_the_table_stays(index: str) -> None:
    turns = [{"question": "Which trains go to Ostrand?", "answer": ["Polar Star"]}]
    state, _ = run(TableRetriever("bm25"), question="How much is it?", table=None, index=index, history=turns)
    assert state.input["table"].header == TRAINS.header
    state, _ = run(TableRetriever("bm25"))
    assert state.input["table"] == REGATTA and "retrieved" not in state.cache
    assert "no index" in output(state, "table_retriever")["note"]


def test_what_finds_no_table_says_why(index: str) -> None:
    for question, place, reason, told in (
        ("zyx wvu", index, "declined", "nothing in the index"),
        ("Who?", "", "failed", "neither a table nor an index"),
        ("Who?", f"{index}/nowhere", "failed", "there is no such index"),
    ):
        ended = found(question, place).ended
        assert ended.reason == reason and told in str(ended.error)


def test_an_index_is_opened_once_and_anew_when_it_was_built_anew(
    index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens: list[Any] = []
    plain = Index.open
    monkeypatch.setattr(Index, "open", lambda path: opens.append(path) or plain(path))
    opening._open_index.cache_clear()
    opening._open_retriever.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: found("When was Tolle founded?", index), range(8)))
    assert opens == [index]
    folder = tmp_path / "tables"
    build_index(folder, DOCUMENTS[:1], "bm25")
    before, _ = opened(str(folder), RetrieverSpec())
    assert opened(str(folder), RetrieverSpec())[0] is before
    build_index(folder, DOCUMENTS)
    after, retriever = opened(str(folder), RetrieverSpec())
    assert len(after) == 4 and retriever.search("Tolle", 2)


@pytest.mark.parametrize(
    ("retriever", "told"),
    [
        ("bm25", None),
        ("bm26", r"yaml:4: modules.table_retriever: .*no retriever: 'bm26'. Did you mean 'bm25'\?"),
        ("bm25+rerank", "yaml:4: .*this is no retriever: .*mapping, such as {first: bm25, rerank: evidence}"),
        ("{first: dense, rerank: twice}", "yaml:4: .*this is no retriever: rerank: 'twice'"),
        ("{first: dense, embeddings: 'sentence-transformers:x'}", "not installed: .*sentence-transformers"),
        ("{rerank: {cross_encoder: some/model}}", "not installed: sentence-transformers"),
    ],
)
def test_a_wrong_retriever_is_told_with_its_line_and_what_it_lacks_by_the_check(
    retriever: str, told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    file = tmp_path / "mine.yaml"
    file.write_text(
        f"name: x\nextends: tablerag_sqa\nmodules:\n  table_retriever:\n    k: 3\n    retriever: {retriever}"
    )
    with pytest.raises(ChameleonError, match=told) if told else nullcontext():
        Inventory.load(str(file)).modules["table_retriever"].check()
