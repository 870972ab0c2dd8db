"""What a reference means: the provisions that it names, seen from where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from chameleon.modules.statutes.labels import LEVELS, readings
from chameleon.modules.statutes.references import Citation, citations_in
from chameleon.modules.statutes.tree import SECTION, Node, path_name

Lack = Literal["", "missing", "above", "elsewhere"]

_NEAR = 50  # referents that "such paragraph" may mean
_ANY_LAW = re.compile(r"act|code|law|statutes?|ordinance|rules|charter|regulations?")
_TAX_LAW = re.compile(
    r"(?:(?:us|federal) )?(?:internal revenue code|code|irc)(?: of 19[0-9]{2})?|title 26|26 usca?|futa"
)


@dataclass(frozen=True, slots=True)
class Referent:
    """A provision that a citation means.

    `node` is the provision, or, where there is none of that path, the nearest that it would stand in. Then
    `lack` is "above" for the title or the like that sections stand in, "elsewhere" for a provision of another
    law, else "missing".
    """

    path: tuple[str, ...]
    node: Node | None
    citation: Citation
    lack: Lack = ""

    @property
    def name(self) -> str:
        """Return the path, such as "152(d)(2)", or what the text says where no path is known."""
        name = path_name(self.path) if self.path else self.citation.text
        return f"{name} of {self.citation.act}" if self.lack == "elsewhere" else name


def references_in(text: str, sections: Mapping[str, Node], home: Node | None = None) -> list[Referent]:
    """Return all that a text refers to. `home` is the provision that it stands in; None for a question.

    In a question "paragraph (2)" is that of the only section, where there is but one, else that of the last
    provision named before it.
    """
    found = list[Referent]()
    for citation in citations_in(text):
        last = found[-1].node if found and not found[-1].lack else None
        here = home or (next(iter(sections.values())) if len(sections) == 1 else last)
        is_own = home is None and citation.act and _is_at_hand(citation.act, sections)
        referents = resolve(replace(citation, act="") if is_own else citation, sections, here, found)
        found += [each for each in referents if citation.relation != "such" or not each.lack]
    return found


def references_of(node: Node, sections: Mapping[str, Node]) -> list[Referent]:
    """Return all that a provision and what stands in it refer to, each seen from where it is written."""
    return [referent for inner in node.nodes for referent in references_in(inner.wording, sections, inner)]


def resolve(
    citation: Citation, sections: Mapping[str, Node], home: Node | None, said: Sequence[Referent] = ()
) -> list[Referent]:
    """Return what one citation means; at least one referent, those that are not there included.

    "Paragraph (2)" is looked for in what `home` stands in, from within to without. "Such paragraph" is the
    last one of what was `said` before, else the one that `home` stands in.
    """
    path = (citation.section, *citation.labels) if citation.section else ()
    if citation.act:
        return [Referent(path, None, citation, "elsewhere")]
    if citation.section and citation.through and not citation.labels:
        return _range(sections.values(), citation.section, citation)
    if citation.section:
        section = sections.get(citation.section)
        return _descended(section, citation) if section else [Referent(path, None, citation, "missing")]
    if not citation.relation:
        return _from_within(citation, home)
    if citation.level not in LEVELS:
        return [Referent((), None, citation, "above")]
    near = [each.node for each in reversed(said[-_NEAR:]) if not each.lack]
    places = [*near, home] if citation.relation == "such" else [home]
    around = (node for place in places if place for node in place.outwards)
    here = next((node for node in around if node.is_of(citation.level)), None)
    if here is None:
        return [Referent((), home, citation, "missing")]
    if citation.relation in ("this", "such"):
        return _descended(here, citation)
    siblings = here.parent.children if here.parent else []
    place = siblings.index(here)
    found = siblings[:place] if citation.relation == "preceding" else siblings[place + 1 :]
    if not citation.text.lower().endswith("s"):
        found = found[-1:] if citation.relation == "preceding" else found[:1]
    return [Referent(node.path, node, citation) for node in found] or [
        Referent((), here, citation, "missing")
    ]


def _is_at_hand(act: str, sections: Mapping[str, Node]) -> bool:
    """Return whether a law that a question names is the one at hand.

    It is where nothing but "the Act" or the like is said, or a line above the sections has the name. Of
    statutes without such lines it is where the name is one of the Internal Revenue Code.
    """
    roots = {node.parent for node in sections.values() if node.parent}
    titles = [line.content.lower() for root in roots for line in root.own_lines if line.content]
    name = re.sub(r"[^\w ]", "", act).lower()
    is_own = any(name in title for title in titles) if titles else bool(_TAX_LAW.fullmatch(name))
    return is_own or bool(_ANY_LAW.fullmatch(name))


def _descended(base: Node, citation: Citation) -> list[Referent]:
    """Return the provision of these labels below another one, and those up to the end of a range."""
    node, labels = base, list(citation.labels)
    while labels and (child := node.child(labels[0])) is not None:
        node = child
        del labels[0]
    if labels:
        return [Referent((*node.path, *labels), node, citation, "missing")]
    if citation.through and node.parent is not None:
        return _range(node.parent.children, node.label, citation, node.parent, node.level)
    return [Referent(node.path, node, citation)]


def _range(
    siblings: Iterable[Node], first: str, citation: Citation, parent: Node | None = None, level: str = SECTION
) -> list[Referent]:
    """Return the provisions of a level from one label to another; an end that is not there is missing."""
    low, high = _order(first, level), _order(citation.through, level)
    alike = [node for node in siblings if node.level == level]
    found = [
        Referent(node.path, node, citation) for node in alike if low <= _order(node.label, level) <= high
    ]
    labels = {node.label for node in alike}
    above = parent.path if parent else ()
    ends = [end for end in (first, citation.through) if end not in labels]
    return found + [Referent((*above, end), parent, citation, "missing") for end in ends]


def _order(label: str, level: str) -> tuple[Any, ...]:
    """Return what labels of a level are sorted by."""
    if level == SECTION:
        rest = label.lstrip("0123456789")
        return int(label[: len(label) - len(rest)] or 0), rest
    return next((reading[1:] for reading in readings(label) if reading.level == level), (0, 0))


def _from_within(citation: Citation, home: Node | None) -> list[Referent]:
    """Return a provision named by level and label alone: the nearest of those around `home`."""
    outwards = list(home.outwards) if home else []
    for place in (*outwards, *(named for around in outwards for named in _named_in(around))):
        if place.child(citation.labels[0], citation.level) is not None:
            return _descended(place, citation)
    return [Referent((), home, citation, "missing")]


@lru_cache(maxsize=1024)
def _named_in(node: Node) -> tuple[Node, ...]:
    """Return what its own text names: "Paragraph (2) shall be applied by … in subparagraph (B)"."""
    found = dict[Node, None]()
    for citation in citations_in(node.wording):
        if citation.labels and not citation.section and not citation.relation:
            children = (around.child(citation.labels[0], citation.level) for around in node.outwards)
            found |= dict.fromkeys([child for child in children if child is not None][:1])
    return tuple(found)
