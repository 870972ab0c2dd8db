"""Text as terms: forms that mean the same meet, and no script is lost."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.lexical.analysis import folded, terms
from chameleon.retrieval.lexical.fields import WEAK, Bm25Settings, query_terms, query_weights
from chameleon.retrieval.lexical.wordlists import STOP_WORDS, WEAK_WORDS

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
    assert terms(f"{number:,}") == terms(str(number)) == [str(number)]


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
    assert terms(score) == ["3", "1", "3_1"]
    assert "3_1" not in terms("1-3")


def test_a_list_of_numbers_is_no_number_with_thousands() -> None:
    assert terms("12, 13, 14") == ["12", "13", "14"]
    assert terms("1, 2345") == ["1", "2345"]


def test_what_is_no_date_stays() -> None:
    assert terms("2011-14-04")[:3] == ["2011", "14", "4"]


def test_other_scripts_are_kept() -> None:
    assert terms("Москва река") == terms("МОСКВА РЕКА") != []
    assert len(terms("हिन्दी भाषा")) == 2
    assert len(terms("ภาษาไทย")) == 1
    assert terms("東京都") == ["東京", "京都"]
    assert terms("京") == ["京"]
    assert terms("JR東京2020") == ["jr", "東京", "2020"]
    assert terms("ガラス") == terms("ｶﾞﾗｽ") == ["ガラ", "ラス"]
    assert terms("서울 시장") == ["서울", "시장"]


def test_words_as_they_stand() -> None:
    assert terms("The 1,234 Zoë's a_b", "words") == ["the", "1", "234", "zoë", "s", "a_b"]


@given(st.text())
def test_folding_is_idempotent_and_case_does_not_count(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert terms(text) == terms(folded(text))


@given(st.text())
def test_terms_are_words_of_one_case(text: str) -> None:
    for term in terms(text):
        assert term
        assert not re.search(r"\s", term)


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_stop_words_are_no_terms(word: str) -> None:
    assert terms(word) == [] == terms(word.upper())


@given(st.text(alphabet="abcdefghij 0123456789", max_size=200), st.integers(0, 200))
def test_long_and_short_texts_are_read_alike(text: str, pad: int) -> None:
    assert terms(text + " " * pad) == terms(text)


def test_weak_words_count_for_less_in_a_query_and_repetitions_for_more() -> None:
    settings = Bm25Settings()
    weights = query_weights("how many goals: goals of the highest league", settings)
    assert weights == {"mani": WEAK, "goal": 2.0, "highest": WEAK, "leagu": 1.0}
    assert query_terms("goals, goals", settings) == ["goal", "goal"]
    assert query_weights("many many", Bm25Settings(analysis="words")) == {"many": 2.0}
    assert not WEAK_WORDS & STOP_WORDS
