"""Parse the text of a statute into a tree, by indentation and numbering."""

import re
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from chameleon.modules.statutes.tree import (
    LABEL,
    LEVELS,
    SECTION,
    TEXT,
    LabelReading,
    Node,
    Statute,
    StatuteLine,
    follows,
    readings,
)

_MAX_DEPTH = 32
_LABELS = re.compile(rf"((?:{LABEL}\s*){{1,8}})(?:$|(?<=\s)|(?=[\[—–]))")
_SECTION = re.compile(
    r"(?:(?P<sign>§+)\s*|(?i:sec(?:tion|\.))\s+)(?P<label>[0-9]+[A-Za-z]{0,3}(?:[.–-][0-9]+[A-Za-z]{0,2})*)"
    r"(?:$|\s*[.:—–][\s—–-]*|\s+--?\s+|(?(sign)\s+(?=[A-Z\[“\"])|(?!)))(?P<heading>.*)",
    re.DOTALL,
)
_ELISION = re.compile(r"(?:\.\s?){3,5}|…|(?:\*\s*){3,7}")  # ". . .", "…", "* * *"
_LIKE_A_LABEL = re.compile(r"\W{0,12}(?:[0-9]{1,3}[A-Za-z]?|[A-Za-z]|[ivxIVX]{2,5})[^\w\s,'’-]{1,6}(?:\s|$)")
_ENDS = re.compile(r"[.;:!?—–-]$|[,;]\s+(?:and|or)$")  # of a sentence, or of an item of a list
_REFERENCE_END = re.compile(rf"\b(?:{'|'.join(LEVELS)})s?(?:(?:\s*{LABEL})+\s+(?:and|or|through|to))?$")


@dataclass(slots=True)
class _OpenProvision:
    """A provision that can still take lines.

    `at` is the indentation of its line, `inner` that of the first labeled line in it, and `last` the last
    label of each level in it.
    """

    node: Node
    at: int
    inner: int | None = None
    last: dict[str, LabelReading] = field(default_factory=dict)


class _LabelFit(NamedTuple):
    """How well a label fits as a child of the open provision at `depth`.

    `fits`: it starts or continues a series there, and is indented like it.
    """

    score: float
    depth: int
    reading: LabelReading
    fits: bool


def parse(text: str, name: str = "", source: str = "") -> Statute:
    """Return the tree of a statute text. Every text has one; `troubles` are lines that may be misread.

    A label belongs to the open provision that it fits best by number (it continues or starts a series) and by
    indentation (the same as the series, or deeper than its parent). If all labels are indented alike, numbers
    decide. Text belongs to the provision whose label has the same indentation, even after nested provisions
    (flush text).

    `name` is the label of the section if the text has no line such as "§152. Dependent defined".
    """
    return _Parser(text, name, source).parsed()


class _Parser:
    """Places lines one by one in a stack of open provisions."""

    def __init__(self, text: str, name: str, source: str) -> None:
        self.lines = list(map(StatuteLine, count(1), text.splitlines(keepends=True)))
        self.name, self.source = name, source
        self.root = Node("", TEXT)
        self.stack = [_OpenProvision(self.root, -1)]
        self.margin = 0
        self.sections = set[str]()
        self.troubles: list[str] = []
        self.labels = {line.number: labels for line in self.lines if (labels := _labels_of(line.content))}
        indents = {line.indent for line in self.lines if line.number in self.labels}
        self.is_flat = len(indents) == 1
        self.later = self._next_alike()

    def parsed(self) -> Statute:
        """Return the tree of all lines."""
        if self.name and not any(_SECTION.fullmatch(line.content) for line in self.lines):
            self._open_section(self.name, 0)
        before = ""
        for line in self.lines:
            if line.number in self.labels and len(self.stack) == 1:
                self._open_section(self.name, 0)
            self._place(line, before)
            before = "" if _ELISION.fullmatch(line.content) else line.content
        if not self.sections:
            self.troubles.append("there is no section, and no label such as (a)")
        return Statute(self.root, tuple(self.troubles), self.source)

    def _place(self, line: StatuteLine, before: str) -> None:
        content, may_begin = line.content, len(self.stack) == 1 or line.indent <= self.margin
        if not content or _ELISION.fullmatch(content):
            self.stack[-1].node.parts.append(line)
        elif may_begin and (section := _SECTION.fullmatch(content)):
            if section["label"] in self.sections:
                self._trouble(line, f"there is a section {section['label']} before it")
            self._open_section(section["label"], line.indent, line, section["heading"].strip())
        elif line.number in self.labels:
            self._place_label(line, self.labels[line.number], before)
        else:
            if _LIKE_A_LABEL.match(content):
                self._trouble(line, "it begins like a label, and is kept as text")
            while len(self.stack) > 2 and line.indent < self.stack[-1].at:
                self.stack.pop()
            self.stack[-1].node.parts.append(line)

    def _open_section(
        self, label: str, margin: int, line: StatuteLine | None = None, heading: str = ""
    ) -> None:
        del self.stack[1:]
        section = Node(label, SECTION, self.root, [line] if line else [], heading if line else None)
        self.root.parts.append(section)
        self.sections.add(label)
        self.stack.append(_OpenProvision(section, -1))
        self.margin = margin

    def _place_label(self, line: StatuteLine, labels: tuple[str, ...], before: str) -> None:
        depths = range(1, min(len(self.stack), _MAX_DEPTH))
        fits = [self._fit(depth, reading, line) for depth in depths for reading in readings(labels[0])]
        best = max(fits, key=lambda fit: fit[:2])
        opening = line.content[_LABELS.match(line.content).end() :]  # type: ignore[union-attr]
        goes_on = before and not _ENDS.search(before) and not opening[:1].isupper()
        sends_on = goes_on and _REFERENCE_END.search(before)
        if goes_on and (not best.fits or (sends_on and best.reading.value > 1)):
            self._trouble(line, "it begins like a label, and is taken for the rest of the line before")
            self.stack[-1].node.parts.append(line)
            return
        if not best.fits or sends_on:
            self._trouble(line, f"({labels[0]}) is not the next of its series")
        del self.stack[best.depth + 1 :]
        if self.stack[-1].inner is None:
            self.stack[-1].inner = line.indent
        for place, label in enumerate(labels):
            parent = self.stack[-1]
            fits = [self._fit(len(self.stack) - 1, each, line) for each in readings(label)]
            reading = max(fits, key=lambda fit: fit[:2]).reading if place else best.reading
            node = Node(label, reading.level, parent.node)
            parent.node.parts.append(node)
            parent.last[reading.level] = reading
            self.stack.append(_OpenProvision(node, line.indent))
        node.parts.append(line)
        node.opening = opening

    def _fit(self, depth: int, reading: LabelReading, line: StatuteLine) -> _LabelFit:
        parent = self.stack[depth]
        last = parent.last.get(reading.level)
        repeats = any(open_.node.level == reading.level for open_ in self.stack[1 : depth + 1])
        if last is not None:
            number = 5.0 if follows(reading, last) else 2.0 if reading[1:] > last[1:] else -1.0
        else:
            number = 2.0 if reading.value == 1 else 0.0
        fits = number > 0 and not repeats
        if self.is_flat:
            indentation = 0.0
        elif parent.inner is not None:
            indentation = 3.0 if parent.inner == line.indent else -1.0
        elif parent.last:  # by a label on the line of the parent
            indentation = 1.0 if line.indent >= parent.at else -4.0
        else:
            indentation = 3.0 if line.indent > parent.at else -1.0 if line.indent == parent.at else -4.0
        later = readings(self.later.get(line.number, ""))  # a later (j) shows that (i) is a letter
        number += 4 * any(follows(each, reading) for each in later) - 4 * repeats
        return _LabelFit(number + indentation, depth, reading, fits and indentation >= 0)

    def _next_alike(self) -> dict[int, str]:
        """Map the number of each labeled line to the next label with the same indentation."""
        labels, after = dict[int, str](), dict[int, str]()
        for line in reversed(self.lines):
            if line.number in self.labels:
                labels[line.number] = after.get(line.indent, "")
                after = {indent: label for indent, label in after.items() if indent < line.indent}
                after[line.indent] = self.labels[line.number][0]
        return labels

    def _trouble(self, line: StatuteLine, why: str) -> None:
        self.troubles.append(f"line {line.number} ({line.content[:60]!r}): {why}")


def _labels_of(content: str) -> tuple[str, ...]:
    """Return the labels at the start of a line; none if one of them is not a label, such as "(and)"."""
    match = _LABELS.match(content)
    labels = tuple(label[1:-1] for label in re.findall(LABEL, match[1])) if match else ()
    return labels if all(map(readings, labels)) else ()
