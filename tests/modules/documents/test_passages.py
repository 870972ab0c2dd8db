"""Which passages are near to a question: by their words, by their headings, by the numbers it names."""

from __future__ import annotations

import pytest

from chameleon.modules.documents.passages import is_named, nearness, numbers_in


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does clause 7.2 say?", [("clause", "7.2")]),
        ("What is in Item 1A.?", [("item", "1a")]),
        ("Does § 12 hold, or Annex B?", [("", "12"), ("annex", "b")]),
        (
            "Compare clauses 7.1, 7.2 and 9 with Note 12.",
            [*(("clause", n) for n in ("7.1", "7.2", "9")), ("note", "12")],
        ),
        ("What does Table 3 or Exhibit 10.1 say?", [("table", "3"), ("exhibit", "10.1")]),
        ("Is a part a section of it?", []),
    ],
)
def test_numbers_of_parts_are_read(question: str, named: list[tuple[str, str]]) -> None:
    assert numbers_in(question) == named


def test_a_heading_bears_its_own_number_only() -> None:
    for title in ("7.2 Notice", "Lease > Clause 7.2 > (a)", "Lease > 7.2.1 Form"):
        assert is_named(title, ("clause", "7.2"))
    for title in ("7.20 Fees", "17.2 Fees", "Schedule 7.2 > Fees", ""):
        assert not is_named(title, ("clause", "7.2"))
    assert is_named("Annex B", ("annex", "b")) and not is_named("B flat", ("annex", "b"))


def test_headings_count_more_than_words_and_named_numbers_most() -> None:
    passages = [
        {"title": "3 Insurance", "text": "The holder bears the cost."},
        {"title": "4 Other", "text": "The insurance of others is no matter of ours, nor is its cost."},
        {"title": "9 Law", "text": "The courts decide."},
    ]
    words, number = nearness("Who pays for insurance?", passages), nearness("What is clause 9?", passages)
    assert words[0] > words[1] > words[2] == 0
    assert number[2] > max(number[:2])
    assert nearness("anything", []) == []
