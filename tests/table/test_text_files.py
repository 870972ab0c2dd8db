"""CSV, TSV, Markdown, `a | b` lines and HTML as people keep them: dialects, encodings, titles, spans."""

import csv
import io
import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.table import Table, choose_table, read_table
from chameleon.table.found import Found, LeftOut
from chameleon.table.html_tables import html_table, page_tables, parse_page
from chameleon.table.readers import tables_in
from chameleon.table.records import Origin
from chameleon.table.text_files import sections
from tests.engine.files import pieces
from tests.table.strategies import lines, read_text


def found(text: str, name: str = "x.csv") -> list[Found]:
    findings = list(tables_in(text.encode(), name))
    assert not any(isinstance(each, LeftOut) for each in findings), findings
    return [each for each in findings if isinstance(each, Found)]


def cells(text: str) -> list[list[str]]:
    (one,) = found(text)
    return lines(one.table)


_CELL = st.sampled_from(["Alm", "rope, thick", "a; b", "x|y", '5" nail', "12", "-1,5", "2.25", "10:30", ""])


@given(
    st.lists(st.tuples(_CELL, _CELL, _CELL), min_size=3, max_size=20),
    st.sampled_from(["", "Sales in 2024\n\n", "Report\nStation: all\n\n"]),
)
def test_any_dialect_is_found_below_the_titles(rows: list[tuple[str, ...]], above: str) -> None:
    rows = [("Town", "Price", "Sold"), *rows, ("Zell", "1", "2")]
    for delimiter, end in product(",;\t|", ("\n", "\r\n", "\r")):
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(rows)
        assert cells(above + text.getvalue())[0] == list(rows[0])


ODD = [  # what is read, its blanks as "_", and the text
    'a/b Ann/1,5 Bob/x;|__y /2\na\tb\rAnn\t"1,5"\rBob\t"x;|\t_y"\r\t2',
    'a/b Ann/1,5 /2\na|b\r\nAnn|"1,5"\r\n|2',
    'a/b x,_"y"_z/1_2\na, b\n"x,_""y""\nz", "1\t2"\n',
]


@pytest.mark.parametrize("piece", [*ODD, *pieces(__file__, "csv_texts.txt")])
def test_what_a_csv_text_is_read_as(piece: str) -> None:
    rows, _, text = piece.partition("\n")
    said = [[cell.replace(" ", "_") for cell in row] for row in cells(text)]
    assert said == [row.split("/") for row in rows.split()]


def test_titles_and_notes_belong_to_their_table() -> None:
    text = "Rainfall in the north\nStation: all\n\nTown,Jan,Feb\nAlm,10,20\n\nBram,30,5\n"
    (one,) = found(text + "\nSource: our gauge\n* a wet")
    assert one.table.caption == "Rainfall in the north: Station: all"
    assert one.notes == "Source: our gauge\n* a wet"
    assert one.table.rows == (("Alm", "10", "20"), ("Bram", "30", "5"))
    (export,) = found("Report,Sales\nDate,2024-01-05\n\nShop,Sold,Left\nAlm,1,2\n")
    assert export.table.caption == "Report Sales: Date 2024-01-05" and export.table.header[0] == "Shop"
    text = "Ferries,,\nRoute,Time,Price\nA,10:00,5\n,,\nBuses,,\nLine,Stops,Price\n1,12,2\n"
    ferries, buses = found(text)
    assert (ferries.table.caption, buses.table.caption) == ("Ferries", "Buses")
    assert buses.table.rows == (("1", "12", "2"),) and choose_table(text.encode()).others == ["table 2"]
    assert choose_table(text.encode(), sheet="2").table == buses.table


_LINE = st.lists(st.sampled_from(["", "", "a", "1", "Source: x", "b c"]), min_size=1, max_size=4)


@given(st.lists(_LINE, max_size=12))
def test_sections_lose_nothing(records: list[list[str]]) -> None:
    kept: list[str] = []
    for section in sections(enumerate(records, 1)):
        kept += section.titles + section.notes
        kept += [text for _, row in section.records for text in row if text]
    words = " ".join(text for row in records for text in row if text).split()
    assert sorted(" ".join(kept).split()) == sorted(words)


def test_texts_of_other_encodings_are_read_and_damaged_ones_not_guessed() -> None:
    pytest.importorskip("charset_normalizer")
    for encoding, text in {
        "Windows-1252": "Town;Price\nKöln;3 €\nZürich;4 €\n",
        "cp1251": "Город;Цена\nМосква;3\nКазань;4\n",
        "cp932": "都市,人口,県\n横浜市,3700000,神奈川県\n大阪市,2700000,大阪府\n",
        "gb18030": "城市,人口,省份\n广州市,15300000,广东省\n成都市,16300000,四川省\n",
        **dict.fromkeys(("utf-16", "utf-32"), "Town;Price\nKöln;3 €\n"),
    }.items():
        read = choose_table(text.encode(encoding), name="towns.csv")
        assert read.table == read_text(text)
        told = [note for note in read.table.notes if "UTF-8" in note]
        said = f"towns.csv is not UTF-8, and was read as {encoding}"
        assert told == ([] if encoding.startswith("utf") else [said])
    for data in (b"a,b\n1,\x81x\n", b"a,b\n1,\xe4\x01\n", "a,b\nü,".encode() + b"\xe4\n"):
        with pytest.raises(InputError, match=r"x\.csv: is not UTF-8: byte 0x\w\w in line 2\. It is damaged"):
            read_table(data, name="x.csv")
    with pytest.raises(InputError, match="is not UTF-16"):
        read_table("a,b\n".encode("utf-16") + b"\0")


def test_bar_tables_and_those_of_markdown_with_the_heading_above_them() -> None:
    table = read_text("City, country | People\nRome, Italy | 2,800,000\nOslo, Norway | 700,000")
    assert table.header == ("City, country", "People")
    text = "Ticket sales\n | Adults | Children\nMonday | 3 | 4"
    assert read_text(text) == Table(["", "Adults", "Children"], [["Monday", "3", "4"]], "Ticket sales")
    unnamed = read_text("Employee | Pay |\nAnn | May |\nTotal | | $820", "pipe")
    assert unnamed.header == ("Employee", "Pay", "") and unnamed.rows[1] == ("Total", "", "$820")
    text = (
        "---\ntitle: x\n---\n# Report\n\nIntro.\n## **Prices**\n\n| Item | Price |\n|---|---:|\n"
        "| **Tea** | [2.5](http://x.example) |\n| Cake |\n| Bun | 1 | 9 |\n\n"
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n"
        "Stock\n-----\nItem | Left\n--- | ---\n`Tea` | 4 \\| 5\n"
    )
    prices, stock = found(text, "shop.md")
    assert prices.table == Table(["Item", "Price"], [["Tea", "2.5"], ["Cake", ""], ["Bun", "1"]], "Prices")
    assert prices.place == {"heading": "Prices"} and stock.place == {"heading": "Stock"}
    assert stock.table.rows == (("Tea", "4 | 5"),)


@pytest.mark.parametrize("piece", pieces(__file__, "decimal_marks.txt"))
def test_figures_of_a_column_share_one_decimal_mark(piece: str) -> None:
    numbers, _, text = piece.partition("\n")
    assert read_table(text.encode()).columns[1].meaning.plain == json.loads(numbers)


pytest.importorskip("lxml")


def page(markup: str) -> list[Found | LeftOut]:
    return list(page_tables(markup.encode(), Origin("page")))


def one(markup: str) -> Found:
    (found,) = page(markup)
    assert isinstance(found, Found), found
    return found


def html_cells(markup: str) -> list[list[str]]:
    return lines(one(markup).table)


def test_implied_ends_lines_that_span_the_table_and_nested_tables() -> None:
    markup = (
        "<table><thead><tr><th>River<th>Length<sup>[1]</sup><tbody><tr><td><a href=x>Po</a><td>652<br>km"
        "<tr><td> Adige <!-- no --> <td><b>4</b>10<script>x()</script><tfoot><tr><td>both<td>1,062</table>"
    )
    assert html_cells(markup) == [["River", "Length"], ["Po", "652 km"], ["Adige", "410"], ["both", "1,062"]]
    markup = """<table><tr><th colspan=2>Ferries in winter</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>A</td><td>5</td></tr><tr><th colspan=2>South</th></tr><tr><th>Route</th><th>Price</th></tr>
    <tr><td>B</td><td>6</td></tr></table>"""
    found = one(markup)
    assert (found.table.caption, found.notes) == ("Ferries in winter", "South")
    assert html_cells(markup) == [["Route", "Price"], ["A", "5"], ["B", "6"]]
    kept = html_table(next(parse_page(markup.encode()).iter("table")), Origin("page"), keep_notes=True)
    assert isinstance(kept, Found) and kept.table.rows == (("A", "5"), ("South", ""), ("B", "6"))
    markup = """<title>Lakes</title><table><tr><td><ul><li>Home</ul><td><h2>Deep <b>ones</b></h2>
    <table><tr><td>Lake<td>Depth<tr><td>Como<td>410</table><td>rest</table><h3>After</h3>"""
    outer, inner = page(markup)
    assert isinstance(outer, LeftOut) and "holds other tables" in outer.why and not outer.is_fault
    assert isinstance(inner, Found) and inner.place == {"heading": "Deep ones"}
    assert inner.table.rows == (("Como", "410"),) and inner.table.caption == "Deep ones"


def test_spans_are_filled_in_and_header_rows_joined() -> None:
    markup = """<table><caption>Sales <i>by shop</i></caption>
    <tr><th rowspan=2>Shop</th><th colspan=2>2023</th><th colspan=2>2024</th></tr>
    <tr><th>Sold</th><th>Left</th><th>Sold</th><th>Left</th></tr>
    <tr><th>Alm</th><td rowspan=2>5</td><td>1</td><td colspan=2>none</td></tr>
    <tr><th>Bram</th><td>2</td><td>7</td><td>0</td></tr></table>"""
    assert one(markup).table.caption == "Sales by shop"
    assert html_cells(markup) == [
        ["Shop", "2023 Sold", "2023 Left", "2024 Sold", "2024 Left"],
        ["Alm", "5", "1", "none", "none"],
        ["Bram", "5", "2", "7", "0"],
    ]
    groups = "<tbody><tr><th>a<th>b<tr><td rowspan=0>x<td>1<tr><td>2<tbody><tr><td>y<td>3</tbody>"
    assert html_cells(f"<table>{groups}</table>")[1:] == [["x", "1"], ["x", "2"], ["y", "3"]]


def test_tables_that_only_lay_out_a_page() -> None:
    long = "word " * 90
    for markup, reason in {
        " role=presentation><tr><th>a<th>b<tr><td>1<td>2": "layout",
        " class=navbox><tr><th>a<td>b<tr><th>c<td>d": "navigation",
        "><tr><td>a<td>b": "one row",
        ">": "one row or column, or none",
        "><tr><td>a<tr><td>b": "one row or column",
        "><tr><td>Name<td><input><tr><td>Mail<td><input>": "forms",
        "><tr><td><h2>News</h2><td>x<tr><td>y<td>z": "headings",
        f"><tr><td>{long}<td>a<tr><td>b<td>{long}": "long texts",
    }.items():
        (found,) = page(f"<table{markup}</table>")
        assert isinstance(found, LeftOut) and reason in found.why and not found.is_fault


def test_a_mark_decides_how_a_page_is_encoded_and_hidden_tables_are_not_there() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        data = "<table><tr><th>Stadt<th>Höhe<tr><td>Köln<td>53</table>".encode(encoding)
        (found,) = page_tables(data, Origin("page"))
        assert isinstance(found, Found) and found.table.rows == (("Köln", "53"),), encoding
    assert page("<div style='display: none'><table><tr><td>a<td>b<tr><td>1<td>2</table></div>") == []


RAISED = """$5<sup>2</sup> = $5|EUR 40<sup>1</sup> = EUR 40|22<sup><a href='#f'>2</a></sup> = 22
88<sup>(1), (2)</sup> = 88|44<sup>[3]</sup> = 44|(312)<sup>a</sup> = (312)|12.5%<sup>*</sup> = 12.5%
Dues<sup>1</sup> = Dues|90 m<sup>2</sup> = 90 m²|3 x 10<sup>6</sup> = 3 x 10⁶|10<sup>-3</sup> = 10⁻³
5<sup>1</sup>/2 = 5 1/2|1<sup>st</sup> = 1st|Acme<sup>TM</sup> = AcmeTM"""


def test_a_raised_figure_is_never_glued_to_the_one_before_it() -> None:
    for source, shown in (each.split(" = ") for each in RAISED.replace("\n", "|").split("|")):
        assert html_cells(f"<table><tr><th>a<th>b<tr><td>{source}<td>x</table>")[1][0] == shown


INCOME = """<td></td><td></td><td colspan=6><b>Year ended June 30,</b></td></tr>
<tr><td>(in thousands)</td><td></td><td colspan=2>2023</td><td></td><td colspan=2>2022</td><td></td></tr>
<tr><td>Dues</td><td></td><td>$</td><td>1,234</td><td></td><td>$</td><td>1,100</td><td></td></tr>
<tr><td>Dredging</td><td></td><td></td><td>(800</td><td>)</td><td></td><td>(745</td><td>)</td></tr>
<tr><td>Grants</td><td></td><td colspan=2>—</td><td></td><td colspan=2>12</td><td></td></tr>
<tr><td>Result</td><td></td><td>$ (</td><td>34</td><td>)</td><td>$</td><td>355</td><td></td></tr>
<tr><td>Share</td><td></td><td></td><td>35.2</td><td>%</td><td></td><td>(32.3</td><td>)%</td></tr>"""
ENDED = """(in thousands),Year ended June 30; 2023,Year ended June 30; 2022|Dues,$1;234,$1;100\
|Dredging,(800),(745)|Grants,—,12|Result,$ (34),$355|Share,35.2%,(32.3)%"""


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<td><td>2023<td><td>2022<td><tr><td>Dues<td>$<td>5<td>$<td>4", ",2023,2022|Dues,$5,$4"),
        ("<th>Item<th>Currency<th>Price<tr><td>Rope<td>$<td>5", "Item,Currency,Price|Rope,$,5"),
        ("<th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><td>2<td>", "a,b,c|1,,3|,2,"),
        ("<td>Port<td>Quay<tr><td>Arvik<td>north", "Port,Quay|Arvik,north"),
        # Rows that begin with their names are columns.
        ("<th colspan=2>Rome<tr><th>Land<td>Italy<tr><th>Built<td>753 BC", "Land,Built|Italy,753 BC"),
        (INCOME, ENDED),
    ],
)
def test_signs_go_with_their_amounts_and_other_columns_stay(markup: str, expected: str) -> None:
    wanted = [[cell.replace(";", ",") for cell in line.split(",")] for line in expected.split("|")]
    assert html_cells(f"<table><tr>{markup}</table>") == wanted


_TAGS = ("table", "tr", "td", "th", "thead", "tfoot", "caption", "sup", "h2", "title", "div")
_ODD = ("td colspan=3", "th rowspan=2", "td rowspan=0", "td colspan=x", "td colspan=1000 rowspan=9999")
_PIECES = [f"<{tag}>" for tag in (*_TAGS, *(f"/{tag}" for tag in _TAGS), *_ODD, "div hidden", "!--")]
_PIECES += ["a", "1", "$", "(800", ")", "[1]", "-->"]
_CELLS = ("", "$", "(", ")", "%", "1,234", "(800", "35.2", "—", "2023", "Dues", "a b")


@given(st.text("|-: \n#`*[]()ab1~=\\", max_size=200), st.lists(st.sampled_from(_PIECES), max_size=40))
def test_no_markdown_and_no_page_breaks_the_reader(text: str, pieces: list[str]) -> None:
    for each in (*tables_in(b"x" + text.encode(), "x.md"), *page("".join(pieces))):
        assert isinstance(each, Found | LeftOut)


@given(st.lists(st.lists(st.sampled_from(_CELLS), min_size=3, max_size=7), min_size=2, max_size=6))
def test_no_letter_of_a_cell_is_lost_or_doubled(rows: list[list[str]]) -> None:
    markup = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (found,) = page(f"<table>{markup}</table>")
    if isinstance(found, Found):
        body = "".join(cell for row in found.table.rows for cell in row).replace(" ", "")
        assert "".join(cell for row in rows for cell in row).replace(" ", "").endswith(body)
