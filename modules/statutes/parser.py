"""From indented statute text to its tree, by indentation and by numbering."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from chameleon.modules.statutes.labels import LABEL, LEVELS, chosen, follows, readings
from chameleon.modules.statutes.tree import SECTION, TEXT, Line, Node, Statute, Trouble

_SECTION = re.compile(
    r"(?:(?:§+\s*|(?i:sec(?:tion|\.))\s+)(?P<label>[0-9]+[A-Za-z]{0,3}(?:[.–-][0-9]+[A-Za-z]{0,2})*))"
    r"(?:[.:]?$|[.:—–]\s*(?=\S)|(?<=[0-9A-Za-z])\s+(?=[A-Z\[“\"]))(?P<heading>.*)",
    re.DOTALL,
)
_SPELT = re.compile(
    r"(?i:sec(?:tion|\.))\s+[0-9][\w.–-]*(?<![.])\s+\S"
)  # "Section 5 applies …" is a sentence
_UNIT = re.compile(
    r"(?i:(?:sub)?(?:title|chapter|part)|division|article)\s+(?:[IVXLC]+|[A-Z]|[0-9]+[A-Z]?)"
    r"(?:$|\s*[.:—–-].*)"
)
_MARKERS = re.compile(rf"(?:{LABEL}\s*)+(?:$|(?<=\s)|(?=[\[—–]))")
_ONE = re.compile(LABEL)
_ODD = re.compile(
    rf"\((?:[^\w\s)]{{1,3}}\)|[A-Za-z0-9]{{1,4}}(?:$|[\]}}]))|[A-Za-z0-9]{{1,3}}\)\s|(?:{LABEL})+[,;–—-]"
)
_SENDS_ON = re.compile(rf"\b(?:{'|'.join(LEVELS)})s?(?:(?:\s*{LABEL})+\s+(?:through|to))?$", re.IGNORECASE)
_GOES_ON = re.compile(
    rf"(?:{LABEL}\s*)+(?:,|;|\.$|of\s+(?:this|such|sub|section|para)|(?:and|or|through)\s+\()"
)
_ELISION = re.compile(r"(?:\.\s?){3,5}|…|(?:\*\s*){3,7}")
_UNIT_OF_INDENT = 4
_DEEPEST = 32
_WIDEST_GAP = 4  # of a series without indentation: repealed provisions leave small gaps


@dataclass(slots=True)
class _Open:
    """A provision that still takes lines: `at` is where its line begins, `indent` where its level does."""

    node: Node
    at: int
    indent: int

    def takes(self, indent: int) -> bool:
        return indent >= (self.indent if self.node.children else self.at)


@dataclass(frozen=True, slots=True)
class _Marked:
    """A line that begins with labels."""

    indent: int
    labels: tuple[str, ...]


def parse(text: str, name: str = "", source: str = "") -> Statute:
    """The tree of a statute text. Any text has one; what does not fit is kept and told in `troubles`.

    `name` is the label of the section where the text has no line such as "§152. Dependent defined". Text
    that is indented like a label belongs to the provision of that label, also after provisions in it (flush
    text). Indentation decides which provision stands in which; numbering decides where two labels share a
    line, where a label is indented out of its series, and in a text without any indentation.
    """
    return _Parser(text, name, source).parsed()


class _Parser:
    def __init__(self, text: str, name: str, source: str) -> None:
        self.lines = [Line(number, line) for number, line in enumerate(text.splitlines(keepends=True), 1)]
        self.name, self.source = name, source
        self.root = Node("", TEXT)
        self.stack = [_Open(self.root, -1, -1)]
        self.troubles: list[Trouble] = []
        self.marked = self._marked_lines()
        indents = sorted({each.indent for each in self.marked.values()})
        gaps = [after - before for before, after in pairwise(indents)]
        self.unit = min(gaps, default=_UNIT_OF_INDENT)
        self.is_flat = len(indents) == 1
        self.in_section = False

    def parsed(self) -> Statute:
        if self.name and not any(_section_of(line) for line in self.lines):
            self._open_section(self.name, 0)
        for line in self.lines:
            self._place(line)
        return Statute(self.root, tuple(self.troubles), self.source)

    def _marked_lines(self) -> dict[int, _Marked]:
        """The lines that begin with labels, by number."""
        found, before = {}, ""
        for line in self.lines:
            content = line.content
            wrapped = before and (_SENDS_ON.search(before) or _GOES_ON.match(content))
            if not wrapped and (match := _MARKERS.match(content)):
                labels = tuple(label[1:-1] for label in _ONE.findall(match[0]))
                if all(readings(label) for label in labels):
                    found[line.number] = _Marked(line.indent, labels)
            before = content
        return found

    def _place(self, line: Line) -> None:
        content = line.content
        if not content or _ELISION.fullmatch(content):
            self.stack[-1].node.parts.append(line)
        elif (section := _section_of(line)) and self._may_begin_section(line.indent):
            self._open_section(section["label"], line.indent, line, section["heading"])
        elif _UNIT.fullmatch(content) and self._may_begin_section(line.indent):
            del self.stack[1:]
            self.in_section = False
            self.root.parts.append(line)
        elif (marked := self.marked.get(line.number)) is not None:
            self._place_marked(line, marked)
        else:
            if _ODD.match(content):
                self._trouble(line, "it begins like a label, and is kept as text")
            self._place_text(line)

    def _may_begin_section(self, indent: int) -> bool:
        return not self.in_section or indent <= self.stack[1].at

    def _open_section(self, label: str, at: int, line: Line | None = None, heading: str = "") -> None:
        del self.stack[1:]
        if line and any(section.label == label for section in self.root.children):
            self._trouble(line, f"there is a section {label} before it")
        section = Node(label, SECTION, self.root, [line] if line else [], heading.strip())
        self.root.parts.append(section)
        self.stack.append(_Open(section, at, -1))
        self.in_section = True

    def _place_text(self, line: Line) -> None:
        while len(self.stack) > 2 and not self.stack[-1].takes(line.indent):
            self.stack.pop()
        self.stack[-1].node.parts.append(line)

    def _place_marked(self, line: Line, marked: _Marked) -> None:
        if not self.in_section:
            if self.name or self.root.children:
                self._trouble(line, "it stands before any section")
            self._open_section("" if self.root.children else self.name, 0)
        if len(self.stack) + len(marked.labels) > _DEEPEST:
            self._trouble(line, f"it is more than {_DEEPEST} levels deep")
            self._place_text(line)
            return
        self._close_for(line, marked)
        content = line.content
        opening = content[_MARKERS.match(content).end() :]  # type: ignore[union-attr]
        last = len(marked.labels) - 1
        for place, label in enumerate(marked.labels):
            node = self._child(line, label, marked.indent if place == 0 else None)
            if place == last:
                node.parts.append(line)
                node.opening = opening
            self.stack.append(_Open(node, marked.indent, marked.indent + place * self.unit))

    def _child(self, line: Line, label: str, indent: int | None) -> Node:
        """A new provision in the one that is open; its level by what stands before and after it."""
        parent = self.stack[-1].node
        siblings = parent.children
        before = siblings[-1].reading if siblings else None
        later = [] if indent is None else self._later(line.number, indent)
        reading = chosen(label, before, later, _below(parent.level))
        node = Node(label, reading.level if reading else "", parent, reading=reading)
        if parent.child(label) is not None:
            self._trouble(line, f"there is a {node.name} before it")
        elif before and reading and before.level == reading.level and reading[1:] <= before[1:]:
            self._trouble(line, f"({label}) stands after ({siblings[-1].label})")
        parent.parts.append(node)
        return node

    def _later(self, number: int, indent: int) -> list[str]:
        """The label after this line with the same indentation, if it is in the same series."""
        for after in range(number + 1, len(self.lines) + 1):
            if (marked := self.marked.get(after)) is not None:
                if marked.indent < indent:
                    break
                if marked.indent == indent:
                    return [marked.labels[0]]
        return []

    def _close_for(self, line: Line, marked: _Marked) -> None:
        """Close what cannot hold a line with these labels."""
        if self.is_flat:
            self._close_by_numbering(line, marked)
            return
        label, indent = marked.labels[0], marked.indent
        if (depth := self._continued(label, indent)) is not None:
            if self.stack[depth].indent not in (indent, indent + self.unit):
                self._trouble(line, f"({label}) is indented by {indent}, unlike those before it")
            del self.stack[depth:]
            return
        while len(self.stack) > 2 and self.stack[-1].indent >= indent:
            self.stack.pop()

    def _continued(self, label: str, indent: int) -> int | None:
        """Where the series of a label is open that its indentation does not tell.

        That is one begun behind another label on a line that was indented as this one is, or one that the
        label is next in, though it is indented like something within.
        """
        options = readings(label)
        for depth in range(len(self.stack) - 1, 1, -1):
            open_ = self.stack[depth]
            reading = open_.node.reading
            if reading is None or not any(follows(option, reading) for option in options):
                continue
            begun_behind = open_.at == indent < open_.indent
            within = depth == len(self.stack) - 1 and indent > open_.indent and len(options) == 1
            if begun_behind or within:
                return depth
        return None

    def _close_by_numbering(self, line: Line, marked: _Marked) -> None:
        later = self._later(line.number, marked.indent)
        options, best, where = readings(marked.labels[0]), -1.0, len(self.stack)
        for option in options:
            score, depth = 0.5 if option.value == 1 else 0.0, len(self.stack)
            for index in range(len(self.stack) - 1, 1, -1):
                reading = self.stack[index].node.reading
                if reading is not None and reading.level == option.level:
                    near = 0 < option.value - reading.value <= _WIDEST_GAP
                    score = 2.0 if follows(option, reading) else 1.0 if near else 0.2
                    depth = index
                    break
            if later and any(follows(next_one, option) for next_one in readings(later[0])):
                score += 1.6
            if score > best:
                best, where = score, depth
        del self.stack[max(where, 2) :]

    def _trouble(self, line: Line, why: str) -> None:
        self.troubles.append(Trouble(line.number, line.content, why))


def _section_of(line: Line) -> re.Match[str] | None:
    content = line.content
    found = _SECTION.fullmatch(content)
    return None if found is None or _SPELT.match(content) else found


def _below(level: str) -> str:
    """The level that comes below one by custom."""
    place = LEVELS.index(level) + 1 if level in LEVELS else 1
    return LEVELS[place] if place < len(LEVELS) else ""
