"""Tables as filings set them: signs in cells of their own, columns that only place things, spanned years."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.table.html import page_tables
from chameleon.table.html_grid import html_table
from chameleon.table.records import Origin

pytest.importorskip("lxml")

INCOME = """<table border=0>
<tr><td></td><td></td><td colspan=6><b>Year ended June 30,</b></td></tr>
<tr><td>(in thousands)</td><td></td><td colspan=2>2023</td><td></td><td colspan=2>2022</td><td></td></tr>
<tr><td>Dues</td><td></td><td>$</td><td>1,234</td><td></td><td>$</td><td>1,100</td><td></td></tr>
<tr><td>Dredging</td><td></td><td></td><td>(800</td><td>)</td><td></td><td>(745</td><td>)</td></tr>
<tr><td>Grants</td><td></td><td colspan=2>—</td><td></td><td colspan=2>12</td><td></td></tr>
<tr><td>Result</td><td></td><td>$ (</td><td>34</td><td>)</td><td>$</td><td>355</td><td></td></tr>
<tr><td>Share</td><td></td><td></td><td>35.2</td><td>%</td><td></td><td>(32.3</td><td>)%</td></tr>
</table>"""


def rows(markup: str, **options: bool) -> list[list[str]]:
    (table,) = page_tables(markup).tables
    return [list(row) for _, row in html_table(table, Origin("page"), **options).records]


def test_signs_go_with_their_amounts_and_header_rows_are_joined() -> None:
    year = "Year ended June 30, "
    assert rows(INCOME) == [
        ["(in thousands)", f"{year}2023", f"{year}2022"],
        ["Dues", "$1,234", "$1,100"],
        ["Dredging", "(800)", "(745)"],
        ["Grants", "—", "12"],
        ["Result", "$ (34)", "$355"],
        ["Share", "35.2%", "(32.3)%"],
    ]


def test_a_year_above_the_sign_alone_names_the_column_of_the_amount() -> None:
    markup = (
        "<table><tr><td><td>2023<td><td>2022<td><tr><td>Dues<td>$<td>5<td>$<td>4<tr><td>Fees<td><td>7<td><td>6"
        "</table>"
    )
    assert rows(markup) == [["", "2023", "2022"], ["Dues", "$5", "$4"], ["Fees", "7", "6"]]


def test_signs_with_a_name_of_their_own_are_a_column() -> None:
    markup = "<table><tr><th>Item<th>Currency<th>Price<tr><td>Rope<td>$<td>5<tr><td>Sail<td>€<td>70</table>"
    assert rows(markup) == [["Item", "Currency", "Price"], ["Rope", "$", "5"], ["Sail", "€", "70"]]


def test_columns_with_cells_of_their_own_are_kept() -> None:
    markup = "<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><td>2<td></table>"
    assert rows(markup) == [["a", "b", "c"], ["1", "", "3"], ["", "2", ""]]


def test_rows_of_text_below_the_first_are_no_header() -> None:
    markup = "<table><tr><td>Port<td>Quay<tr><td>Arvik<td>north<tr><td>Marsh End<td>west</table>"
    assert rows(markup) == [["Port", "Quay"], ["Arvik", "north"], ["Marsh End", "west"]]


def test_lines_across_may_be_kept_as_rows() -> None:
    markup = "<table><tr><th>a<th>b<tr><td>x<td>1<tr><td colspan=2>Other<tr><td>y<td>2</table>"
    kept = [["a", "b"], ["x", "1"], ["Other", ""], ["y", "2"]]
    assert rows(markup, keep_notes=True) == kept
    assert rows(markup) == [kept[0], kept[1], kept[3]]


_CELL = st.sampled_from(("", "$", "(", ")", "%", "1,234", "(800", "35.2", "—", "2023", "Dues", "a b"))


@given(st.lists(st.lists(_CELL, min_size=3, max_size=7), min_size=2, max_size=6))
def test_no_letter_of_a_cell_is_lost_or_doubled(cells: list[list[str]]) -> None:
    markup = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    (table,) = page_tables(f"<table>{markup}</table>").tables
    if not any(map("".join, cells)):
        return
    found = html_table(table, Origin("page"), keep_notes=True)
    body = "".join(cell for _, row in found.records[1:] for cell in row)
    whole = "".join(cell for row in cells for cell in row)
    assert whole.replace(" ", "").endswith(body.replace(" ", ""))
    assert len({len(row) for _, row in found.records}) == 1
