"""Hostile tables, documents, folders and pictures."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.hostile import EVIL, OFFLINE, Hostile
from tests.pictures.drawn import png

Content = str | bytes | Callable[[], str | bytes]
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_NAMES = [f'<c r="{name}1" t="inlineStr"><is><t>{name}</t></is></c>' for name in "AB"]
_INDEX = ("index", "data", "--out", "made.index")
_HEADER = f'<row r="1">{"".join(_NAMES)}</row>'


def zipped(parts: dict[str, Iterable[str]]) -> bytes:
    """Pack parts, each written piece by piece."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in parts.items():
            with archive.open(name, "w") as part:
                for piece in pieces:
                    part.write(piece.encode())
    return file.getvalue()


def workbook(rows: Iterable[str], strings: Iterable[str] = (), sheet: str = "Sheet1") -> bytes:
    """A workbook with one sheet of these rows."""
    targets = {"worksheet": "worksheets/sheet1.xml", "sharedStrings": "sharedStrings.xml"}
    relations = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets.items(), 1)
    )
    linked = f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>'
    data = [f'<worksheet xmlns="{_SHEETS}"><sheetData>{_HEADER}', *rows, "</sheetData></worksheet>"]
    whole = f'<Relationship Id="r" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    sheets = f'<sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets>'
    return zipped(
        {
            "[Content_Types].xml": [f'<Types xmlns="{_PACKAGE}/content-types"/>'],
            "_rels/.rels": [f'<Relationships xmlns="{_PACKAGE}/relationships">{whole}</Relationships>'],
            "xl/workbook.xml": [f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}">{sheets}</workbook>'],
            "xl/_rels/workbook.xml.rels": [linked],
            "xl/worksheets/sheet1.xml": data,
            "xl/sharedStrings.xml": [f'<sst xmlns="{_SHEETS}">', *strings, "</sst>"],
        }
    )


def cell(row: int, place: str, text: str = "x") -> str:
    """A row of one cell."""
    return f'<row r="{row}"><c r="{place}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def database(*statements: str, values: tuple[object, ...] = ()) -> bytes:
    """An SQLite file made by these statements; the last has the values."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.sqlite")
        with closing(sqlite3.connect(file)) as connection:
            for statement in statements:
                connection.execute(statement, values if statement is statements[-1] else ())
            connection.commit()
        return file.read_bytes()


def parquet(query: str) -> bytes:
    """A Parquet file of what a query gives."""
    import duckdb

    with TemporaryDirectory() as folder:
        file = Path(folder, "a.parquet")
        duckdb.execute(f"copy ({query}) to '{file}' (format parquet, compression zstd)")
        return file.read_bytes()


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, of which the first is the catalogue."""
    made, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer\n<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(made))
    return made + head + table + trailer


def forms(levels: int = 12) -> bytes:
    """A page whose form calls the next one ten times, and so on."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        _stream(b"/F Do"),
    ]
    for level in range(levels):
        next_one = b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + level)
        objects.append(_stream(b"/F Do " * 10, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + next_one))
    return pdf(*objects, _stream(b"BT (x) Tj ET", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"))


def packed_twice() -> bytes:
    """A page whose content unpacks to 200 MB."""
    once = zlib.compressobj(9)
    inner = b"".join(once.compress(b" " * (1 << 20)) for _ in range(200)) + once.flush()
    data = zlib.compress(inner, 9)
    content = b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>\nstream\n%b\nendstream" % (len(data), data)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>"
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, content)


def _stream(content: bytes, about: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (about, len(content), content)


def document(text: str) -> bytes:
    """A Word document of this text in XML."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    return zipped({"word/document.xml": [text.replace("SPACE", space)]})


def _table(name: str, content: Content, code: int, told: str, *options: str) -> Hostile:
    arguments = ("ask", "How many more points has A than B?", "--table", name, *OFFLINE, *options)
    return Hostile(arguments, code, told, {name: content})


def _indexed(name: str, content: Content, code: int, told: str) -> Hostile:
    files = {f"data/{name}": content, "data/good.csv": "Team,Points\nA,5\nB,3\n"}
    return Hostile(_INDEX, code, told, files)


_MEMORY_OR_TIME = r"takes more than [\d,]+ (MB of memory|seconds)"
_CELLS, _LONG = "more than 5,000,000 cells", "a cell is longer than 131,072 characters"
_ROWS = "Team,points\nA,5\nB,3\n"

_DECLINED_TABLES: dict[str, tuple[str, Content]] = {
    "a sheet that steers": (
        "a.xlsx",
        lambda: workbook([cell(2, "A2", "&#x202e;")], sheet="&#x202e;evil&#x9b;"),
    ),
    "numbers that are none": ("a.json", '[{"a": NaN, "b": 1e999}, {"a": -Infinity}]'),
    "half surrogates": ("a.json", '[{"\\ud800":"\\udfff","b":1},{"\\ud800":"x","b":2}]'),
    "a row of blanks": ("a.csv", lambda: f"a,b\n{' ' * 5_000_000}x,1\n"),
    "formulas": ("a.csv", "Team,points\n=cmd|'/c calc'!A0,5\n@SUM(1),=HYPERLINK(\"http://x\")\n"),
    "spans that are no numbers": (
        "a.html",
        '<table><tr><th colspan="-1">a<th colspan="nan">b<tr><td rowspan="1e9">1<td>2',
    ),
    "a page that steers": (
        "a.html",
        f"<table><caption>&#x1b;{EVIL}<tr><th>&#x9b;a<th>b<tr><td>&#xd800;5<td>2",
    ),
    "many attributes": (
        "a.html",
        lambda: f"<table {' '.join(f'a{n}=1' for n in range(8_000))}><tr><th>a<th>b<tr><td>1<td>2",
    ),
    "columns of a database that steer": (
        "a.sqlite",
        lambda: database(
            f'CREATE TABLE "t{EVIL}" ("p{EVIL}", "b"";--")', f'INSERT INTO "t{EVIL}" VALUES (1, 2)'
        ),
    ),
}
_REFUSED_TABLES: dict[str, tuple[str, Content, str]] = {
    "a row far down": ("a.xlsx", lambda: workbook([cell(999_999_999, "A999999999")]), _CELLS),
    "rows far right": ("a.xlsx", lambda: workbook(cell(n, f"NTP{n}") for n in range(2, 20_002)), _CELLS),
    "a column beyond all": ("a.xlsx", lambda: workbook([cell(2, "ZZZZZZZZ2")]), _CELLS),
    "many strings": (
        "a.xlsx",
        lambda: workbook([], ("<si/>" * 1_000 for _ in range(5_000))),
        f"has a header but no rows|{_MEMORY_OR_TIME}",
    ),
    "a string of 30 MB": ("a.xlsx", lambda: workbook([cell(2, "A2", "z" * 30_000_000)]), _LONG),
    "a string that is not there": (
        "a.xlsx",
        lambda: workbook(['<row r="2"><c r="A2" t="s"><v>99999999999</v></c></row>']),
        "cannot be read",
    ),
    "a formula without a value": (
        "a.xlsx",
        lambda: workbook(['<row r="2"><c r="A2" t="str"><f>1/0</f></c></row>']),
        "without a saved value",
    ),
    "half a workbook": ("a.xlsx", lambda: workbook([])[:-100], "cannot be read as a spreadsheet"),
    "10,000 keys": ("a.json", lambda: json.dumps([{f"k{n}": 1} for n in range(9_999)]), _CELLS),
    "lists that go down": ("a.json", "[" * 100_000, "nested too deeply"),
    "a number of 5,000 digits": ("a.json", f'[{{"a": {"9" * 5_000}}}]', "4,300 digits"),
    "many objects of nothing": ("a.json", lambda: f"[{'{},' * 50_000}{{}}]", "no text"),
    "UTF-16 without its mark": ("a.csv", _ROWS.encode("utf-16-be"), "NUL byte"),
    "half of UTF-16": ("a.csv", b"\xff\xfea", "is not UTF-16"),
    "NUL": ("a.csv", "Team,points\nA\0,5\n", "NUL byte"),
    "an encoding of mainframes": ("a.csv", _ROWS.encode("cp500"), "is not UTF-8"),
    "100,000 columns": ("a.csv", lambda: "c,1,2,3,4," * 20_000 + "\n1\n", "columns, more than 10,000"),
    "a cell of 30 MB": ("a.csv", lambda: f"a,b\n{'z' * 30_000_000},1\n", _LONG),
    "a quote that never closes": ("a.csv", lambda: 'a,b\n"' + "z,\n" * 1_000_000, "a quote is never closed"),
    "gigabytes in a gzip": ("a.csv.gz", lambda: gzip.compress(b"\0" * 80_000_000, 1), "unpacks to more than"),
    "half a gzip": ("a.csv.gz", lambda: gzip.compress(_ROWS.encode() * 999)[:-20], "damaged gzip"),
    "cells that span all": (
        "a.html",
        "<table><tr><th>a<th>b" + '<tr><td colspan="1000" rowspan="65534">x' * 1_000,
        _CELLS,
    ),
    "tables in tables": ("a.html", "<table><tr><td>" * 20_000, "holds no table"),
    "many small letters": ("a.html", "<table><tr><th>a<th>b<tr><td>" + "x<sup>1</sup>" * 100_000, _LONG),
    "a schema that is no UTF-8": (
        "a.sqlite",
        lambda: database("CREATE TABLE t (caXX, b)").replace(b"caXX", b"ca\xff\xfe"),
        "cannot be read",
    ),
    "gigabytes in a Parquet file": (
        "a.parquet",
        lambda: parquet("SELECT repeat('x', 100000) a, 1 b FROM range(2000)"),
        f"has more text|{_MEMORY_OR_TIME}",
    ),
    "endless Parquet rows": ("a.parquet", lambda: parquet("SELECT 1 a, 2 b FROM range(20000000)"), _CELLS),
    "a Parquet file that lies": ("a.parquet", b"PAR1" + b"\xff" * 104 + b"PAR1", "cannot be read"),
    "a database that lies": ("a.duckdb", b"\0" * 8 + b"DUCK" + b"\xff" * 5_000, "cannot be read"),
}
TABLES: dict[str, Hostile] = {
    **{what: _table(name, content, 3, "Declined") for what, (name, content) in _DECLINED_TABLES.items()},
    **{what: _table(name, content, 1, told) for what, (name, content, told) in _REFUSED_TABLES.items()},
    "objects that go down": _indexed("a.json", '{"a":' * 100_000, 0, "nested too deeply"),
    "a value of 30 MB": _indexed("a.json", lambda: json.dumps([{"a": "z" * 30_000_000}]), 0, _LONG),
    "keys that steer": _table(
        "a.json", json.dumps([{f"a{EVIL}": 1, f"b{EVIL}": EVIL}] * 2), 3, "null", "--json"
    ),
    "UTF-16": _table("a.csv", _ROWS.encode("utf-16"), 0, "difference between points"),
    "a mark in the middle": _table("a.csv", "Team,points\nA,5\n\ufeffB,3\n", 0, "difference between points"),
    "columns that steer": _table(
        "a.csv", f"Team{EVIL},points{EVIL}\nA,5\nB{EVIL},3\n", 3, "Declined", "--trace"
    ),
    "5,000 digits": _table("a.csv", f"Team,points\nA,{'9' * 5_000}\nB,1e999999999\n", 3, "Declined"),
    "entities of a page": _table(
        "a.html",
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><table><tr><th>&e;<th>b<tr><td>1<td>2',
        3,
        "(?s)^(?!.*root:)",
    ),
    "many tables of a page": _indexed(
        "a.html", lambda: "<table><tr><th>a<th>b<tr><td>1<td>2</table>" * 500, 0, "made.index"
    ),
    "a view without an end": _table(
        "a.sqlite",
        lambda: database(
            "CREATE TABLE z (a, b)",
            "INSERT INTO z VALUES (1, 2)",
            "CREATE VIEW t AS WITH RECURSIVE r (a) AS (SELECT 1 UNION ALL SELECT a FROM r) SELECT * FROM r",
        ),
        3,
        "there are also 't'",
    ),
    "a text of 30 MB in a database": _indexed(
        "a.sqlite",
        lambda: database("CREATE TABLE t (a)", "INSERT INTO t VALUES (?)", values=("z" * 30_000_000,)),
        0,
        _LONG,
    ),
}


def _text(name: str, content: Content, code: int, told: str, *options: str) -> Hostile:
    arguments = ("ask", "Who has the points?", "--text", name, "-i", "papers_offline", *options)
    return Hostile(arguments, code, told, {name: content})


def _odd_folder(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    (data / "good.csv").write_text(_ROWS)
    os.mkfifo(data / "pipe.csv")
    with closing(socket.socket(socket.AF_UNIX)) as heard:
        heard.bind(os.path.relpath(data / "socket.csv"))
    (data / "root").symlink_to("/")
    (data / "device.csv").symlink_to("/dev/zero")
    (data / "loop").symlink_to(data, target_is_directory=True)
    (data / "self.csv").symlink_to("self.csv")
    (data / "secret.csv").symlink_to("/etc/passwd")
    (data / f"{EVIL.replace('/', '')}\n.csv").write_text(_ROWS)
    Path(os.fsdecode(os.fsencode(data) + b"/\xff\xfe.csv")).write_text(_ROWS)


_SPAN = '<w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>'
_WIDE = f"<w:tr><w:tc>{_SPAN}<w:p><w:r><w:t>Dry</w:t></w:r></w:p></w:tc></w:tr>"

_READ_TEXTS: dict[str, tuple[str, Content]] = {
    "wide cells of a Word document": (
        "a.docx",
        lambda: document(f"<x SPACE><w:tbl>{_WIDE * 2_500}</w:tbl></x>"),
    ),
    "elements in elements": ("a.html", "<div>" * 100_000 + "points"),
    "small letters of a page": ("a.html", "<p>points " + "x<sup>1</sup>" * 30_000),
    "a page that steers": ("a.html", f"<h1>{EVIL}points&#x1b;</h1><p>points{EVIL}&#x202e;"),
    "a line of blanks": ("a.md", "# a\n\n" + " " * 900_000 + "x points"),
    "a line of tabs": ("a.md", "# a\n\n" + "\t" * 900_000 + "- points"),
    "a line of stars": ("a.md", "# a\n\n" + "*" * 100_000 + "points"),
    "a line of bullets": ("a.md", "# a\n\n" + "- " * 50_000 + "points"),
    "a heading without an end": ("a.md", "# " + "points " * 100_000),
    "quotes in quotes": ("a.md", "# a\n\n" + ">" * 50_000 + " points"),
}
_REFUSED_TEXTS: dict[str, tuple[str, Content, str]] = {
    "forms in forms": ("a.pdf", forms, _MEMORY_OR_TIME),
    "a page that is packed twice": ("a.pdf", packed_twice, f"a.pdf.*({_MEMORY_OR_TIME}|no text)"),
    "half a PDF": ("a.pdf", lambda: forms(1)[:-200], "a.pdf"),
    "a PDF of nothing": ("a.pdf", b"%PDF-1.7\n" + b"\xff" * 1_000, "a.pdf"),
    "a page that is its own parent": (
        "a.pdf",
        pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 99999999>>"),
        "a.pdf",
    ),
    "laughs in a Word document": (
        "a.docx",
        lambda: document(
            '<!DOCTYPE x [<!ENTITY a0 "ha">'
            + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
            + "]><w:p SPACE><w:r><w:t>&a11;</w:t></w:r></w:p>"
        ),
        "a.docx",
    ),
    "a Word document of 100 MB": ("a.docx", lambda: document(" " * 120_000_000), "limit"),
    "a Word document that goes down": ("a.docx", lambda: document("<a>" * 50_000), "broken"),
    "a file in a Word document": (
        "a.docx",
        lambda: document(
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:p SPACE><w:t>&e;</w:t></w:p>'
        ),
        "(?s)a.docx(?!.*root:)",
    ),
    "a text that is none": ("a.txt", bytes(range(256)) * 100, "a.txt"),
}
DOCUMENTS: dict[str, Hostile] = {
    **{what: _text(name, content, 3, "Declined|Nearest") for what, (name, content) in _READ_TEXTS.items()},
    **{what: _text(name, content, 1, told) for what, (name, content, told) in _REFUSED_TEXTS.items()},
    "a text that steers": _text("a.txt", f"points {EVIL}\n" * 100, 3, "null", "--json"),
    "a folder of odd things": Hostile(_INDEX, 0, "3 tables", make=_odd_folder),
    "a folder that is the root by a link": Hostile(
        ("index", "root", "--out", "made.index"),
        1,
        "root",
        make=lambda folder: (folder / "root").symlink_to("/proc/self/fd"),
    ),
    "a device for a table": Hostile(("ask", "Who?", "--table", "/dev/zero"), 1, "/dev/zero"),
}


def _tiff(*entries: tuple[int, int, int, int]) -> bytes:
    """A TIFF whose directory has these entries, then points to itself."""
    made = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + made + struct.pack("<I", 8)


_REFUSED_PICTURES: dict[str, tuple[str, Content, str]] = {
    "pixels without an end": ("a.png", lambda: png(60_000, 60_000), "too large to be unpacked"),
    "a line of pixels": ("a.png", lambda: png(2_000_000_000, 1), "too large to be unpacked"),
    "a header that lies": ("a.png", lambda: png(5_000, 5_000), "damaged or cut off"),
    "a GIF that lies": ("a.gif", b"GIF89a\xff\xff\xff\xff\x80\0\0" + b"\xff" * 1_000, "a.gif"),
    "a BMP that lies": (
        "a.bmp",
        b"BM" + struct.pack("<IIIIiiHHIIiiII", 99, 0, 54, 40, 10**9, -(10**9), 1, 24, 0, 0, 0, 0, 0, 0),
        "a.bmp",
    ),
    "a WebP that lies": ("a.webp", b"RIFF\xff\xff\xff\xffWEBPVP8L" + b"\xff" * 1_000, "a.webp"),
    "a JPEG of headers": ("a.jpg", b"\xff\xd8" + b"\xff\xe1\xff\xff" * 5_000, "a.jpg"),
    "a TIFF that lies": (
        "a.tiff",
        _tiff((256, 3, 1, 10), (257, 3, 1, 10), (270, 2, 1 << 30, 8), (273, 4, 1 << 28, 8)),
        "a.tiff",
    ),
    "a TIFF without an end": ("a.tiff", _tiff((256, 4, 1, 1 << 30), (257, 4, 1, 1 << 30)), "a.tiff"),
    "a text in a PNG": ("a.png", lambda: png(20, 20)[:33] + _text_chunk() + png(20, 20)[33:], "."),
    "a drawing": (
        "a.svg",
        f"<svg xmlns='http://www.w3.org/2000/svg'><text>{EVIL}</text></svg>",
        "no picture",
    ),
    "a program": ("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n{} loop", "is no picture"),
    "an empty one": ("a.png", b"", "is no picture"),
}
_PICTURE = ("ask", "What is the fare?", "-i", "pictures_offline", "--image")
PICTURES = {
    what: Hostile((*_PICTURE, name), 1, told, {name: content})
    for what, (name, content, told) in _REFUSED_PICTURES.items()
}


def _text_chunk() -> bytes:
    data = b"zTXta\0\0" + zlib.compress(b" " * 80_000_000, 9)
    return struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
