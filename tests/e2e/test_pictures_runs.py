"""`pictures` end to end: one call with a model that is known to see; with any other all is as it was."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pictures need Pillow")

from PIL import Image

from chameleon import LLM, Executor, Inventory
from tests.e2e.by_cue import ByCue
from tests.hosted import Asked, HostedServer
from tests.loopback import Start
from tests.pictures.drawn import halves

SEEING = ("openai:gpt-6-luna", "anthropic:claude-haiku-5-5", "google_genai:gemini-3.5-flash-lite")
PLAN = ["image_captioner", "knowledge_retrieval", "solution_generator", "answer_generator"]
QUESTION = "Which colour is on the left?"


def reply(asked: Asked) -> str:
    """Play every part: the planner, the captioner, the module that knows, and the one that answers."""
    told = "\n".join(text for _, text in asked.messages)
    parts = {"You plan how": json.dumps(PLAN), "You describe": "Two halves.", "You recall": "Red is red."}
    answer = "The left half is red. The answer is red."
    return next((text for words, text in parts.items() if words in told), answer)


def pictures_in(sent: Any) -> list[str]:
    return re.findall(r'(?:"data:[a-z/]+;base64,|"data": ")([^"]{99,})"', json.dumps(sent))


def opened(sent: str) -> Image.Image:
    """Open a picture of a request; Google's client writes base64 for addresses."""
    return Image.open(io.BytesIO(base64.b64decode(sent.replace("-", "+").replace("_", "/") + "==")))


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """A photograph's worth of noise, red on the left: a picture that packs badly."""
    image = Image.effect_noise((1500, 1000), 90).convert("RGB")
    image.paste((255, 0, 0), (0, 0, 750, 1000))
    image.save(tmp_path / "large.png")
    return str(tmp_path / "large.png")


@pytest.mark.parametrize("model", SEEING)
def test_a_model_that_sees_answers_in_one_call_with_the_picture_once(model: str, picture: str) -> None:
    pytest.importorskip(f"langchain_{model.partition(':')[0]}")
    with HostedServer(reply) as server:
        url = server.openai_url if model.startswith("openai") else server.url
        llm = LLM.connect(model, base_url=url, api_key="k", retries=0)
        assert llm.sees
        state = Executor("pictures", llm).run({"question": QUESTION, "image": picture})
    assert state.answer == "red" and len(server.served) == 1, state.ended
    assert list(state.executed_names) == ["solution_generator", "answer_generator"]
    accepted = server.served[0].body
    (sent,) = pictures_in(accepted)
    assert opened(sent).size == (1024, 683)
    assert len(sent) < 5_000_000, "the least that a provider takes"
    written = json.dumps(accepted, ensure_ascii=False)
    assert "Look at the picture itself" in written and "others have looked at" not in written
    assert written.count(QUESTION) == 1


@pytest.mark.parametrize(("given", "pictures"), [("image", 1), ("text", 0)])
def test_the_captioner_alone_is_shown_it(given: str, pictures: int, loopback: Start, picture: str) -> None:
    cues = {"Modules:": json.dumps(PLAN), "Caption:": "Two halves.", "Knowledge:": "Red is a colour."}
    server = loopback(ByCue({**cues, "Solution:": "The answer is red."}))
    llm = LLM.connect("openai:local", api_key="k", retries=0)
    llm.learn("schema", works=False)
    value = picture if given == "image" else "The left half is red."
    state = Executor("pictures", llm).run({"question": QUESTION, given: value})
    assert not llm.sees and state.answer == "red" and len(server.requests) >= 3
    assert len(pictures_in(server.requests)) == pictures


def test_visual_question_answering_asks_once_and_may_decline(loopback: Start, tmp_path: Path) -> None:
    server = loopback(["The sign is cut off. The answer is unknown."])
    halves().save(tmp_path / "a.png")
    llm = LLM.connect("openai:local", api_key="k", retries=0)
    executor = Executor(Inventory.load("visual_question_answering"), llm)
    state = executor.run({"question": "What does it cost?", "image": str(tmp_path / "a.png")})
    assert state.ended is not None and state.ended.reason == "declined"
    assert len(server.requests) == 1 == len(pictures_in(server.requests))


@pytest.mark.parametrize(("sees", "model", "sent"), [
    ("image", "local", 1), ("auto", "local", 0), ("auto", "gpt-4o-mini", 1), ("nothing", "gpt-4o-mini", 0),
])  # fmt: skip
def test_a_solver_is_shown_the_picture(
    sees: str, model: str, sent: int, loopback: Start, tmp_path: Path
) -> None:
    server = loopback(["The answer is red."])
    halves().save(tmp_path / "a.png")
    settings = {"prompt": "pictures/solution_generator", "sees": sees, "max_side": 10}
    planner = {"use": "fixed", "plan": ["solution_generator"]}
    mine = {"name": "mine", "input": {"question": "str", "image": "path?"}, "planner": planner}
    inventory = Inventory.parse({**mine, "modules": {"solution_generator": settings}})
    executor = Executor(inventory, LLM.connect(f"openai:{model}", api_key="k", retries=0))
    for given in ({"image": str(tmp_path / "a.png")}, {}):
        assert executor.run({"question": QUESTION, **given}).cache == {"solution": "The answer is red."}
    found = [pictures_in(request) for request in server.requests]
    assert [len(each) for each in found] == [sent, 0]
    if sent:
        assert opened(found[0][0]).size == (10, 5)
