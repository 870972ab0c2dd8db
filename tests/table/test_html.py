"""Tables of HTML pages: spans, headers, captions, and which of them hold data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table.html import page_tables
from chameleon.table.html_grid import HtmlTable, html_table, layout_reason
from chameleon.table.records import Origin

pytest.importorskip("lxml")


def read(markup: str) -> HtmlTable:
    """The one table of a page, which holds data."""
    (table,) = page_tables(markup).tables
    assert layout_reason(table) == ""
    return html_table(table, Origin("page"))


def cells(markup: str) -> list[list[str]]:
    return [list(row) for _, row in read(markup).records]


def test_a_table_with_implied_ends_and_marks_inside_cells() -> None:
    markup = (
        "<table><thead><tr><th>River<th>Length<sup>[1]</sup><tbody><tr><td><a href=x>Po</a><td>652<br>km"
        "<tr><td> Adige <!-- no --><td><b>4</b>10<script>x()</script><tfoot><tr><td>both<td>1,062</table>"
    )
    assert cells(markup) == [["River", "Length"], ["Po", "652 km"], ["Adige", "410"], ["both", "1,062"]]


def test_spans_are_filled_in_and_header_rows_joined() -> None:
    markup = """<table><caption>Sales <i>by shop</i></caption>
    <tr><th rowspan=2>Shop</th><th colspan=2>2023</th><th colspan=2>2024</th></tr>
    <tr><th>Sold</th><th>Left</th><th>Sold</th><th>Left</th></tr>
    <tr><th>Alm</th><td rowspan=2>5</td><td>1</td><td colspan=2>none</td></tr>
    <tr><th>Bram</th><td>2</td><td>7</td><td>0</td></tr></table>"""
    assert cells(markup) == [
        ["Shop", "2023 Sold", "2023 Left", "2024 Sold", "2024 Left"],
        ["Alm", "5", "1", "none", "none"],
        ["Bram", "5", "2", "7", "0"],
    ]
    assert page_tables(markup).tables[0].caption == "Sales by shop"


def test_a_rowspan_of_zero_reaches_to_the_end_of_its_group() -> None:
    markup = (
        "<table><tbody><tr><th>a<th>b<tr><td rowspan=0>x<td>1<tr><td>2<tbody><tr><td>y<td>3</tbody></table>"
    )
    assert cells(markup)[1:] == [["x", "1"], ["x", "2"], ["y", "3"]]


def test_lines_that_span_the_table() -> None:
    markup = """<table><tr><th colspan=2>Ferries in winter</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>A</td><td>5</td></tr><tr><th colspan=2>South</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>B</td><td>6</td></tr></table>"""
    found = read(markup)
    assert found.titles == ["Ferries in winter"] and found.notes == ["South"]
    assert [list(row) for _, row in found.records] == [["Route", "Price"], ["A", "5"], ["B", "6"]]


def test_rows_that_begin_with_their_names_are_columns() -> None:
    markup = """<table><tr><th colspan=2>Rome</th></tr><tr><th>Country</th><td>Italy</td></tr>
    <tr><th>Founded</th><td>753 BC</td></tr></table>"""
    assert cells(markup) == [["Country", "Founded"], ["Italy", "753 BC"]]


def test_nested_tables_are_their_own_and_headings_are_those_before() -> None:
    markup = """<title>Lakes</title><table><tr><td><ul><li>Home</ul><td><h2>Deep <b>ones</b></h2>
    <table><tr><td>Lake<td>Depth<tr><td>Como<td>410</table><td>rest</table><h3>After</h3>"""
    page = page_tables(markup)
    outer, inner = page.tables
    assert page.title == "Lakes"
    assert layout_reason(outer) == "it holds other tables" and layout_reason(inner) == ""
    assert inner.heading == "Deep ones" and inner.is_nested
    assert html_table(inner, Origin("x")).records == [(1, ["Lake", "Depth"]), (2, ["Como", "410"])]


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<table role=presentation><tr><th>a<th>b<tr><td>1<td>2</table>", "marked as layout"),
        ("<table class=navbox><tr><th>a<td>b<tr><th>c<td>d</table>", "for navigation"),
        ("<table><tr><td>a<td>b</table>", "one row"),
        ("<table></table>", "no rows"),
        ("<table><tr><td>a<tr><td>b</table>", "one column"),
        ("<table><tr><td>Name<td><input><tr><td>Mail<td><input></table>", "forms"),
        ("<table><tr><td><h2>News</h2><td>x<tr><td>y<td>z</table>", "headings"),
        (f"<table><tr><td>{'word ' * 90}<td>a<tr><td>b<td>{'word ' * 90}</table>", "long texts"),
    ],
)
def test_tables_that_only_lay_out_a_page(markup: str, reason: str) -> None:
    assert reason in layout_reason(page_tables(markup).tables[0])


def test_hidden_tables_are_not_there() -> None:
    markup = "<div style='display: none'><table><tr><td>a<td>b<tr><td>1<td>2</table></div>"
    assert page_tables(markup).tables == []


@pytest.mark.parametrize(
    "markup",
    [
        "<table>" + "<tr><td>x" * 3 + "<tr>" + "<td colspan=1000>x" * 20 + "</table>",
        "<table><tr>" + "<td colspan=1000 rowspan=9999>x" * 9 + "<tr><td>y" * 999 + "</table>",
    ],
)
def test_spans_that_grow_without_measure_are_refused(markup: str) -> None:
    with pytest.raises(InputError, match="more than"):
        html_table(page_tables(markup).tables[0], Origin("x"))


PIECES = """<table>|</table>|<tr>|</tr>|<td>|<th>|</td>|<td colspan=3>|<th rowspan=2>|a|1|<thead>|</thead>
|<tfoot>|<caption>|</caption>|<sup>|</sup>|[1]|<h2>|</h2>|<td rowspan=0>|<td colspan=x>|<div hidden>|</div>
|<!--|-->|<title>|</title>"""


@given(st.lists(st.sampled_from(PIECES.split("|")), max_size=40).map("".join))
def test_no_page_breaks_the_reader(markup: str) -> None:
    for table in page_tables(markup).tables:
        if layout_reason(table):
            continue
        try:
            found = html_table(table, Origin("x"))
        except InputError:
            continue
        assert len({len(row) for _, row in found.records}) == 1
