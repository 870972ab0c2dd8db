"""Pages as plain text, however hostile or odd they are."""

from __future__ import annotations

import time
import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import WebError
from chameleon.web.markup import decoded, page_text, visible

PAGE = """<!DOCTYPE html>
<html><head><title>Tides &amp; <b>ports</b></title><style>p {color: red}</style>
<script>document.write("never")</script><meta name="x" content="never"></head>
<body><!-- never --><h1>High   tide</h1>
<p>comes <b>twi</b>ce<br>a day.<p hidden>never</p>
<div style="color:red;display: none">never <p>never</p></div>
<span aria-hidden="true">never</span><template>never</template><noscript>never</noscript>
<svg><text>never</text></svg><select><option>never</select><input hidden>
<div style="font-size:0">never</div><div style="opacity: 0">never</div>
<div style="VISIBILITY:hidden">never</div>
<table><tr><td>6:10<td>4.2 m</tr></table><div style="opacity:0.9">shown</div></body></html>"""


def test_what_a_reader_sees_is_kept_and_nothing_else() -> None:
    title, text = page_text(PAGE.encode())
    assert title == "Tides & <b>ports</b>"
    assert text == "High tide\ncomes twice\na day.\n6:10 4.2 m\nshown"


def test_parts_of_pages_and_other_texts() -> None:
    assert page_text(b"<p hidden>never<b>never</b></p>seen<br hidden>too")[1] == "seen\ntoo"
    assert page_text(b"a < b &amp; c\r\n\r\n  d\x07", "text/plain") == ("", "a < b &amp; c\nd")
    assert page_text(b"<p>a</p>", "") == ("", "a")
    for kind in ("application/pdf", "image/png", "application/octet-stream", "video/mp4"):
        with pytest.raises(WebError, match="not text"):
            page_text(b"%PDF-1.7", kind)


WORDS = "Größe, Çay, приве́т, 潮汐, naïve — “fine”"


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (WORDS.encode(), "text/html", WORDS),
        (WORDS.encode(), "text/html; charset=UTF-8", WORDS),
        (WORDS.encode("utf-8-sig"), "text/html; charset=latin-1", WORDS),
        (WORDS.encode("utf-16"), "text/html", WORDS),
        ("Größe “fine”".encode("cp1252"), "text/html; charset=iso-8859-1", "Größe “fine”"),
        ("Größe".encode("latin-1"), "text/html", "Größe"),
        ("привет".encode("koi8-r"), "text/html; charset=KOI8-R", "привет"),
        ("привет".encode("cp1251"), "text/html; charset='windows-1251'", "привет"),
        ("潮汐".encode("shift_jis"), "text/html; charset=Shift_JIS", "潮汐"),
        (b"<meta charset=windows-1251>" + "привет".encode("cp1251"), "text/html", "привет"),
        (b"<meta content='text/html; charset=euc-jp'>" + "潮汐".encode("euc-jp"), "text/html", "潮汐"),
        ("Größe".encode(), "text/html; charset=no-such-charset", "Größe"),
        (b"abc\\u0041", "text/html; charset=unicode_escape", "abc\\u0041"),
        (b"eJw=", "text/html; charset=zip", "eJw="),
        (b"ok \xff\xfe", "text/html; charset=utf-8", "ok \ufffd\ufffd"),
        ("Größe".encode()[:3], "text/html", "Gr\ufffd"),
    ],
)
def test_encodings_are_recognised(body: bytes, kind: str, text: str) -> None:
    assert decoded(body, kind).rpartition(">")[2] == text
    assert page_text(body, kind)[1] == text


REPEATED = [
    *("<div>", "<a><b><i><p>", "<!--", "<a", "<a href='", "<![CDATA[", "<script></scrip", "<table><tr><td>"),
    *("&#1114112;&#0;&nbsp;&amp", "<p hidden>", "\0", " \n", "<p><font a={n}>", "<p a{n}=1 "),
]


@pytest.mark.parametrize("piece", REPEATED)
def test_hostile_pages_take_no_more_time_than_others(piece: str) -> None:
    """A megabyte, half of what the client lets through, in a time that grows with the length alone."""
    page = "".join(piece.replace("{n}", str(n)) for n in range(1_000_000 // len(piece))).encode()
    begun = time.process_time()
    page_text(page[:1_000_000])
    assert time.process_time() - begun < 2.5


@given(st.binary(max_size=300), st.text(max_size=40))
def test_any_bytes_of_any_kind_are_text_or_a_web_error(body: bytes, kind: str) -> None:
    with suppress(WebError):
        shown = {*"".join(page_text(body, kind))} - {*"\n\u200c\u200d"}
        assert not [sign for sign in shown if unicodedata.category(sign).startswith("C")]


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="<&"), max_size=200))
def test_what_is_no_markup_is_kept_word_for_word(text: str) -> None:
    title, shown = page_text(f"<title>{text}</title><p>{text}</p>".encode())
    assert shown.split() == text.split() and title.split() == text.split()


@given(st.text(max_size=200))
def test_markup_of_any_kind_becomes_text(text: str) -> None:
    title, shown = page_text(f"<title>{text}</title><p>{text}</p><p>the end".encode("utf-8", "replace"))
    assert all(c == "\n" or c.isprintable() or c in "\u200c\u200d" for c in shown) and "\n" not in title


def test_hidden_characters_go_and_joiners_stay() -> None:
    assert visible("a\u202eb\u2066c\u200bd\x1b[31m\ufeff\ue000\U000e0041") == "abcd[31m"
    assert visible("می\u200cخواهم") == "می\u200cخواهم"
