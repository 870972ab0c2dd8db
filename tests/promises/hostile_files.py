"""Hostile tables, documents, folders and pictures."""

import gzip
import io
import json
import os
import socket
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.pictures.drawn import png
from tests.promises.hostile import EVIL, OFFLINE, Hostile

Content = str | bytes | Callable[[], str | bytes]
Cases = Mapping[str, tuple[str, Content, str]]
"""A name, a file's name, what it holds, and what is told of it."""

_INDEX = ("index", "data", "--out", "made.index")
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PASSWD = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'


def zipped(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def workbook(rows: str = "", strings: str = "", title: str = "Sheet1") -> bytes:
    """A workbook with one sheet, of which rows after its header and strings are given as XML."""
    import openpyxl

    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.title = title
    book.active.append(["A", "B"])
    book.save(file)
    with zipfile.ZipFile(file) as made:
        parts = {name: made.read(name).decode() for name in made.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace("</sheetData>", f"{rows}</sheetData>")
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{_SHEETS}">{strings}</sst>'
    return zipped(parts)


def cell(row: int, place: str, text: str = "x") -> str:
    return f'<row r="{row}"><c r="{place}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def database(*statements: str, values: tuple[object, ...] = ()) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement, values if statement is statements[-1] else ())
        connection.commit()
        return connection.serialize()


def parquet(query: str) -> bytes:
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


def page(content: bytes, *objects: bytes, about: bytes = b"") -> bytes:
    """A PDF of one page; the fifth object is the first of these."""
    kid = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R%b>>" % about
    pages = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", pages, kid, content, *objects)


def stream(content: bytes, about: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (about, len(content), content)


def forms(levels: int = 12) -> bytes:
    """A page whose form calls the next one ten times, and so on."""
    form, named = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]", b"/Resources<</XObject<</F %d 0 R>>>>"
    made = [stream(b"/F Do " * 10, form + named % (6 + level)) for level in range(levels)]
    return page(stream(b"/F Do"), *made, stream(b"BT (x) Tj ET", form), about=named % 5)


def packed_twice() -> bytes:
    once = zlib.compressobj(9)
    inner = b"".join(once.compress(b" " * (1 << 20)) for _ in range(200)) + once.flush()
    return page(stream(zlib.compress(inner, 9), b"/Filter[/FlateDecode/FlateDecode]"))


def document(text: str) -> bytes:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    return zipped({"word/document.xml": text.replace("SPACE", space)})


def _table(name: str, content: Content, code: int, told: str, *options: str) -> Hostile:
    arguments = ("ask", "How many more points has A than B?", "--table", name, *OFFLINE, *options)
    return Hostile(arguments, code, told, {name: content})


def _indexed(name: str, content: Content, told: str) -> Hostile:
    return Hostile(_INDEX, 0, told, {f"data/{name}": content, "data/good.csv": _ROWS})


_MEMORY_OR_TIME = r"takes more than [\d,]+ (MB of memory|seconds)"
_CELLS, _LONG = "more than 5,000,000 cells", "a cell has more than 131,072 characters"
_ROWS = "Team,points\nA,5\nB,3\n"
_HEAD = "<table><tr><th>a<th>b"  # of a page's table
_DIFFERENCE, _DECLINED = "difference between points", "Declined"
_ENDLESS = (
    *("CREATE TABLE z (a, b)", "INSERT INTO z VALUES (1, 2)"),
    "CREATE VIEW t AS WITH RECURSIVE r (a) AS (SELECT 1 UNION ALL SELECT a FROM r) SELECT * FROM r",
)
_STEERING = (f'CREATE TABLE "t{EVIL}" ("p{EVIL}", "b"";--")', f'INSERT INTO "t{EVIL}" VALUES (1, 2)')
_FULL = ("CREATE TABLE t (a)", "INSERT INTO t VALUES (?)")
_LONG_CELLS = "SELECT repeat('x', 100000) a, 1 b FROM range(2000)"
_NO_UTF8 = "CREATE TABLE t (caXX, b)"
_NO_VALUE = '<row r="2"><c r="A2" t="str"><f>1/0</f></c></row>'
_PAGE_THAT_STEERS = f"<table><caption>&#x1b;{EVIL}<tr><th>&#x9b;a<th>b<tr><td>&#xd800;5<td>2"

_DECLINED_TABLES: Cases = {
    "half surrogates": ("a.json", '[{"\\ud800":"\\udfff","b":1},{"\\ud800":"x","b":2}]', _DECLINED),
    "a page that steers": ("a.html", _PAGE_THAT_STEERS, _DECLINED),
    "columns of a database that steer": ("a.sqlite", lambda: database(*_STEERING), _DECLINED),
    "a view without an end": ("a.sqlite", lambda: database(*_ENDLESS), "there are also 't'"),
}
_REFUSED_TABLES: Cases = {
    "many strings": ("a.xlsx", lambda: workbook(strings="<si/>" * 5_000_000), f"no rows|{_MEMORY_OR_TIME}"),
    "a formula without a value": ("a.xlsx", lambda: workbook(_NO_VALUE), "without a saved value"),
    "lists that go down": ("a.json", "[" * 100_000, "nested too deeply"),
    "an encoding of mainframes": ("a.csv", _ROWS.encode("cp500"), "is not UTF-8"),
    "a cell of 30 MB": ("a.csv", lambda: f"a,b\n{'z' * 30_000_000},1\n", _LONG),
    "a quote that never closes": ("a.csv", lambda: 'a,b\n"' + "z,\n" * 1_000_000, "a quote is never closed"),
    "gigabytes in a gzip": ("a.csv.gz", lambda: gzip.compress(b"\0" * 80_000_000, 1), "unpacks to more than"),
    "cells that span all": ("a.html", _HEAD + '<tr><td colspan="1000" rowspan="65534">x' * 1_000, _CELLS),
    "tables in tables": ("a.html", "<table><tr><td>" * 20_000, "has no table"),
    "a schema that is no UTF-8": ("a.sqlite", lambda: database(_NO_UTF8).replace(b"XX", b"\xff\xfe"), "read"),
    "gigabytes in Parquet": ("a.parquet", lambda: parquet(_LONG_CELLS), f"more text|{_MEMORY_OR_TIME}"),
    "endless Parquet rows": ("a.parquet", lambda: parquet("SELECT 1 a, 2 b FROM range(20000000)"), _CELLS),
}
TABLES: dict[str, Hostile] = {
    **{what: _table(name, content, 3, told) for what, (name, content, told) in _DECLINED_TABLES.items()},
    **{what: _table(name, content, 1, told) for what, (name, content, told) in _REFUSED_TABLES.items()},
    "a mark in the middle": _table("a.csv", "Team,points\nA,5\n\ufeffB,3\n", 0, _DIFFERENCE),
    "keys that steer": _table("a.json", json.dumps([{f"a{EVIL}": 1, "b": EVIL}] * 2), 3, "null", "--json"),
    "a value of 30 MB": _indexed("a.json", lambda: json.dumps([{"a": "z" * 30_000_000}]), _LONG),
    "many tables of a page": _indexed("a.html", f"{_HEAD}<tr><td>1<td>2</table>" * 500, "made.index"),
    "a text of 30 MB": _indexed("a.sqlite", lambda: database(*_FULL, values=("z" * 30_000_000,)), _LONG),
}


def _text(name: str, content: Content, code: int, told: str, *options: str) -> Hostile:
    arguments = ("ask", "Who has the points?", "--text", name, "-i", "papers_offline", *options)
    return Hostile(arguments, code, told, {name: content})


def _odd_folder(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    os.mkfifo(data / "pipe.csv")
    with closing(socket.socket(socket.AF_UNIX)) as heard:
        heard.bind(os.path.relpath(data / "socket.csv"))
    links = {"root": "/", "device.csv": "/dev/zero", "loop": str(data), "self.csv": "self.csv"}
    for name, target in (links | {"secret.csv": "/etc/passwd"}).items():
        (data / name).symlink_to(target)
    for name in (b"good.csv", f"{EVIL.replace('/', '')}\n.csv".encode(), b"\xff\xfe.csv"):
        Path(os.fsdecode(os.fsencode(data) + b"/" + name)).write_text(_ROWS)


_WITH_PASSWD = f"{_PASSWD}<w:p SPACE><w:t>&e;</w:t></w:p>"
_SPAN = '<w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>'
_WIDE = f"<w:tr><w:tc>{_SPAN}<w:p><w:r><w:t>Dry</w:t></w:r></w:p></w:tc></w:tr>"
_LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
_LAUGHTER = f'<!DOCTYPE x [<!ENTITY a0 "ha">{_LAUGHS}]><w:p SPACE><w:r><w:t>&a11;</w:t></w:r></w:p>'
_OWN_PARENT = (b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 99999999>>")

_READ_TEXTS: dict[str, tuple[str, Content]] = {
    "wide cells": ("a.docx", lambda: document(f"<x SPACE><w:tbl>{_WIDE * 2_500}</w:tbl></x>")),
    "a page that steers": ("a.html", f"<h1>{EVIL}points&#x1b;</h1><p>points{EVIL}&#x202e;"),
    "a line of blanks": ("a.md", "# a\n\n" + " " * 900_000 + "x points"),
    "a heading without an end": ("a.md", "# " + "points " * 100_000),
}
_REFUSED_TEXTS: Cases = {
    "forms in forms": ("a.pdf", forms, _MEMORY_OR_TIME),
    "a page that is packed twice": ("a.pdf", packed_twice, f"a.pdf.*({_MEMORY_OR_TIME}|no text)"),
    "a PDF of nothing": ("a.pdf", b"%PDF-1.7\n" + b"\xff" * 1_000, "a.pdf"),
    "a page that is its own parent": ("a.pdf", pdf(*_OWN_PARENT), "a.pdf"),
    "laughs in a Word document": ("a.docx", lambda: document(_LAUGHTER), "a.docx"),
    "a Word document of 100 MB": ("a.docx", lambda: document(" " * 120_000_000), "limit"),
    "a file in a Word document": ("a.docx", lambda: document(_WITH_PASSWD), "(?s)a.docx(?!.*root:)"),
}
_ROOT = ("index", "root", "--out", "made.index")
_LINK = "/proc/self/fd"
DOCUMENTS: dict[str, Hostile] = {
    **{what: _text(name, content, 3, "Declined|Nearest") for what, (name, content) in _READ_TEXTS.items()},
    **{what: _text(name, content, 1, told) for what, (name, content, told) in _REFUSED_TEXTS.items()},
    "a text that steers": _text("a.txt", f"points {EVIL}\n" * 100, 3, "null", "--json"),
    "a folder of odd things": Hostile(_INDEX, 0, "3 tables", make=_odd_folder),
    "the root by a link": Hostile(_ROOT, 1, "root", make=lambda to: (to / "root").symlink_to(_LINK)),
}


def _tiff(*entries: tuple[int, int, int, int]) -> bytes:
    made = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + made + struct.pack("<I", 8)


def _png_of_text() -> bytes:
    data, whole = b"zTXta\0\0" + zlib.compress(b" " * 80_000_000, 9), png(20, 20)
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    return whole[:33] + chunk + whole[33:]


_BMP = struct.pack("<IIIIiiHHIIiiII", 99, 0, 54, 40, 10**9, -(10**9), 1, 24, 0, 0, 0, 0, 0, 0)
_TIFF = _tiff((256, 3, 1, 10), (257, 3, 1, 10), (270, 2, 1 << 30, 8), (273, 4, 1 << 28, 8))
_PICTURES: dict[str, tuple[str, Content]] = {
    "a BMP that lies": ("a.bmp", b"BM" + _BMP),
    "a JPEG of headers": ("a.jpg", b"\xff\xd8" + b"\xff\xe1\xff\xff" * 5_000),
    "a TIFF that lies": ("a.tiff", _TIFF),
    "a TIFF without an end": ("a.tiff", _tiff((256, 4, 1, 1 << 30), (257, 4, 1, 1 << 30))),
    "a text in a PNG": ("a.png", _png_of_text),
    "a drawing that steers": ("a.svg", f"<svg xmlns='http://www.w3.org/2000/svg'><text>{EVIL}</text></svg>"),
}
_PICTURE = ("ask", "What is the fare?", "-i", "pictures_offline", "--image")
PICTURES = {
    what: Hostile((*_PICTURE, file), 1, file, {file: data}) for what, (file, data) in _PICTURES.items()
}
