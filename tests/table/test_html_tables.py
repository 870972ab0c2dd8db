"""Tables of HTML pages: spans, headers, captions, amounts as filings print them, and which hold data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.table.found import Found, LeftOut
from chameleon.table.html_tables import html_table, page_tables, parse_page
from chameleon.table.records import Origin

pytest.importorskip("lxml")


def page(markup: str) -> list[Found | LeftOut]:
    return list(page_tables(markup.encode(), Origin("page")))


def one(markup: str) -> Found:
    (found,) = page(markup)
    assert isinstance(found, Found), found
    return found


def cells(markup: str) -> list[list[str]]:
    table = one(markup).table
    return [list(table.header), *map(list, table.rows)]


def test_a_table_with_implied_ends_and_marks_inside_cells() -> None:
    markup = (
        "<table><thead><tr><th>River<th>Length<sup>[1]</sup><tbody><tr><td><a href=x>Po</a><td>652<br>km"
        "<tr><td> Adige <!-- no --> <td><b>4</b>10<script>x()</script><tfoot><tr><td>both<td>1,062</table>"
    )
    assert cells(markup) == [["River", "Length"], ["Po", "652 km"], ["Adige", "410"], ["both", "1,062"]]


def test_spans_are_filled_in_and_header_rows_joined() -> None:
    markup = """<table><caption>Sales <i>by shop</i></caption>
    <tr><th rowspan=2>Shop</th><th colspan=2>2023</th><th colspan=2>2024</th></tr>
    <tr><th>Sold</th><th>Left</th><th>Sold</th><th>Left</th></tr>
    <tr><th>Alm</th><td rowspan=2>5</td><td>1</td><td colspan=2>none</td></tr>
    <tr><th>Bram</th><td>2</td><td>7</td><td>0</td></tr></table>"""
    assert one(markup).table.caption == "Sales by shop"
    assert cells(markup) == [
        ["Shop", "2023 Sold", "2023 Left", "2024 Sold", "2024 Left"],
        ["Alm", "5", "1", "none", "none"],
        ["Bram", "5", "2", "7", "0"],
    ]
    groups = "<tbody><tr><th>a<th>b<tr><td rowspan=0>x<td>1<tr><td>2<tbody><tr><td>y<td>3</tbody>"
    assert cells(f"<table>{groups}</table>")[1:] == [["x", "1"], ["x", "2"], ["y", "3"]]


def test_lines_that_span_the_table() -> None:
    markup = """<table><tr><th colspan=2>Ferries in winter</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>A</td><td>5</td></tr><tr><th colspan=2>South</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>B</td><td>6</td></tr></table>"""
    found = one(markup)
    assert (found.table.caption, found.notes) == ("Ferries in winter", "South")
    assert cells(markup) == [["Route", "Price"], ["A", "5"], ["B", "6"]]
    kept = html_table(next(parse_page(markup.encode()).iter("table")), Origin("page"), keep_notes=True)
    assert isinstance(kept, Found) and kept.table.rows == (("A", "5"), ("South", ""), ("B", "6"))


def test_rows_that_begin_with_their_names_are_columns() -> None:
    markup = """<table><tr><th colspan=2>Rome</th></tr><tr><th>Country</th><td>Italy</td></tr>
    <tr><th>Founded</th><td>753 BC</td></tr></table>"""
    assert cells(markup) == [["Country", "Founded"], ["Italy", "753 BC"]]


def test_nested_tables_are_their_own_and_headings_are_those_before() -> None:
    markup = """<title>Lakes</title><table><tr><td><ul><li>Home</ul><td><h2>Deep <b>ones</b></h2>
    <table><tr><td>Lake<td>Depth<tr><td>Como<td>410</table><td>rest</table><h3>After</h3>"""
    outer, inner = page(markup)
    assert isinstance(outer, LeftOut) and "holds other tables" in outer.why and not outer.is_fault
    assert isinstance(inner, Found) and inner.place == {"heading": "Deep ones"}
    assert inner.table.rows == (("Como", "410"),) and inner.table.caption == "Deep ones"


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        (" role=presentation><tr><th>a<th>b<tr><td>1<td>2", "layout"),
        (" class=navbox><tr><th>a<td>b<tr><th>c<td>d", "navigation"),
        ("><tr><td>a<td>b", "one row"),
        (">", "one row or column, or none"),
        ("><tr><td>a<tr><td>b", "one row or column"),
        ("><tr><td>Name<td><input><tr><td>Mail<td><input>", "forms"),
        ("><tr><td><h2>News</h2><td>x<tr><td>y<td>z", "headings"),
        (f"><tr><td>{'word ' * 90}<td>a<tr><td>b<td>{'word ' * 90}", "long texts"),
    ],
)
def test_tables_that_only_lay_out_a_page(markup: str, reason: str) -> None:
    (found,) = page(f"<table{markup}</table>")
    assert isinstance(found, LeftOut) and reason in found.why and not found.is_fault


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_tells_how_a_page_is_encoded(encoding: str) -> None:
    data = "<table><tr><th>Stadt<th>Höhe<tr><td>Köln<td>53</table>".encode(encoding)
    (found,) = page_tables(data, Origin("page"))
    assert isinstance(found, Found) and found.table.rows == (("Köln", "53"),)


def test_hidden_tables_are_not_there() -> None:
    assert page("<div style='display: none'><table><tr><td>a<td>b<tr><td>1<td>2</table></div>") == []


@pytest.mark.parametrize(
    ("source", "cell"),
    [
        ("$5<sup>2</sup>", "$5"),
        ("EUR 40<sup>1</sup>", "EUR 40"),
        ("22<sup><a href='#f'>2</a></sup>", "22"),
        ("88<sup>(1), (2)</sup>", "88"),
        ("44<sup>[3]</sup>", "44"),
        ("(312)<sup>a</sup>", "(312)"),
        ("12.5%<sup>*</sup>", "12.5%"),
        ("Dues<sup>1</sup>", "Dues"),
        ("90 m<sup>2</sup>", "90 m²"),
        ("3 x 10<sup>6</sup>", "3 x 10⁶"),
        ("10<sup>-3</sup>", "10⁻³"),
        ("5<sup>1</sup>/2", "5 1/2"),
        ("1<sup>st</sup>", "1st"),
        ("Acme<sup>TM</sup>", "AcmeTM"),
    ],
)
def test_a_raised_figure_is_never_glued_to_the_one_before_it(source: str, cell: str) -> None:
    assert cells(f"<table><tr><th>a<th>b<tr><td>{source}<td>x</table>")[1][0] == cell


INCOME = """<table border=0>
<tr><td></td><td></td><td colspan=6><b>Year ended June 30,</b></td></tr>
<tr><td>(in thousands)</td><td></td><td colspan=2>2023</td><td></td><td colspan=2>2022</td><td></td></tr>
<tr><td>Dues</td><td></td><td>$</td><td>1,234</td><td></td><td>$</td><td>1,100</td><td></td></tr>
<tr><td>Dredging</td><td></td><td></td><td>(800</td><td>)</td><td></td><td>(745</td><td>)</td></tr>
<tr><td>Grants</td><td></td><td colspan=2>—</td><td></td><td colspan=2>12</td><td></td></tr>
<tr><td>Result</td><td></td><td>$ (</td><td>34</td><td>)</td><td>$</td><td>355</td><td></td></tr>
<tr><td>Share</td><td></td><td></td><td>35.2</td><td>%</td><td></td><td>(32.3</td><td>)%</td></tr>
</table>"""


def test_signs_go_with_their_amounts_and_header_rows_are_joined() -> None:
    year = "Year ended June 30, "
    assert cells(INCOME) == [
        ["(in thousands)", f"{year}2023", f"{year}2022"],
        ["Dues", "$1,234", "$1,100"],
        ["Dredging", "(800)", "(745)"],
        ["Grants", "—", "12"],
        ["Result", "$ (34)", "$355"],
        ["Share", "35.2%", "(32.3)%"],
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<td><td>2023<td><td>2022<td><tr><td>Dues<td>$<td>5<td>$<td>4", ",2023,2022|Dues,$5,$4"),
        ("<th>Item<th>Currency<th>Price<tr><td>Rope<td>$<td>5", "Item,Currency,Price|Rope,$,5"),
        ("<th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><td>2<td>", "a,b,c|1,,3|,2,"),
        ("<td>Port<td>Quay<tr><td>Arvik<td>north", "Port,Quay|Arvik,north"),
    ],
)
def test_columns_of_their_own_stay_so(markup: str, expected: str) -> None:
    assert cells(f"<table><tr>{markup}</table>") == [line.split(",") for line in expected.split("|")]


_TAGS = ("table", "tr", "td", "th", "thead", "tfoot", "caption", "sup", "h2", "title", "div")
_ODD = ("td colspan=3", "th rowspan=2", "td rowspan=0", "td colspan=x", "td colspan=1000 rowspan=9999")
_PIECES = [f"<{tag}>" for tag in (*_TAGS, *(f"/{tag}" for tag in _TAGS), *_ODD, "div hidden", "!--")]
_PIECES += ["a", "1", "$", "(800", ")", "[1]", "-->"]
_CELLS = ("", "$", "(", ")", "%", "1,234", "(800", "35.2", "—", "2023", "Dues", "a b")


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_no_page_breaks_the_reader(markup: str) -> None:
    for found in page(markup):
        assert isinstance(found, Found | LeftOut)


@given(st.lists(st.lists(st.sampled_from(_CELLS), min_size=3, max_size=7), min_size=2, max_size=6))
def test_no_letter_of_a_cell_is_lost_or_doubled(rows: list[list[str]]) -> None:
    markup = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (found,) = page(f"<table>{markup}</table>")
    if isinstance(found, Found):
        body = "".join(cell for row in found.table.rows for cell in row).replace(" ", "")
        assert "".join(cell for row in rows for cell in row).replace(" ", "").endswith(body)
