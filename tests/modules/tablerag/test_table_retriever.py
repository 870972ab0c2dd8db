"""Finding the table in an index: what it becomes, what is told, and that an index is opened once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.modules.tablerag import table_retriever as opening
from chameleon.modules.tablerag.table_retriever import TableRetriever, opened, summarised
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import parts_for
from tests.modules.tablerag.running import REGATTA, output, run

TRAINS = Table(["Train", "To", "Fare"], [["Polar Star", "Ostrand", "49"], ["Mill Owl", "Selmark", "29"]])
BREWERIES = Table(["Brewery", "Founded"], [["Tolle", "1871"], ["Old Weir", "1924"]], "Breweries of Arvik")
DOCUMENTS = [
    Document("regatta", REGATTA, source={"file": "sport.csv"}),
    Document("trains", TRAINS, title="Night trains"),
    Document("tolle", title="Tolle brewery", text="The brewery Tolle in Arvik makes beer."),
    Document("breweries", BREWERIES),
]


def build(folder: Path, documents: Any = DOCUMENTS) -> Index:
    return Index.build(folder, documents, parts_for("bm25"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("index") / "tables"
    build(folder)
    return str(folder)


def found(question: str, index: str, **parameters: Any) -> Any:
    parameters = {"retriever": "bm25"} | parameters
    state, _ = run(TableRetriever(**parameters), question=question, table=None, index=index)
    assert state.ended is not None
    return state


def test_the_nearest_table_is_the_one_to_answer_from(index: str) -> None:
    state = found("When was the brewery Tolle founded?", index)
    assert state.input["table"] == BREWERIES
    assert state.input["passages"] == (
        {"title": "Tolle brewery", "text": "The brewery Tolle in Arvik makes beer."},
    )
    told = state.cache["retrieved"]
    assert {each["id"] for each in told} == {"breweries", "tolle"}
    assert [each["score"] for each in told] == sorted((each["score"] for each in told), reverse=True)


def test_a_table_without_caption_is_called_by_its_title(index: str) -> None:
    state = found("What is the fare of the train Mill Owl?", index, k=1)
    assert state.input["table"] == TRAINS.with_caption("Night trains") and state.input["tables"] == ()


def test_earlier_questions_belong_to_the_query(index: str) -> None:
    turns = [{"question": "Which trains go to Ostrand?", "answer": ["Polar Star"]}]
    state, _ = run(TableRetriever("bm25"), question="How much is it?", table=None, index=index, history=turns)
    assert state.input["table"].header == TRAINS.header


def test_without_an_index_the_table_stays() -> None:
    state, _ = run(TableRetriever("bm25"))
    assert state.input["table"] == REGATTA and "retrieved" not in state.cache
    assert "no index" in output(state, "table_retriever")["note"]


def test_a_question_that_nothing_fits_is_declined(index: str) -> None:
    state = found("zyx wvu", index)
    assert state.ended.reason == "declined" and "no table" in str(state.ended.error)


def test_neither_table_nor_index_is_an_error(index: str) -> None:
    state = found("Who?", "")
    assert "neither a table nor an index" in str(state.ended.error)
    state = found("Who?", f"{index}/nowhere")
    assert "there is no such index" in str(state.ended.error)


def test_an_index_is_opened_once_for_all_threads(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opens = []
    plain = Index.open

    def counted(path: Any) -> Index:
        opens.append(path)
        return plain(path)

    monkeypatch.setattr(Index, "open", counted)
    opening._open_index.cache_clear()
    opening._open_retriever.cache_clear()
    threads = [threading.Thread(target=found, args=("When was Tolle founded?", index)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opens == [index]


def test_and_anew_when_it_was_built_anew(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    build(folder, DOCUMENTS[:1])
    before, _ = opened(str(folder), "bm25")
    assert opened(str(folder), "bm25")[0] is before
    build(folder, DOCUMENTS)
    after, retriever = opened(str(folder), "bm25")
    assert len(after) == 4 and retriever.search("Tolle", 2)


def test_summaries_are_of_the_table_alone_and_are_found(tmp_path: Path) -> None:
    from chameleon import LLM
    from chameleon.llm import ScriptedModel

    def reply(messages: list[tuple[str, str]]) -> str:
        asked = messages[-1][1].rpartition("Here is the table")[2]
        return "Content: Beverages and their makers." if "Tolle" in asked else "Content: Something else."

    client = ScriptedModel(reply)
    documents = list(summarised(DOCUMENTS, LLM.connect(client)))
    assert [each.id for each in documents] == [each.id for each in DOCUMENTS]
    assert len(client.requests) == 3 and documents[2] == DOCUMENTS[2]
    assert documents[3].text == "Content: Beverages and their makers." and documents[3].table == BREWERIES
    index = build(tmp_path / "tables", documents)
    assert retriever(index, "bm25").search("makers of beverages", 1)[0].id == "breweries"
