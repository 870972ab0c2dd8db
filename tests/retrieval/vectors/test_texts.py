"""Documents as texts to embed: within the window, with everything in them, about the same thing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.document import Document
from chameleon.retrieval.vectors.texts import texts, word_pieces
from chameleon.table import Table

WORDS = st.text("abz 09,.é", max_size=30)


def test_a_short_table_is_one_text() -> None:
    table = Table(
        ["Year", "", "Port"], [["1999", "x", "Arvik"], ["", " ", ""], ["2001", "", "Selmark"]], "Ships"
    )
    assert texts(Document("1", table), 8) == ["Ships. Year, Port. 1999, x, Arvik. 2001, Selmark"]


def test_title_and_caption_are_said_once_and_text_stands_before_rows() -> None:
    table = Table(["a"], [["1"]], "Ships")
    assert texts(Document("1", table, "Ships", "About ships."), 8) == ["Ships. a. About ships.. 1"]
    assert texts(Document("1", table, "Fleet"), 8) == ["Fleet. Ships. a. 1"]


def test_a_long_table_is_several_texts_about_the_same() -> None:
    table = Table(["Ship"], [[f"ship {number}"] for number in range(100)], "Fleet")
    found = texts(Document("1", table), 50, window=40)
    assert len(found) > 5 and all(text.startswith("Fleet. Ship. ship ") for text in found)
    assert re.findall(r"ship (\d+)", " ".join(found)) == [str(number) for number in range(100)]
    assert texts(Document("1", table), 3, window=40) == found[:3]


def test_a_passage_is_cut_between_sentences() -> None:
    found = texts(
        Document("1", title="Tides", text="One is high. Two is low.\nThree is slack."), 8, window=10
    )
    assert found == ["Tides. One is high.", "Tides. Two is low.", "Tides. Three is slack."]


def test_a_document_of_nothing_is_its_name() -> None:
    assert texts(Document("only an id"), 8) == ["only an id"]
    assert texts(Document("id", Table([""], [[" "]])), 8) == ["id"]


@given(WORDS, WORDS, st.lists(st.lists(WORDS, min_size=2, max_size=2), max_size=12), st.integers(1, 5), WORDS)
def test_texts_fit_the_window(caption: str, name: str, rows: list[list[str]], most: int, text: str) -> None:
    document = Document("id", Table([name, "b"], rows, caption), text=text)
    found = texts(document, most, window=30)
    assert 1 <= len(found) <= most
    assert all(text.strip() and word_pieces(text) <= 30 + 2 for text in found)
