"""The tree of a statute: every line stands in one node, and the nodes in their order give the text again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from chameleon.modules.statutes.labels import Reading

TEXT, SECTION = "text", "section"
_TAB = 4
_BYTE_ORDER_MARK = "\ufeff"
_HEADING = re.compile(r"[A-Z0-9½“\"‘'(\[][^;]{0,160}[^\s.,;:—–-]")
_RUN_IN = re.compile(r"(?P<heading>[A-Z][^.;]{0,160})\.\s?(?:—|--|–)\s*(?P<rest>.*)", re.DOTALL)
_TERM = re.compile(
    r"\bterms?\s+((?:[\"“][^\"”]{1,80}[\"”](?:,?\s*(?:and|or)?\s*))+)(?=[^.;]{0,160}?\bmeans?\b)"
)
_MEANS = re.compile(r"[\"“]([^\"”]{1,80})[\"”]\s+(?:means|includes)\b")
_QUOTED = re.compile(r"[\"“]([^\"”]{1,80})[\"”]")
_TABULAR = re.compile(r"\S(?:[ .]{2,200}\.{2,}|\.{4,}|[ ]{4,}|\t+| \| )\s*\S")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it stands in the text, with its end; `number` counts from 1.

    `plain` is what it reads as where that is another: a line of Markdown without its decoration.
    """

    number: int
    text: str
    plain: str | None = None

    @property
    def content(self) -> str:
        """What it says, without blanks around it, and without a byte order mark."""
        return self._read.strip().lstrip(_BYTE_ORDER_MARK).lstrip()

    @property
    def indent(self) -> int:
        """Blanks before the text; a tab goes on to the next multiple of 4."""
        expanded = self._read.lstrip(_BYTE_ORDER_MARK).expandtabs(_TAB)
        return len(expanded) - len(expanded.lstrip())

    @property
    def _read(self) -> str:
        return self.text if self.plain is None else self.plain

    @property
    def is_tabular(self) -> bool:
        """Whether it has columns: dots, bars, tabs or four blanks between its parts."""
        return bool(_TABULAR.search(self.content))


@dataclass(eq=False)
class Node:
    """A provision: a section, subsection and so on, or the whole text (`level` "text").

    `label` is "152" or "d"; `parts` are its lines and the provisions in it, in their order; `opening` is what
    follows the label on its line.
    """

    label: str
    level: str
    parent: Node | None = field(default=None, repr=False)
    parts: list[Line | Node] = field(default_factory=list, repr=False)
    opening: str = ""
    reading: Reading | None = field(default=None, repr=False)

    @property
    def children(self) -> list[Node]:
        return [part for part in self.parts if isinstance(part, Node)]

    @property
    def own_lines(self) -> list[Line]:
        """Its lines but those of the provisions in it: heading, text, and flush text after these."""
        return [part for part in self.parts if isinstance(part, Line)]

    @property
    def lines(self) -> Iterator[Line]:
        """All its lines, those of the provisions in it included, in order."""
        stack: list[Line | Node] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, Line):
                yield part
            else:
                stack.extend(reversed(part.parts))

    @property
    def nodes(self) -> Iterator[Node]:
        """Itself and all provisions in it, in order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    @property
    def ancestors(self) -> list[Node]:
        """Those that it stands in, from its section down; not itself."""
        found, node = list[Node](), self.parent
        while node is not None and node.level != TEXT:
            found.append(node)
            node = node.parent
        return found[::-1]

    @property
    def section(self) -> Node:
        """The section that it stands in, or is."""
        return (self.ancestors or [self])[0]

    @cached_property
    def path(self) -> tuple[str, ...]:
        """The labels from its section to its own: ("152", "d", "2")."""
        return () if self.level == TEXT else (*(node.label for node in self.ancestors), self.label)

    @property
    def name(self) -> str:
        """Such as "152(d)(2)"."""
        return written(self.path)

    @property
    def text(self) -> str:
        """Its text exactly, with all that is in it."""
        return "".join(line.text for line in self.lines)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    def child(self, label: str) -> Node | None:
        """The provision of that label directly in it; the first where there are several."""
        return next((node for node in self.children if node.label == label), None)

    def is_within(self, other: Node) -> bool:
        """Whether it is the other or stands in it."""
        node: Node | None = self
        while node is not None:
            if node is other:
                return True
            node = node.parent
        return False

    @cached_property
    def heading(self) -> str:
        """Its heading, "" for none: a first line that is no sentence where more follows, or "Heading.—"."""
        opening = self.opening.strip()
        if self.level == SECTION:
            return opening.rstrip(".")
        if run_in := _RUN_IN.fullmatch(opening):
            return run_in["heading"]
        after = [line.content for line in self.own_lines[1:] if line.content]
        goes_on = bool(after) and self.own_lines[1].content[:1].islower()  # a sentence over several lines
        more = self.children or after
        return opening if more and not goes_on and _HEADING.fullmatch(opening) else ""

    @property
    def wording(self) -> str:
        """Its own text without label and heading, on one line."""
        opening = self.opening.strip()
        if self.heading:
            run_in = _RUN_IN.fullmatch(opening)
            opening = run_in["rest"] if run_in and self.level != SECTION else ""
        begins = 1 if self.label and self.level != TEXT and self._has_opening_line else 0
        rest = (line.content for line in self.own_lines[begins:])
        return " ".join(filter(None, [opening, *rest]))

    @property
    def _has_opening_line(self) -> bool:
        first = self.parts[0] if self.parts else None
        return isinstance(first, Line) and (bool(self.opening.strip()) or self.label in first.content)

    @property
    def defined_terms(self) -> list[str]:
        """The terms that its own text defines: 'the term "employer" means …'."""
        text = self.wording
        found = [term for terms in _TERM.findall(text) for term in _QUOTED.findall(terms)]
        return list(dict.fromkeys([*found, *_MEANS.findall(text)]))


@dataclass(frozen=True, slots=True)
class Trouble:
    """A line that was kept, though it does not fit: its number, what it says, and why."""

    line: int
    text: str
    why: str

    def __str__(self) -> str:
        return f"line {self.line} ({self.text[:60]!r}): {self.why}"


@dataclass(frozen=True)
class Statute:
    """A parsed text: its tree, and the lines that did not fit; `source` names the file where there is one."""

    root: Node
    troubles: tuple[Trouble, ...] = ()
    source: str = ""

    @property
    def text(self) -> str:
        """The text that was parsed, rebuilt from the tree."""
        return self.root.text

    @property
    def sections(self) -> list[Node]:
        return self.root.children


def written(path: tuple[str, ...]) -> str:
    """A path as it is written: ("152", "d", "2") is "152(d)(2)"."""
    return path[0] + "".join(f"({label})" for label in path[1:]) if path else ""
