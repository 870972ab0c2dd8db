"""What a printed page says: in which order, under which headings, and in which tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
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

LEFT = ("The quay was built of oak and stone in the", "year of the great flood, and has been kept")
RIGHT = ("The master keeps the book of ships and calls", "the pilots when the fog is thick. No fee is")
PROSE = "The master of the quay keeps the book of ships, and calls the pilots when fog is thick on the water."
QUAYS = [["Quay", "2024", "2023"], ["North", "410", "402"], ["South", "95", "101"], ["West", "31", "28"]]


def parts(*pages: Sequence[Item], **more: Any) -> list[DocumentPart]:
    return list(pdf_parts(pdf(pages, **more), "paper.pdf"))


def texts(*pages: Sequence[Item]) -> list[str]:
    return [part.content for part in parts(*pages) if isinstance(part.content, str) and not part.level]


def tables(*pages: Sequence[Item]) -> list[list[list[str]]]:
    found = [part.content for part in parts(*pages) if isinstance(part.content, Table)]
    return [[list(table.header), *map(list, table.rows)] for table in found]


def whole(data: bytes) -> list[list[list[str]]]:
    """The tables of a file, those over several pages as one."""
    found = whole_tables(passages_of(pdf_parts(data, "paper.pdf"), "paper.pdf"))
    return [[list(each.table.header), *map(list, each.table.rows)] for each in found]


def headings(*pages: Sequence[Item], **more: Any) -> list[tuple[int, str]]:
    found = [(part.level, str(part.content)) for part in parts(*pages, **more) if part.level]
    levels = sorted({level for level, _ in found})
    return [(levels.index(level), text) for level, text in found]


def column(x: float, y: float, lines: Sequence[str], **style: Any) -> list[At]:
    return [At(x, y + 12 * number, line, **style) for number, line in enumerate(lines)]


def grid(x: Sequence[float], y: float, rows: Sequence[Sequence[str]], down: float = 14) -> list[At]:
    return [
        At(left, y + down * number, cell)
        for number, row in enumerate(rows)
        for left, cell in zip(x, row, strict=True)
        if cell
    ]


@pytest.mark.parametrize("write", [pdfs.mixed_by_reportlab, pdfs.mixed_by_fpdf])
def test_a_change_of_font_tears_no_figure(write: Callable[[Sequence[str]], bytes]) -> None:
    pieces = ["The error is 0", ".", "001 of 72", ",", "321 ships, or 3", ".", "54 in a year."]
    (part,) = pdf_parts(write(pieces), "x.pdf")
    assert part.content == "The error is 0.001 of 72,321 ships, or 3.54 in a year."


class TestOrder:
    @pytest.mark.parametrize(("times", "down"), [(6, 0), (6, 5), (2, 0)])  # short ones are no table
    def test_the_left_column_is_read_before_the_right_one(self, times: int, down: float) -> None:
        found = texts([*column(60, 90, LEFT * times), *column(320, 90 + down, RIGHT * times)])
        assert found == [" ".join(LEFT * times), " ".join(RIGHT * times)]

    def test_a_stamp_across_the_text_is_left_out(self) -> None:
        (text,) = texts([*column(60, 60, [PROSE] * 3), At(100, 110, "DRAFT COPY", 40, turned=45)])
        assert text == " ".join([PROSE] * 3)


class TestTables:
    def test_ruled_and_unruled_tables_stand_where_they_are_printed(self) -> None:
        page = [At(60, 60, PROSE), QUAYS, *grid([60, 200, 300], 300, QUAYS), At(60, 400, PROSE)]
        found = parts(page)
        assert [isinstance(part.content, Table) for part in found] == [False, True, True, False]
        assert found[1].content == found[2].content == Table(QUAYS[0], QUAYS[1:])

    def test_a_caption_is_a_paragraph_above_its_table(self) -> None:
        page = [*column(60, 76, [PROSE, "Table 3: Ships"]), *grid([60, 200, 300], 102, QUAYS)]
        assert texts(page) == [PROSE, "Table 3: Ships"] and tables(page) == [QUAYS]

    def test_signs_go_with_their_figures(self) -> None:
        rows = [
            ["(in thousands)", "", "2024", "", "2023", ""],
            ["Berth fees", "$", "8,915", "", "$ 8,140", ""],
            ["Loss on cranes", "", "(312", ")", "98", ""],
            ["Margin", "", "12.4", "%", "11.8%", ""],
        ]
        (table,) = tables([*column(60, 60, [PROSE] * 2), *grid([60, 240, 260, 286, 340, 390], 100, rows)])
        assert table == [
            ["(in thousands)", "2024", "2023"],
            ["Berth fees", "$8,915", "$8,140"],
            ["Loss on cranes", "(312)", "98"],
            ["Margin", "12.4%", "11.8%"],
        ]

    def test_what_goes_on_in_the_next_line_is_one_cell(self) -> None:
        rows = [
            ["Item", "2024", "2023", "Remark"],
            ["Dues", "10", "12", "of all ships"],
            ["", "", "", "but those of the guild"],
            ["Towage and other services", "", "", ""],
            ["rendered at sea", "31", "28", "by day"],
        ]
        (table,) = tables(grid([60, 250, 330, 400], 100, rows))
        assert table[1:] == [
            ["Dues", "10", "12", "of all ships but those of the guild"],
            ["Towage and other services rendered at sea", "31", "28", "by day"],
        ]

    def test_a_table_of_words_is_one(self) -> None:
        rows = [["Quay", "Master", "Since"], ["North", "Ada Holm", "spring"], ["South", "Ivo Lund", "autumn"]]
        assert tables(grid([60, 200, 330], 100, rows)) == [rows]

    @pytest.mark.parametrize(
        "rows",
        [
            [[f"({mark})", PROSE[:60]] for mark in "abcd"],
            [["Quays . . . . . . .", str(page)] for page in range(4)],
            [["a = b", "(1)"], ["c = d + e", "(2)"], ["f = g", "(3)"]],
        ],
        ids=["a list", "contents", "formulas"],
    )
    def test_what_is_no_table(self, rows: list[list[str]]) -> None:
        assert tables(grid([60, 195], 100, rows)) == []

    @pytest.mark.parametrize("style", [RULED, STRIPED, COLUMNS, []])
    def test_a_first_column_of_several_words_is_not_torn(self, style: Sequence[tuple[Any, ...]]) -> None:
        for rows in (
            [["Cake", "Price", "Slices"], ["Plum", "18.00", "12"], ["Black Forest gateau", "32.50", "16"]],
            [["Drink", "Price", "Cups"], ["Tea", "2.00", "120"], ["Hot milk with honey", "3.50", "30"]],
        ):
            rows += [["Nut", "21.00", "14"], ["Bo", "2.40", "2"]]
            assert whole(report(rows, style=style)) == [rows]

    @pytest.mark.parametrize("write", [pdfs.table_by_fpdf, partial(report, widths=[90, 120, 60])])
    def test_a_cell_that_wraps_is_one(self, write: Callable[[Sequence[Sequence[str]]], bytes]) -> None:
        name = "Mary Jane Holloway of the northern quay"
        remark = "pays for 2 berths, 1 of them cold, in 3 parts"
        rows = [["Name", "Remark", "Fee"], [name, remark, "1,200"], ["Ann Lee", "none", "40"]]
        assert whole(write(rows)) == [rows]

    def test_text_that_spills_over_a_line_is_of_one_cell(self) -> None:
        rows = [["Name", "Wage", "Days"], ["Mary Jane Holloway the Elder", "", "3"], ["Bo", "13.00", "2"]]
        table = [[60, 130, 210, 290], [100, 120, 140, 160]]
        assert whole(pdf([[*grid([64, 134, 214], 114, rows, 20)]], rules=table)) == [rows]

    def test_merged_cells_are_filled_and_a_title_is_the_caption(self) -> None:
        rows = [
            ["Dues of all harbours", "", "", ""],
            ["Port", "Year", "", "Note"],
            ["", "2023", "2022", ""],
            ["North", "1", "2", "x"],
            ["", "3", "4", "y"],
        ]
        spans = [((0, 0), (3, 0)), ((0, 1), (0, 2)), ((1, 1), (2, 1)), ((3, 1), (3, 2)), ((0, 3), (0, 4))]
        data = report(rows, style=[*RULED, *(("SPAN", *span) for span in spans)])
        (found,) = whole_tables(passages_of(pdf_parts(data, "x"), "x"))
        header, below = (
            ["Port", "Year 2023", "Year 2022", "Note"],
            [["North", "1", "2", "x"], ["North", *"34y"]],
        )
        assert found.table == Table(header, below, "Dues of all harbours")

    @pytest.mark.parametrize("again", [0, 1], ids=["header once", "header on each page"])
    @pytest.mark.parametrize("foot", ["Page {}", "{} / 9", "Confidential"])
    @pytest.mark.parametrize("rows", [34, 35, 36, 37, 38, 120])
    def test_one_over_several_pages_is_whole(self, again: int, foot: str, rows: int) -> None:
        table = [["Berth", "Holder"], *[[f"B{n}", f"Holder {'ABC'[n % 3]}"] for n in range(rows)]]
        assert whole(report(table, again=again, foot=foot)) == [table]

    @pytest.mark.parametrize(
        "below",
        [
            [(10, "Berths of the other quay:"), QUAYS],
            [[["Quay", "Master", "Since"], *QUAYS[1:]]],
            [[row[:2] for row in QUAYS]],
        ],
        ids=["a text between", "another header", "other columns"],
    )
    def test_another_table_on_the_next_page_is_another(self, below: list[Item]) -> None:
        assert len(whole(pdf([[QUAYS], below]))) == 2

    def test_a_chart_is_no_table(self) -> None:
        numbers = [At(66 + 30 * n, 200, str(n)) for n in range(8)]
        page = [*column(60, 60, [PROSE]), *numbers, At(100, 120, "North"), At(190, 150, "South")]
        lines = [[60 + 30 * n for n in range(9)], [90 + 20 * n for n in range(6)]]
        assert whole(pdf([page], rules=lines)) == []

    def test_a_table_that_goes_on_keeps_its_header(self) -> None:
        rows = [["Port", "2023", "2022"], *[[f"Harbour {n}", str(n), str(n + 1)] for n in range(1, 9)]]
        found = tables(grid([60, 200, 300], 100, rows[:5]), grid([60, 200, 300], 100, rows[5:]))
        assert found == [rows[:5], [rows[0], *rows[5:]]]

    def test_one_that_stands_sideways_is_read(self) -> None:
        page = [
            At(200 + 14 * n, 700 - x, cell, turned=90)
            for n, row in enumerate(QUAYS)
            for x, cell in zip((0, 150, 230), row, strict=True)
        ]
        assert tables([*page, *column(60, 60, [PROSE])]) == [QUAYS]


class TestRaisedFigures:
    def test_in_a_text_they_are_superscripts(self) -> None:
        raised = [At(142, 58, "1", 6), At(152, 60, "for a ship of 90 m"), At(231, 58, "2", 6)]
        (text,) = texts([At(60, 60, "The toll is EUR 40"), *raised])
        assert text == "The toll is EUR 40¹ for a ship of 90 m²"

    def test_a_mark_is_no_part_of_a_figure_in_a_table(self) -> None:
        page = grid([60, 250, 330], 100, QUAYS)
        (marked,) = (at for at in page if at.text == "402")
        page.insert(page.index(marked) + 1, At(marked.x + 17, marked.y - 3, "1", 6))
        assert tables(page) == [QUAYS]


class TestHeadings:
    def test_they_are_those_of_the_bookmarks(self) -> None:
        page = [At(60, 60, "1 Dues"), *column(60, 90, [PROSE, "Dues of ships"]), At(60, 140, PROSE)]
        marks = [(1, 0, "Dues"), (1, 1, "Dues of ships"), (2, 0, "Masters and their"), (2, 0, "Nowhere")]
        wrapped = [*column(60, 60, ["Masters", "and their"]), At(60, 120, PROSE, bold=True)]
        found = headings(page, wrapped, bookmarks=marks)
        assert found == [(0, "1 Dues"), (1, "Dues of ships"), (0, "Masters and their")]

    def test_else_larger_and_bold_lines_are(self) -> None:
        page = [
            At(60, 60, "The dues of the northern", 18),
            At(60, 80, "and southern quays", 18),
            *column(60, 110, [PROSE] * 3),
            *column(60, 170, ["Pensions"], bold=True),
            *column(60, 190, [PROSE] * 3),
        ]
        assert headings(page) == [(0, "The dues of the northern and southern quays"), (1, "Pensions")]

    def test_bold_letters_are_none_where_there_are_many(self) -> None:
        assert headings([*column(60, 60, [PROSE] * 8), *column(60, 200, [PROSE[:50]] * 7, bold=True)]) == []

    def test_those_of_one_size_nest_by_their_numbers(self) -> None:
        heads = ["Foreword", "1 Quays", "1.1 Dues", "2 Cranes"]
        page = [
            item
            for n, head in enumerate(heads)
            for item in (At(60, 60 + 60 * n, head, 14), *column(60, 80 + 60 * n, [PROSE] * 2))
        ]
        assert headings(page) == [(0, "Foreword"), (0, "1 Quays"), (1, "1.1 Dues"), (0, "2 Cranes")]


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the guaran-", "tee of the maker", "the guarantee of the maker"),
        ("a storm-", "proof quay, and a storm-proof door", "a storm-proof quay"),
        ("a thick-", "fog master", "a thick-fog master"),
        ("the year 2023-", "2024 was dry", "2023-2024"),
    ],
)
def test_words_that_a_line_parts_are_joined(above: str, below: str, joined: str) -> None:
    (text,) = texts([*column(60, 60, [PROSE, above, below])])
    assert joined in text.replace("\n", "")


class TestHeadsAndFeet:
    def page(self, number: int, head: str) -> list[At]:
        body = column(60, 90, [f"Page {number} tells of berth {number * 7}.", PROSE])
        return [At(60, 30, head, 8), *body, At(300, 810, str(number), 8)]

    def test_they_are_left_out_but_for_the_first_of_those_without_a_number(self) -> None:
        pages = [self.page(n, "Letter" if n % 2 else f"Report, page {n + 10}") for n in range(1, 9)]
        assert [text.split()[0] for text in texts(*pages)] == ["Letter", *["Page"] * 8]  # once

    def test_figures_and_notes_that_differ_are_kept(self) -> None:
        pages = [
            [*self.page(n, f"Invoice no. {4400 + 7 * n}"), At(60, 780, f"{n} The fee is {n * 13} crowns.", 7)]
            for n in range(1, 6)
        ]
        whole = " ".join(texts(*pages))
        assert all(f"no. {4400 + 7 * n}" in whole and f"is {n * 13} crowns" in whole for n in range(1, 6))

    def test_text_that_several_pages_begin_with_is_kept(self) -> None:
        pages = [[*column(60, 60, ["This is to certify that", f"ship {n} lies here."])] for n in range(1, 5)]
        assert all(text.startswith("This is to certify that") for text in texts(*pages))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"%PDF-1.4\nnothing else", "broken"),
        (pdf([[(11, PROSE)]])[:400], "broken"),
        (pdf([[(11, "secret")]], locked=True), "encrypted"),
        (pdf([[], []]), "holds no text"),
        (pdf([[(0.5, "quay " * 220)] * 300]), "more than 300,000 letters"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(data: bytes, told: str) -> None:
    with pytest.raises(InputError, match=rf"x\.pdf.*{told}"):
        list(pdf_parts(data, "x.pdf"))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["word", "12", "1,204", "(a)", "$", "7.2"]), min_size=1, max_size=9)),
    st.sampled_from([0, 140]),
)
def test_no_word_is_lost(lines: list[list[str]], inset: int) -> None:
    """Each word bears its place, and stands in a part."""
    told = [
        [f"w{n}x{m}" if word == "word" else word for m, word in enumerate(words)]
        for n, words in enumerate(lines)
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
    rows = [
        [f"Harbour {n}", *(f"{figure + n:,}" for n in range(len(header) - 1))]
        for n, figure in enumerate(figures)
    ]
    whole = [header, *rows]
    page = [whole] if ruled else grid([60 + 100 * n for n in range(len(header))], 80, whole)
    assert tables(page) == [whole]
