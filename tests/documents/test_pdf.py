"""What a printed page says: in which order, under which headings, and in which tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.documents.reading import read_passages
from tests.documents.pdfs import At, Item, pdf

pytest.importorskip("pdfplumber")

LEFT = (
    "The quay was built of oak and stone in the",
    "year of the great flood, and has been kept",
    "by the guild ever since. Its",
)
RIGHT = (
    "master keeps the book of ships and calls",
    "the pilots when the fog is thick. No fee is",
    "asked of those who flee from a storm.",
)
PROSE = "The master of the quay keeps the book of ships, and calls the pilots when fog is thick on the water."


def passages(*pages: Sequence[Item]) -> list[dict[str, Any]]:
    return read_passages(pdf(pages), "paper.pdf")


def texts(*pages: Sequence[Item]) -> list[str]:
    return [each["text"] for each in passages(*pages)]


def tables(*pages: Sequence[Item]) -> list[list[list[str]]]:
    found = [each["table"] for each in passages(*pages) if "table" in each]
    return [[list(table.header), *map(list, table.rows)] for table in found]


def column(x: float, y: float, lines: Sequence[str], **style: Any) -> list[At]:
    return [At(x, y + 12 * number, line, **style) for number, line in enumerate(lines)]


def grid(x: Sequence[float], y: float, rows: Sequence[Sequence[str]], down: float = 14) -> list[At]:
    return [
        At(left, y + down * number, cell)
        for number, row in enumerate(rows)
        for left, cell in zip(x, row, strict=True)
        if cell
    ]


class TestColumns:
    def test_the_left_column_is_read_before_the_right_one(self) -> None:
        left, right = LEFT * 3, RIGHT * 3
        (text,) = texts(
            [
                At(
                    60,
                    60,
                    "Of the quay of Marsh End, its master, its book and its fees, in the order of the guild",
                ),
                *column(60, 90, left),
                *column(320, 90, right),
            ]
        )
        assert text.endswith(" ".join([*left, *right]))

    @pytest.mark.parametrize("down", [0, 5])
    def test_lines_of_the_columns_need_not_stand_level(self, down: float) -> None:
        (text,) = texts([*column(60, 90, LEFT * 3), *column(320, 90 + down, RIGHT * 3)])
        assert text == " ".join([*LEFT * 3, *RIGHT * 3])

    def test_two_lines_beside_a_long_column_are_a_column(self) -> None:
        (text,) = texts([*column(60, 90, LEFT * 5), *column(320, 90, RIGHT[:2])])
        assert text == " ".join([*LEFT * 5, *RIGHT[:2]])

    def test_what_runs_across_ends_the_columns_above_it(self) -> None:
        across = At(
            60, 260, "Across both columns stands this line of the second part, from one margin to the other."
        )
        first, second = (
            (*column(60, 90, LEFT * 3), *column(320, 90, RIGHT * 3)),
            (*column(60, 300, RIGHT * 2), *column(320, 300, LEFT * 2)),
        )
        whole = " ".join(texts([*first, across, *second]))
        places = [whole.index(each) for each in (RIGHT[2], "Across both", RIGHT[0] + " " + RIGHT[1])]
        assert whole.index("Across both") > whole.index(RIGHT[2]) and places[1] == whole.index(across.text)

    def test_a_table_in_a_column_is_that_columns(self) -> None:
        ships = grid(
            [60, 140, 200], 140, [["Quay", "2023", "2024"], ["North", "410", "402"], ["South", "95", "101"]]
        )
        page = [*column(60, 90, LEFT), *ships, *column(60, 200, LEFT * 3), *column(320, 90, RIGHT * 4)]
        assert tables(page) == [[["Quay", "2023", "2024"], ["North", "410", "402"], ["South", "95", "101"]]]
        assert [each["text"][:9] for each in passages(page) if "table" not in each] == [
            "The quay ",
            "The quay ",
        ]


class TestTablesWithoutLines:
    def test_signs_go_with_their_numbers(self) -> None:
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

    def test_a_name_over_several_columns_names_each(self) -> None:
        rows = [["", "2024", "2023"], ["Berth fees", "8,915", "8,140"], ["Crane hire", "1,204", "1,377"]]
        page = [At(250, 86, "Years ended June 30,"), *grid([60, 250, 330], 100, rows)]
        (table,) = tables([*column(60, 60, [PROSE]), *page])
        assert table[0] == ["", "Years ended June 30, 2024", "Years ended June 30, 2023"]

    def test_a_name_that_goes_on_in_the_next_line_is_one(self) -> None:
        rows = [
            ["Item", "2024", "2023"],
            ["Dues", "10", "12"],
            ["Towage and other services", "", ""],
            ["rendered at sea", "31", "28"],
        ]
        (table,) = tables(grid([60, 250, 330], 100, rows))
        assert table[2] == ["Towage and other services rendered at sea", "31", "28"]

    def test_a_table_of_words_is_one_where_its_cells_begin_below_each_other(self) -> None:
        rows = [
            ["Quay", "Master", "Since"],
            ["North", "Ada Holm", "spring"],
            ["South", "Ivar Lund", "autumn"],
            ["West", "Siri Dahl", "winter"],
        ]
        assert tables(grid([60, 200, 330], 100, rows)) == [rows]

    def test_lists_are_none(self) -> None:
        marks = [At(60, 100 + 14 * n, mark) for n, mark in enumerate(["(a)", "(b)", "(c)", "(d)"])]
        page = [*marks, *[At(95, 100 + 14 * n, PROSE[:60]) for n in range(4)]]
        assert tables(page) == []

    def test_two_tables_are_two(self) -> None:
        first = [["Country", "2023", "2022"], ["Denmark", "1,120", "1,098"], ["Poland", "1,249", "1,180"]]
        second = [["Plant", "Cranes", "Staff"], ["Odense", "40", "310"], ["Lund", "22", "190"]]
        page = [*grid([60, 200, 300], 100, first), *grid([60, 200, 300], 160, second)]
        assert tables(page) == [first, second]

    def test_a_table_that_goes_on_keeps_its_header(self) -> None:
        rows = [["Port", "2023", "2022"], *[[f"Harbour {n}", str(n), str(n + 1)] for n in range(1, 9)]]
        assert tables(grid([60, 200, 300], 100, rows[:5]), grid([60, 200, 300], 100, rows[5:])) == [
            rows[:5],
            [rows[0], *rows[5:]],
        ]


class TestRuledTables:
    def test_a_table_stands_where_it_is_printed(self) -> None:
        rows = [["Line", "2024", "2025"], ["Bow line", "118", "124"]]
        found = passages([(11, PROSE), rows, (11, PROSE)])
        assert ["table" in each for each in found] == [False, True, False] and tables([rows]) == [rows]


class TestMarks:
    """Of footnotes: they are never part of a figure."""

    def test_in_a_table_they_are_left_out(self) -> None:
        rows = [
            ["Item", "2024", "2023"],
            ["Dues", "410", "402"],
            ["Cranes", "95", "101"],
            ["Tugs", "31", "28"],
        ]
        page = [*grid([60, 250, 330], 100, rows), At(268, 125, "(2)", 6), At(343, 139, "1", 6)]
        assert tables(page) == [rows]

    def test_in_a_text_they_stand_in_brackets(self) -> None:
        (text,) = texts(
            [
                At(60, 60, "The toll is EUR 40"),
                At(146, 58, "1", 6),
                At(152, 60, "for a ship of 90 m"),
                At(234, 58, "2", 6),
            ]
        )
        assert text == "The toll is EUR 40 [1] for a ship of 90 m2"


class TestTurnedLetters:
    def test_a_table_that_stands_sideways_is_read(self) -> None:
        rows = [["Lock", "2024", "2023"], ["Upper", "410", "390"], ["Lower", "220", "215"]]
        page = [
            At(200 + 14 * n, 700 - x, cell, turned=90)
            for n, row in enumerate(rows)
            for x, cell in zip((0, 150, 230), row, strict=True)
        ]
        assert tables([*page, *column(60, 60, [PROSE])]) == [rows]

    def test_a_stamp_across_the_text_is_left_out(self) -> None:
        (text,) = texts([*column(60, 60, [PROSE] * 3), At(100, 110, "DRAFT COPY", 40, turned=45)])
        assert text == " ".join([PROSE] * 3)


class TestHeadings:
    def test_bold_lines_are_headings(self) -> None:
        page = [
            *column(60, 60, ["Liquidity"], bold=True),
            *column(60, 80, [PROSE] * 3),
            *column(60, 140, ["Pensions"], bold=True),
            *column(60, 160, [PROSE] * 3),
        ]
        assert [each["title"] for each in passages(page)] == ["Liquidity", "Pensions"]

    def test_bold_paragraphs_are_none(self) -> None:
        page = [*column(60, 60, [PROSE] * 8), *column(60, 200, [PROSE] * 4, bold=True)]
        assert {each["title"] for each in passages(page)} == {""}

    def test_lines_of_one_heading_are_joined(self) -> None:
        page = [
            At(60, 60, "The dues of the northern", 18),
            At(60, 80, "and southern quays", 18),
            *column(60, 110, [PROSE] * 3),
        ]
        assert [each["title"] for each in passages(page)] == ["The dues of the northern and southern quays"]

    def test_headings_of_one_size_nest_by_their_numbers(self) -> None:
        heads = ["Foreword", "1 Quays", "1.1 Dues", "2 Cranes", "Index"]
        page = [
            item
            for n, head in enumerate(heads)
            for item in (At(60, 60 + 60 * n, head, 14), *column(60, 80 + 60 * n, [PROSE] * 2))
        ]
        assert [each["title"] for each in passages(page)] == [
            "Foreword",
            "1 Quays",
            "1 Quays > 1.1 Dues",
            "2 Cranes",
            "Index",
        ]

    def test_numbers_alone_make_no_heading_where_headings_stand_out(self) -> None:
        page = [
            At(60, 60, "1 Quays", 14),
            *column(60, 80, [PROSE] * 2),
            *column(60, 120, ["12 Ships lay there"]),
            *column(60, 160, [PROSE]),
        ]
        assert {each["title"] for each in passages(page)} == {"1 Quays"}


class TestWords:
    @pytest.mark.parametrize(
        ("above", "below", "joined"),
        [
            ("the guaran-", "tee of the maker", "the guarantee of the maker"),
            ("a well-", "known master", "a well-known master"),
            ("the non-", "compete clause", "the non-compete clause"),
            ("a storm-", "proof quay, and a storm-proof door", "a storm-proof quay"),
            ("the year 2023-", "2024 was dry", "2023-\n2024 was dry"),
        ],
    )
    def test_words_that_a_line_parts_are_joined(self, above: str, below: str, joined: str) -> None:
        (text,) = texts([*column(60, 60, [PROSE, above, below])])
        assert joined in text


class TestHeadsAndFeet:
    def page(self, number: int, head: str) -> list[At]:
        return [
            At(60, 30, head, 8),
            *column(60, 90, [f"Page {number} tells of berth {number * 7}.", PROSE]),
            At(300, 810, str(number), 8),
        ]

    def test_they_are_left_out_though_they_change(self) -> None:
        pages = [self.page(n, f"Chapter {1 + n // 3}: of quays {n + 10}") for n in range(1, 6)]
        assert [text.split()[0] for text in texts(*pages)] == ["Page"] * 5 and "Chapter" not in " ".join(
            texts(*pages)
        )

    def test_those_of_left_and_right_pages_are(self) -> None:
        pages = [self.page(n, "Letter to the guild" if n % 2 else "Annual report") for n in range(1, 7)]
        whole = " ".join(texts(*pages))
        assert (
            whole.count("Letter to the guild") == whole.count("Annual report") == 1
        )  # where they stand first

    def test_figures_that_differ_are_no_feet(self) -> None:
        pages = [
            [
                At(60, 30, f"Invoice no. {4400 + 7 * n}"),
                *column(60, 90, [PROSE] * 2),
                At(60, 700, f"Total due: EUR {117 * n}"),
            ]
            for n in range(3, 7)
        ]
        assert (
            all("Total due: EUR" in text for text in texts(*pages)) and "Invoice no. 4421" in texts(*pages)[0]
        )

    def test_footnotes_with_the_number_of_their_page_are_kept(self) -> None:
        pages = [
            [*self.page(n, "Annual report"), At(60, 780, f"{n} The fee of page {n} is {n * 13} crowns.", 7)]
            for n in range(1, 5)
        ]
        assert all(f"is {n * 13} crowns." in text for n, text in enumerate(texts(*pages), 1))

    def test_text_that_several_pages_begin_with_is_kept(self) -> None:
        pages = [
            [*column(60, 60, ["This is to certify that", f"ship {n} lies at the quay."])] for n in range(1, 5)
        ]
        assert all(text.startswith("This is to certify that") for text in texts(*pages))


@settings(max_examples=10)
@given(
    st.lists(st.lists(st.sampled_from(["word", "12", "1,204", "(a)", "$", "7.2"]), min_size=1, max_size=9)),
    st.sampled_from([0, 140]),
)
def test_no_word_is_lost(lines: list[list[str]], inset: int) -> None:
    """Each word bears its place, and stands in a passage or in the headings of one."""
    told = [
        [f"w{n}x{m}" if word == "word" else word for m, word in enumerate(words)]
        for n, words in enumerate(lines)
    ]
    page = [
        At(60 + (inset if n % 3 == 2 else 0), 60 + 14 * n, " ".join(words)) for n, words in enumerate(told)
    ]
    found = {
        word
        for each in passages([*page, At(60, 800, PROSE)])
        for word in f"{each['title']} {each['text']}".split()
    }
    assert {word for words in told for word in words if word[0] == "w"} <= found
