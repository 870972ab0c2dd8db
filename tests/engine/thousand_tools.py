"""A thousand tools of all kinds, and questions that need them: see `tools_of_all_kinds.txt`."""

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from chameleon import Inventory, Module, State

_LINES = Path(__file__).with_name("tools_of_all_kinds.txt").read_text("utf-8").splitlines()
_NEIGHBOURS = [line[2:].split(" | ") for line in _LINES if line.startswith("+")]
_PER_TOOL = 5


Tool = namedtuple("Tool", "name does about plain paraphrase")


class Answers(Module):
    """Answers questions of its kind."""

    reads = ("input.question",)

    def run(self, state: State) -> Any:
        return self.name


@cache
def tools() -> list[Tool]:
    """Return the tools written by hand, each with a question in its card's words and one in others."""
    lines = [line for line in _LINES if line and line[0] not in "#+"]
    return [Tool(*(part.strip() for part in line.split(" | "))) for line in lines]


def thousand_modules(count: int = 1000) -> dict[str, Module]:
    """Return the tools and their neighbors, in an order that says nothing."""
    cards = {tool.name: f"{tool.does}." for tool in tools()}
    cards |= dict(list(_neighbors())[: count - len(cards)])
    return {name: _module(cards[name]) for name in sorted(cards, key=lambda name: name[::-1])}


def with_tools(inventory: Inventory) -> Inventory:
    """Return an inventory of a thousand modules: its own, and tools that its questions do not need."""
    strangers = list(thousand_modules(1000 - len(inventory.modules)).items())
    modules = {**dict(strangers[:500]), **inventory.modules, **dict(strangers)}
    return replace(inventory, name=f"{inventory.name}_of_a_thousand", modules=modules)


def _neighbors() -> Iterator[tuple[str, str]]:
    for step in range(_PER_TOOL):
        for index, tool in enumerate(tools()):
            kind, does = _NEIGHBOURS[(index * 7 + step * 5) % len(_NEIGHBOURS)]
            yield f"{tool.name}_{kind}", does.format(tool.about)


def _module(card: str) -> Module:
    module = Answers()
    module.description = card  # type: ignore[misc]
    return module
