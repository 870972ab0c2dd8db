"""What tests look at in a tree of a statute."""

from __future__ import annotations

from chameleon.modules.statutes.tree import Node, Statute


def names(found: Statute) -> list[str]:
    return [node.name for node in found.root.nodes if node.path]


def node(found: Statute, name: str) -> Node:
    return next(each for each in found.root.nodes if each.name == name)


def keeps_all(found: Statute, text: str) -> bool:
    """Whether each line is in one node, and the tree gives the text."""
    numbers = [line.number for each in found.root.nodes for line in each.own_lines]
    every = list(range(1, len(text.splitlines()) + 1))
    return "".join(line.text for line in found.root.lines) == text and sorted(numbers) == every
