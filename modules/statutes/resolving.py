"""What a reference means: the provisions that it names, seen from where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from chameleon.modules.statutes.acts import OwnNames
from chameleon.modules.statutes.labels import LEVELS, readings
from chameleon.modules.statutes.references import Mention, mentions_in
from chameleon.modules.statutes.tree import SECTION, Node, written

_NEAR = 50  # targets that "such paragraph" may mean

Lack = Literal["", "inline", "missing", "above", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Target:
    """A provision that a mention means.

    `node` is the provision, or, where there is none of that path, the nearest that it would stand in; `lack`
    tells which:

    - "": the provision itself;
    - "inline": it is no provision of its own, and its label stands in the text of `node`;
    - "missing": there is no such provision;
    - "above": the title, chapter or the like that sections stand in;
    - "elsewhere": a provision of another law, named in `mention.act`.
    """

    path: tuple[str, ...]
    node: Node | None
    mention: Mention
    lack: Lack = ""

    @property
    def name(self) -> str:
        """Such as "152(d)(2)"; what the text says where no path is known."""
        name = written(self.path) if self.path else self.mention.text
        return f"{name} of {_act_of(self.mention)}" if self.lack == "elsewhere" else name


def references_in(text: str, sections: Mapping[str, Node], home: Node | None = None) -> list[Target]:
    """All that a text refers to. `home` is the provision that it stands in; None for a question."""
    found, own = list[Target](), OwnNames(sections)
    for mention in mentions_in(text, home is None):
        if home is None:
            mention = _at_hand(mention, own)  # noqa: PLW2901
        targets = resolve(mention, sections, home, found)
        found += [each for each in targets if mention.relation != "such" or not each.lack]
    return found


def _at_hand(mention: Mention, own: OwnNames) -> Mention:
    """What a question mentions, without the name of a law where that is the law at hand."""
    act = "" if mention.act and own.have(mention.act) else mention.act
    return replace(mention, act=act, of=_at_hand(mention.of, own) if mention.of else None)


def _act_of(mention: Mention) -> str:
    return mention.act or (_act_of(mention.of) if mention.of else "")


def references_of(node: Node, sections: Mapping[str, Node]) -> list[Target]:
    """All that a provision refers to, and what stands in it, each seen from where it is written."""
    return [
        target
        for inner in node.nodes
        for text in (inner.heading, inner.wording)
        for target in references_in(text, sections, inner)
    ]


def resolve(
    mention: Mention, sections: Mapping[str, Node], home: Node | None = None, said: Sequence[Target] = ()
) -> list[Target]:
    """What one mention means; at least one target, those that are not there included.

    "Paragraph (2)" is looked for in what `home` stands in, from within to without. In a question of its own
    (no `home`) it is that of the only section, where there is but one, else that of the last provision that
    was `said` before it in the text. A law that is named (`mention.act`) is another one: `references_in`
    takes the names of the law at hand away. "Such paragraph" is the last one of what was said, else the one
    that the reader stands in.
    """
    if mention.act:
        return [Target(_plain_path(mention), None, mention, "elsewhere")]
    if home is None:
        home = next(iter(sections.values())) if len(sections) == 1 else _last_named(said)
    if mention.relation == "such" and (such := _such(mention, said)):
        return such
    if mention.relation:
        return _related(mention, sections, home)
    if mention.section:
        section = sections.get(mention.section)
        if mention.through and not mention.labels:
            return _sections_through(mention, sections)
        if section is None:
            return [Target(_plain_path(mention), None, mention, "missing")]
        return list(_descended(section, mention))
    if mention.of is not None:
        outer = resolve(mention.of, sections, home, said)[0]
        if outer.node is None or outer.lack:
            path = (*outer.path, *mention.labels) if outer.path else ()
            return [Target(path, outer.node, mention, outer.lack or "missing")]
        return list(_descended(outer.node, mention))
    return _from_within(mention, home)


def _last_named(said: Sequence[Target]) -> Node | None:
    return said[-1].node if said and not said[-1].lack else None


def _plain_path(mention: Mention) -> tuple[str, ...]:
    return (mention.section, *mention.labels) if mention.section else ()


def _descended(base: Node, mention: Mention) -> Iterator[Target]:
    """The provision of these labels below another one, and those up to the end of a range."""
    node, labels = base, list(mention.labels)
    while labels and (child := _child(node, labels[0], mention)) is not None:
        node = child
        del labels[0]
    path = (*node.path, *labels)
    if labels:
        yield Target(path, node, mention, "inline" if _says(node, labels[0]) else "missing")
        return
    yield Target(path, node, mention)
    if mention.through and node.parent is not None:
        yield from _through(node, mention)


def _child(node: Node, label: str, mention: Mention) -> Node | None:
    """The provision of that label; of a mention in capitals, else that of the label in lower case."""
    return node.child(label) or (node.child(label.lower()) if mention.capitals else None)


def _through(first: Node, mention: Mention) -> Iterator[Target]:
    """The provisions after the first of a range, up to its end; an end that is not there is missing."""
    assert first.parent is not None
    siblings = first.parent.children
    after = siblings[siblings.index(first) + 1 :]
    end = _child(first.parent, mention.through, mention)
    last = end.label if end is not None else mention.through
    ends = readings(last)
    for node in after:
        if node.label == last:
            yield Target(node.path, node, mention)
            return
        if node.reading and any(
            node.reading.level == end.level and node.reading[1:] > end[1:] for end in ends
        ):
            break
        if first.reading and node.reading and node.reading.level == first.reading.level:
            yield Target(node.path, node, mention)
    yield Target((*first.parent.path, mention.through), first.parent, mention, "missing")


def _sections_through(mention: Mention, sections: Mapping[str, Node]) -> list[Target]:
    """The sections of a range, as far as they are there; its ends are told where they are not."""
    first, last = _number(mention.section), _number(mention.through)
    found = [
        Target((label,), node, mention) for label, node in sections.items() if first <= _number(label) <= last
    ]
    ends = [end for end in (mention.section, mention.through) if end not in sections]
    return found + [Target((end,), None, mention, "missing") for end in ends]


def _number(label: str) -> tuple[int, str]:
    found = re.match(r"[0-9]+", label)
    return (int(found[0]), label[found.end() :]) if found else (0, label)


def _from_within(mention: Mention, home: Node | None) -> list[Target]:
    """A provision named by its level and label alone: the nearest of those that the reader stands among."""
    for around in _outwards(home):
        child = _child(around, mention.labels[0], mention) if mention.labels else None
        if child is not None and _is_of(child, mention.level):
            return list(_descended(around, mention))
    for around in _outwards(home):
        for named in _named_in(around):  # "Paragraph (2) shall be applied … in subparagraph (B)"
            child = _child(named, mention.labels[0], mention) if mention.labels else None
            if child is not None and _is_of(child, mention.level):
                return list(_descended(named, mention))
    for around in _outwards(home):
        if mention.labels and _says(around, mention.labels[0]):
            return [Target((*around.path, *mention.labels), around, mention, "inline")]
    return [Target((), home, mention, "missing")]


def _named_in(node: Node) -> Iterator[Node]:
    """The provisions beside it, or beside what it stands in, that its own text names."""
    for mention in mentions_in(node.wording):
        if mention.section or mention.relation or mention.of or not mention.labels:
            continue
        for around in _outwards(node.parent):
            found = around.child(mention.labels[0])
            if found is not None and _is_of(found, mention.level):
                yield found
                break


def _says(node: Node, label: str) -> bool:
    """Whether a provision counts within a sentence, and comes to this label: "who (i) is …, and (ii) …"."""
    counted = rf"(?<!\w)(?<!section )(?<!graph )(?<!clause )\({re.escape(label)}\)\s"
    return bool(re.search(counted, node.wording))


def _related(mention: Mention, sections: Mapping[str, Node], home: Node | None) -> list[Target]:
    if mention.level not in LEVELS:
        return [Target((), None, mention, "above")]
    if mention.of is not None and home is not None:
        outer = resolve(mention.of, sections, home)[0].node
        inner = [node for node in _outwards(home) if outer is not None and node.parent is outer]
        here = inner[0] if inner else None
    else:
        here = next((node for node in _outwards(home) if _is_of(node, mention.level)), None)
    if here is None:
        return [Target((), home, mention, "missing")]
    if mention.relation in ("this", "such"):
        return [Target(here.path, here, mention)]
    siblings: Sequence[Node] = here.parent.children if here.parent else []
    place = siblings.index(here)
    before, after = siblings[:place], siblings[place + 1 :]
    many = mention.text.lower().endswith("s")
    near = (before if many else before[-1:]) if mention.relation == "before" else after if many else after[:1]
    return [Target(node.path, node, mention) for node in near] or [Target((), here, mention, "missing")]


def _such(mention: Mention, said: Sequence[Target]) -> list[Target]:
    """The last provision of its level that was named, or that what was named stands in; of a list, all."""
    named = [each.node for each in said[-_NEAR:] if each.node is not None and not each.lack][::-1]
    for place, node in enumerate(named):
        found = next((each for each in _outwards(node) if _is_of(each, mention.level)), None)
        if found is None:
            continue
        together = takewhile(lambda each: each.parent is node.parent, named[place:])  # noqa: B023
        nodes = [*together] if node is found and mention.text.endswith("s") else [found]
        return [Target(each.path, each, mention) for each in reversed(nodes)]
    return []


def _is_of(node: Node, level: str) -> bool:
    """Whether a provision is of a level, by its place or as its label could be read."""
    if node.level in (level, SECTION):
        return node.level == level
    return any(reading.level == level for reading in readings(node.label))


def _outwards(home: Node | None) -> list[Node]:
    return [home, *reversed(home.ancestors)] if home is not None else []
