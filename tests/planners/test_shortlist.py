"""What a planner is shown of a thousand modules; every second tool chose the weights, the others measure."""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.core.planner import every_planner
from chameleon.errors import InventoryError, MissingPackage
from chameleon.evaluation.grid import Grid
from chameleon.inventory.schema import RulesSpec
from chameleon.llm import ScriptedModel
from chameleon.planners import shortlist as shortlists
from chameleon.planners.fixed import Fixed
from chameleon.planners.one_shot import OneShot, without_examples
from chameleon.planners.shortlist import by_relevance, shortlist
from chameleon.retrieval import models
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.models import missing_packages
from chameleon.retrieval.spec import MINILM
from chameleon.values import freeze
from tests.engine.doubles import inventory_of
from tests.engine.thousand_tools import Answers, thousand_modules, tools, with_tools

needs_minilm = pytest.mark.skipif(bool(missing_packages(MINILM)), reason=f"{MINILM} is not installed")
POSTAGE = "What is the postage of a letter of 50 g?"
LARGE = inventory_of(dict.fromkeys(("tea", "rain", "wind"), str))
TABLE = Table(["day", "visitors"], [["Monday", "40"], ["Tuesday", "55"]], caption="Visitors to the fair")
PROGRAM = ("program_generator", "program_verifier", "program_executor", "answer_generator")
SOLUTION = ("solution_generator", "answer_generator")
WEB = ("query_generator", "bing_search", "knowledge_retrieval", *SOLUTION)
ENCYCLOPEDIA = ("query_generator", "wikipedia_search", "knowledge_retrieval", *SOLUTION)
PICTURE = ("image_captioner", "text_detector", *SOLUTION)
PLANS: Sequence[tuple[str, str, Mapping[str, Any], Sequence[str]]] = (
    ("scienceqa", "Which of these is a mammal?", {"choices": ["carp", "otter"]}, WEB),
    ("scienceqa", "Which state lies farthest north?", {"image": "map.png"}, (*PICTURE, *WEB)),
    ("scienceqa", "What would become of the foxes without hares?", {"image": "web.png"}, (*PICTURE, *WEB)),
    ("scienceqa", "Is this a run-on sentence?", {"text": "We ate we left."}, WEB),
    ("tabmwp", "How many more came on Tuesday?", {"table": TABLE}, ("row_lookup", *PROGRAM)),
    ("tabmwp", "What is the mean of the numbers?", {"table": TABLE}, ("column_lookup", *PROGRAM)),
    ("tabmwp", "How many leaves are above 40?", {"table": TABLE}, ("table_verbalizer", *PROGRAM)),
    ("tabmwp", "What is the median?", {"table": TABLE}, ("knowledge_retrieval", *PROGRAM)),
    ("tabmwp", "By how much did it grow?", {"table": TABLE}, ("row_lookup", "column_lookup", *PROGRAM)),
    ("pictures", "What is this building, and by whom?", {"image": "a.png"}, (*PICTURE, *ENCYCLOPEDIA)),
    ("pictures", "What does the sign say?", {"image": "a.png"}, PICTURE),
    ("pictures", "In which year was the painter born?", {"image": "a.png"}, (*PICTURE, *ENCYCLOPEDIA)),
    ("pictures", "Why was the treaty signed?", {"text": "The treaty of 1648."}, ENCYCLOPEDIA),
)  # fmt: skip


class Reader(Answers):
    """Reads the text in the picture."""

    reads = ("input.image",)


MODULES = {**thousand_modules(), "reader": Reader(), "answerer": Answers()}
MANY = Inventory("many", Fixed(["answerer"]), MODULES, rules=RulesSpec(last="answerer"))


def names(
    question: str, count: int = 20, inventory: Any = MANY, always: Any = (), dense: Any = None, **data: Any
) -> list[str]:
    state = State(input=freeze({"question": question, **data}))
    order = by_relevance(inventory, state, always, dense)
    return [card.name for card in shortlist(inventory, state, order, lambda chosen: len(chosen) <= count)]


def test_a_module_is_shown_for_what_is_given_and_comes_with_what_it_needs() -> None:
    text, she = "What does the text in the picture say?", "What does she need?"
    assert "reader" not in names(text) and "reader" in names(text, image="map.png")
    assert "postage_rates" not in names(she)
    assert "postage_rates" in names(she, choices=["the postage of a letter", "none"])
    pictures, painted = Inventory.load("pictures"), "Who painted this? See Wikipedia, the encyclopedia."
    assert {*names(painted, 4, pictures)} == {"wikipedia_search", "query_generator", *SOLUTION}
    assert "wikipedia_search" not in names(painted, 4, pictures.without("wikipedia_search"))


@settings(max_examples=10)
@given(st.text(max_size=200), st.integers(1, 60))
def test_any_question_gets_a_list_in_the_inventorys_order(question: str, count: int) -> None:
    found = names(question, count)
    assert len(found) <= count and found == sorted(found, key=list(MANY.modules).index)


def test_what_any_question_may_need_is_always_shown_and_must_exist() -> None:
    assert {"tide_times", "postage_rates", "answerer"} <= set(names(POSTAGE, always=["tide_times"]))
    assert "tide_times" not in names(POSTAGE, 20, MANY.without("tide_times"), ["tide_times"])
    with pytest.raises(InventoryError, match="tide_time"):
        names(POSTAGE, always=["tide_time"])


def test_embeddings_are_told(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    for there, auto in ((True, MINILM), (False, "none")):
        monkeypatch.setattr(models, "find_spec", lambda name, there=there: name if there else None)
        assert OneShot(shortlist=2).runtime_info(LARGE) == {"embeddings": auto}
        assert OneShot(shortlist=2, embeddings="a:b").runtime_info(LARGE) == {"embeddings": "a:b"}
        assert OneShot(shortlist=3).runtime_info(LARGE) == {}
    with pytest.raises(InventoryError, match="no embeddings named 'mini'"):
        OneShot(embeddings="mini")
    with pytest.raises(MissingPackage, match="pip install"):
        OneShot(embeddings=MINILM).check()
    shortlists._warn_about_words.cache_clear()
    by_words = OneShot(shortlist=2, embeddings="none")
    for planner in (OneShot(shortlist=3), by_words, *[OneShot(shortlist=2)] * 3):
        cards, others = planner.cards(State(input=freeze({"question": "tea?"})), LARGE)
        assert len(cards) == planner.shortlist and not others
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "by words only" in warning and "chameleon-compose[embeddings]" in warning


@cache
def by_meaning() -> Embedder:
    """MiniLM, with all the questions embedded at once, which one by one would take minutes."""
    import torch

    torch.set_num_threads(1)  # two of them wait for each other where other tests run beside these
    model = embedder(MINILM)
    model.queries([state["question"] for kind in ("plain", "paraphrase") for _, state, _ in asked(kind)])
    return model


@cache
def asked(kind: str) -> list[tuple[Inventory, Mapping[str, Any], set[str]]]:
    """Return inventories of a thousand modules, each with a question and the modules that it needs."""
    if kind == "plans":
        there = {name: with_tools(Inventory.load(name)) for name in ("scienceqa", "tabmwp", "pictures")}
        return [(there[name], {"question": text, **given}, set(plan)) for name, text, given, plan in PLANS]
    strangers = Inventory(name="thousand", planner=Fixed(["chess_engine"]), modules=thousand_modules())
    return [(strangers, {"question": getattr(tool, kind)}, {tool.name}) for tool in tools()[1::2]]


LEAST = {"plain": 0.98, "plans": 0.98, "paraphrase": 0.92}
MEANT = [pytest.param(kind, by_meaning, marks=needs_minilm) for kind in LEAST]


@pytest.mark.parametrize(("kind", "how"), [("plain", None), ("plans", None), *MEANT])
def test_what_a_question_needs_is_shown(kind: str, how: Callable[[], Embedder] | None) -> None:
    wanted, missed = 0, []
    for inventory, state, needed in asked(kind):
        planners = every_planner(inventory.planner)
        always = next((each.always for each in planners if isinstance(each, OneShot)), ())
        assert always or kind != "plans", f"the planner of {inventory.name} names none"
        wanted += len(needed)
        shown = names(inventory=inventory, always=always, dense=how, **state)
        missed += [f"{state['question']} {name}" for name in needed - {*shown}]
    assert 1 - len(missed) / wanted >= LEAST[kind], missed


ABLATIONS = [(name, arm) for name in ("tabmwp_modules", "scienceqa_modules") for arm in Grid.load(name).arms]


@pytest.mark.parametrize(("name", "arm"), ABLATIONS)
def test_no_example_names_a_module_that_is_left_out(name: str, arm: str) -> None:
    inventory = Grid.load(name).arms[arm].inventory
    whole, out = inventory.planner._template, inventory.left_out  # type: ignore[attr-defined]
    prompts = (whole, without_examples(whole, out))
    plans, after = (re.findall(r"^Modules: (\[.+\])$", each.sections[-1][1], re.M) for each in prompts)
    assert after == [plan for plan in plans if out.isdisjoint(json.loads(plan))]
    assert prompts[0] == prompts[1] if not out else 0 < len(after) < len(plans)


def test_a_plan_that_names_what_is_left_out_gives_way_to_the_fallback() -> None:
    inventory = Grid.load("tabmwp_modules").arms["without_programs"].inventory
    model = ScriptedModel([str(list(PROGRAM))] * 2 + ["The answer is 15."])
    state = Executor(inventory, LLM.connect(model)).run({"question": "How many more?", "table": TABLE})
    assert (state.plan, state.answer) == (SOLUTION, "15")
