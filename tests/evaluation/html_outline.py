"""An HTML page as tests read it: its elements with their attributes, the text in them, and whose they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img"}
NUMBER = r"\d+"
LENGTH = r"-?\d+(\.\d+)?%?"
ANCHOR = rf"run{NUMBER}(-problem{NUMBER})?|table{NUMBER}|show{NUMBER}-\w+"
OURS = {
    "html": {"lang": "en"},
    "meta": {"charset": "utf-8", "name": r"[a-z-]+", "content": ".*"}
    | {"http-equiv": "Content-Security-Policy"},
    "details": {"open": ""},
    "th": {"scope": "(col|row)"},
    "link": {"rel": "icon", "href": "data:,"},
    "nav": {"aria-label": "Contents"},
    "a": {"href": f"#({ANCHOR})"},
    "div": {"tabindex": "0", "role": "region", "aria-label": "Table"},
    "svg": {"role": "img", "viewbox": r"0 0 \d+ \d+", **dict.fromkeys(("y", "width", "height"), LENGTH)},
    "rect": dict.fromkeys(("x", "y", "width", "height"), LENGTH),
    "line": dict.fromkeys(("x1", "x2", "y1", "y2"), LENGTH),
    "text": dict.fromkeys(("x", "y"), LENGTH),
    "circle": dict.fromkeys(("cx", "cy", "r"), LENGTH),
    "path": {"d": r"M[\d C]+", "stroke-width": LENGTH},
    "span": {"style": r"margin-left: \d+\.\d\d%; width: \d+\.\d\d%"},
    "input": {"type": "radio", "name": rf"show{NUMBER}", "checked": ""},
    "label": {"for": ANCHOR},
    "img": {"src": r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+", "alt": "Picture of the problem"},
}
PLAIN = re.compile(
    r"head|title|style|body|main|header|section|article|h[1-5]|p|strong|del|ins|small|code|pre|ol|li|dl|dt|dd"
    r"|details|summary|table|caption|thead|tbody|tr|th|td|figure|figcaption|desc"
)


@dataclass
class Element:
    """An element: `text` is all text inside it, that of its children included."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    parents: tuple[Element, ...] = field(default=(), repr=False)

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


class Outline(HTMLParser):
    """Parses a page; every element must be closed in order. `elements` are in the order of the page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.declarations: list[str] = []
        self._open: list[Element] = []
        self.feed(page)
        self.close()
        assert not self._open, self._open

    def of_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if name in element.classes]

    def of_tag(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.tag == name]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        element = Element(tag, dict(attrs), parents=tuple(self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1].tag == tag, (tag, self._open[-3:])
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def handle_decl(self, decl: str) -> None:
        self.declarations.append(decl)

    def _refuse(self, *found: object) -> None:
        raise AssertionError(f"the page has what no template writes: {found}")

    handle_comment = handle_pi = handle_startendtag = _refuse


def assert_ours(outline: Outline) -> None:
    """Every element and every attribute is one that the templates write."""
    anchors = set()
    for element in outline.elements:
        known = {"class": r"[a-z -]+", "id": ANCHOR, **OURS.get(element.tag, {})}
        assert element.tag in OURS or PLAIN.fullmatch(element.tag), element
        for name, value in element.attributes.items():
            assert name in known and re.fullmatch(known[name], value or ""), (element.tag, name, value)
        if anchor := element.attributes.get("id"):
            assert anchor not in anchors, f"{anchor} stands twice"
            anchors.add(anchor)
    for link in outline.of_tag("a"):
        assert (link.attributes["href"] or "").removeprefix("#") in anchors
