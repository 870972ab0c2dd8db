"""An HTML page as tests read it: its elements with their attributes, and the text in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img"}


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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"{tag} closes itself")

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1].tag == tag, (tag, self._open[-3:])
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def handle_decl(self, decl: str) -> None:
        self.declarations.append(decl)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"the page has a comment: {data[:80]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"the page has a processing instruction: {data[:80]}")
