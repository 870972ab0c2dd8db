"""What a text, or the text in a picture, answers by itself, and what it does not."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Declined, Executor, Inventory, State
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.values import freeze

FERRY = "Harbour Ferry\nAdult fare: $4.50\nChild fare: $2.25\nFirst boat: 6:15\nLast boat: 21:40\nPier 3"
BOOK = "Title: The Old Man and the Sea\nAuthor: Anna Smith\nPages: 127\nCode: AB-12\nPrice: 15 euro"


def answer(question: str, text: str, choices: list[str] | None = None) -> str:
    given = {"question": question} | ({"choices": choices} if choices else {})
    state = State(input=freeze(given), cache=freeze({"detected_text": text}))
    said: str = LabelReader().run(state)["answer"]
    return said


@pytest.mark.parametrize("line", Path(__file__).with_name("labels.tsv").read_text("utf-8").splitlines())
def test_values_beside_their_labels_and_whole_texts_are_answered_and_the_rest_declined(line: str) -> None:
    question, text, expected = line.split("\t")
    text = text.replace("FERRY", FERRY).replace("BOOK", BOOK).replace(" / ", "\n")
    with pytest.raises(Declined) if not expected else contextlib.nullcontext():
        assert answer(question, text) == expected


@pytest.mark.parametrize(
    ("question", "text", "why"),
    [
        ("What is the fare?", FERRY, "it may mean two things"),
        ("How many pages?", "Page: 5", "not what is asked"),
        ("What is the adult fare?", f"{FERRY}\nFrom May the adult fare is $5", "more than one line"),
        ("Who is the author?", "Author: Anna Smith\nand Bob Jones", "next line"),
        ("What does it say?", " \n ", "no text in the picture"),
    ],
)
def test_what_is_declined_says_why(question: str, text: str, why: str) -> None:
    with pytest.raises(Declined, match=why):
        answer(question, text)


def test_a_value_is_one_of_the_choices() -> None:
    assert answer("What is the adult fare?", FERRY, ["2.25", "4.5"]) == "4.5"
    assert answer("What does the sign say?", "No entry", ["No entry", "Parking"]) == "No entry"
    with pytest.raises(Declined, match="none of the choices"):
        answer("What is the adult fare?", FERRY, ["$2.25", "$3"])


def piece(text: str, left: int, top: int) -> dict[str, Any]:
    right, bottom = left + 8 * len(text), top + 10
    box = [[left, top], [right, top], [right, bottom], [left, bottom]]
    return {"text": text, "box": box, "confidence": 1}


def seen(question: str, *pieces: dict[str, Any], **given: str) -> str:
    text = "\n".join(str(each["text"]) for each in pieces)
    cache = {"detected_text": text, "text_boxes": list(pieces)}
    said: str = LabelReader().run(State(freeze({"question": question, **given}), freeze(cache)))["answer"]
    return said


def test_pieces_of_a_picture_stand_beside_each_other_or_apart() -> None:
    fare = [piece("Adult fare", 0, 0), piece("$4.50", 200, 0)]
    assert seen("What is the adult fare?", *fare) == "$4.50"
    for label, *others in (["Author", "Hall Two"], ["Harbour", "Ferry"], ["Ashby", "07:05", "09:35"]):
        with pytest.raises(Declined):
            seen(f"What is the {label}?", *(piece(t, 300 * n, 0) for n, t in enumerate([label, *others])))


def test_a_text_beside_a_picture_is_read_as_well() -> None:
    sign = [piece("Adult fare: $4.50", 0, 0)]
    assert seen("What is the child fare?", *sign, text="Child fare: $2.25") == "$2.25"
    assert seen("What does the sign say?", *sign, text="Child fare: $2.25") == "Adult fare: $4.50"
    with pytest.raises(Declined):
        seen("What is the adult fare?", *sign, text="Adult fare: $5")


def test_the_inventory_reads_a_text_and_tells_the_line() -> None:
    executor = Executor(Inventory.load("pictures_offline"))
    state = executor.run({"question": "What is the adult fare?", "text": FERRY})
    assert state.answer == "$4.50" and state.cache["reading"]["line"] == "Adult fare: $4.50"
    empty = executor.run({"question": "What does it say?", "text": " "})
    assert empty.ended is not None and "the text is empty" in str(empty.ended.error)


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_question_is_answered_or_declined(question: str, text: str) -> None:
    with contextlib.suppress(Declined):
        assert answer(question, text) in " ".join(filter(None, map(str.strip, text.splitlines())))


_LABELS = st.sampled_from(["Adult fare", "Child fare", "Fare", "Fare for adults", "Pages", "Author", "Age"])
_VALUES = st.sampled_from(["$4.50", "5", "Anna Smith", "free", "9:00 to 17:30", "$3 or $4", ""])


@given(st.lists(st.tuples(_LABELS, st.sampled_from([": ", " ", ":", " = "]), _VALUES), max_size=5))
def test_what_is_answered_stands_alone_beside_the_label(lines: list[tuple[str, str, str]]) -> None:
    text = "\n".join(map("".join, lines))
    asked = {"What is the adult fare?": {"Adult fare", "Fare for adults"}, "How many pages?": {"Pages"}}
    for question, labels in {**asked, "Who is the author?": {"Author"}}.items():
        with contextlib.suppress(Declined):
            assert {answer(question, text)} == {value for label, _, value in lines if label in labels}
