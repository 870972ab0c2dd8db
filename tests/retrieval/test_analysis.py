"""Text as terms: forms that mean the same meet, and no script is lost."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.analysis import WEAK, folded, query_weights, terms
from chameleon.retrieval.wordlists import STOP_WORDS
from tests.growth import grows_in_proportion

pytest.importorskip("Stemmer")


SAME = """
    1,234 = 1234;  12 , 345 , 678 = 12345678;  three goals = 3 goal;  Bogotá = bogota;  ＡＢＣ１２ = abc12
    winning = won;  Sept. 4 = September 4;  4 Mar 2011 = 4 March 2011;  2011 / 3 / 4 = 04 March 2011
    the Harbours of the north = harbour north;  groß = GROSS
"""


@pytest.mark.parametrize("pair", re.split(";|\n", SAME.strip()))
def test_forms_that_mean_the_same_are_the_same_terms(pair: str) -> None:
    one, other = ([term for term in terms(form) if "_" not in term] for form in pair.split(" = "))
    assert one and one == other


@given(st.integers(0, 10**12))
def test_thousands_may_be_parted(number: int) -> None:
    assert terms(f"{number:,}") == terms(str(number)) == (str(number),)


@given(st.dates(dt.date(1000, 1, 1)))
def test_dates_in_all_forms_meet(date: dt.date) -> None:
    day, month, year, name = date.day, date.month, date.year, f"{date:%B}"
    written = [f"{year}-{month:02}-{day:02}", f"{month}/{day}/{year}", f"{day}.{month}.{year}"]
    written += [f"{name[:3]} {day}, {year}", f"{name} {day:02} , {year}"]
    assert {tuple(sorted(terms(each))) for each in written} == {tuple(sorted(terms(f"{day} {name} {year}")))}


EXACT = {
    **dict.fromkeys(["3-1", "3 - 1", "3–1", "3 : 1"], "3 1 3_1"),
    **{"12, 13, 14": "12 13 14", "1, 2345": "1 2345", "2011-14-04": "2011 14 4 2011_14"},
    **{"МОСКВА река": "москва река", "ภาษาไทย": "ภาษาไทย", "서울 시장": "서울 시장", "東京都": "東京 京都"},
    **{"京": "京", "JR東京2020": "jr 東京 2020", "ガラス": "ガラ ラス", "ｶﾞﾗｽ": "ガラ ラス"},
    **{" ".join(STOP_WORDS): "", " ".join(STOP_WORDS).upper(): ""},
}


@pytest.mark.parametrize("text", EXACT)
def test_terms(text: str) -> None:
    assert terms(text) == tuple(EXACT[text].split())


@given(st.text())
def test_folding_is_idempotent_and_terms_are_words_of_one_case(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert terms(text) == terms(folded(text))
    assert all(term and not re.search(r"\s", term) for term in terms(text))


def test_a_long_text_takes_time_in_proportion() -> None:
    assert grows_in_proportion(terms, lambda size: " ".join(f"{n}-7" for n in range(12 * size)))


def test_weak_words_count_for_less_in_a_query_and_repetitions_for_more() -> None:
    weights = query_weights("how many goals: goals of the highest league")
    assert weights == {"mani": WEAK, "goal": 2.0, "highest": WEAK, "leagu": 1.0}
    assert query_weights("many many") == {"mani": 2 * WEAK}
