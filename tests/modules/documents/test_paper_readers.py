"""Which passages a reply names."""

from __future__ import annotations

import pytest

from chameleon.core.state import State
from chameleon.errors import Declined, StepRejected
from chameleon.modules.documents.paper_readers import (
    PaperAnswerer,
    PaperProgramGenerator,
    PaperProgramVerifier,
)
from chameleon.values import freeze
from tests.modules.documents.test_paper_retriever import state

_LINES = {
    "1-3": [1, 2, 3],
    "1 to 3, 5": [1, 2, 3, 5],
    "1 and 2 (page 4)": [1, 2],
    "1, 2, page 12": [1, 2],
    "passage 4 (clauses 7.2 and 9), passage 2": [4, 2],
    "2 4": [2, 4],
    "2 - the deposit is 2,700 EUR": [2],
    "\n* 1: the rent is 900 EUR\n* Passage 3 - it ends in 2030": [1, 3],
    "**2**": [2],
    "1: the rent, 2: the deposit": [1, 2],
}
_NAMES = ("Passages used", "Passage(s)", "Passage", "**Passages**", "Passages cited")


@pytest.mark.parametrize(
    ("said", "numbers"),
    [*((f"Passages: {line}", _LINES[line]) for line in _LINES), *((f"{name}: 2", [2]) for name in _NAMES)],
)
def test_the_line_of_passages(said: str, numbers: list[int]) -> None:
    read = PaperAnswerer().interpret(f"So it is.\n{said}\nThe answer is x.", state())
    assert [source["passage"] for source in read["sources"]] == numbers


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


def test_a_line_of_passages_beside_a_bare_program_is_a_comment_of_it() -> None:
    for line in ("Passages: 1, 2", "passages used: 1-2", "**Passages:** 1, 2"):
        said = PaperProgramGenerator().interpret(f"ans = 3 - 2\n{line}", state())
        assert [source["passage"] for source in said["sources"]] == [1, 2]
        compile(said["program"], "program", "exec")


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("ans = {'a': 1}", "a dict"),
        ("ans = [1, 2]", "a list"),
        ("ans = {1, 2}", "a set"),
        ("ans = float('nan')", "no real number"),
        ("ans = float('-inf')", "no real number"),
        ("ans = 1j", "no real number"),
        ("ans = 'nan'", "no real number"),
        ("ans = 1 / 4", ""),
        ("ans = '310 EUR'", ""),
    ],
)
def test_a_program_answers_with_one_value(program: str, told: str) -> None:
    run = State(input=freeze({"question": "?"}), cache=freeze({"program": program}))
    if not told:
        assert PaperProgramVerifier().run(run)["verdict"] == "it runs and sets ans"
        return
    with pytest.raises(StepRejected, match=told):
        PaperProgramVerifier().run(run)
