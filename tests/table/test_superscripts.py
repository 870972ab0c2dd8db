"""Raised letters of a page are never glued to the figure before them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from chameleon.table.amount_columns import is_amount
from chameleon.table.html import page_tables
from chameleon.table.superscripts import BEGIN, END, set_superscripts, without_marks

_IN_A_CELL = (
    ("$5<sup>2</sup>", "$5", "$5²"),
    ("EUR 40<sup>1</sup>", "EUR 40", "EUR 40¹"),
    ("22<sup>2</sup>", "22", "22²"),
    ("88<sup>(2)</sup>", "88", "88⁽²⁾"),
    ("88<sup>(1), (2)</sup>", "88", "88⁽¹⁾, ⁽²⁾"),
    ("44<sup>[3]</sup>", "44", "44 [3]"),
    ("(312)<sup>a</sup>", "(312)", "(312) (a)"),
    ("12.5%<sup>*</sup>", "12.5%", "12.5% *"),
    ("Dues<sup>1</sup>", "Dues", "Dues¹"),
    ("90 m<sup>2</sup>", "90 m²", "90 m²"),
    ("8 km<sup>2</sup>", "8 km²", "8 km²"),
    ("3 x 10<sup>6</sup>", "3 x 10⁶", "3 x 10⁶"),
    ("10<sup>-3</sup>", "10⁻³", "10⁻³"),
    ("5<sup>1</sup>/2", "5 1/2", "5 1/2"),
    ("1<sup>st</sup>", "1st", "1st"),
    ("Acme<sup>TM</sup>", "AcmeTM", "AcmeTM"),
)


@pytest.mark.parametrize(("source", "cell", "text"), _IN_A_CELL)
def test_raised_letters_in_cells_and_in_text(source: str, cell: str, text: str) -> None:
    held = source.replace("<sup>", BEGIN).replace("</sup>", END)
    assert (set_superscripts(held, drop_marks=True), set_superscripts(held, drop_marks=False)) == (cell, text)


def test_a_mark_may_be_a_link() -> None:
    pytest.importorskip("lxml")
    page = page_tables('<table><tr><th>a<th>b<tr><td>44<sup><a href="#f1">3</a></sup><td>5</table>')
    assert [cell.text for cell in page.tables[0].groups[0][1][1]] == ["44", "5"]


def test_the_signs_for_raised_letters_do_not_come_from_a_page() -> None:
    pytest.importorskip("lxml")
    page = page_tables(f"<table><tr><th>a<th>b<tr><td>4{BEGIN}4{END}<td>5</table>")
    assert [cell.text for cell in page.tables[0].groups[0][1][1]] == ["44", "5"]


@pytest.mark.parametrize(
    ("cell", "figure"),
    [
        ("88 (2)", "88"),
        ("1,234(1)", "1,234"),
        ("(312) (1)", "(312)"),
        ("$5²", "$5"),
        ("7.5%*", "7.5%"),
        ("44 [3]", "44"),
        ("8 (c)", "8"),
        ("(1)", "(1)"),
        ("10⁶", "10⁶"),
        ("12 (34)", "12 (34)"),
        ("(1) 1,250", "(1) 1,250"),
        ("90 m²", "90 m²"),
        ("8 (e)", "8 (e)"),
    ],
)
def test_marks_that_end_a_figure(cell: str, figure: str) -> None:
    assert without_marks(cell) == figure


def test_an_amount_with_a_mark_is_an_amount() -> None:
    assert is_amount("1,234(1)") and is_amount("(800) (2)") and not is_amount("Dues (1)")


def _seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


@pytest.mark.parametrize("drop_marks", [True, False])
def test_many_marks_take_time_in_proportion(drop_marks: bool) -> None:
    text = f"5{BEGIN}1{END} and " * 5_000
    assert _seconds(lambda: set_superscripts(text, drop_marks=drop_marks)) < 0.5


@pytest.mark.parametrize("between", [" ", "(1)", "*"])
def test_the_end_of_a_long_cell_is_looked_at_alone(between: str) -> None:
    assert _seconds(lambda: without_marks(f"1 {between * 10_000}x")) < 0.3
    assert _seconds(lambda: without_marks(f"1{between * 10_000}")) < 0.5
