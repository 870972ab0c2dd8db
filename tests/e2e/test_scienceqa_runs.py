"""ScienceQA end to end: planned over real HTTP, with a picture, a search and a model that sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.evaluation.benchmark import Judgement, Problem
from chameleon.evaluation.results import Result
from tests.engine.files import write
from tests.loopback import LoopbackServer
from tests.web.servers import PAGES, WebServer, searxng

pytest.importorskip("PIL", reason="pictures need Pillow")
pytest.importorskip("rapidocr", reason="the text detector needs an engine")

Start = Callable[..., LoopbackServer]

INVENTORY = """\
name: mine
extends: scienceqa
planner: {PLANNER}
modules:
  image_captioner: {use: multimodal_captioner, on_error: skip}
  bing_search: {use: web_search, provider: searxng, allow_private: true, on_error: skip}
"""
PROMPTED = "{use: one_shot, prompt: scienceqa/planner}"
STRUCTURED = "{use: one_shot, prompt: scienceqa/planner, structured: true}"
PLAN = [
    "image_captioner",
    "text_detector",
    "knowledge_retrieval",
    "query_generator",
    "bing_search",
    "solution_generator",
    "answer_generator",
]
QUESTION = {
    "question": "Which town on the map lies farthest south?",
    "choices": ["Harwick", "Lundby", "Sorrento Bay"],
    "text": "North is at the top of the map.",
    "metadata": {"grade": 4, "subject": "social science", "has_image": True},
}


class Model:
    """Replies by the cue at the end of the prompt; keeps what it was asked."""

    def __init__(
        self, plan: list[str], solution: str = "Lundby is the lowest label. The answer is B."
    ) -> None:
        self.plan, self.solution = plan, solution
        self.asked: dict[str, str] = {}

    def __call__(self, request: dict[str, Any]) -> str:
        content = request["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        cue = "Caption:" if not isinstance(content, str) else text.rstrip().splitlines()[-1]
        self.asked[cue] = text
        return {
            "Modules:": json.dumps({"modules": self.plan} if "response_format" in request else self.plan),
            "Caption:": "a map with three towns along a coast",
            "Knowledge:": "South is at the bottom of a map whose top is north.",
            "Query:": "Lundby latitude",
            "Solution:": self.solution,
        }[cue]


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """A map with the towns' names, the northern one on top."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (500, 360), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(34)
    for name, place in (("Harwick", (40, 30)), ("Sorrento Bay", (200, 150)), ("Lundby", (90, 290))):
        draw.text(place, name, fill="black", font=font)
    file = tmp_path / "map.png"
    image.save(file)
    return str(file)


def run(
    model: Model, loopback: Start, tmp_path: Path, planner: str = PROMPTED, **given: Any
) -> tuple[State, list[dict[str, Any]]]:
    server = loopback(model)
    file = write(tmp_path, INVENTORY.replace("{PLANNER}", planner), "mine.yaml")
    executor = Executor(Inventory.load(str(file)), LLM.connect("openai:local"))
    return executor.run(QUESTION | given), server.requests


@pytest.mark.parametrize("planner", [PROMPTED, STRUCTURED])
def test_a_planned_run_sees_reads_knows_and_searches(
    planner: str, loopback: Start, picture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebServer({"/search": searxng}) as web:
        monkeypatch.setenv("SEARXNG_URL", web.url)
        model = Model(PLAN)
        state, requests = run(model, loopback, tmp_path, planner, image=picture)
    assert state.ended is not None and state.ended.reason == "answered", state.ended
    assert state.answer == "Lundby"
    assert list(state.program) == PLAN and not any(record.error for record in state.history)
    context = model.asked["Solution:"].rpartition("Context:")[2]
    assert "Image caption: a map with three towns along a coast" in context
    assert "Detected text:\n<detected_text>\nHarwick\nSorrento Bay\nLundby\n</detected_text>\n" in context
    assert "Knowledge: South is at the bottom" in context
    assert f"1. {PAGES[0]['title']} ({PAGES[0]['url']}): {PAGES[0]['text']}" in context.splitlines()
    assert f"2. {PAGES[1]['title']} ({PAGES[1]['url']}): {PAGES[1]['text']}" in context.splitlines()
    assert "Lundby latitude" not in context  # the query has done its work
    assert [asked.query["q"] for asked in web.asked] == ["Lundby latitude"]
    assert "About: grade 4, social science, picture" in model.asked["Modules:"]
    schema = requests[0].get("response_format", {}).get("json_schema", {}).get("schema", {})
    names = schema.get("properties", {}).get("modules", {}).get("items", {}).get("enum")
    assert names == (PLAN if planner == STRUCTURED else None)
    boxes = state.cache["text_boxes"]
    assert [piece["text"] for piece in boxes] == ["Harwick", "Sorrento Bay", "Lundby"]


def test_the_neighbours_see_the_same_state_as_in_sequence(
    loopback: Start, picture: str, tmp_path: Path
) -> None:
    plan = ["image_captioner", "text_detector", "solution_generator", "answer_generator"]
    state, _ = run(Model(plan), loopback, tmp_path, image=picture)
    server = loopback(Model(plan))
    inventory = Inventory.load(str(tmp_path / "mine.yaml"))
    sequential = Executor(inventory, LLM.connect("openai:local"), parallel=False).run(
        QUESTION | {"image": picture}
    )
    assert dict(state.cache) == dict(sequential.cache) and state.answer == sequential.answer
    assert len(server.requests) == 3  # the plan, the caption and the solution, in both runs alike


def test_a_plan_that_does_not_end_with_an_answer_becomes_the_fallback(
    loopback: Start, tmp_path: Path
) -> None:
    state, _ = run(Model(["knowledge_retrieval"]), loopback, tmp_path)
    assert state.plan == ("solution_generator", "answer_generator") and state.answer == "Lundby"
    assert state.plans[-1].kind == "fallback"


def test_what_is_missing_is_skipped_and_told(
    loopback: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ["query_generator", "bing_search", "solution_generator", "answer_generator"]
    model = Model(plan)
    state, _ = run(model, loopback, tmp_path)  # no search server is configured
    assert state.answer == "Lundby"
    failed = [record for record in state.history if record.error]
    assert [record.step.module for record in failed] == ["bing_search"]
    assert "SEARXNG_URL" in str(failed[0].error)
    assert state.skipped == (failed[0].error,)
    told = [line for line in model.asked["Solution:"].splitlines() if line.startswith("Not available:")]
    assert told == [f"Not available: web search response ({failed[0].error.reason})"]
    result = Result.of(Problem("1", {}, "Lundby"), state, Judgement(True))
    assert result.passed_over == {"module bing_search": failed[0].error.message}
    assert Result.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("The answer is B.", "Lundby"),
        ("The answer is (C).", "Sorrento Bay"),
        ("The answer is Harwick.", "Harwick"),
        ("It must be Lundby. The answer is lundby.", "Lundby"),
        ("The answer is nowhere near.", "The answer is nowhere near."),
        ("It must be Lundby.", "Lundby"),  # five times over
        ("**B**", "Lundby"),
    ],
)
def test_letters_option_texts_and_free_texts(
    solution: str, answer: str, loopback: Start, tmp_path: Path
) -> None:
    plan = ["solution_generator", "answer_generator"]
    state, _ = run(Model(plan, solution), loopback, tmp_path)
    assert state.answer == answer


def test_chain_of_thought_takes_the_caption_where_there_is_a_picture(
    loopback: Start, picture: str, tmp_path: Path
) -> None:
    model = Model([])
    loopback(model)
    text = "extends: scienceqa_cot\nname: cot\nmodules:\n  image_captioner: {use: multimodal_captioner}\n"
    executor = Executor(Inventory.load(str(write(tmp_path, text, "cot.yaml"))), LLM.connect("openai:local"))
    assert executor.run(QUESTION | {"image": picture}).program[0] == "image_captioner"
    assert "Image: a map with three towns" in model.asked["Solution:"]
    assert executor.run(QUESTION).program == ("solution_generator", "answer_generator")
