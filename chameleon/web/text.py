"""Text from strangers, made fit to be shown to a model: one line, no control characters, bounded."""

from __future__ import annotations

import codecs
import re
import unicodedata

# Joiners belong to the spelling of Persian, Indic scripts and emoji; everything else that is unseen goes.
_JOINERS = "\u200c\u200d"
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
# Codecs for pages; others that Python knows (punycode, unicode_escape) are no charsets and may be slow.
_CHARSETS = re.compile(r"utf-(8|16)|iso8859|cp\d|koi8|gb|big5|shift_jis|euc|iso2022_jp|mac-|tis|ascii|latin")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def visible(text: str) -> str:
    """The text without what is not seen: control, bidirectional, private, unassigned and tag characters.

    White space of any kind is kept as it is, for the caller to tidy.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c for c in text if c.isspace() or c in _JOINERS or not unicodedata.category(c).startswith("C")
    )


def one_line(text: str, limit: int) -> str:
    """The visible text on one line of at most `limit` characters, cut between words where that is near."""
    # Ten times the limit is enough to fill it; the rest of a large page need not be looked at.
    line = " ".join(visible(text[: 10 * limit + 1000]).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip() + "…"


def decoded(body: bytes, content_type: str = "") -> str:
    """The text of a page: by its byte-order mark, its header, its meta element, else UTF-8 or Windows-1252.

    A wrong or unknown charset costs some letters (U+FFFD), never an error.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    declared = _CHARSET.search(content_type)
    meta = _META_CHARSET.search(body[:4096])
    for name in (declared[1] if declared else "", meta[1].decode("ascii", "replace") if meta else ""):
        if codec := _codec(name):
            return body.decode(codec, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as problem:
        # A page that was cut in the middle of a letter is UTF-8 all the same.
        return body.decode("utf-8" if problem.reason == "unexpected end of data" else "cp1252", "replace")


def _codec(name: str) -> str:
    """Python's name for a charset of the web, "" for none; Latin-1 and ASCII mean Windows-1252 there."""
    try:
        codec = codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ""
    if codec in ("iso8859-1", "ascii"):
        return "cp1252"
    return codec if _CHARSETS.match(codec) else ""
