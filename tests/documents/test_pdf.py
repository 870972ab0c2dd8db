"""What a printed page says: in which order, under which headings, and in which tables."""

from collections.abc import Sequence
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.documents.file_documents import whole_tables
from chameleon.documents.parts import DocumentPart
from chameleon.documents.passages import passages_of
from chameleon.documents.pdf import pdf_parts
from chameleon.errors import InputError
from chameleon.table import Table
from tests.documents import pdfs
from tests.documents.pdfs import COLUMNS, RULED, STRIPED, At, Item, pdf, report
from tests.table.strategies import lines

LEFT = ("The quay was built of oak and stone in the", "year of the great flood, and has been kept")
RIGHT = ("The master keeps the book of ships and calls", "the pilots when the fog is thick. No fee is")
PROSE = "The master of the quay keeps the book of ships, and calls the pilots when fog is thick on the water."
QUAYS = [["Quay", "2024", "2023"], ["North", "410", "402"], ["South", "95", "101"], ["West", "31", "28"]]


def parts(*pages: Sequence[Item], **more: Any) -> list[DocumentPart]:
    return list(pdf_parts(pdf(pages, **more), "paper.pdf"))


def texts(*pages: Sequence[Item]) -> list[str]:
    return [part.content for part in parts(*pages) if isinstance(part.content, str) and not part.level]


def tables(*pages: Sequence[Item]) -> list[list[list[str]]]:
    return [lines(part.content) for part in parts(*pages) if isinstance(part.content, Table)]


def whole(data: bytes) -> list[list[list[str]]]:
    found = whole_tables(passages_of(pdf_parts(data, "paper.pdf"), "paper.pdf"))
    return [lines(each.table) for each in found]


def headings(*pages: Sequence[Item], **more: Any) -> list[tuple[int, str]]:
    found = [(part.level, str(part.content)) for part in parts(*pages, **more) if part.level]
    levels = sorted({level for level, _ in found})
    return [(levels.index(level), text) for level, text in found]


def column(x: float, y: float, lines: Sequence[str], **style: Any) -> list[At]:
    return [At(x, y + 12 * number, line, **style) for number, line in enumerate(lines)]


def grid(x: Sequence[float], y: float, rows: Sequence[Sequence[str]], down: float = 14) -> list[At]:
    placed = [
        (left, y + down * n, cell) for n, row in enumerate(rows) for left, cell in zip(x, row, strict=True)
    ]
    return [At(*each) for each in placed if each[2]]


def table_of(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def test_no_figure_is_torn_and_the_left_column_is_read_before_the_right_one() -> None:
    pieces = ["The error is 0", ".", "001 of 72", ",", "321 ships, or 3", ".", "54 in a year."]
    for data in (pdfs.mixed_by_reportlab(pieces), pdfs.mixed_by_fpdf(pieces)):
        (part,) = pdf_parts(data, "x.pdf")
        assert part.content == "The error is 0.001 of 72,321 ships, or 3.54 in a year."
    for times, down in ((6, 0), (6, 5), (2, 0)):  # short ones are no table
        found = texts([*column(60, 90, LEFT * times), *column(320, 90 + down, RIGHT * times)])
        assert found == [" ".join(LEFT * times), " ".join(RIGHT * times)]
    (text,) = texts([*column(60, 60, [PROSE] * 3), At(100, 110, "DRAFT COPY", 40, turned=45)])
    assert text == " ".join([PROSE] * 3)


def test_ruled_and_unruled_tables_are_where_they_are_printed_also_sideways() -> None:
    found = parts([At(60, 60, PROSE), QUAYS, *grid([60, 200, 300], 300, QUAYS), At(60, 400, PROSE)])
    assert [isinstance(part.content, Table) for part in found] == [False, True, True, False]
    assert found[1].content == found[2].content == Table(QUAYS[0], QUAYS[1:])
    page = [*column(60, 76, [PROSE, "Table 3: Ships"]), *grid([60, 200, 300], 102, QUAYS)]
    assert texts(page) == [PROSE, "Table 3: Ships"] and tables(page) == [QUAYS], "a caption is a paragraph"
    level = grid([700, 550, 470], 200, QUAYS)
    sideways = [At(at.y, at.x, at.text, turned=90) for at in level]
    assert tables([*sideways, *column(60, 60, [PROSE])]) == [QUAYS]


SIGNS = """
(in thousands)|  |2024| |2023|
Berth fees    |$ |8,915| |$ 8,140|
Loss on cranes| |(312|)|98|
Margin        | |12.4|%|11.8%|
"""
WRAPPED = """
Item|2024|2023|Remark
Dues|10|12|of all ships
| | |but those of the guild
Towage and other services| | |
rendered at sea|31|28|by day
"""
WORDS = "Quay|Master|Since\nNorth|Ada Holm|spring\nSouth|Ivo Lund|autumn"


@pytest.mark.parametrize(
    ("above", "x", "printed", "read"),
    [
        (
            [PROSE] * 2,  # signs go with their figures
            [60, 240, 260, 286, 340, 390],
            SIGNS,
            "(in thousands)|2024|2023\nBerth fees|$8,915|$8,140\nLoss on cranes|(312)|98\nMargin|12.4%|11.8%",
        ),
        (
            [],  # what continues in the next line is one cell
            [60, 250, 330, 400],
            WRAPPED,
            "Item|2024|2023|Remark\nDues|10|12|of all ships but those of the guild\n"
            "Towage and other services rendered at sea|31|28|by day",
        ),
        ([], [60, 200, 330], WORDS, WORDS),
    ],
)
def test_an_unruled_table(above: list[str], x: list[float], printed: str, read: str) -> None:
    assert tables([*column(60, 60, above), *grid(x, 100, table_of(printed))]) == [table_of(read)]


def test_lists_and_charts_are_no_tables_and_no_first_column_is_torn() -> None:
    for rows in (
        [[f"({mark})", PROSE[:60]] for mark in "abcd"],
        [["Quays . . . . . . .", str(page)] for page in range(4)],
        [["a = b", "(1)"], ["c = d + e", "(2)"], ["f = g", "(3)"]],
    ):
        assert tables(grid([60, 195], 100, rows)) == []
    numbers = [At(66 + 30 * n, 200, str(n)) for n in range(8)]
    page = [*column(60, 60, [PROSE]), *numbers, At(100, 120, "North"), At(190, 150, "South")]
    rules = [[60 + 30 * n for n in range(9)], [90 + 20 * n for n in range(6)]]
    assert whole(pdf([page], rules=rules)) == []
    cakes = "Cake|Price|Slices\nPlum|18.00|12\nBlack Forest gateau|32.50|16\nNut|21.00|14\nBo|2.40|2"
    drinks = "Drink|Price|Cups\nTea|2.00|120\nHot milk with honey|3.50|30\nNut|21.00|14\nBo|2.40|2"
    for text, style in product((cakes, drinks), (RULED, STRIPED, COLUMNS, [])):
        assert whole(report(table_of(text), style=style)) == [table_of(text)]


def test_merged_cells_are_filled_and_one_that_wraps_or_spills_is_one() -> None:
    rows = table_of("Dues of all harbours|||\nPort|Year||Note\n|2023|2022|\nNorth|1|2|x\n|3|4|y")
    spans = [((0, 0), (3, 0)), ((0, 1), (0, 2)), ((1, 1), (2, 1)), ((3, 1), (3, 2)), ((0, 3), (0, 4))]
    data = report(rows, style=[*RULED, *(("SPAN", *span) for span in spans)])
    (found,) = whole_tables(passages_of(pdf_parts(data, "x"), "x"))
    assert found.table.caption == "Dues of all harbours"
    assert lines(found.table) == table_of("Port|Year 2023|Year 2022|Note\nNorth|1|2|x\nNorth|3|4|y")
    name = "Mary Jane Holloway of the northern quay"
    remark = "pays for 2 berths, 1 of them cold, in 3 parts"
    rows = [["Name", "Remark", "Fee"], [name, remark, "1,200"], ["Ann Lee", "none", "40"]]
    for data in (pdfs.table_by_fpdf(rows), report(rows, widths=[90, 120, 60])):
        assert whole(data) == [rows]
    rows = table_of("Name|Wage|Days\nMary Jane Holloway the Elder||3\nBo|13.00|2")
    rules = [[60, 130, 210, 290], [100, 120, 140, 160]]
    assert whole(pdf([[*grid([64, 134, 214], 114, rows, 20)]], rules=rules)) == [rows]


@pytest.mark.parametrize("again", [0, 1], ids=["header once", "header on each page"])
@pytest.mark.parametrize("foot", ["Page {}", "{} / 9", "Confidential"])
@pytest.mark.parametrize("rows", [34, 35, 36, 37, 38, 120])
def test_one_over_several_pages_is_whole(again: int, foot: str, rows: int) -> None:
    table = [["Berth", "Holder"], *[[f"B{n}", f"Holder {'ABC'[n % 3]}"] for n in range(rows)]]
    assert whole(report(table, again=again, foot=foot)) == [table]


def test_a_table_on_the_next_page_continues_the_one_before_or_is_another() -> None:
    between: list[Item] = [(10, "Berths of the other quay:"), QUAYS]
    for below in (between, [[["Quay", "Master", "Since"], *QUAYS[1:]]], [[row[:2] for row in QUAYS]]):
        assert len(whole(pdf([[QUAYS], below]))) == 2
    rows = [["Port", "2023", "2022"], *[[f"Harbour {n}", str(n), str(n + 1)] for n in range(1, 9)]]
    found = tables(grid([60, 200, 300], 100, rows[:5]), grid([60, 200, 300], 100, rows[5:]))
    assert found == [rows[:5], [rows[0], *rows[5:]]]


def test_raised_figures_are_superscripts_and_parted_words_are_joined() -> None:
    raised = [At(142, 58, "1", 6), At(152, 60, "for a ship of 90 m"), At(231, 58, "2", 6)]
    (text,) = texts([At(60, 60, "The toll is EUR 40"), *raised])
    assert text == "The toll is EUR 40¹ for a ship of 90 m²"
    page = grid([60, 250, 330], 100, QUAYS)
    (marked,) = (at for at in page if at.text == "402")
    page.insert(page.index(marked) + 1, At(marked.x + 17, marked.y - 3, "1", 6))
    assert tables(page) == [QUAYS]
    for above, below, joined in (
        ("the guaran-", "tee of the maker", "the guarantee of the maker"),
        ("a storm-", "proof quay, and a storm-proof door", "a storm-proof quay"),
        ("a thick-", "fog master", "a thick-fog master"),
        ("the year 2023-", "2024 was dry", "2023-2024"),
    ):
        (text,) = texts([*column(60, 60, [PROSE, above, below])])
        assert joined in text.replace("\n", "")


def test_headings_are_the_bookmarks_or_larger_and_bold_lines() -> None:
    page = [At(60, 60, "1 Dues"), *column(60, 90, [PROSE, "Dues of ships"]), At(60, 140, PROSE)]
    marks = [(1, 0, "Dues"), (1, 1, "Dues of ships"), (2, 0, "Masters and their"), (2, 0, "Nowhere")]
    wrapped = [*column(60, 60, ["Masters", "and their"]), At(60, 120, PROSE, bold=True)]
    found = headings(page, wrapped, bookmarks=marks)
    assert found == [(0, "1 Dues"), (1, "Dues of ships"), (0, "Masters and their")]
    large = [At(60, 60, "The dues of the northern", 18), At(60, 80, "and southern quays", 18)]
    bold = column(60, 170, ["Pensions"], bold=True)
    page = [*large, *column(60, 110, [PROSE] * 3), *bold, *column(60, 190, [PROSE] * 3)]
    assert headings(page) == [(0, "The dues of the northern and southern quays"), (1, "Pensions")]
    assert headings([*column(60, 60, [PROSE] * 8), *column(60, 200, [PROSE[:50]] * 7, bold=True)]) == []
    page = []
    for y, head in zip((60, 120, 180, 240), ("Foreword", "1 Quays", "1.1 Dues", "2 Cranes"), strict=True):
        page += [At(60, y, head, 14), *column(60, y + 20, [PROSE] * 2)]
    assert headings(page) == [(0, "Foreword"), (0, "1 Quays"), (1, "1.1 Dues"), (0, "2 Cranes")]


def numbered(number: int, head: str) -> list[At]:
    body = column(60, 90, [f"Page {number} tells of berth {number * 7}.", PROSE])
    return [At(60, 30, head, 8), *body, At(300, 810, str(number), 8)]


def test_heads_and_feet_are_left_out_but_not_text_that_differs_or_recurs() -> None:
    pages = [numbered(n, "Letter" if n % 2 else f"Report, page {n + 10}") for n in range(1, 9)]
    assert [text.split()[0] for text in texts(*pages)] == ["Letter", *["Page"] * 8]  # once
    pages = [
        [*numbered(n, f"Invoice no. {4400 + 7 * n}"), At(60, 780, f"{n} The fee is {n * 13} crowns.", 7)]
        for n in range(1, 6)
    ]
    said = " ".join(texts(*pages))
    assert all(f"no. {4400 + 7 * n}" in said and f"is {n * 13} crowns" in said for n in range(1, 6))
    pages = [column(60, 60, ["This is to certify that", f"ship {n} lies here."]) for n in range(1, 5)]
    assert all(text.startswith("This is to certify that") for text in texts(*pages))


def test_what_cannot_be_read_is_refused() -> None:
    for data, why in (
        (b"%PDF-1.4\nnothing else", "broken"),
        (pdf([[(11, PROSE)]])[:400], "broken"),
        (pdf([[(11, "secret")]], locked=True), "encrypted"),
        (pdf([[], []]), "has no text"),
        (pdf([[(0.5, "quay " * 220)] * 300]), "more than 300,000 characters"),
    ):
        with pytest.raises(InputError, match=rf"x\.pdf.*{why}"):
            list(pdf_parts(data, "x.pdf"))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["word", "12", "1,204", "(a)", "$", "7.2"]), min_size=1, max_size=9)),
    st.sampled_from([0, 140]),
)
def test_no_word_is_lost(rows: list[list[str]], inset: int) -> None:
    told = [
        [f"w{n}x{m}" if word == "word" else word for m, word in enumerate(row)] for n, row in enumerate(rows)
    ]
    page = [At(60 + inset * (n % 3 == 2), 60 + 14 * n, " ".join(words)) for n, words in enumerate(told)]
    found = set[str]()
    for part in parts([*page, At(60, 800, PROSE)]):
        content = part.content
        cells = [content] if isinstance(content, str) else [*content.header, *chain(*content.rows)]
        found |= {word for cell in cells for word in cell.split()}
    assert {word for words in told for word in words if word[0] == "w"} <= found


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.lists(st.integers(0, 10**6), min_size=2, max_size=12), st.booleans())
def test_a_table_comes_back_as_it_was_printed(columns: int, figures: list[int], ruled: bool) -> None:
    header = ["Port", *(f"Year {n}" for n in range(1, min(columns, 3 if ruled else 5)))]
    cells = [[f"{each + k:,}" for k in range(len(header) - 1)] for each in figures]
    rows = [[f"Harbour {n}", *each] for n, each in enumerate(cells)]
    table = [header, *rows]
    page = [table] if ruled else grid([60 + 100 * n for n in range(len(header))], 80, table)
    assert tables(page) == [table]
