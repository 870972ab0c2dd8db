"""The tree of a statute: every line belongs to one node; the nodes in order give back the text.

The levels follow the drafting manuals of the United States Code: section 1, subsection (a), paragraph (1),
subparagraph (A), clause (i), subclause (I), item (aa), subitem (AA).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from chameleon.lazy import cached_property

LEVELS = ("section", "subsection", "paragraph", "subparagraph", "clause", "subclause", "item", "subitem")
LABEL = r"\((?:[0-9]{1,3}[A-Za-z]{0,2}|[A-Za-z]{1,7})(?:[-–][0-9]{1,2})?\)"
"""The pattern of a label in brackets; `readings` says whether it is one."""

_TENS, _ONES = ("", "x", "xx", "xxx", "xl"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN = {tens + ones: 10 * _TENS.index(tens) + _ONES.index(ones) for tens in _TENS for ones in _ONES}
_LETTERS = {chr(ord("a") + place): place + 1 for place in range(26)}
_DOUBLE = {letter * 2: value for letter, value in _LETTERS.items()}  # (aa), (bb)
_AFTER_Z = {letter: 26 + value for letter, value in _DOUBLE.items()}  # (aa) after (z)
_KINDS = (  # level in lower case, level in capitals, value of each label
    ("subsection", "subparagraph", _LETTERS),
    ("clause", "subclause", _ROMAN),
    ("item", "subitem", _DOUBLE),
    ("subsection", "subparagraph", _AFTER_Z),
)
_PARTS = re.compile(
    r"\(?(?:(?P<number>[0-9]{1,3})(?P<added>[A-Za-z]{0,2})|(?P<letters>[a-z]{1,7}|[A-Z]{1,7}))"
    r"(?:[-–](?P<after>[0-9]{1,2}))?\)?"
)
TEXT, SECTION = "text", "section"
_HEADING = re.compile(r"[A-Z0-9½“\"‘'(\[][^;]{0,160}[^\s.,;:—–-]")


class LabelReading(NamedTuple):
    """One reading of a label: its level, its number there, and that of an addition ("5A" is 5 and 1)."""

    level: str
    value: int
    added: int = 0


def readings(label: str) -> tuple[LabelReading, ...]:
    """Return all readings of a label, the likeliest first; none if it is not a label, such as "(and)".

    "(i)" may be the ninth subsection or the first clause, "(aa)" the first item or the subsection after (z).
    """
    match = _PARTS.fullmatch(label)
    if match is None:
        return ()
    after = int(match["after"] or 0)
    if match["number"]:
        letters = (match["added"] or "").lower()
        added = 26 * (len(letters) - 1) + _LETTERS[letters[-1]] if letters else after
        return (LabelReading("paragraph", int(match["number"]), added),)
    text = match["letters"].lower()
    is_lower = text == match["letters"]
    return tuple(
        LabelReading(lower if is_lower else upper, values[text], after)
        for lower, upper, values in _KINDS
        if text in values
    )


def follows(second: LabelReading, first: LabelReading) -> bool:
    """Return whether a label comes next on its level: "(b)" after "(a)", "(5A)" after "(5)"."""
    step = (second.value - first.value, second.added - first.added)
    return second.level == first.level and (step == (0, 1) or (step[0] == 1 and second.added == 0))


@dataclass(frozen=True, slots=True)
class StatuteLine:
    """A line of the text with its line break; `number` counts from 1."""

    number: int
    text: str

    @property
    def content(self) -> str:
        """Return the text without surrounding whitespace."""
        return self.text.strip()

    @property
    def indent(self) -> int:
        """Return the width of the leading whitespace; a tab extends to the next multiple of 4."""
        expanded = self.text.expandtabs(4)
        return len(expanded) - len(expanded.lstrip())


@dataclass(eq=False)
class Node:
    """A provision: a section, subsection and so on, or the whole text.

    Attributes:
        label: "152" or "d".
        level: "section", "subsection" and so on; "text" for the whole text.
        parts: its lines and the provisions in it, in order.
        opening: the text that follows the label on its line; None if its label is not on a separate line.
    """

    label: str
    level: str
    parent: "Node | None" = field(default=None, repr=False)
    parts: list["StatuteLine | Node"] = field(default_factory=list, repr=False)
    opening: str | None = None

    @property
    def children(self) -> list["Node"]:
        """Return the provisions directly in it."""
        return [part for part in self.parts if isinstance(part, Node)]

    @property
    def own_lines(self) -> list[StatuteLine]:
        """Return the heading, text and flush text, without the lines of nested provisions."""
        return [part for part in self.parts if isinstance(part, StatuteLine)]

    @property
    def lines(self) -> Iterator[StatuteLine]:
        """Yield all its lines in order, including nested provisions."""
        for part in self.parts:
            if isinstance(part, StatuteLine):
                yield part
            else:
                yield from part.lines

    @property
    def nodes(self) -> Iterator["Node"]:
        """Yield itself and all provisions in it, in order."""
        yield self
        for child in self.children:
            yield from child.nodes

    @property
    def outwards(self) -> Iterator["Node"]:
        """Yield itself and the provisions around it, up to its section."""
        node: Node | None = self
        while node is not None and node.level != TEXT:
            yield node
            node = node.parent

    @property
    def ancestors(self) -> list["Node"]:
        """Return the provisions around it, from its section down, without itself."""
        return list(self.outwards)[:0:-1]

    @property
    def section(self) -> "Node":
        """Return the section around it, or itself."""
        return (self.ancestors or [self])[0]

    @cached_property
    def path(self) -> tuple[str, ...]:
        """Return the labels from its section down to itself: ("152", "d", "2")."""
        return tuple(node.label for node in self.outwards)[::-1]

    @property
    def name(self) -> str:
        """Return the path as it is written: "152(d)(2)"."""
        return path_name(self.path)

    def child(self, label: str, level: str = "") -> "Node | None":
        """Return the first child with this label, if it is of this level."""
        node = self._first_of_label.get(label)
        return node if node and (not level or node.is_of(level)) else None

    @cached_property
    def _first_of_label(self) -> dict[str, "Node"]:
        return {node.label: node for node in reversed(self.children)}

    def is_of(self, level: str) -> bool:
        """Return whether it is of this level, by its position or by a possible reading of its label."""
        could_be = () if SECTION in (level, self.level) else readings(self.label)
        return self.level == level or any(each.level == level for each in could_be)

    @cached_property
    def heading(self) -> str:
        """Return its heading or "": a first line that is not a sentence and has more text after it."""
        opening = (self.opening or "").strip()
        if self.level == SECTION:
            return opening.rstrip(".")
        after = [line.content for line in self.own_lines[1:]]
        is_sentence = bool(after) and after[0][:1].islower()  # over several lines
        more = self.children or any(after)
        return opening if more and not is_sentence and _HEADING.fullmatch(opening) else ""

    @cached_property
    def wording(self) -> str:
        """Return its own text without the label, on one line."""
        lines = self.own_lines[self.opening is not None :]
        return " ".join(filter(None, [(self.opening or "").strip(), *(line.content for line in lines)]))


@dataclass(frozen=True)
class Statute:
    """A parsed text: its tree, and the lines that may have been misread; `source` is its file, if any."""

    root: Node
    troubles: tuple[str, ...] = ()
    source: str = ""

    @property
    def name(self) -> str:
        """Return the name of its file, or else of its first section."""
        sections = self.root.children
        return self.source or (f"section {sections[0].label}" if sections else "statute")


def path_name(path: tuple[str, ...]) -> str:
    """Return a path as it is written: ("152", "d", "2") is "152(d)(2)"."""
    return path[0] + "".join(f"({label})" for label in path[1:]) if path else ""
