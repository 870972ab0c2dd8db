"""Documents as texts to embed: within the window, with everything in them, about the same thing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.document import Document
from chameleon.retrieval.texts import about, texts, word_pieces
from chameleon.table import Table

WORDS = st.text("abz 09,.é", max_size=30)
SHIPS = Table(["Year", "", "Port"], [["1999", "x", "Arvik"], ["", " ", ""], ["2001", "", "Selmark"]], "Ships")


@pytest.mark.parametrize(
    ("document", "window", "said"),
    [
        (Document("1", SHIPS), 240, ["Ships. Year, Port. 1999, x, Arvik. 2001, Selmark"]),
        (Document("1", SHIPS, "Ships"), 9, ["Ships. Year,. 1999, x,", "Ships. Year,. 2001, Selmark"]),
        (Document("1", Table(["a"], [["1"]], "Ships"), "Fleet", "Old."), 240, ["Fleet. Ships. a. Old.. 1"]),
        (Document("1", None, "Sea", "I am up. It is\nIt."), 8, ["Sea. I am up.", "Sea. It is. It."]),
        (Document("only an id"), 240, ["only an id"]),
        (Document("id", Table([""], [[" "]])), 240, ["id"]),
    ],
)
def test_each_text_says_what_it_is_about(document: Document, window: int, said: list[str]) -> None:
    assert texts(document, 8, window) == said
    assert all(text.startswith(about(document, window)) for text in said)


@given(WORDS, WORDS, st.lists(st.lists(WORDS, min_size=2, max_size=2), max_size=12), st.integers(1, 5), WORDS)
def test_texts_fit_the_window_and_say_all_in_order(
    caption: str, name: str, rows: list[list[str]], most: int, text: str
) -> None:
    numbered = [[f"row{n}", *row] for n, row in enumerate(rows)]
    document = Document("id", Table(["", name, "b"], numbered, caption), text=text)
    found = texts(document, most, window=30)
    assert 1 <= len(found) <= most and all(each.strip() and word_pieces(each) <= 32 for each in found)
    whole = texts(document, 99, window=30)
    assert found == whole[:most]
    assert re.findall(r"row(\d+)", " ".join(whole)) == [str(n) for n in range(len(rows))]
