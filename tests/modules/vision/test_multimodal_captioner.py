"""`multimodal_captioner`: what a chat model is sent, and what logs and the response store keep of it."""

import base64
import io
import pickle
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from PIL import Image

from chameleon import LLM, EventLog, Executor, Inventory, State
from chameleon.errors import InventoryError, MissingPackage
from chameleon.llm import ResponseStore
from chameleon.llm.message import MultimodalText
from chameleon.modules.vision.multimodal_captioner import MultimodalCaptioner
from chameleon.pictures.opening import Attachment, read_picture
from tests.engine.doubles import why
from tests.loopback import Fault, LoopbackServer
from tests.modules.vision.conftest import inventory_of
from tests.pictures.drawn import RED, colour_at, halves

Start = Callable[..., LoopbackServer]


def inventory(**settings: Any) -> Inventory:
    return inventory_of("image_captioner", use="multimodal_captioner", **settings)


def llm(store: ResponseStore | None = None) -> LLM:
    return LLM.connect("openai:local", api_key="k", retries=0, store=store)


def asked(image: Path, llm: LLM, question: str = "What?", **settings: Any) -> State:
    return Executor(inventory(**settings), llm).run({"question": question, "image": str(image)})


def test_the_model_gets_the_picture_and_the_question(loopback: Start, tmp_path: Path) -> None:
    server = loopback(["Two halves, one red."])
    halves(300, 150).save(tmp_path / "halves.png")
    question = "Which colour is on the left – 左?"
    state = asked(tmp_path / "halves.png", llm(), question, max_side=100)
    assert state.cache == {"image_caption": "Two halves, one red."}
    system, user = server.requests[0]["messages"]
    assert system["content"].startswith("You describe a picture")
    text, picture = user["content"]
    assert text == {"type": "text", "text": f"Question: {question}\n\nDescribe this picture."}
    head, _, data = picture["image_url"]["url"].partition(",")
    assert (picture["type"], head) == ("image_url", "data:image/png;base64")
    sent = Image.open(io.BytesIO(base64.b64decode(data)))
    assert sent.size == (100, 50) and colour_at(sent, 0.2, 0.5) == RED


def test_logs_and_the_store_keep_a_reference_in_place_of_the_picture(loopback: Start, tmp_path: Path) -> None:
    loopback(["A drawing."])
    Image.effect_noise((400, 400), 90).save(tmp_path / "noise.png")
    picture = read_picture(tmp_path / "noise.png")
    store = ResponseStore(tmp_path / "store.sqlite")
    with EventLog(tmp_path / "run.jsonl") as log:
        question = {"question": "What?", "image": str(tmp_path / "noise.png")}
        state = Executor(inventory(), llm(store)).run(question, log)
    store.close()
    (call,) = state.history[0].calls
    reference = f"[picture sha256:{picture.digest} 400x400]"
    assert call.messages[-1] == ("user", f"Question: What?\n\nDescribe this picture.\n{reference}")
    assert type(call.messages[-1][1]) is str, "the picture is not kept in memory with the run"
    assert reference in (tmp_path / "run.jsonl").read_text("utf-8")
    for file in (tmp_path / "run.jsonl", tmp_path / "store.sqlite"):
        assert file.stat().st_size < 100_000 < len(Attachment.of(picture).base64)


def test_the_store_tells_pictures_apart_and_replays(loopback: Start, tmp_path: Path) -> None:
    server = loopback(lambda request: f"picture {len(server.requests)}")
    store = ResponseStore(tmp_path / "store.sqlite")
    answers = []
    names = ("a.png", "b.png", "copy of a.png", "a.png", "a.png")
    for name, colour in zip(names, ("red", "blue", "red", "green", "blue"), strict=True):
        Image.new("RGB", (9, 9), colour).save(tmp_path / name)
        answers.append(asked(tmp_path / name, llm(store)).cache["image_caption"])
    assert answers == [f"picture {number}" for number in (1, 2, 1, 3, 2)] and len(server.requests) == 3
    replay = llm(ResponseStore(store.path, "replay"))
    assert asked(tmp_path / "b.png", replay).cache["image_caption"] == "picture 2"
    assert len(server.requests) == 3


def test_a_text_with_a_picture_is_a_request_of_its_own_and_pickled(loopback: Start, tmp_path: Path) -> None:
    server = loopback(["seen", "read"])
    halves().save(tmp_path / "a.png")
    shown = MultimodalText("lone \ud800 half", [Attachment.of(read_picture(tmp_path / "a.png"))])
    copied = pickle.loads(pickle.dumps(MultimodalText("x", shown.pictures)))
    assert (copied.text, copied.pictures) == ("x", shown.pictures)
    model = llm(ResponseStore(tmp_path / "store.sqlite"))
    assert [model.ask(text).text for text in (shown, str.__str__(shown), shown)] == ["seen", "read", "seen"]
    text, picture = server.requests[0]["messages"][0]["content"]
    assert text["text"] == "lone \ufffd half" and picture["type"] == "image_url"


def test_a_model_that_sees_no_pictures_fails_the_step(loopback: Start, tmp_path: Path) -> None:
    refused = {"error": {"message": "image_url is not supported", "type": "invalid_request"}}
    server = loopback([Fault(400, refused)])
    halves(300, 300).save(tmp_path / "a.png")
    state = asked(tmp_path / "a.png", llm())
    assert "image_url is not supported" in why(state) and len(repr(state.history[0])) < 5000
    (tmp_path / "broken.png").write_bytes(b"no picture")
    assert "broken.png" in why(asked(tmp_path / "broken.png", llm())) and len(server.requests) == 1


def test_what_is_wrong_or_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InventoryError, match="max_side is '0'"):
        inventory(max_side=0)
    assert MultimodalCaptioner().runtime_info() == {"versions": {"pillow": version("pillow")}}
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackage, match=r"pip install .*\[pictures\]"):
        inventory().modules["image_captioner"].check()
