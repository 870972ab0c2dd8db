"""Texts and pages by their marks: headings, clauses, tables, captions and units; in linear time."""

from __future__ import annotations

import time

import pytest

from chameleon.documents.markdown import text_outline
from chameleon.documents.outline import Outline
from chameleon.documents.reading import is_text_paper, read_paper, text_passages
from chameleon.documents.units import unit_in
from chameleon.table import Table


def titles(text: str) -> list[tuple[str, str]]:
    return [(each["title"], each["text"]) for each in text_passages(text, "x.md")]


def test_clauses_on_lines_below_each_other_are_told_apart() -> None:
    text = (
        "## 2 Term\n2.1 The lease runs for three years,\nor longer.\n"
        "2.2 Either party may end it by a notice of\n60 days.\n(a) by letter, or\n(b) by mail.\n"
        "3. Rent\n3.1 It is 900 EUR a month, and\n1.5 per cent more each year."
    )
    assert titles(text) == [
        ("2 Term > 2.1", "2.1 The lease runs for three years,\nor longer."),
        (
            "2 Term > 2.2",
            "2.2 Either party may end it by a notice of\n60 days.\n(a) by letter, or\n(b) by mail.",
        ),
        ("3. Rent > 3.1", "3.1 It is 900 EUR a month, and\n1.5 per cent more each year."),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Section 4.01 Organization. The Borrower is organized.", "Section 4.01 Organization"),
        ("Section 4.01 Organization.\n\nThe Borrower is organized.", "Section 4.01 Organization."),
        ("Section 12 The rent is due monthly.", "Section 12"),
        ("ARTICLE IV\n\nREPRESENTATIONS\n\nAll is well.", "ARTICLE IV REPRESENTATIONS"),
        ("Annex 1 to the Agreement\n\nList of vessels.", "Annex 1 to the Agreement"),
        ("Exhibit 10.1 Loan\n\nThe loan is due in May.", "Exhibit 10.1 Loan"),
        ("Item 8. Income\n\nNOTE 12 — LEASES\n\nLeases cost 4 million.", "Item 8. Income > NOTE 12 — LEASES"),
        ("Note 3 that is not a heading", ""),
        ("7.2 Governing Law. The law of Arvik holds.", "7.2 Governing Law"),
        ("Section 3 applies to all berths.", ""),
        ("Section civil law\n\nIt is in force.", ""),
        ("3.5 per cent of the price is paid in May.", ""),
    ],
)
def test_numbers_with_names_are_headings(line: str, title: str) -> None:
    assert titles(line)[-1][0] == title


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Annex A\nKeys: 4\nAnnex B\nLamps: 9", [("Annex A", "Keys: 4"), ("Annex B", "Lamps: 9")]),
        (
            "1 Rent\nIt is 9 EUR.\n2 Deposit\nIt is 8 EUR.",
            [("1 Rent", "It is 9 EUR."), ("2 Deposit", "It is 8 EUR.")],
        ),
        (
            "1 Fees\n\nThey are told in\nAnnex B\nof the lease.",
            [("1 Fees", "They are told in\nAnnex B\nof the lease.")],
        ),
        (
            "1.3 It rises, see\n1.4 below.\n\n1.4 End.",
            [("1.3", "1.3 It rises, see\n1.4 below."), ("1.4", "1.4 End.")],
        ),
        ("3.1 The rate is 2.5\n3.2 percent above.", [("3.1", "3.1 The rate is 2.5\n3.2 percent above.")]),
        (
            "**1. Scope.** It is wide.\n\n2.1 Text.",
            [("1. Scope", "**1. Scope.** It is wide."), ("1. Scope > 2.1", "2.1 Text.")],
        ),
        (
            "**3.1** It is dry.\n\n**3.2** It is wet.",
            [("3.1", "**3.1** It is dry."), ("3.2", "**3.2** It is wet.")],
        ),
        ("- 3.1 It is dry.\n- 3.2 It is wet.", [("3.1", "3.1 It is dry."), ("3.2", "3.2 It is wet.")]),
        ("2.1 Fee: EUR 5\n\nIt is due.", [("2.1", "2.1 Fee: EUR 5\n\nIt is due.")]),
        ("1. Crane A\n2. Crane B\n3. Crane C", [("", "1. Crane A\n2. Crane B\n3. Crane C")]),
    ],
)
def test_where_headings_and_clauses_begin(text: str, parts: list[tuple[str, str]]) -> None:
    assert titles(text) == parts


@pytest.mark.parametrize("rule", [":-- | --:", "-|-", "|:-|-:|", "| --- | :---: |", "--- | ---"])
def test_rules_of_markdown_tables(rule: str) -> None:
    (found,) = text_passages(f"Name | Fee\n{rule}\nArvik \\| II | 4\nTern | 5", "x.md")
    assert found["table"] == Table(["Name", "Fee"], [["Arvik | II", "4"], ["Tern", "5"]])


def test_terms_and_their_descriptions_are_read_together() -> None:
    pytest.importorskip("lxml")
    page = "<h1>T</h1><dl><dt>Rent</dt><dd>EUR 9</dd><dt>Keys:</dt><dd>2</dd><dd>3</dd><dt>Gate</dl><p>End."
    (found,) = read_paper(page.encode(), "x.html")
    assert found["text"] == "Rent: EUR 9\n\nKeys: 2; 3\n\nGate\n\nEnd."


def test_a_table_that_names_its_rows_is_a_form() -> None:
    pytest.importorskip("lxml")
    (found,) = read_paper(b"<table><tr><th>Length<td>40 m<tr><th>Beam<td>9 m</table>", "x.html")
    assert found["table"] == Table(["", ""], [["Length", "40 m"], ["Beam", "9 m"]])


def test_sections_stand_below_articles() -> None:
    text = "ARTICLE IV\n\nSection 4.01 Law. It holds.\n\nSection 4.02 Seat. It is Arvik.\n\nARTICLE V\n\nEnd."
    assert [title for title, _ in titles(text)] == [
        "ARTICLE IV > Section 4.01 Law",
        "ARTICLE IV > Section 4.02 Seat",
        "ARTICLE V",
    ]


def test_marks_that_close_a_heading_are_not_in_it() -> None:
    assert titles("# Lease #\n\n## In C# ##\n\nText.") == [("Lease > In C#", "Text.")]


def test_underlined_and_bold_lines_are_headings() -> None:
    text = "Lease\n=====\n\nRent\n----\nIt is 900 EUR.\n\n**Pets**\nDogs are allowed.\n\n**No** cats."
    assert titles(text) == [
        ("Lease > Rent", "It is 900 EUR."),
        ("Lease > Rent > Pets", "Dogs are allowed.\n\n**No** cats."),
    ]


def test_tables_of_bars_need_no_frame_and_may_have_gaps() -> None:
    text = (
        "Below are the fees:\nName | Fee | Fee\n--- | --- | ---\nParking | 40\nCellar | 15 | 17\nThat is all."
    )
    found = text_passages(text, "x.md")
    assert [each["text"] for each in found if "table" not in each] == ["Below are the fees:", "That is all."]
    (table,) = [each["table"] for each in found if "table" in each]
    assert table == Table(["Name", "Fee", "Fee"], [["Parking", "40", ""], ["Cellar", "15", "17"]])


@pytest.mark.parametrize(
    ("above", "caption"),
    [
        ("Table 3: Dues", "Table 3: Dues"),
        ("(in thousands of crowns)", "(in thousands of crowns)"),
        ("The dues were as follows, in EUR million:", "The dues were as follows, in EUR million:"),
        ("The dues were as follows:", ""),
    ],
)
def test_what_stands_above_a_table_may_be_its_caption(above: str, caption: str) -> None:
    found = text_passages(f"# Dues\n\n{above}\n\n| a | b |\n|---|---|\n| x | 1 |", "x.md")
    assert found[-1]["table"].caption == caption
    assert found[-1]["title"] == " > ".join(filter(None, ["Dues", caption]))


def test_a_table_that_goes_on_has_the_caption_of_its_first_part() -> None:
    outline = Outline()
    outline.paragraph("(in thousands)", 1)
    for page in (1, 2):
        outline.table(Table(["Port", "2023"], [["Arvik", str(page)]]), page)
    outline.table(Table(["Port", "Boats"], [["Arvik", "3"]]), 2)
    (section,) = outline.filled()
    captions = [part.caption for part, _ in section.parts if isinstance(part, Table)]
    assert captions == ["(in thousands)", "(in thousands)", ""]


def test_the_caption_of_a_page_stands_above_each_part_of_its_table() -> None:
    pytest.importorskip("lxml")
    rows = "".join(f"<tr><td>Berth {n}<td>{n}" for n in range(300))
    page = f"<h1>Dues</h1><table><caption>Dues, in thousands</caption><tr><th>a<th>b{rows}</table>"
    found = read_paper(page.encode(), "x.html")
    assert len(found) > 2 and {each["title"] for each in found} == {"Dues > Dues, in thousands"}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Income, in thousands of crowns", "in thousands of crowns"),
        ("(in thousands, except per share data)", "in thousands, except per share data"),
        ("(Dollars in millions)", "Dollars in millions"),
        ("($ in millions)", "$ in millions"),
        ("Prices in EUR", "in EUR"),
        ("Key figures, EUR million", "EUR million"),
        ("Income in Norway", ""),
        ("Changes in 2023", ""),
    ],
)
def test_units_of_captions(text: str, unit: str) -> None:
    assert unit_in(text) == unit


@pytest.mark.parametrize(
    ("text", "is_paper"),
    [
        ("1. Term\n\n1.1 Three years.\n\n1.2 It goes on.", True),
        ("Lease\n=====\n\n**Rent**\n\nIt is 900 EUR.", True),
        ("Section 1 Term. Three years.\nSection 2 Rent. It is 900 EUR.", True),
        ("# Lease\n\nRent: 900 EUR", False),
        ("Rent: 900 EUR\n\n3 keys", False),
        ("Platform 3\n\n12 Trains leave today\n\n5 Trains leave tomorrow", False),
        ("x " * 10_001, True),
    ],
)
def test_a_text_with_two_headings_or_clauses_is_a_paper(text: str, is_paper: bool) -> None:
    assert is_text_paper(text) == is_paper


def test_tags_of_inline_xbrl_break_no_line() -> None:
    pytest.importorskip("lxml")
    page = (
        "<html><body><div><ix:header><ix:hidden>junk</ix:hidden></ix:header></div><p><b>Item 1. Works</b></p>"
        "<p>Dues were $<ix:nonFraction name='d' decimals='-6'>1,234</ix:nonFraction> million in "
        "<ix:nonNumeric>2023</ix:nonNumeric>.</p>"
    )
    (found,) = read_paper(page.encode(), "x.html")
    assert (found["title"], found["text"]) == ("Item 1. Works", "Dues were $1,234 million in 2023.")


def test_bold_paragraphs_of_a_page_are_headings() -> None:
    pytest.importorskip("lxml")
    page = (
        "<p><b>Rent</b></p><p>It is <b>900 EUR</b>.</p><div style='font-weight:700'>Pets</div>"
        "<p>Dogs are.</p><p><b>Cats are not.</b></p>"
    )
    found = read_paper(page.encode(), "x.html")
    assert [(each["title"], each["text"]) for each in found] == [
        ("Rent", "It is 900 EUR."),
        ("Pets", "Dogs are.\n\nCats are not."),
    ]


def test_the_table_of_a_filing_is_read_with_its_years() -> None:
    pytest.importorskip("lxml")
    page = (
        "<p>Item 8. Income</p><table><tr><td colspan=5>(in thousands)</td></tr>"
        "<tr><td></td><td colspan=2>2023</td><td colspan=2>2022</td></tr>"
        "<tr><td>Dues</td><td>$</td><td>8,140</td><td>$</td><td>7,915</td></tr>"
        "<tr><td colspan=5>Costs</td></tr>"
        "<tr><td>Dredging</td><td></td><td>(12)</td><td></td><td>(15)</td></tr></table>"
    )
    (found,) = read_paper(page.encode(), "x.html")
    assert found["table"] == Table(
        ["", "2023", "2022"],
        [["Dues", "$8,140", "$7,915"], ["Costs", "", ""], ["Dredging", "(12)", "(15)"]],
        "(in thousands)",
    )
    assert found["title"] == "Item 8. Income > (in thousands)"


@pytest.mark.parametrize("line", [" " * 100_000 + "x", "\t" * 100_000 + "- x", "| " + " " * 100_000 + "x"])
@pytest.mark.parametrize("above", ["", "a | b\n"])
def test_spaces_take_time_in_proportion(line: str, above: str) -> None:
    begun = time.process_time()
    text_outline(f"{above}{line}\n")
    text_outline(f"{above}---{line}\n")
    assert time.process_time() - begun < 2


def test_a_bullet_is_taken_off_a_lines_beginning_alone() -> None:
    *_, section = text_outline("  - 2.1 Rates - 3.1 Fees are due each month.\n").sections
    assert section.parts[0][0] == "2.1 Rates - 3.1 Fees are due each month."
