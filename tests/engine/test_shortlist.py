"""What a planner is shown of a thousand modules, whatever the question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Inventory, State
from chameleon.errors import InventoryError
from chameleon.inventory.schema import RulesSpec
from chameleon.planners.fixed import Fixed
from chameleon.retrieval.shortlist import shortlist
from chameleon.values import freeze
from tests.engine.thousand_tools import Answers, thousand_modules


class Reader(Answers):
    """Reads the text in the picture."""

    reads = ("input.image",)


class Answerer(Answers):
    """Gives the answer."""

    reads = ("cache.fact?",)


INVENTORY = Inventory(
    name="many",
    planner=Fixed(["answerer"]),
    modules={**thousand_modules(), "reader": Reader(), "answerer": Answerer()},
    rules=RulesSpec(last="answerer"),
)
POSTAGE = "What is the postage of a letter of 50 g?"


def names(question: str, count: int = 20, inventory: Inventory = INVENTORY, **given: Any) -> list[str]:
    state = State(input=freeze({"question": question, **given}))
    return [card.name for card in shortlist(inventory, state, count)]


def test_what_reads_a_picture_is_shown_where_there_is_one() -> None:
    question = "What does the text in the picture say?"
    assert "reader" not in names(question)
    assert "reader" in names(question, image="map.png")


def test_a_small_inventory_is_shown_whole() -> None:
    inventory = Inventory.load("tabmwp")
    assert names("How many?", 40, inventory) == [card.name for card in inventory.cards]


def test_a_module_comes_with_what_it_needs() -> None:
    inventory, question = Inventory.load("pictures"), "Who painted this? See Wikipedia, the encyclopedia."
    needed = {"wikipedia_search", "query_generator", "solution_generator", "answer_generator"}
    assert set(names(question, 4, inventory)) == needed
    assert "wikipedia_search" not in names(question, 4, inventory.without("wikipedia_search"))


@settings(max_examples=10)
@given(st.text(max_size=200), st.integers(1, 60))
def test_any_question_gets_a_list_in_the_inventorys_order(question: str, count: int) -> None:
    shown = names(question, count)
    assert len(shown) <= count and shown == sorted(shown, key=list(INVENTORY.modules).index)


@pytest.mark.parametrize("given", [{}, {"choices": ["the postage of a letter", "none"]}])
def test_choices_count_as_part_of_the_question(given: dict[str, Any]) -> None:
    assert ("postage_rates" in names("What does she need?", **given)) is bool(given)


def test_what_any_question_may_need_is_always_shown_and_must_exist() -> None:
    state = State(input=freeze({"question": POSTAGE}))
    shown = [card.name for card in shortlist(INVENTORY, state, 20, ["tide_times"])]
    assert {"tide_times", "postage_rates", "answerer"} <= set(shown)
    left_out = INVENTORY.without("tide_times")
    assert "tide_times" not in [card.name for card in shortlist(left_out, state, 20, ["tide_times"])]
    with pytest.raises(InventoryError, match="tide_time"):
        shortlist(INVENTORY, state, 20, ["tide_time"])
