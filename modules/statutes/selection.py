"""The provisions that a question needs: which they are by each strategy, and their text within limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from chameleon.modules.statutes.resolving import Target, references_in, references_of
from chameleon.modules.statutes.tree import Line, Node
from chameleon.text import estimated_tokens

Strategy = Literal["mentioned_only", "entire_section", "references"]
Ancestors = Literal["text", "headings", "none"]
Why = Literal["mentioned", "referenced", "whole"]

SKIPPED = "..."
_LEADS_IN = ("-", "–", "—", ":")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A provision that is to be shown, with all that stands in it, and why."""

    node: Node
    why: Why


@dataclass(slots=True)
class Shown:
    """What is shown of the statutes, in `text`; `left_out` did not fit, and `unknown` is not there."""

    text: str
    tokens: int
    shown: list[Wanted]
    left_out: list[str]
    unknown: list[str]


def wanted(targets: Sequence[Target], sections: Mapping[str, Node], strategy: Strategy) -> list[Wanted]:
    """The provisions that references ask for, each once, in the order of importance.

    - "mentioned_only": what is mentioned, with all that stands in it;
    - "entire_section": the sections of that;
    - "references": what is mentioned, then what that refers to, one level on. A reference to what the
      provision itself stands in, such as "this section", tells where it stands, and adds nothing.

    Of what is not there the nearest provision is taken that it would stand in. Where nothing is mentioned
    that is there at all, every section is wanted.
    """
    mentioned = _once(target.node for target in targets if target.node is not None)
    if not mentioned:
        return [Wanted(section, "whole") for section in sections.values()]
    if strategy == "entire_section":
        return [Wanted(section, "whole") for section in _once(node.section for node in mentioned)]
    found = [Wanted(node, "mentioned") for node in mentioned]
    if strategy == "references":
        named = _once(
            target.node
            for node in mentioned
            for target in references_of(node, sections)
            if target.node is not None and not target.lack and not node.is_within(target.node)
        )
        outside = (node for node in named if not any(node.is_within(other) for other in mentioned))
        found += [Wanted(node, "referenced") for node in outside]
    return found


def shown(
    found: Sequence[Wanted], unknown: Sequence[str], ancestors: Ancestors = "text", max_tokens: int = 8000
) -> Shown:
    """The text of provisions, in the order of the statutes, with `...` where lines between are not shown.

    `ancestors` is what comes along of the provisions that they stand in: their own text with what leads into
    a list and what follows it ("text"), their headings, or nothing. What comes first is taken first; of a
    provision that does not fit as much is shown as does, part by part, and the rest is named.
    """
    page = _Page(max_tokens, ancestors)
    for each in found:
        page.add(each.node)
    return Shown(page.text(), page.tokens, [each for each in found if page.has(each.node)], page.left_out,
                 list(unknown))  # fmt: skip


def unknown_in(targets: Iterable[Target]) -> list[str]:
    """The names of what is referred to and is not there, in order."""
    return list(dict.fromkeys(each.name for each in targets if each.lack in ("missing", "elsewhere")))


def asked(question: str, facts: str, sections: Mapping[str, Node]) -> list[Target]:
    """What a question refers to, then its facts."""
    return references_in(question, sections) + references_in(facts, sections)


@dataclass(slots=True)
class _Page:
    """Lines that are shown, by section, up to a number of estimated tokens."""

    max_tokens: int
    ancestors: Ancestors
    tokens: int = 0
    left_out: list[str] = field(default_factory=list)
    lines: dict[int, tuple[Node, dict[int, Line]]] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        """Show a provision and what comes along with it, as much as fits."""
        around = list(_around(node, self.ancestors))
        if not self._take(node, [*around, *node.lines]):
            self._add_parts(node, around)

    def _add_parts(self, node: Node, around: list[Line]) -> None:
        if node.is_leaf or not self._take(node, [*around, *node.own_lines]):
            self.left_out.append(node.name)
            return
        for child in node.children:
            if not self._take(child, list(child.lines)):
                self._add_parts(child, [])

    def _take(self, node: Node, lines: Iterable[Line]) -> bool:
        section = node.section
        _, here = self.lines.get(id(section), (section, {}))
        new = {line.number: line for line in lines if line.content and line.number not in here}
        cost = sum(estimated_tokens(line.text.rstrip()) + 1 for line in new.values())
        if self.tokens + cost > self.max_tokens:
            return False
        self.tokens += cost
        self.lines[id(section)] = (section, {**here, **new})
        return True

    def has(self, node: Node) -> bool:
        """Whether anything of a provision's own is shown."""
        _, here = self.lines.get(id(node.section), (node, {}))
        return any(line.number in here for line in node.lines)

    def text(self) -> str:
        return "\n\n".join(_section_text(section, here) for section, here in self.lines.values() if here)


def _section_text(section: Node, shown_lines: Mapping[int, Line]) -> str:
    """The lines of one section; a section whose text does not begin with its label is given one."""
    titled = bool(section.own_lines) and section.label in section.own_lines[0].content
    told, skipped = ([] if titled or not section.label else [f"§{section.label}"]), False
    for line in section.lines:
        if line.number in shown_lines:
            if skipped:
                told.append(SKIPPED)
            told.append(line.text.rstrip().expandtabs(4))
            skipped = False
        elif line.content:
            skipped = True
    return "\n".join([*told, SKIPPED] if skipped else told)


def _around(node: Node, ancestors: Ancestors) -> Iterable[Line]:
    """The lines of what a provision stands in that come along with it."""
    if ancestors == "none":
        return
    path = [*node.ancestors, node]
    for outer, inner in pairwise(path):
        own = [line for line in outer.own_lines if line.content]
        if ancestors == "text":
            yield from own
            yield from _lead_in(outer, inner)
        elif own and (outer.heading or outer is path[0]):
            yield own[0]


def _lead_in(outer: Node, inner: Node) -> Iterable[Line]:
    """The series beside it that it begins after: "(A) … within the United States, and (B) …, except-".

    All of that series is shown: what ends its last provision may go on from each of them.
    """
    before, series = None, list[Node]()
    for child in outer.children:
        if child is inner:
            break
        if series and series[-1].level != child.level:
            series = []
        series.append(child)
        lines = [line for line in child.own_lines if line.content]
        if child.is_leaf and lines and lines[-1].content.endswith(_LEADS_IN):
            before = list(series)
    if before is not None and before[-1].level != inner.level:
        for node in before:
            yield from node.lines


def _once(nodes: Iterable[Node]) -> list[Node]:
    """Each node once, without those that stand in one before it."""
    found = list[Node]()
    for node in nodes:
        if not any(node.is_within(other) for other in found):
            found.append(node)
    return found
