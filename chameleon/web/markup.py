"""Web pages as plain text, and text from strangers made safe to show to a model.

The parser is lxml's, fed with events instead of a tree. libxml2 is everywhere, and of the parsers tried only
it stays linear in time on hostile pages (400,000 nested elements, 200,000 attributes, unclosed comments);
trees of HTML 5 parsers and the standard library's html.parser do not.
"""

import codecs
import re
import unicodedata
from collections.abc import Mapping

from chameleon.errors import WebError, require

# Joiners are part of the spelling of Persian, Indic scripts and emoji; other invisible characters go.
_JOINERS = "\u200c\u200d"
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
# Codecs for pages; other Python codecs (punycode, unicode_escape) are not charsets and may be slow.
_CHARSETS = re.compile(r"utf-(8|16)|iso8859|cp\d|koi8|gb|big5|shift_jis|euc|iso2022_jp|mac-|tis|ascii|latin")
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),  # UTF-16's are prefixes
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
UNREAD = re.compile(
    "script|style|noscript|template|svg|math|iframe|object|embed|applet|canvas|audio|video|head|select"
    "|datalist|button|dialog"
)
"""Elements whose content is not text."""
SUPERSCRIPTS = str.maketrans("0123456789+-−–()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾")
"""For `str.translate`: "10" with a raised "6" is "10⁶"."""
INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|rp|rt|ruby|s|samp"
    "|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_CELLS = ("td", "th")
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0(\.0*)?\s*(;|!|$)"
    r"|font-size\s*:\s*0(\.0*)?(px|pt|em|rem|%)?\s*(;|!|$)",
    re.IGNORECASE,
)
_MAX_TITLE_CHARS = 300
_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r" ?\n[\s]*")


def page_text(body: bytes, content_type: str = "text/html") -> tuple[str, str]:
    """Return the title and the visible text of a page, with each block on its own lines.

    Scripts, styles, form lists and anything hidden by attribute or inline style are left out, and so are
    control and bidirectional characters. Plain text has no title. Raises `WebError` if it is not text, and
    `MissingPackage` without lxml.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind or (not kind and b"<" in body[:1000]):
        return markup_text(decoded(body, content_type))
    if kind and not kind.startswith("text/"):
        raise WebError("the page is not text but another type of file")
    return "", _tidied(decoded(body, content_type))


def markup_text(markup: str) -> tuple[str, str]:
    """Return the title and the visible text of HTML, whole or in part."""
    require_lxml(imports=True)
    from lxml import etree

    reader = _MarkupReader()
    # Characters that XML does not allow (lone surrogates) must be replaced.
    data = f"<div>{markup}".encode("utf-8", "replace") if "<html" not in markup[:2000].lower() else None
    parser = etree.HTMLParser(target=reader, encoding="utf-8", recover=True)
    parser.feed(data if data is not None else markup.encode("utf-8", "replace"))
    parser.close()
    return _tidied("".join(reader.title))[:_MAX_TITLE_CHARS].replace("\n", " "), _tidied("".join(reader.text))


class _MarkupReader:
    """Collects text from the parser's events."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.text: list[str] = []
        self._unread = 0  # depth of open elements inside a hidden one
        self._in_title = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._in_title = tag == "title" and not self.title
        if self._unread or UNREAD.fullmatch(tag) or is_hidden(attributes):
            self._unread += 1
        self._break(tag)

    def end(self, tag: str) -> None:
        self._unread = max(self._unread - 1, 0)
        self._in_title = False
        self._break(tag)

    def data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unread:
            self.text.append(data)

    def close(self) -> None:
        """Do nothing at the end of the page."""

    def _break(self, tag: str) -> None:
        if not self._unread and not INLINE.fullmatch(tag):
            self.text.append(" " if tag in _CELLS else "\n")


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element with these attributes is hidden."""
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").strip().lower() == "true"
        or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None
    )


def _tidied(text: str) -> str:
    return _BREAKS.sub("\n", _BLANKS.sub(" ", visible(text))).strip()


def require_lxml(*, imports: bool = False) -> None:
    """Raise `MissingPackage` if the parser's package is not installed; `imports` also loads it."""
    module = "lxml.etree" if imports else "lxml"
    require("lxml", "pages are read with", "web", module=module, imports=imports)


def visible(text: str) -> str:
    """Return the text without invisible characters: control, bidirectional, private, unassigned and tag ones.

    Whitespace of any kind is kept; the caller tidies it.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = (c for c in text if c.isspace() or c in _JOINERS or not unicodedata.category(c).startswith("C"))
    return "".join(kept)


def decoded(body: bytes, content_type: str = "") -> str:
    """Decode a page by its byte-order mark, its header, its meta element, else UTF-8 or Windows-1252.

    A wrong or unknown charset costs some letters (U+FFFD), but is never an error.
    """
    for mark, codec in BYTE_ORDER_MARKS.items():
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
        # A page cut in the middle of a character is still UTF-8.
        return body.decode("utf-8" if problem.reason == "unexpected end of data" else "cp1252", "replace")


def _codec(name: str) -> str:
    """Return Python's name for a web charset, or ""; on the web Latin-1 and ASCII mean Windows-1252."""
    try:
        codec = codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ""
    if codec in ("iso8859-1", "ascii"):
        return "cp1252"
    return codec if _CHARSETS.match(codec) else ""
