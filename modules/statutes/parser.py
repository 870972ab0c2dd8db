"""From indented statute text to its tree, by indentation and by numbering."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from chameleon.modules.statutes.decoration import undecorated
from chameleon.modules.statutes.labels import LEVELS, Reading, chosen, follows, readings
from chameleon.modules.statutes.marks import (
    MARKERS,
    Marked,
    doubt_in_heading,
    is_elision,
    is_unit,
    marks_of,
    section_of,
)
from chameleon.modules.statutes.tree import SECTION, TEXT, Line, Node, Statute, Trouble

_UNIT_OF_INDENT = 4
_DEEPEST = 32
_WIDEST_GAP = 4  # of a series that only its numbering tells: repealed provisions leave small gaps


@dataclass(slots=True)
class _Open:
    """A provision that still takes lines: `at` is where its line begins, `indent` where its level does.

    Of the provisions in it: the `last`, the indentation of the first that begins a line, the labels, and what
    the last of each level counts.
    """

    node: Node
    at: int
    indent: int
    last: Node | None = None
    inner: int | None = None
    labels: set[str] = field(default_factory=set)
    counted: dict[str, Reading] = field(default_factory=dict)

    def takes(self, indent: int) -> bool:
        return indent >= (self.indent if self.last else self.at)

    def add(self, node: Node, indent: int | None) -> None:
        self.node.parts.append(node)
        self.last, self.inner = node, indent if self.inner is None else self.inner
        self.labels.add(node.label)
        if node.reading:
            self.counted[node.reading.level] = node.reading


def parse(text: str, name: str = "", source: str = "") -> Statute:
    """The tree of a statute text. Any text has one; what does not fit is kept and told in `troubles`.

    `name` is the label of the section where the text has no line such as "§152. Dependent defined". Text
    that is indented like a label belongs to the provision of that label, also after provisions in it (flush
    text). Indentation decides which provision stands in which; numbering decides where two labels share a
    line, where a label is indented out of its series (a subsection is a sibling of the subsection before it),
    and in a text without any indentation.
    """
    return _Parser(text, name, source).parsed()


class _Parser:
    def __init__(self, text: str, name: str, source: str) -> None:
        lines = [Line(number, line) for number, line in enumerate(text.splitlines(keepends=True), 1)]
        self.lines = undecorated(lines)
        self.name, self.source = name, source
        self.root = Node("", TEXT)
        self.stack = [_Open(self.root, -1, -1)]
        self.troubles: list[Trouble] = []
        self.marks = marks_of(self.lines)
        indents = sorted({each.indent for each in self.marks.marked.values()})
        gaps = [after - before for before, after in pairwise(indents)]
        self.unit = min(gaps, default=_UNIT_OF_INDENT)
        self.is_flat = len(indents) == 1
        self.in_section = False

    def parsed(self) -> Statute:
        if self.name and not any(map(section_of, self.lines)):
            self._open_section(self.name, 0)
        for line in self.lines:
            self._place(line)
        if not any(line.content for line in self.lines):
            self.troubles.append(Trouble(1, "", "there is no text"))
        elif not self.root.children:
            self.troubles.append(Trouble(1, "", "there is no section, and no label such as (a)"))
        return Statute(self.root, tuple(self.troubles), self.source)

    def _place(self, line: Line) -> None:
        content = line.content
        if not content or is_elision(content):
            self.stack[-1].node.parts.append(line)
        elif (section := section_of(line)) and self._may_begin_section(line.indent):
            self._open_section(section["label"], line.indent, line, section["heading"])
        elif is_unit(content) and self._may_begin_section(line.indent):
            del self.stack[1:]
            self.in_section = False
            self.root.parts.append(line)
        elif (marked := self.marks.marked.get(line.number)) is not None:
            self._place_marked(line, marked)
        else:
            if line.number in self.marks.kept:
                self._trouble(line, self.marks.kept[line.number])
            self._place_text(line)

    def _may_begin_section(self, indent: int) -> bool:
        return not self.in_section or indent <= self.stack[1].at

    def _open_section(self, label: str, at: int, line: Line | None = None, heading: str = "") -> None:
        del self.stack[1:]
        if line and label in self.stack[0].labels:
            self._trouble(line, f"there is a section {label} before it")
        if line and (doubt := doubt_in_heading(heading)):
            self._trouble(line, doubt)
        section = Node(label, SECTION, self.root, [line] if line else [], heading.strip())
        self.stack[0].add(section, None)
        self.stack.append(_Open(section, at, -1))
        self.in_section = True

    def _place_text(self, line: Line) -> None:
        goes_on = line.number in self.marks.wrapped
        while len(self.stack) > 2 and not goes_on and not self.stack[-1].takes(line.indent):
            self.stack.pop()
        self.stack[-1].node.parts.append(line)

    def _place_marked(self, line: Line, marked: Marked) -> None:
        if not self.in_section:
            if self.name or self.stack[0].last:
                self._trouble(line, "it stands before any section")
            self._open_section("" if self.stack[0].last else self.name, 0)
        if len(self.stack) + len(marked.labels) > _DEEPEST:
            self._trouble(line, f"it is more than {_DEEPEST} levels deep")
            self._place_text(line)
            return
        if marked.doubt:
            self._trouble(line, marked.doubt)
        self._close_for(line, marked)
        content = line.content
        opening = content[MARKERS.match(content).end() :]  # type: ignore[union-attr]
        last = len(marked.labels) - 1
        for place, label in enumerate(marked.labels):
            node = self._child(line, label, marked if place == 0 else None)
            if place == last:
                node.parts.append(line)
                node.opening = opening
            self.stack.append(_Open(node, marked.indent, marked.indent + place * self.unit))

    def _child(self, line: Line, label: str, marked: Marked | None) -> Node:
        """A new provision in the one that is open; its level by what stands before and after it."""
        open_ = self.stack[-1]
        before = open_.last.reading if open_.last else None
        later = [marked.later] if marked and marked.later else []
        around = {each.node.level: each.node for each in self.stack[1:]}
        reading = chosen(label, before, later, _below(open_.node.level), around)
        level = reading.level if reading else ""
        node = Node(label, level, open_.node, reading=reading)
        if label in open_.labels:
            self._trouble(line, f"there is a {node.name} before it")
        elif before and reading and before.level == level and reading[1:] <= before[1:]:
            self._trouble(line, f"({label}) stands after ({open_.last.label})")  # type: ignore[union-attr]
        elif level in around:
            self._trouble(line, f"({label}) stands in {around[level].name}, which is of the same level")
        open_.add(node, marked.indent if marked else None)
        return node

    def _close_for(self, line: Line, marked: Marked) -> None:
        """Close what cannot hold a line with these labels."""
        if self.is_flat:
            self._close_by_numbering(marked)
            return
        label, indent = marked.labels[0], marked.indent
        if (depth := self._begun_behind(label, indent)) is not None:
            if self.stack[depth].indent not in (indent, indent + self.unit):
                self._trouble(line, f"({label}) is indented by {indent}, unlike those before it")
            del self.stack[depth:]
            return
        kept = len(self.stack)
        while kept > 2 and self.stack[kept - 1].indent >= indent:
            kept -= 1
        if not self._fits(label, kept) and (depth := self._before(label)) is not None:
            kept = depth
        del self.stack[kept:]
        if self.stack[-1].inner not in (None, indent):
            self._trouble(line, f"({label}) is indented by {indent}, unlike those before it")

    def _begun_behind(self, label: str, indent: int) -> int | None:
        """Where the series of a label is open that began behind another label, on a line indented as this."""
        for depth in range(len(self.stack) - 1, 1, -1):
            open_ = self.stack[depth]
            if open_.at == indent < open_.indent and _is_next(label, open_.node.reading):
                return depth
        return None

    def _fits(self, label: str, kept: int) -> bool:
        """Whether a label begins a series, or goes on with one, in what its indentation puts it in."""
        counted = self.stack[kept - 1].counted
        around = {each.node.level for each in self.stack[1:kept]}
        return any(
            option[1:] > counted[option.level][1:]
            if option.level in counted
            else option.value == 1 and option.level not in around
            for option in readings(label)
        )

    def _before(self, label: str) -> int | None:
        """Where the provision is open that numbering puts before a label, however that is indented."""
        open_ = [(depth, self.stack[depth].node.reading) for depth in range(len(self.stack) - 1, 1, -1)]
        exactly = (depth for depth, reading in open_ if _is_next(label, reading))
        nearly = (depth for depth, reading in open_ if _is_near(label, reading))
        return next(exactly, next(nearly, None))

    def _close_by_numbering(self, marked: Marked) -> None:
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
            if marked.later and any(follows(next_one, option) for next_one in readings(marked.later)):
                score += 1.6
            if score > best:
                best, where = score, depth
        del self.stack[max(where, 2) :]

    def _trouble(self, line: Line, why: str) -> None:
        self.troubles.append(Trouble(line.number, line.content, why))


def _is_next(label: str, reading: Reading | None) -> bool:
    return reading is not None and any(follows(option, reading) for option in readings(label))


def _is_near(label: str, reading: Reading | None) -> bool:
    """Whether a label comes soon after another one of its level."""
    return reading is not None and any(
        option.level == reading.level and 0 < option.value - reading.value <= _WIDEST_GAP
        for option in readings(label)
    )


def _below(level: str) -> str:
    """The level that comes below one by custom."""
    place = LEVELS.index(level) + 1 if level in LEVELS else 1
    return LEVELS[place] if place < len(LEVELS) else ""
