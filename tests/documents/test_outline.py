"""Texts by their marks: headings, clauses by their numbers, tables and captions."""

from __future__ import annotations

import pytest

from chameleon.documents.outline import sections_of
from chameleon.documents.parts import DocumentPart
from chameleon.documents.reading import is_document, text_passages
from chameleon.table import Table


def titles(text: str) -> list[tuple[str, str]]:
    return [(each["title"], each["text"]) for each in text_passages(text, "x.md")]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Section 4.01 Organization. The Borrower is organized.", "Section 4.01 Organization"),
        ("Section 12 The rent is due monthly.", "Section 12"),
        ("ARTICLE IV\n\nREPRESENTATIONS\n\nAll is well.", "ARTICLE IV REPRESENTATIONS"),
        ("Annex 1 to the Agreement\n\nList of vessels.", "Annex 1 to the Agreement"),
        ("Item 8. Income\n\nNOTE 12 — LEASES\n\nLeases cost 4 million.", "Item 8. Income > NOTE 12 — LEASES"),
        ("Note 3 that is not a heading", ""),
        ("7.2 Governing Law. The law of Arvik holds.", "7.2 Governing Law"),
        ("Section 3 applies to all berths.", ""),
        ("3.5 per cent of the price is paid in May.", ""),
        ("# Lease #\n\n## In C# ##\n\nText.", "Lease > In C#"),
        ("Lease\n=====\n\nRent\n----\nIt is 900 EUR.\n\n**Pets**\nDogs.", "Lease > Rent > Pets"),
        ("1. Lease\n********\n\n1.1. Rent\n=========\n\nIt is 900 EUR.", "1. Lease > 1.1. Rent"),
        ("1 Fees\n\n1.1 Rent\n\n12 Cranes were bought in May", "1 Fees > 1.1 Rent"),
    ],
)
def test_what_is_a_heading(line: str, title: str) -> None:
    assert titles(line)[-1][0] == title


CLAUSES = [  # a text, and its passages: title and text
    """\
## 2 Term
2.1 It runs for three years,
or longer.
2.2 Either party may end it by a notice of
60 days.
3. Rent
3.1 It is 900 EUR, and
1.5 per cent more each year.
=> 2 Term > 2.1: 2.1 It runs for three years,
or longer.
=> 2 Term > 2.2: 2.2 Either party may end it by a notice of
60 days.
=> 3. Rent > 3.1: 3.1 It is 900 EUR, and
1.5 per cent more each year.""",
    "1 Fees\n\nThey are told in\nAnnex B\nof the lease.\n=> 1 Fees: They are told in\nAnnex B\nof the lease.",
    "1.3 Up, see\n1.4 below.\n\n1.4 It ends.\n=> 1.3: 1.3 Up, see\n1.4 below.\n=> 1.4: 1.4 It ends.",
    "**1. Scope.** It is wide.\n\n- 1.1 It is dry.\n- 1.2 It is wet.\n=> 1 Scope: 1. Scope. It is wide.\n"
    "=> 1 Scope > 1.1: 1.1 It is dry.\n=> 1 Scope > 1.2: 1.2 It is wet.",
    "1. Crane A\n2. Crane B\n3. Crane C\n=> : 1. Crane A\n2. Crane B\n3. Crane C",
    "# Terms\n\n## 1 Fees\n1.1 Setup fee EUR 500\n1.2 Monthly fee EUR 80\n"
    "=> Terms > 1 Fees > 1.1: 1.1 Setup fee EUR 500\n=> Terms > 1 Fees > 1.2: 1.2 Monthly fee EUR 80",
]


@pytest.mark.parametrize("case", CLAUSES)
def test_where_clauses_begin(case: str) -> None:
    text, *parts = case.split("\n=> ")
    assert titles(text) == [tuple(part.split(": ", 1)) for part in parts]


@pytest.mark.parametrize("rule", [":-- | --:", "-|-", "|:-|-:|", "| --- | :---: |", "--- | ---"])
def test_tables_of_bars_need_no_frame_and_may_have_gaps(rule: str) -> None:
    (found,) = text_passages(f"Name | Fee\n{rule}\nArvik \\| II | 4 | 5\nTern |", "x.md")
    assert found["table"] == Table(["Name", "Fee", ""], [["Arvik | II", "4", "5"], ["Tern", "", ""]])


def test_a_short_line_above_a_table_is_its_caption_also_of_a_part_that_continues_it() -> None:
    texts = ("The dues were these.", f"The dues {'rose and fell ' * 12}")
    for above in ("Table 3: Dues", "(in thousands of crowns)", *texts):
        found = text_passages(f"# Dues\n\n{above}\n\n| a | b |\n|---|---|\n| x | 1 |", "x.md")
        wanted = ("Dues", 2) if above in texts else (f"Dues > {above}", 1)
        assert (found[-1]["title"], len(found)) == wanted
    tables = [DocumentPart(Table(["Port", "2023"], [["Arvik", str(page)]]), page=page) for page in (1, 2)]
    other = DocumentPart(Table(["Port", "Boats"], [["Arvik", "3"]]), page=2)
    (section,) = sections_of([DocumentPart("(in thousands)", page=1), *tables, other])
    told = [part.content.caption for part in section.parts if isinstance(part.content, Table)]
    assert told == ["(in thousands)", "(in thousands)", ""]


def test_a_text_with_two_headings_or_clauses_is_a_document() -> None:
    for text, is_one in {
        "1. Term\n\n1.1 Three years.\n\n1.2 It goes on.": True,
        "Lease\n=====\n\n**Rent**\n\nIt is 900 EUR.": True,
        "# Lease\n\nRent: 900 EUR": False,
        "Platform 3\n\n12 Trains leave today\n\n5 Trains leave tomorrow": False,
        "x " * 10_001: True,
    }.items():
        assert is_document(text) == is_one, text[:40]
