"""Documents as passages, and pictures of pages as documents; every word is in one of them."""

import io
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from chameleon.documents.file_documents import file_documents
from chameleon.documents.outline import sections_of
from chameleon.documents.parts import DocumentPart
from chameleon.documents.reading import (
    SUFFIXES,
    cached,
    is_document,
    kind_of,
    parts_of,
    read_passages,
    text_passages,
)
from chameleon.documents.scans import picture_parts
from chameleon.errors import InputError, MissingPackage
from chameleon.pictures.pieces import Piece, rectangle
from chameleon.retrieval.document import Document
from chameleon.table import Table
from tests.documents.pdfs import contract, filing
from tests.pictures.drawn import png, text_picture


def test_a_pdf_is_read_by_its_numbers_sizes_and_pages() -> None:
    pytest.importorskip("pypdfium2")
    found = read_passages(contract(), "agreement.pdf")
    (notice,) = [each for each in found if "ninety days" in each["text"]]
    assert notice["text"].endswith("notice of ninety days to the end of a quarter.")
    assert (notice["page"], notice["file"]) == (2, "agreement.pdf")
    assert notice["title"].split(" > ")[-2:] == ["2 Term", "2.2"]
    (prices,) = [each for each in found if "table" in each]
    rows = [["Bow line", "118", "124"], ["Stern line", "96", "101"]]
    assert prices["table"] == Table(["Line", "2024", "2025"], rows) and prices["page"] == 3
    text = " ".join(each["text"] for each in found)
    assert text.count("118") == 1  # in its table, not in a line as well
    assert text.count("Saltmarsh") == 1 and "of 4" not in text  # heads, but the first, and feet of the pages


def test_a_page_is_read_by_its_headings_and_items() -> None:
    pytest.importorskip("lxml")
    found = read_passages(filing(), "report.html")
    (works,) = [each for each in found if "north basin" in each["text"]]
    assert works["title"] == "Marsh End Harbour: annual report > Item 7. Works and dredging"
    (income,) = [each for each in found if "table" in each]
    assert income["title"].endswith("Item 8. Income > Income, in thousands of crowns")
    assert income["table"].rows[0][2] == "8,915"
    assert len(found) > 100 and all(len(each["text"]) < 1_300 for each in found)
    assert not any("color" in each["text"] for each in found)


def test_long_tables_and_paragraphs_are_parted_and_headings_kept_whole() -> None:
    rows = "".join(f"| berth {n} | {n * 7} |\n" for n in range(500))
    found = text_passages(f"# Berths\n\n| berth | feet |\n|---|---|\n{rows}", "x.md")
    assert [row for each in found for row in each["rows"]] == list(range(1, 501))
    assert len(found) > 5 and all(each["table"].header == ("berth", "feet") for each in found)
    text = " ".join([*(f"Berth {number} is dry." for number in range(300)), "x" * 3_000])
    found = [each["text"] for each in text_passages(f"# Berths\n\n{text}", "x.md")]
    assert len(found) > 5 and max(map(len, found)) < 1_300
    assert "".join("".join(found).split()) == "".join(text.split())
    (alone,) = text_passages("# Terms\n\n## Arvik", "x.md")
    assert (alone["title"], alone["text"]) == ("Terms", "Arvik")
    long = " ".join(f"w{n}" for n in range(200))
    (whole,) = text_passages(f"# {long}\n\nEnd.", "x.md")
    assert long in whole["text"] and len(whole["title"]) < 310 and whole["title"].endswith(" …")


# Shapes of text, parted by ";" or in lines of their own; in Markdown "/" ends a line.
_MARKDOWN = """# {};### {} {} {};{} {}/===;{}/---;**{} {}**;**{}:** {};1.1 {} {}/1.2 {};1.2 {}. {}
1. {} {}/2. {};7 {} {};12 {}/{};Section 4.01 {}. {} {}.;ARTICLE IV//{} {};Annex 1 to the {}
{} {}./{};- {}/- 3 {}
| {} | {} |/|---|---|/| {} | {} |;{} | {}/--- | ---/{} | {} | {}/{};Table 1: {}//| {} | {} |/|---|---|
{} (in thousands):/| {} | {} |/|---|---|/| {} | {} |;```/# {}/{}/```;| {} | {} |/{}"""
SHAPES = [*re.split("[;\n]", _MARKDOWN), " ".join(["{}"] * 60), "# " + " ".join(["{}"] * 60)]
_CELL = "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}<td>"
_HTML = """<h1>{}</h1>;<h3>{} <b>{}</b></h3>;<h2><div>{}</div>{}</h2>;<p>{} {}.</p>;<p>12 {} {}</p>
<p>1.1 {}</p>;<p><b>{} {}</b></p>;<p><b>1. {}</b> {}</p>;<p>Item 7.</p><p>{}</p>
<ul><li>3 {}</li><li><b>{}</b></li></ul>;{}<br>2.1 {}<br>{};<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table>
<ix:nonFraction>{}</ix:nonFraction> {};<table><caption>{}</caption><tr><td>{}<td>{}<tr><td>{}<td>{}</table>
<table><tr><td>{}</table>
<table><tr><th colspan=2>{}<tr><th>{}<th>{}<tr><td>{}<td>{}<tr><td colspan=2>{}<tr><td>{}<td>{}</table>
<table><tr><td>{}<td>$<td>1<tr><td>{}<td><td>{}</table>;CELL<table><tr><td>{}</table></table>
<table role=presentation><tr><td>{}<td>{}<tr><td><table><tr><td>{}</table></table>
CELL<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table></table>""".replace("CELL", _CELL)


def _filled(shapes: Iterable[str]) -> tuple[str, list[str]]:
    numbers, words = count(1), list[str]()

    def word(_: re.Match[str]) -> str:
        words.append(f"{'Word' if len(words) % 3 else 'word'}x{next(numbers)}x")
        return words[-1]

    return "\n".join(re.sub(r"\{\}", word, shape) for shape in shapes), words


def _told(passages: Iterable[Mapping[str, Any]]) -> set[str]:
    return set(re.findall(r"\w+", " ".join(f"{each['title']} {each['text']}" for each in passages)))


@given(
    st.lists(st.sampled_from(SHAPES), min_size=1, max_size=10),
    st.lists(st.sampled_from(re.split("[;\n]", _HTML)), min_size=1, max_size=10),
    st.lists(st.text(alphabet="aB.1 -#=*|:(", min_size=1, max_size=40), min_size=1, max_size=12),
    st.booleans(),
)
def test_no_word_is_lost(shapes: list[str], pieces: list[str], odd: list[str], parted: bool) -> None:
    text, words = _filled(line for shape in shapes for line in (*shape.split("/"), *([""] if parted else [])))
    assert set(words) <= _told(text_passages(f"{text}\n\nEnd.", "x.md"))
    said = _told(text_passages("\n".join([*odd, "", "The end."]), "x.md"))
    assert set(re.findall(r"\w+", "\n".join(odd))) <= said
    pytest.importorskip("lxml")
    text, words = _filled(pieces)
    assert set(words) <= _told(read_passages(f"<html><body>{text}<p>End.".encode(), "x.html"))


PAGES = {
    "<p><b>Rent</b></p><p>It is <b>900 EUR</b>.</p><p><b>No cats.</b></p>": "Rent=It is 900 EUR.//No cats.",
    "<h1>T</h1><ul><li>12 Cranes</li></ul><p>3 Cranes</p>": "T=12 Cranes//3 Cranes",
    "<dl><dt>Rent</dt><dd>9</dd><dt>Keys:</dt><dd>2</dd><dt>Gate</dl><p>End.": "=Rent: 9//Keys: 2//Gate://End.",
    "<p>$5<sup>2</sup> and 10<sup>6</sup> m<sup>2</sup>, the 1<sup>st</sup>": "=$5² and 10⁶ m², the 1st",
    "<pre>a\n  b</pre><p>1.1 A<br>1.2 B<p>End.": "=a/  b|1.1=1.1 A|1.2 B=End.",
    "<p>Dues $<ix:nonFraction name=d>1,234</ix:nonFraction> m<ix:hidden>x</ix:hidden>.": "=Dues $1,234 m.",
    "<p hidden>a</p><script>b</script><p style='display:none'>c<p>d": "=d",
}
_MENU = "<nav>Home News</nav><div role=navigation>Shop</div>"
_TEXT = "<p>It is long and dry, and it was built by hand in a winter.</p>"
_BODY = f"<header><h1>Quay</h1></header>{_TEXT}<aside>Note.</aside>"
_SAID = "Quay=It is long and dry, and it was built by hand in a winter.//Note."
PAGES |= {  # menus are left out, and no word of the article
    f"<header>Logo</header>{_MENU}<main>{_BODY}</main><footer>Imprint</footer>": _SAID,
    f"<header>Logo</header>{_MENU}<div><article>{_BODY}{_MENU}</article></div><aside>Ads</aside>": _SAID,
    f"{_MENU}<h1>Quay</h1>{_TEXT}<div>Note.</div><footer>Imprint</footer>": _SAID,
}


def test_what_a_page_shows() -> None:
    pytest.importorskip("lxml")
    for page, expected in PAGES.items():
        told = [f"{each['title']}={each['text']}" for each in read_passages(page.encode(), "x.html")]
        assert "|".join(told).replace("\n", "/") == expected


def test_what_was_read_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lxml")
    unclosed = "".join(f"<p><font size=2>Berth {n}" for n in range(5_000))  # as in old pages
    assert "Berth 4999" in read_passages(unclosed.encode(), "x.html")[-1]["text"]
    monkeypatch.setenv("CHAMELEON_DOCUMENTS", str(tmp_path / "kept"))
    first = read_passages(filing(), "a.html")
    (entry,) = (tmp_path / "kept").iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    with monkeypatch.context() as without:
        without.setattr("chameleon.sandbox.bounded.called", None)  # a second question reads nothing
        again = read_passages(filing(), "b.html")
    assert again == [{**each, "file": "b.html"} for each in first] and any("table" in each for each in again)
    whole = entry.read_bytes()
    for spoiled in (whole[: len(whole) // 2], b"[3]", b"[]"):
        entry.write_bytes(spoiled)
        assert read_passages(filing(), "a.html") == first


def test_what_lacks_a_page_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAMELEON_DOCUMENTS", str(tmp_path))
    answers: list[list[dict[str, Any]]] = [[{"title": "", "text": text}] for text in ("?", "Fees", "Dues")]
    answers[0][0]["is_unread"] = True
    assert [cached(b"%PDF", "pdf", lambda n=n: answers[n]) for n in range(3)] == [*answers[:2], answers[1]]


def test_passages_and_whole_tables_for_an_index(tmp_path: Path) -> None:
    rows = "".join(f"| berth {n} | {n * 7} |\n" for n in range(500))
    text = f"# Berths\n\nThey are dry.\n\n# Fees\n\n| berth | fee |\n|---|---|\n{rows}"
    for name in ("port/x.md", "port/x.txt"):
        file = tmp_path / Path(name).name
        file.write_text(text)
        table, passage = file_documents(file, name)
        assert isinstance(passage, Document) and isinstance(table, Document) and table.table is not None
        assert (passage.id, passage.title, passage.text) == (f"{name}#p1", "Berths", "They are dry.")
        assert table.id == f"{name}#Fees" and len(table.table.rows) == 500
        assert table.name == "x: Fees" and table.source == {"file": name, "heading": "Fees"}


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
    "# A\n\nOne.\n\n# A\n\nTwo.\n=> A: One.\n\nTwo.",
    "1. Crane A\n2. Crane B\n3. Crane C\n=> : 1. Crane A\n2. Crane B\n3. Crane C",
    "# Terms\n\n## 1 Fees\n1.1 Setup fee EUR 500\n1.2 Monthly fee EUR 80\n"
    "=> Terms > 1 Fees > 1.1: 1.1 Setup fee EUR 500\n=> Terms > 1 Fees > 1.2: 1.2 Monthly fee EUR 80",
]


def test_where_clauses_begin_and_which_tables_of_bars_there_are() -> None:
    for case in CLAUSES:
        text, *parts = case.split("\n=> ")
        assert titles(text) == [tuple(part.split(": ", 1)) for part in parts]
    for rule in (":-- | --:", "-|-", "|:-|-:|", "| --- | :---: |", "--- | ---"):
        (found,) = text_passages(f"Name | Fee\n{rule}\nArvik \\| II | 4 | 5\nTern |", "x.md")
        assert found["table"] == Table(["Name", "Fee", ""], [["Arvik | II", "4", "5"], ["Tern", "", ""]])


def test_captions_of_tables_and_which_texts_are_documents() -> None:
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
    for text, is_one in {
        "1. Term\n\n1.1 Three years.\n\n1.2 It goes on.": True,
        "Lease\n=====\n\n**Rent**\n\nIt is 900 EUR.": True,
        "# Lease\n\nRent: 900 EUR": False,
        "Platform 3\n\n12 Trains leave today\n\n5 Trains leave tomorrow": False,
        "x " * 10_001: True,
    }.items():
        assert is_document(text) == is_one, text[:40]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """An engine that reads the width of a picture; returns the sizes of those that it was given."""
    sizes: list[tuple[int, int]] = []

    class Engine:
        def read(self, image: Image.Image) -> list[Piece]:
            sizes.append(image.size)
            found = Piece(f"Berth {image.width}", rectangle(5, 5, image.width - 10, 10), 0.9)
            return [found, Piece("~", rectangle(0, 0, 9, 9), 0.1)]

    monkeypatch.setattr("chameleon.pictures.engines.shared_engine", lambda name, languages: Engine())
    return sizes


def written(form: str, *widths: int) -> bytes:
    pages = [Image.new("RGB", (width, 30), "white") for width in widths]
    file = io.BytesIO()
    pages[0].save(file, form, **({"save_all": True, "append_images": pages[1:]} if pages[1:] else {}))
    return file.getvalue()


def test_a_picture_is_known_by_its_first_bytes_or_its_name(engine: list[Any]) -> None:
    for suffix in ("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp"):
        data = written({"jpg": "jpeg", "tif": "tiff"}.get(suffix, suffix), 80)
        assert f".{suffix}" in SUFFIXES
        assert kind_of(data, "page") == kind_of(b"", f"page.{suffix}") == "picture"
        assert list(parts_of(data, "page")) == [DocumentPart("Berth 80")]
    assert [kind_of(data, "x.txt") for data in (contract(), filing())] == ["pdf", "html"]
    cut = written("png", 80)[:60]
    for data, why in ((cut, "cut off"), (b"Opens at 9.", "is not an image"), (png(70_000, 1), "too large")):
        with pytest.raises(InputError, match=rf"scan\.png.*{why}"):
            list(picture_parts(data, "scan.png"))


def test_tiffs_and_pdfs_are_read_page_by_page_and_large_pages_smaller(engine: list[Any]) -> None:
    found = list(picture_parts(written("tiff", 80, 5_000, 90), "fax.tif"))
    wanted = enumerate((80, 2000, 90), 1)
    assert found == [DocumentPart(f"Berth {width}", page=page) for page, width in wanted]
    assert engine == [(80, 30), (2_000, 12), (90, 30)]
    assert list(picture_parts(written("webp", 80, 80), "moving.webp")) == [DocumentPart("Berth 80")]
    pytest.importorskip("pypdfium2")
    (found,) = parts_of(written("pdf", 300), "scan.pdf")
    assert found == DocumentPart(f"Berth {engine[-1][0]}", page=1)


@pytest.mark.parametrize("form", ["png", "pdf"])
def test_without_an_engine_what_to_install_is_named(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    def missing(*_: object) -> Any:
        raise MissingPackage("none", hint="pip install rapidocr")

    monkeypatch.setattr("chameleon.pictures.engines.shared_engine", missing)
    with pytest.raises(MissingPackage, match=rf"scan.{form}: .*pip install rapidocr"):
        list(parts_of(written(form, 80), f"scan.{form}"))


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="rapidocr is not installed")
def test_a_scan_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = text_picture(tmp_path / "scan.png", {(20, 20): "Berth fees", (20, 90): "are 40 crowns"})
    (found,) = read_passages(path.read_bytes(), "port/scan.png")
    assert found == {"title": "", "text": "Berth fees\nare 40 crowns", "file": "scan.png"}
    text_picture(path, {})
    with pytest.raises(InputError, match=r"scan\.png: the document has no text"):
        read_passages(path.read_bytes(), "scan.png")
