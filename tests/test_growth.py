"""Texts of models, servers and files take time in proportion to their length, whatever they repeat."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from chameleon import State
from chameleon.errors import Declined, InputError
from chameleon.llm.parse_reply import parse_reply
from chameleon.llm.prices import Pricing
from chameleon.modules.documents.paper_readers import PaperProgramGenerator
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.reports.program_text import number_text, plain
from chameleon.modules.sql.binder_table import LINE_BREAK
from chameleon.modules.sql.text_to_sql import _START
from chameleon.modules.statutes.statute_answerer import answer_in
from chameleon.modules.tablerag.clarifiers import terms_in
from chameleon.retrieval.analysis import _PAIR
from chameleon.table.found import LeftOut
from chameleon.table.records import Origin
from chameleon.table.replies import parse_table
from chameleon.table.text_files import markdown_tables
from tests.growth import grows_in_proportion


def table(text: str) -> None:
    with pytest.raises(InputError):
        parse_table(text)


def program(text: str) -> object:
    passages = [{"text": "One.", "number": 1}]
    state = State({"question": "?", "passages": passages})
    return PaperProgramGenerator.interpret(PaperProgramGenerator.__new__(PaperProgramGenerator), text, state)


def value(text: str) -> None:
    with pytest.raises(Declined):
        LabelReader().run(State({"question": "What is the adult fare?", "text": text}))


def headings(text: str) -> list[Any]:
    return [found for found in markdown_tables(text, Origin("t")) if not isinstance(found, LeftOut)]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda raw: parse_reply(AIMessage(raw), Pricing("m")), lambda n: " " * n + "<think><think></think>"),
        (table, lambda n: "```a\n" * n),
        (terms_in, lambda n: '\\"' * n),
        (program, lambda n: "```python\nans = 1" + "\n" * n + "b\n```\n# passages: 1"),
        (value, lambda n: "x" + " " * n + "y"),
        (value, lambda n: "fine " * n),
        (headings, lambda n: "# a" + " " * n + "x"),
        (headings, lambda n: "|a|\n|---|\n|" + "*a " * n),
        (lambda text: _PAIR.findall(text), lambda n: "1" * 4 * n),
        (lambda text: answer_in(text, "text"), lambda n: "\n" * 4 * n + "a"),
        (lambda text: _START.search(text), lambda n: "a" + "\n" * 4 * n + "b"),
        (number_text, lambda n: "1" + " " * n + "x"),
        (plain, lambda n: "1" + " " * 4 * n + "x"),
        (lambda text: list(LINE_BREAK.finditer(text)), lambda n: "a" + " " * 4 * n + "b"),
    ],
)
def test_time_is_in_proportion(call: Callable[[str], object], text: Callable[[int], str]) -> None:
    assert grows_in_proportion(call, text)
