"""A thousand tools of all kinds, questions that need them, and a check that paraphrases share no word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chameleon import Inventory, Module, State

_FILE = Path(__file__).with_name("tools_of_all_kinds.txt")
# What other tools do with the same things: near enough to the one that is needed to be taken for it.
_NEIGHBOURS = (
    ("history", "Shows how {} have changed over the last fifty years."),
    ("alerts", "Sends a message to your phone when news about {} comes in."),
    ("quiz", "Asks quiz questions about {}, for learners at three levels."),
    ("glossary", "Explains the technical terms that experts on {} use."),
    ("offices", "Names the authorities and offices in charge of {}."),
    ("open_data", "Downloads open data on {} as CSV files."),
    ("forum", "Searches what people in online forums write about {}."),
    ("experts", "Finds consultants and speakers who know {} well."),
    ("costs", "Estimates what businesses spend on {}."),
    ("complaints", "Helps to file a complaint about {}."),
    ("photos", "Collects free photographs that illustrate {}."),
    ("courses", "Compares evening classes and online courses on {}."),
    ("books", "Recommends well-reviewed textbooks about {}."),
    ("timeline", "Puts milestones in the history of {} on a line."),
    ("survey", "Reports what the public thinks of {} according to polls."),
    ("rules_abroad", "Compares how foreign governments regulate {}."),
    ("records", "Tells superlatives and world records of {}."),
    ("checklist", "Prints a checklist for people who deal with {} for the first time."),
    ("market", "Analyses the market and the main suppliers for {}."),
    ("outlook", "Gathers predictions by researchers for the future of {}."),
    ("myths", "Sets right popular misconceptions about {}."),
    ("videos", "Finds short explanatory films about {}."),
)
_PER_TOOL = 5
_FUNCTION_WORDS = (
    "a about above across after all am an and any are as at be been before behind between both but by "
    "can could did do does down each else every for from get gets give gives go goes good had has have "
    "he her here him his how i if in inside into is it its just let like make makes many may me more "
    "most much must my near need needs new no not of off on one only or our out over own put say says "
    "she should since so some such take tell tells than that the their them then there these they this "
    "those through to two up us use uses used very was we well were what what's when where which who "
    "whose why will with without worth would you your three four eight ten "
)


@dataclass(frozen=True)
class Tool:
    name: str
    does: str
    about: str
    plain: str
    paraphrase: str


class Answers(Module):
    """Answers questions of its kind."""

    reads = ("input.question",)

    def run(self, state: State) -> Any:
        return self.name


@cache
def tools() -> list[Tool]:
    """The tools that were written by hand, each with a question in its card's words and one in others."""
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [Tool(*(part.strip() for part in line.split(" | "))) for line in lines]


def thousand_modules(count: int = 1000) -> dict[str, Module]:
    """The tools and their neighbours, in an order that says nothing."""
    cards = {tool.name: f"{tool.does}." for tool in tools()}
    cards |= dict(list(_neighbours())[: count - len(cards)])
    return {name: _module(cards[name]) for name in sorted(cards, key=lambda name: name[::-1])}


def with_tools(inventory: Inventory) -> Inventory:
    """An inventory of a thousand modules: its own and tools that its questions do not need."""
    strangers = thousand_modules(1000 - len(inventory.modules))
    return Inventory(
        name=f"{inventory.name}_of_a_thousand",
        planner=inventory.planner,
        modules={**dict(list(strangers.items())[:500]), **inventory.modules, **strangers},
        fallback=inventory.fallback,
        rules=inventory.rules,
    )


def shared_words(tool: Tool) -> set[str]:
    """The beginnings of the words that the paraphrase has in common with the tool's card."""
    card = f"{tool.name.replace('_', ' ')} {tool.does}"
    return _beginnings(card) & _beginnings(tool.paraphrase)


def _beginnings(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return {
        word[:4].removesuffix("s") for word in words if word not in _FUNCTION_WORDS.split() and len(word) > 1
    }


def _neighbours() -> Iterator[tuple[str, str]]:
    for step in range(_PER_TOOL):
        for index, tool in enumerate(tools()):
            kind, does = _NEIGHBOURS[(index * 7 + step * 5) % len(_NEIGHBOURS)]
            yield f"{tool.name}_{kind}", does.format(tool.about)


def _module(card: str) -> Module:
    module = Answers()
    module.description = card  # type: ignore[misc]
    return module
