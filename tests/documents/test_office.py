"""Word, PowerPoint, OpenDocument and e-books, written by the libraries that people write them with."""

import io
import re
import zipfile
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.documents.reading import kind_of, read_passages
from chameleon.table import Table

pytest.importorskip("lxml")

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_KINDS = ["p", "bold", "h1", "h3", "list", "table", "cell", "nested"]
_LEVELS = (("decimal", "%1"), ("decimal", "%1.%2"), ("lowerRoman", "(%3)"), ("lowerLetter", "%4)"))
_LEVEL = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
_NUMBERING = "".join(_LEVEL.format(number, *level) for number, level in enumerate(_LEVELS))


def told(data: bytes, name: str) -> list[tuple[str, str]]:
    return [(each["title"], each["text"]) for each in read_passages(data, name)]


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def changed(data: bytes, part: str, old: str, new: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as read, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in dict.fromkeys([*read.namelist(), part]):
            there = read.read(name) if name in read.namelist() else b""
            made.writestr(name, there.replace(old.encode(), new.encode()) or new if name == part else there)
    return file.getvalue()


def lease() -> Any:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("Lease", 0)
    return document


def test_word_headings_numbers_tables_notes_and_boxes() -> None:
    from docx.oxml import parse_xml

    document = lease()
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {_W} w:abstractNumId="77">{_NUMBERING}</w:abstractNum>'))
    number = numbering.add_num(77).numId
    levels = {"Term": 0, "It runs for three years.": 1, "or more": 2, "or less": 2, "or so": 3}
    for text, level in levels.items():
        paragraph = document.add_paragraph(text) if level else document.add_heading(text, 1)
        properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val, properties.get_or_add_ilvl().val = number, level
    document.add_paragraph("").add_run("Dues").bold = True
    table = document.add_table(3, 3)
    texts = ["Port", "2023", "2024", "Arvik", "1", "2", "", "3", "4"]
    for cell, text in zip(table._cells, texts, strict=True):
        cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    data = changed(saved(document), "word/document.xml", "<w:tr>", "<w:sdt><w:sdtContent><w:tr>")
    data = changed(data, "word/document.xml", "</w:tr>", "</w:tr></w:sdtContent></w:sdt>")
    found = read_passages(data, "lease.docx")
    clause = "1.1 It runs for three years.\n\n(i) or more\n\n(ii) or less\n\na) or so"
    assert (found[0]["title"], found[0]["text"]) == ("Lease > 1 Term > 1.1", clause)
    assert found[-1]["title"] == "Lease > 1 Term > Dues"
    assert found[-1]["table"] == Table(["Port", "2023", "2024"], [["Arvik", "1", "2"], ["Arvik", "3", "4"]])
    document = lease()
    document.add_paragraph("It is NOTE DEL BOX dry.")
    box = "<w:pict><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></w:pict>"
    told_twice = f"<a:Choice>{box}</a:Choice><a:Fallback>{box}</a:Fallback>"
    data = saved(document)
    for word, xml in (
        ("NOTE ", '<w:footnoteReference w:id="2"/>'),
        ("DEL ", "<w:delText>not </w:delText><w:instrText>PAGE</w:instrText>"),
        ("BOX ", f'<a:AlternateContent xmlns:a="urn:a">{told_twice}</a:AlternateContent>'),
    ):
        run = f'</w:t></w:r><w:r>{xml}</w:r><w:r><w:t xml:space="preserve">'
        data = changed(data, "word/document.xml", word, run)
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>Mostly.</w:t></w:r></w:p></w:footnote>'
    data = changed(data, "word/footnotes.xml", "", f'<w:footnotes xmlns:w="urn:w">{note}</w:footnotes>')
    assert told(data, "lease.docx") == [("Lease", "It is dry.\n\nMostly.\n\nIn a box.")]


def test_slides_are_pages_with_titles_tables_and_notes() -> None:
    pptx = pytest.importorskip("pptx")
    show = pptx.Presentation()
    for number in (1, 2):
        slide = show.slides.add_slide(show.slide_layouts[1 if number == 1 else 6])
        if number == 1:
            slide.placeholders[1].text = "1. Quay\nof stone"
            slide.shapes.title.text = "Harbour"
            slide.notes_slide.notes_text_frame.text = "Speak slowly."
        table = slide.shapes.add_table(2, 2, 0, 0, 9, 9).table
        for cell, text in zip(table.iter_cells(), ["Port", "Fee", "Arvik", str(number)], strict=True):
            cell.text = text
    found = read_passages(saved(show), "show.pptx")
    first = [("Harbour", 1, text) for text in ("1. Quay", "Port | Fee", "Speak slowly.")]
    lines = [(each["title"], each["page"], each["text"].split("\n")[0]) for each in found]
    assert lines == [*first, ("Slide 2", 2, "Port | Fee")]


def test_open_document_headings_lists_tables_and_notes() -> None:
    opendocument = pytest.importorskip("odf.opendocument")
    from odf import table, text

    document = opendocument.OpenDocumentText()

    def added(parent: Any, *children: Any) -> Any:
        for child in children:
            parent.addElement(child)
        return parent

    note = added(text.Note(noteclass="footnote"), text.NoteCitation(text="1"), text.NoteBody())
    note.lastChild.addElement(text.P(text="Mostly."))
    paragraph = added(text.P(text="It is "), note, text.S(c=2), text.Span(text="dry."))
    items = added(text.List(), added(text.ListItem(), text.P(text="1.1 Keys")))
    sheet = table.Table()
    for cells in (["Port", "Fee", "Fee"], ["Arvik", "1", None]):
        row = added(sheet, table.TableRow()).lastChild
        for cell in cells:
            wide = table.TableCell(numbercolumnsspanned=1 + (cell == "1"))
            row.addElement(added(wide, text.P(text=cell)) if cell else table.CoveredTableCell())
    added(document.text, text.H(outlinelevel=1, text="Lease"), paragraph, items, sheet)
    passage, rows = read_passages(saved(document), "lease.odt")
    assert (passage["title"], passage["text"]) == ("Lease", "It is dry.\n\nMostly.\n\n1.1 Keys")
    assert rows["table"].rows == (("Arvik", "1", "1"),)


def test_books_are_read_in_the_order_of_their_spine(tmp_path: Any) -> None:
    epub = pytest.importorskip("ebooklib.epub")
    book = epub.EpubBook()
    for name in ("second", "first"):
        chapter = epub.EpubHtml(title=name, file_name=f"{name} chapter.xhtml")
        chapter.content = f"<h1>The {name}</h1><p>Of {name} things<script src='x'/>.</p>"
        book.add_item(chapter)
        book.spine.insert(0, chapter)
    book.add_item(epub.EpubNav())
    book.spine.insert(0, "nav")
    epub.write_epub(str(tmp_path / "book.epub"), book)
    data = (tmp_path / "book.epub").read_bytes()
    assert kind_of(data, "x") == "epub"
    assert told(data, "book.epub") == [("The first", "Of first things."), ("The second", "Of second things.")]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=8))
def test_no_word_of_a_word_document_is_lost(kinds: list[str]) -> None:
    document, numbers = lease(), count()
    for kind in kinds:
        if kind in ("table", "cell", "nested"):
            size = 1 if kind == "cell" else 2
            table = document.add_table(size, size)
            for cell in table._cells:
                cell.text = f"Word{next(numbers)}x"
            if kind == "nested":
                table.cell(1, 1).add_table(1, 1).cell(0, 0).text = f"Word{next(numbers)}x"
        elif kind.startswith("h"):
            document.add_heading(f"Word{next(numbers)}x Word{next(numbers)}x", int(kind[1]))
        else:
            paragraph = document.add_paragraph(style="List Number" if kind == "list" else None)
            paragraph.add_run(f"Word{next(numbers)}x ").bold = kind == "bold"
    said = " ".join(" ".join(each) for each in told(saved(document), "x.docx"))
    assert {f"Word{number}x" for number in range(next(numbers))} <= set(re.findall(r"\w+", said))
