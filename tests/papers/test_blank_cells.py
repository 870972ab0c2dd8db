"""A name that another table has as well, with a blank cell where a paper is asked: not one certain value."""

from __future__ import annotations

import pytest

from chameleon.documents.reading import text_passages
from chameleon.errors import Declined
from chameleon.modules.offline.lexical_paper_reader import LexicalPaperReader
from chameleon.state import State
from chameleon.values import freeze

PAPER = """# Skerry Ferries

## Income of the group

| in thousands | 2021 | 2022 |
|---|---|---|
| Revenue | 900 | 1,000 |
| Fares | 700 | {fares} |

## Income of the parent

| in thousands | 2021 | 2022 |
|---|---|---|
| Revenue | {parent} | 400 |
| Rents | {rents} | 30 |
"""
PLAIN = {"parent": "", "fares": "800", "rents": "20"}


def answer(question: str, **cells: str) -> str:
    passages = text_passages(PAPER.format(**PLAIN | cells), "ferries.md")
    state = State(input=freeze({"question": question, "passages": passages}))
    return str(LexicalPaperReader().run(state)["answer"])


@pytest.mark.parametrize("parent", ["", "-", "n/a", "350"])
def test_a_row_of_two_tables_is_declined(parent: str) -> None:
    with pytest.raises(Declined, match='more than one line of the paper speaks of "revenue'):
        answer("What was the revenue in 2021?", parent=parent)


def test_a_blank_cell_of_another_row_changes_nothing() -> None:
    assert answer("What were the fares in 2021?", rents="") == "700 (in thousands)"


def test_a_blank_cell_alone_is_no_value() -> None:
    with pytest.raises(Declined):
        answer("What were the rents in 2021?", rents="")


def test_a_blank_column_of_the_same_year_is_a_spacer() -> None:
    """So tables of filings have them, where the sign of the currency has a column of its own."""
    rows = ("| | 2021 | 2021 | 2020 |", "|---|---|---|---|", "| Dues | | 5 | 6 |", "| Tolls | | 7 | 8 |")
    paper = "\n".join(("# A", "", "## Income", "", *rows, ""))
    given = {"question": "What were the dues in 2021?", "passages": text_passages(paper, "a.md")}
    assert str(LexicalPaperReader().run(State(input=freeze(given)))["answer"]).startswith("5")
