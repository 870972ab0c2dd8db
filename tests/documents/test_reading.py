"""Documents as passages: headings, numbers, pages and tables; every word is in one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.documents.reading import read_paper, text_passages
from chameleon.errors import InputError
from chameleon.table import Table
from tests.documents.made import contract, filing
from tests.documents.pdfs import pdf


def test_a_pdf_is_read_by_its_numbers_sizes_and_pages() -> None:
    pytest.importorskip("pypdfium2")
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
    pytest.importorskip("pypdfium2")
    with pytest.raises(InputError, match=words) as told:
        read_paper(data, "a.pdf")
    assert told.value.where == "a.pdf" and told.value.hint


Shape = tuple[str, ...]
_MARKDOWN: tuple[Shape, ...] = (
    ("# {}",),
    ("### {} {} {}",),
    ("{} {}", "==="),
    ("{}", "---"),
    ("**{} {}**",),
    ("**{}:** {}",),
    ("1.1 {} {}", "1.2 {}"),
    ("1.2 {}. {}",),
    ("1. {} {}", "2. {}"),
    ("7 {} {}",),
    ("12 {}", "{}"),
    ("Section 4.01 {}. {} {}.",),
    ("ARTICLE IV", "", "{} {}"),
    ("Annex 1 to the {}",),
    ("{} {}.", "{}"),
    ("- {}", "- 3 {}"),
    ("| {} | {} |", "|---|---|", "| {} | {} |"),
    ("{} | {}", "--- | ---", "{} | {} | {}", "{}"),
    ("Table 1: {}", "", "| {} | {} |", "|---|---|"),
    ("{} (in thousands):", "| {} | {} |", "|---|---|", "| {} | {} |"),
    ("```", "# {}", "{}", "```"),
    ("| {} | {} |", "{}"),
    (" ".join(["{}"] * 60),),
    ("# " + " ".join(["{}"] * 60),),
)
_HTML: tuple[str, ...] = (
    "<h1>{}</h1>",
    "<h3>{} <b>{}</b></h3>",
    "<h2><div>{}</div>{}</h2>",
    "<p>{} {}.</p>",
    "<p>12 {} {}</p>",
    "<p>1.1 {}</p>",
    "<p><b>{} {}</b></p>",
    "<p><b>1. {}</b> {}</p>",
    "<p>Item 7.</p><p>{}</p>",
    "<ul><li>3 {}</li><li><b>{}</b></li></ul>",
    "{}<br>2.1 {}<br>{}",
    "<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table>",
    "<table><caption>{}</caption><tr><td>{}<td>{}<tr><td>{}<td>{}</table>",
    "<table><tr><th colspan=2>{}<tr><th>{}<th>{}<tr><td>{}<td>{}<tr><td colspan=2>{}<tr><td>{}<td>{}</table>",
    "<table><tr><td>{}<td>$<td>1<tr><td>{}<td><td>{}</table>",
    "<table><tr><td>{}</table>",
    "<table role=presentation><tr><td>{}<td>{}<tr><td><table><tr><td>{}</table></table>",
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}<td><table><tr><td>{}</table></table>",
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}<td>"
    "<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table></table>",
    "<ix:nonFraction>{}</ix:nonFraction> {}",
)


def _filled(shapes: Iterable[str]) -> tuple[str, list[str]]:
    """The text of the shapes with a word of its own in each place, and those words."""
    numbers, words = count(1), list[str]()

    def word(_: re.Match[str]) -> str:
        words.append(f"{'Word' if len(words) % 3 else 'word'}x{next(numbers)}x")
        return words[-1]

    return "\n".join(re.sub(r"\{\}", word, shape) for shape in shapes), words


def _told(passages: Iterable[Mapping[str, Any]]) -> set[str]:
    return set(re.findall(r"\w+", " ".join(f"{each['title']} {each['text']}" for each in passages)))


@given(st.lists(st.sampled_from(_MARKDOWN), min_size=1, max_size=10), st.booleans())
def test_of_a_text(shapes: list[Shape], parted: bool) -> None:
    text, words = _filled(line for shape in shapes for line in (*shape, *([""] if parted else [])))
    assert set(words) <= _told(text_passages(f"{text}\n\nEnd.", "x.md"))


@given(st.lists(st.sampled_from(_HTML), min_size=1, max_size=10))
def test_of_a_page(shapes: list[str]) -> None:
    pytest.importorskip("lxml")
    text, words = _filled(shapes)
    assert set(words) <= _told(read_paper(f"<html><body>{text}<p>End.".encode(), "x.html"))


@given(st.lists(st.text(alphabet="aB.1 -#=*|:(", min_size=1, max_size=40), min_size=1, max_size=12))
def test_of_lines_of_any_kind(lines: list[str]) -> None:
    said = _told(text_passages("\n".join([*lines, "", "The end."]), "x.md"))
    assert set(re.findall(r"\w+", "\n".join(lines))) <= said


_TERMS = (
    ("Setup fee EUR 500", "Service terms > 1 Fees > 1.1"),
    ("Monthly fee EUR 80", "Service terms > 1 Fees > 1.2"),
    ("The courts of Arvik decide.", "Service terms > 2 Law > 2.1"),
)


@pytest.mark.parametrize("apart", ["\n\n", "\n"])
def test_short_clauses_are_text_of_their_numbers(apart: str) -> None:
    lines = ("# Service terms", "## 1 Fees", f"1.1 {_TERMS[0][0]}", f"1.2 {_TERMS[1][0]}")
    found = text_passages(apart.join([*lines, "## 2 Law", f"2.1 {_TERMS[2][0]}"]), "terms.md")
    assert [(each["text"], each["title"]) for each in found] == [
        (f"{title.rpartition(' > ')[2]} {text}", title) for text, title in _TERMS
    ]


def test_headings_alone_are_text_and_long_ones_are_kept_whole() -> None:
    (alone,) = text_passages("# Terms\n\n## Arvik", "x.md")
    assert (alone["title"], alone["text"]) == ("Terms", "Arvik")
    long = " ".join(f"w{n}" for n in range(200))
    (whole,) = text_passages(f"# {long}\n\nEnd.", "x.md")
    assert long in whole["text"] and len(whole["title"]) < 310 and whole["title"].endswith(" …")


@pytest.mark.parametrize("made", [str.upper, str.title])
def test_items_and_paragraphs_that_begin_with_a_number_stay(made: Callable[[str], str]) -> None:
    pytest.importorskip("lxml")
    said = made("cranes were bought in 2023")
    page = f"<h1>T</h1><ul><li>12 {said}</li></ul><p>3 {said}</p><p><b>1. {said}</b></p><h2>Long</h2>"
    text = " ".join(each["text"] for each in read_paper(page.encode(), "x.html"))
    assert text.count(said) == 3 and "Long" in text
