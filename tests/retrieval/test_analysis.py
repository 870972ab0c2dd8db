"""Text as terms: forms that mean the same meet, and no script is lost."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval import analysis
from chameleon.retrieval.analysis import WEAK, folded, query_weights, terms, terms_of
from chameleon.retrieval.wordlists import STOP_WORDS, WEAK_WORDS
from tests.growth import grows_in_proportion

pytest.importorskip("Stemmer")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,234", "1234"),
        ("12 , 345 , 678", "12345678"),
        ("three goals", "3 goal"),
        ("Bogotá", "bogota"),
        ("ＡＢＣ１２", "abc12"),
        ("winning", "won"),
        ("Sept. 4", "September 4"),
        ("4 Mar 2011", "4 March 2011"),
        ("2011-03-04", "4 March 2011"),
        ("2011 / 3 / 4", "04 March 2011"),
        ("03/04/2011", "4 March 2011"),
        ("04.03.2011", "4 March 2011"),
        ("the Harbours of the north", "harbour north"),
        ("groß", "GROSS"),
    ],
)
def test_forms_that_mean_the_same_are_the_same_terms(one: str, other: str) -> None:
    plain = [term for term in terms(one) if "_" not in term]
    assert plain == [term for term in terms(other) if "_" not in term]
    assert plain


@given(st.integers(0, 10**12))
def test_thousands_may_be_parted(number: int) -> None:
    assert terms(f"{number:,}") == terms(str(number)) == (str(number),)


@given(st.dates(dt.date(1000, 1, 1)))
def test_dates_in_all_forms_meet(date: dt.date) -> None:
    month = f"{date:%B}"
    expected = sorted(terms(f"{date.day} {month} {date.year}"))
    for written in (
        f"{date.year}-{date.month:02}-{date.day:02}",
        f"{date.month}/{date.day}/{date.year}",
        f"{date.day}.{date.month}.{date.year}",
        f"{month[:3]} {date.day}, {date.year}",
        f"{month} {date.day:02} , {date.year}",
    ):
        assert sorted(terms(written)) == expected


@pytest.mark.parametrize("score", ["3-1", "3 - 1", "3–1", "3 : 1"])
def test_a_score_is_a_term_of_its_own(score: str) -> None:
    assert terms(score) == ("3", "1", "3_1")
    assert "3_1" not in terms("1-3")


def test_a_list_of_numbers_is_no_number_with_thousands() -> None:
    assert terms("12, 13, 14") == ("12", "13", "14")
    assert terms("1, 2345") == ("1", "2345")


def test_what_is_no_date_stays() -> None:
    assert terms("2011-14-04")[:3] == ("2011", "14", "4")


def test_other_scripts_are_kept() -> None:
    assert terms("Москва река") == terms("МОСКВА РЕКА") != ()
    assert len(terms("हिन्दी भाषा")) == 2
    assert len(terms("ภาษาไทย")) == 1
    assert terms("東京都") == ("東京", "京都")
    assert terms("京") == ("京",)
    assert terms("JR東京2020") == ("jr", "東京", "2020")
    assert terms("ガラス") == terms("ｶﾞﾗｽ") == ("ガラ", "ラス")
    assert terms("서울 시장") == ("서울", "시장")


@given(st.text())
def test_folding_is_idempotent_and_case_does_not_count(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert terms(text) == terms(folded(text))


@given(st.text())
def test_terms_are_words_of_one_case(text: str) -> None:
    for term in terms(text):
        assert term
        assert not re.search(r"\s", term)


def test_stop_words_are_no_terms() -> None:
    assert {terms(form) for word in STOP_WORDS for form in (word, word.upper())} == {()}


CELLS = st.lists(
    st.text(max_size=12)
    | st.text(st.sampled_from("12, 3/-.:\0ガス東京 a"), max_size=14)
    | st.sampled_from(["2004-03-16", "1,234", "3 – 1", "the", "3", "–", "1", ",", "234", "/04/2011", "\0"]),
    max_size=12,
)


def anew(cells: list[str]) -> list[tuple[str, ...]]:
    """The terms of cells of which none is remembered."""
    analysis._known.clear()
    return terms_of(cells)


@given(CELLS, CELLS)
def test_cells_are_read_as_if_each_were_alone(cells: list[str], others: list[str]) -> None:
    expected = [terms for cell in cells for terms in anew([cell])]
    assert anew(cells) == expected
    assert terms_of([*others, *cells, *others])[len(others) :][: len(cells)] == expected  # some remembered
    assert expected == [terms(cell) for cell in cells]


def test_a_large_table_takes_time_in_proportion() -> None:
    def read(text: str) -> None:
        anew([f"{cell} {text[:4]}-7" for cell in text.split()])

    assert grows_in_proportion(read, lambda size: " ".join(map(str, range(12 * size))))


def test_weak_words_count_for_less_in_a_query_and_repetitions_for_more() -> None:
    weights = query_weights("how many goals: goals of the highest league")
    assert weights == {"mani": WEAK, "goal": 2.0, "highest": WEAK, "leagu": 1.0}
    assert query_weights("many many") == {"mani": 2 * WEAK}
    assert not WEAK_WORDS & STOP_WORDS
