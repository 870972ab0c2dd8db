"""Numbers, tokens and beginnings of texts, and what a reader sees of a page."""

import time
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import WebError
from chameleon.figures import in_digits, in_dollars, in_time, with_unit, without_noise
from chameleon.table import Table, to_text
from chameleon.text import beginning, estimated_tokens, one_line
from chameleon.web.markup import decoded, page_text, visible

BARS = to_text(Table(["Kite", "Minutes"], [["red", "12"], ["blue", "15"]]))


@pytest.mark.parametrize(
    ("write", "cases"),
    [
        (in_digits, {1234: "1,234", 1234.5: "1,234", 0.35000000000000003: "0.35", 1e-05: "0.00001", 0.0: "0",
                     12.3456: "12.35", float("nan"): "nan"}),
        (in_dollars, {0: "$0.00", 0.00001: "under $0.0001", 0.0012: "$0.0012", 0.35: "$0.35", 0.5: "$0.50",
                      0.99999: "$1.00", 12.5: "$12.50", 1234.5: "$1,234.50"}),
        (in_time, {0: "under 1 ms", 0.012: "12 ms", 0.0949: "95 ms", 0.4: "0.4 s", 59.94: "59.9 s",
                   59.96: "1 min", 200: "3 min 20 s", 3600: "1 h", 7500: "2 h 5 min"}),
        (without_noise, {0.1 + 0.2: "0.3", -0.1 - 0.2: "-0.3", 1 / 3: "0.3333333333333333", 1e-05: "0.00001",
                         15.0: "15", -0.0: "0", 99.99999999999999: "100", 2.0**64: "18446744073709551616",
                         3932.79972191: "3932.79972191", 0.123456789012345: "0.123456789012345",
                         1e16: "10000000000000000", 1e15 + 0.1: "1000000000000000.1",
                         1e14 + 0.3: "100000000000000.3", 1e300: "1e+300", float("inf"): "inf"}),
    ],
)  # fmt: skip
def test_numbers_are_as_a_person_writes_them(write: Any, cases: dict[float, str]) -> None:
    assert {value: write(value) for value in cases} == cases
    for text in ("-5 $ -$5", "12.5 $ $12.50", "12.25 € €12.25", "1e+9 $ $1e+9", "7.5 km 7.5 km", "5 % 5%"):
        number, unit, written = text.split(" ", 2)
        assert with_unit(number, unit) == written


TOKENS = {
    "": 0, "the city": 2, "Constantinople": 3, "a | b": 3, "1993": 2, "in 1993": 4, "12,467": 3, "-----": 2,
    "中文": 2, "a\n\nb": 3, BARS: 14,
}  # fmt: skip


def test_pieces_of_a_text_are_as_many_as_cl100k_base_has() -> None:
    assert {text: estimated_tokens(text) for text in TOKENS} == TOKENS


@given(st.lists(st.text(st.characters(exclude_characters="\t\n\r"), min_size=1), min_size=1))
def test_lines_add_up(lines: list[str]) -> None:
    each = sum(map(estimated_tokens, lines))
    assert estimated_tokens("\n".join(lines)) == each + len(lines) - 1


@given(st.text(), st.text(), st.integers(1, 30))
def test_tokens_beginnings_and_lines_keep_to_their_limits(text: str, more: str, most: int) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= len(text) + len(more)
    begun, line = beginning(text, most), one_line(text, most + 1)
    assert text.startswith(begun) and estimated_tokens(begun) <= most
    assert len(line) <= most + 1 and "\n" not in line


def test_the_beginning_ends_with_a_word() -> None:
    begun = {2: "the city", 4: "the city of Tartu"}
    assert {most: beginning("the city of Tartu", most) for most in begun} == begun
    assert beginning("Constantinople", 2) == "Constantinop", "no word ends before it"
    assert (beginning("in 1993 and 1994", 4), beginning("a\n\nb c", 2)) == ("in 1993", "a")
    assert len(beginning("a" + " " * 1_000_000 + "b", 10)) <= 80


PAGE = Path(__file__).with_name("page.html").read_bytes()


def test_what_a_reader_sees_is_kept_and_nothing_else() -> None:
    title, text = page_text(PAGE)
    assert title == "Tides & <b>ports</b>"
    assert text == "High tide\ncomes twice\na day.\n6:10 4.2 m\nshown"


def test_parts_of_pages_and_other_texts() -> None:
    assert page_text(b"<p hidden>never<b>never</b>never</p>seen<br hidden>too")[1] == "seen\ntoo"
    assert page_text(b"a < b &amp; c\r\n\r\n  d\x07", "text/plain") == ("", "a < b &amp; c\nd")
    assert page_text(b"<p>a</p>", "") == ("", "a")
    for kind in ("application/pdf", "image/png", "application/octet-stream", "video/mp4"):
        with pytest.raises(WebError, match="not text"):
            page_text(b"%PDF-1.7", kind)
    assert visible("a\u202eb\u2066c\u200bd\x1b[31m\ufeff\ue000\U000e0041") == "abcd[31m"
    assert visible("می\u200cخواهم") == "می\u200cخواهم"


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
def test_encodings_are_recognized(body: bytes, kind: str, text: str) -> None:
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


NO_MARKUP = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="<&"), max_size=200)


@given(NO_MARKUP, st.text(max_size=60))
def test_what_is_no_markup_is_kept_word_for_word_and_markup_becomes_text(text: str, odd: str) -> None:
    title, shown = page_text(f"<title>{text}</title><p>{text}</p>".encode())
    assert shown.split() == text.split() and title.split() == text.split()
    title, shown = page_text(f"<title>{odd}</title><p>{odd}</p><p>the end".encode("utf-8", "replace"))
    assert all(c == "\n" or c.isprintable() or c in "\u200c\u200d" for c in shown) and "\n" not in title
