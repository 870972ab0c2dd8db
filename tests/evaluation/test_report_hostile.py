"""The page of a report on a run in which every text is out to harm it: all of it is shown as text."""

from __future__ import annotations

import re

import pytest

from chameleon.evaluation.page_views import LONGEST, shown, visible
from chameleon.evaluation.run import Run
from tests.evaluation.html_outline import Outline, assert_ours
from tests.evaluation.report_runs import HOSTILE, LONG, SCRIPT, page_of


@pytest.fixture(scope="module")
def page(hostile: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(hostile, folder=tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


@pytest.mark.slow
def test_a_hostile_run_adds_no_element_and_no_attribute(outline: Outline) -> None:
    assert_ours(outline)
    assert outline.declarations == ["DOCTYPE html"]
    assert not outline.of_tag("script")
    texts = [element.text for element in outline.of_tag("pre")]
    assert sum(SCRIPT in text for text in texts) > 20, "it is there to be read"
    assert f"\n{visible(HOSTILE)}" in texts


def test_the_page_says_itself_that_nothing_may_run_or_load(page: str, outline: Outline) -> None:
    policy = next(e for e in outline.of_tag("meta") if "http-equiv" in e.attributes)
    allowed = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert str(policy.attributes["content"]).startswith(allowed)
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_nothing_on_the_page_is_invisible_or_steers(page: str) -> None:
    unseen = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
    assert not re.search(unseen, page)
    spelled = "⟨U+001B⟩[31mred ⟨U+0000⟩NUL ⟨U+0007⟩bell ⟨U+202E⟩overridden ⟨U+200B⟩hidden ⟨U+D800⟩"
    assert all(each in page for each in spelled.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext\n$9 <b> é 名前 مرحبا 👩\u200d🔬", "plain\ttext\n$9 <b> é 名前 مرحبا 👩\u200d🔬"),
        ("a\r\nb\rc", "a\nb⟨U+000D⟩c"),
        ("\x7f\x85\u2028\u00ad\ue000", "⟨U+007F⟩⟨U+0085⟩⟨U+2028⟩⟨U+00AD⟩⟨U+E000⟩"),
        ("\u202eevil\u202c", "⟨U+202E⟩evil⟨U+202C⟩"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_both_ends_of_a_long_text_are_shown() -> None:
    assert shown("ab" * 1_000 + "cd" * 1_000, 4) == "ab … [3,996 characters are not shown] … cd"


def test_long_texts_are_cut_and_say_how_much_is_missing(page: str, outline: Outline) -> None:
    assert len(page) < 2_000_000, "each of some hundred texts has 200,000 characters"
    assert f"[{len(LONG) - LONGEST:,} characters are not shown]" in page
    assert max(len(element.text) for element in outline.of_tag("td")) < LONGEST + 100


def test_large_tables_are_shown_in_part(outline: Outline) -> None:
    notes = {element.text for element in outline.of_class("note")}
    assert "Only the first 50 of 1,000 rows are shown." in notes
    assert "Only the first 6 of 20 rows are shown." in notes
    assert "Only the first 6 of 60 rows and the first 500 of 600 columns are shown." in notes
    for table in outline.of_class("data"):
        assert any("box" in parent.classes for parent in table.parents), "a wide table scrolls in its box"
