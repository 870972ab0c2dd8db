"""Which passages a reply names, and what is kept of a paper whose words are not those of the question."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import Declined, StepRejected
from chameleon.modules.documents.paper_answerer import PaperAnswerer
from chameleon.modules.documents.paper_program_generator import PaperProgramGenerator
from chameleon.modules.documents.paper_program_verifier import PaperProgramVerifier
from chameleon.modules.documents.paper_retriever import PaperRetriever
from chameleon.state import State
from chameleon.values import freeze

PASSAGES = [{"title": f"{n} Part", "text": f"{n}.1 Berth {n} is dry."} for n in range(1, 6)]


def state(question: str = "Which berth is dry?", passages: Any = PASSAGES) -> State:
    return State(input=freeze({"question": question, "passages": passages}))


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("1-3", [1, 2, 3]),
        ("1 to 3, 5", [1, 2, 3, 5]),
        ("1 and 2 (page 4)", [1, 2]),
        ("1, 2, page 12", [1, 2]),
        ("passage 4 (clauses 7.2 and 9), passage 2", [4, 2]),
        ("[3]; 3 & 5", [3, 5]),
        ("2 4", [2, 4]),
        ("1 + 3", [1, 3]),
        ("2/3", [2, 3]),
        ("2: the deposit is 2,700 EUR", [2]),
        ("2 - the deposit is 2,700 EUR", [2]),
        ("\n- 1\n- 2", [1, 2]),
        ("\n* 1: the rent is 900 EUR\n* Passage 3 - it ends in 2030", [1, 3]),
        ("**2**", [2]),
        ("1: the rent, 2: the deposit", [1, 2]),
    ],
)
def test_the_line_of_passages(line: str, numbers: list[int]) -> None:
    said = PaperAnswerer().interpret(f"So it is.\nPassages: {line}\nThe answer is x.", state())
    assert [source["passage"] for source in said["sources"]] == numbers


@pytest.mark.parametrize(
    "named", ["Passages used", "Passage(s)", "Passage", "**Passages**", "Passages cited"]
)
def test_the_line_may_be_named_in_several_ways(named: str) -> None:
    said = PaperAnswerer().interpret(f"So it is.\n{named}: 2\nThe answer is x.", state())
    assert [source["passage"] for source in said["sources"]] == [2]


@pytest.mark.parametrize("line", ["6", "1-9", "page 2", "7.2", "all of them", "0", "3-1000"])
def test_a_line_that_names_no_passage_is_rejected(line: str) -> None:
    with pytest.raises(StepRejected):
        PaperAnswerer().interpret(f"Passages: {line}\nThe answer is x.", state())


def test_a_program_names_its_passages_in_a_comment() -> None:
    module = PaperProgramGenerator()
    said = module.interpret("```python\n# Passages: 2-3\nans = 3 - 2\n```", state())
    assert said["program"] == "# Passages: 2-3\nans = 3 - 2"
    assert [source["passage"] for source in said["sources"]] == [2, 3]
    with pytest.raises(StepRejected, match="names no passage"):
        module.interpret("```python\nans = 1\n```", state())
    with pytest.raises(Declined, match="do not answer"):
        module.interpret("Passages: none", state())


@pytest.mark.parametrize("line", ["Passages: 1, 2", "passages used: 1-2", "**Passages:** 1, 2"])
def test_a_line_of_passages_beside_a_bare_program_is_a_comment_of_it(line: str) -> None:
    said = PaperProgramGenerator().interpret(f"ans = 3 - 2\n{line}", state())
    assert [source["passage"] for source in said["sources"]] == [1, 2]
    compile(said["program"], "program", "exec")


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("ans = {'a': 1}", "a dict"),
        ("ans = (1, 2)", "a tuple"),
        ("ans = [1, 2]", "a list"),
        ("ans = float('nan')", "no real number"),
        ("ans = float('inf')", "no real number"),
        ("ans = 1 / 4", ""),
        ("ans = '310 EUR'", ""),
        ("ans = True", ""),
    ],
)
def test_a_program_answers_with_one_value(program: str, told: str) -> None:
    run = State(input=freeze({"question": "?"}), cache=freeze({"program": program}))
    if not told:
        assert PaperProgramVerifier().run(run)["verdict"] == "it runs and sets ans"
        return
    with pytest.raises(StepRejected, match=told):
        PaperProgramVerifier().run(run)


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
