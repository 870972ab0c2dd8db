"""Which passages of a paper are kept, by words, headings and numbers, and which a reply names."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.core.state import State
from chameleon.errors import Declined, StepRejected
from chameleon.modules.documents.paper_readers import (
    PaperAnswerer,
    PaperProgramGenerator,
    PaperProgramVerifier,
)
from chameleon.modules.documents.paper_retriever import (
    PaperRetriever,
    is_named,
    nearness,
    numbers_in,
)
from chameleon.values import freeze

PASSAGES = [{"title": f"{n} Part", "text": f"{n}.1 Berth {n} is dry."} for n in range(1, 6)]


def state(question: str = "Which berth is dry?", passages: Any = PASSAGES) -> State:
    return State(input=freeze({"question": question, "passages": passages}))


def test_passages_without_a_word_of_the_question_fill_what_is_left() -> None:
    asked = state("Where does Berth 4 lie?", [*PASSAGES, {"title": "", "text": "End."}])
    kept = PaperRetriever(k=4).run(asked)["kept"]
    assert len(kept) == 4 and kept[0]["id"] == "passage 4"
    lone = [{"title": "", "text": text} for text in ("One.", "Two.", "The rent.", "Four.", "Five.")]
    for policy, numbers in (("keep", (3, 2, 4)), ("decline", (3,))):
        module = PaperRetriever(k=3, without_words=policy)
        kept = module.run(state("What is rent?", lone))["kept"]
        assert [each["id"] for each in kept] == [f"passage {number}" for number in numbers]


@pytest.mark.parametrize("installed", [True, False])
def test_without_a_common_word_passages_have_a_note(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = "chameleon.modules.documents.paper_retriever"
    near = {"bm25": [0.0] * 5, "dense": [0.1, -0.2, 0.3, -0.1, 0.0]}
    monkeypatch.setattr(f"{found}.automatic", lambda: "minilm" if installed else "none")
    monkeypatch.setattr(f"{found}.similarities", lambda _, texts, by: near[by][: len(texts)])
    output = PaperRetriever(k=2).run(state("Who pays damages?"))
    places = (3, 1) if installed else (1, 2)
    assert [each["id"] for each in output["kept"]] == [f"passage {place}" for place in places]
    assert "No word of the question" in output["note"]
    with pytest.raises(Declined, match="no passage of the document has a word"):
        PaperRetriever(without_words="decline").run(state("Who pays damages?"))
    with pytest.raises(Declined):
        PaperRetriever().run(state(passages=[]))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is in Item 1A.?", [("item", "1a")]),
        ("Does § 12 hold, or Annex B?", [("", "12"), ("annex", "b")]),
        ("Compare clauses 7.1, 7.2 and 9.", [("clause", "7.1"), ("clause", "7.2"), ("clause", "9")]),
        ("What does Table 3 or Exhibit 10.1 say?", [("table", "3"), ("exhibit", "10.1")]),
        ("Is a part a section of it?", []),
    ],
)
def test_numbers_of_parts_are_read(question: str, named: list[tuple[str, str]]) -> None:
    assert numbers_in(question) == named


def test_a_heading_bears_its_own_number_only() -> None:
    for title in ("7.2 Notice", "Lease > Clause 7.2 > (a)", "Lease > 7.2.1 Form"):
        assert is_named(title, ("clause", "7.2"))
    for title in ("7.20 Fees", "17.2 Fees", "Schedule 7.2 > Fees", ""):
        assert not is_named(title, ("clause", "7.2"))
    assert is_named("Annex B", ("annex", "b")) and not is_named("B flat", ("annex", "b"))


def test_headings_count_more_than_words_and_named_numbers_most() -> None:
    passages = [{"title": "3 Insurance", "text": "The holder bears the cost."}]
    passages += [{"title": "4 Other", "text": "The insurance of others is no matter of ours, nor its cost."}]
    passages += [{"title": "9 Law", "text": "The courts decide."}]
    words, number = nearness("Who pays for insurance?", passages), nearness("What is clause 9?", passages)
    assert words[0] > words[1] > words[2] == 0
    assert number[2] > max(number[:2])
    assert nearness("anything", []) == []


LINES = {
    "Passages: 1 to 3, 5": [1, 2, 3, 5],
    "Passages: 1 and 2 (page 4)": [1, 2],
    "Passages: passage 4 (clauses 7.2 and 9), passage 2": [4, 2],
    "Passages: 2 - the deposit is 2,700 EUR": [2],
    "Passages: \n* 1: the rent is 900 EUR\n* Passage 3 - it ends in 2030": [1, 3],
    "Passages: **2**": [2],
    "Passages: 1: the rent, 2: the deposit": [1, 2],
    "Passage(s): 2": [2],
    "**Passages**: 2": [2],
    "Passages cited: 2": [2],
    **{f"Passages: {line}": None for line in ("6", "1-9", "7.2", "all of them", "0")},
}


@pytest.mark.parametrize("said", LINES)
def test_the_line_of_passages(said: str) -> None:
    reply = f"So it is.\n{said}\nThe answer is x."
    if (numbers := LINES[said]) is None:
        with pytest.raises(StepRejected):
            PaperAnswerer().interpret(reply, state())
        return
    read = PaperAnswerer(quotes=False).interpret(reply, state())
    assert [source["passage"] for source in read["sources"]] == numbers


def test_a_program_names_its_passages_in_a_comment() -> None:
    module = PaperProgramGenerator()
    said = module.interpret("```python\n# Passages: 2-3\nans = 3 - 2\n```", state())
    assert said["program"] == "# Passages: 2-3\nans = 3 - 2"
    assert [source["passage"] for source in said["sources"]] == [2, 3]
    with pytest.raises(StepRejected, match="names no passage"):
        module.interpret("```python\nans = 1\n```", state())
    with pytest.raises(Declined, match="do not answer"):
        module.interpret("Passages: none", state())
    for line in ("Passages: 1, 2", "passages used: 1-2", "**Passages:** 1, 2"):
        said = module.interpret(f"ans = 3 - 2\n{line}", state())
        assert [source["passage"] for source in said["sources"]] == [1, 2]
        compile(said["program"], "program", "exec")


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("{'a': 1}", "a dict"),
        ("[1, 2]", "a list"),
        ("float('nan')", "no real number"),
        ("float('-inf')", "no real number"),
        ("1j", "no real number"),
        ("'nan'", "no real number"),
        ("1 / 4", ""),
        ("'310 EUR'", ""),
    ],
)
def test_a_program_answers_with_one_value(result: str, told: str) -> None:
    run = State(input=freeze({"question": "?"}), cache=freeze({"program": f"ans = {result}"}))
    if not told:
        assert PaperProgramVerifier().run(run)["verdict"] == "it runs and sets ans"
        return
    with pytest.raises(StepRejected, match=told):
        PaperProgramVerifier().run(run)
