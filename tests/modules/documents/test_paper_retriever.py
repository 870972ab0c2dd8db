"""What is kept of a paper, with and without words of the question."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import Declined
from chameleon.modules.documents.paper_retriever import PaperRetriever
from chameleon.state import State
from chameleon.values import freeze

PASSAGES = [{"title": f"{n} Part", "text": f"{n}.1 Berth {n} is dry."} for n in range(1, 6)]


def state(question: str = "Which berth is dry?", passages: Any = PASSAGES) -> State:
    return State(input=freeze({"question": question, "passages": passages}))


def test_passages_without_a_word_of_the_question_fill_what_is_left() -> None:
    output = PaperRetriever(k=4).run(
        state("Where does Berth 4 lie?", [*PASSAGES, {"title": "", "text": "End."}])
    )
    assert len(output["kept"]) == 4 and output["kept"][0]["id"] == "passage 4"
    far = [{"title": "", "text": f"Word {n}."} for n in "abcdefgh"]
    kept = PaperRetriever(k=3).run(
        state("Where is word d?", [*far[:3], {"title": "", "text": "Mast d."}, *far])
    )
    assert len(kept["kept"]) == 3
    lone = [{"title": "", "text": text} for text in ("One.", "Two.", "The rent.", "Four.", "Five.")]
    assert [each["id"] for each in PaperRetriever(k=3).run(state("What is rent?", lone))["kept"]] == [
        "passage 3",
        "passage 2",
        "passage 4",
    ]
    only = PaperRetriever(k=3, without_words="decline").run(state("What is rent?", lone))
    assert [each["id"] for each in only["kept"]] == ["passage 3"]


@pytest.mark.parametrize("installed", [True, False])
def test_without_a_word_in_common_passages_are_kept_with_a_note(
    installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = "chameleon.modules.documents.paper_retriever"
    monkeypatch.setattr(f"{found}.automatic", lambda: "minilm" if installed else "none")
    monkeypatch.setattr(f"{found}.similarities", lambda *_: [0.1, -0.2, 0.3, -0.1, 0.0])
    output = PaperRetriever(k=2).run(state("Who pays damages?"))
    assert [each["id"] for each in output["kept"]] == (
        ["passage 3", "passage 1"] if installed else ["passage 1", "passage 2"]
    )
    assert "No word of the question" in output["note"]
    with pytest.raises(Declined, match="no passage of the paper has a word"):
        PaperRetriever(without_words="decline").run(state("Who pays damages?"))


def test_with_words_in_common_there_is_no_note() -> None:
    module = PaperRetriever(k=2)
    output = module.run(state("Where does Berth 4 lie?"))
    assert "note" not in output and module.update_cache({}, output)["retrieval_note"] == ""
    assert output["kept"][0]["id"] == "passage 4"


def test_a_paper_without_passages_is_declined() -> None:
    with pytest.raises(Declined):
        PaperRetriever().run(state(passages=[]))
