"""Questions about small papers without a model: answered where value, period and unit are certain."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from chameleon.documents.reading import read_paper, text_passages
from chameleon.errors import Declined
from chameleon.modules.offline.lexical_paper_reader import LexicalPaperReader
from chameleon.state import State
from chameleon.table import Table
from chameleon.values import freeze
from tests.papers.offline_cases import CASES


def _rows() -> Iterator[tuple[str, str, str]]:
    for name, (_, lines) in CASES.items():
        for line in lines.splitlines():
            question, _, told = line.partition(" -> ")
            yield name, question, told


@cache
def _passages(name: str) -> list[dict[str, Any]]:
    text = CASES[name][0]
    if not name.endswith(".html"):
        return text_passages(text, name)
    pytest.importorskip("lxml")
    return read_paper(text.encode(), name)


def _asked(question: str, passages: list[dict[str, Any]]) -> dict[str, Any]:
    state = State(input=freeze({"question": question, "passages": passages}))
    return LexicalPaperReader().run(state)


@pytest.mark.parametrize(("name", "question", "told"), list(_rows()))
def test_what_is_told_without_a_model(name: str, question: str, told: str) -> None:
    passages = _passages(name)
    if told.startswith("["):
        with pytest.raises(Declined) as why:
            _asked(question, passages)
        assert told[1:-1] in why.value.what and "; the nearest passage (" in why.value.what
        return
    answer, _, heading = told.partition(" @ ")
    found = _asked(question, passages)
    assert found["answer"] == answer
    assert heading in found["sources"][0].get("heading", "")


def test_a_ruled_table_whose_first_row_is_its_header_may_be_a_form() -> None:
    table = Table(["Landlord", "Foss AS"], [["Rent", "EUR 900"], ["Notice period", "six weeks"]])
    passages = [{"title": "Lease", "text": "", "table": table}]
    asked = {"Who is the landlord?": "Foss AS", "What is the rent?": "EUR 900"}
    assert {question: _asked(question, passages)["answer"] for question in asked} == asked
    assert _asked("How long is the notice period?", passages)["answer"] == "six weeks"


def test_the_question_may_give_the_unit() -> None:
    passages = _passages("units.html")
    state = State(
        input=freeze({"question": "What was the cash in 2023?", "passages": passages, "unit": "EUR"})
    )
    assert LexicalPaperReader().run(state)["answer"] == "310"
