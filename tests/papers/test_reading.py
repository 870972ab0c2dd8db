"""Papers as passages: headings, numbers, pages and tables of PDF, HTML and Markdown; broken files."""

from __future__ import annotations

import pytest

from chameleon.documents.reading import read_paper, text_passages
from chameleon.errors import InputError
from chameleon.table import Table
from tests.papers.made import contract, filing
from tests.papers.pdfs import pdf


def test_a_pdf_is_read_by_its_numbers_sizes_and_pages() -> None:
    pytest.importorskip("pdfplumber")
    found = read_paper(contract(), "agreement.pdf")
    (notice,) = [each for each in found if "ninety days" in each["text"]]
    assert notice["text"].endswith("notice of ninety days to the end of a quarter.")
    assert (notice["page"], notice["file"]) == (2, "agreement.pdf")
    assert notice["title"].split(" > ")[-2:] == ["2 Term", "2.2"]
    (prices,) = [each for each in found if "table" in each]
    rows = [["Bow line", "118", "124"], ["Stern line", "96", "101"]]
    caption = "4.1 Prices for each line are as follows, in EUR."
    assert prices["table"] == Table(["Line", "2024", "2025"], rows, caption) and prices["page"] == 3
    text = " ".join(each["text"] for each in found)
    assert text.count("118") == 1  # in its table, not in a line as well
    assert text.count("Saltmarsh") == 1 and "of 4" not in text  # heads, but the first, and feet of the pages


def test_a_page_is_read_by_its_headings_and_items() -> None:
    pytest.importorskip("lxml")
    found = read_paper(filing(), "report.html")
    (works,) = [each for each in found if "north basin" in each["text"]]
    assert works["title"] == "Marsh End Harbour: annual report > Item 7. Works and dredging"
    (income,) = [each for each in found if "table" in each]
    assert (
        income["title"].endswith("Item 8. Income > Income, in thousands of crowns")
        and income["table"].rows[0][2] == "8,915"
    )
    assert len(found) > 100 and all(len(each["text"]) < 1_300 for each in found)
    assert not any("color" in each["text"] for each in found)


def test_a_text_is_read_by_its_marks_and_numbers() -> None:
    fenced = "```\n# no heading\n```\n\n"
    text = f"# Lease\n\n## 7 Term\n\n7.1 Three years.\n\n{fenced}| a | b |\n|---|---|\n| x | 1 |\n"
    found = text_passages(text, "/home/x/lease.md")
    assert [each["title"] for each in found] == ["Lease > 7 Term > 7.1"] * 2
    assert "# no heading" in found[0]["text"] and found[0]["file"] == "lease.md"
    assert found[1]["table"] == Table(["a", "b"], [["x", "1"]])


def test_every_row_of_a_long_table_is_in_one_passage() -> None:
    rows = "".join(f"| berth {n} | {n * 7} |\n" for n in range(500))
    found = text_passages(f"# Berths\n\n| berth | feet |\n|---|---|\n{rows}", "x.md")
    assert [row for each in found for row in each["rows"]] == list(range(1, 501))
    assert len(found) > 5 and all(each["table"].header == ("berth", "feet") for each in found)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"hello", "is no PDF"),
        (b"%PDF-1.4\nnothing else", "broken"),
        (contract()[: len(contract()) // 8], "broken"),
        (pdf([[(11, "secret")]], locked=True), "is encrypted"),
        (pdf([[], []]), "holds no text"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_told(data: bytes, words: str) -> None:
    pytest.importorskip("pdfplumber")
    with pytest.raises(InputError, match=words) as told:
        read_paper(data, "a.pdf")
    assert told.value.where == "a.pdf" and told.value.hint
