"""`image_captioner` with real models of transformers, as small as they can be."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from PIL import Image

from chameleon import Executor, Inventory, State
from chameleon.device import Batched
from chameleon.errors import MissingPackage, ModuleError
from chameleon.modules.vision import captioning
from chameleon.modules.vision.captioning import Captioning, Model, captioner
from chameleon.modules.vision.image_captioner import ImageCaptioner
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures.engines import RapidEngine
from chameleon.planners.fixed import Fixed
from chameleon.prompt import context_of
from chameleon.steps import PreparedModule
from tests.engine.doubles import executor, why
from tests.modules.vision.tiny_models import SIDE, save_blip, save_idefics3
from tests.pictures.drawn import text_picture

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[State]:
    """Sixteen pictures of coloured squares."""
    folder = tmp_path_factory.mktemp("pictures")
    return [State(input={"image": str(squares(folder / f"{number}.png", number))}) for number in range(16)]


@pytest.fixture(scope="module")
def alone(vit_gpt2: str, states: list[State]) -> list[str]:
    """The captions of these pictures, each written by itself."""
    return [ready(vit_gpt2).run(state) for state in states]


def squares(path: Path, seed: int) -> Path:
    chance = random.Random(seed)
    image = Image.new("RGB", (SIDE, SIDE))
    for x in range(0, SIDE, 8):
        for y in range(0, SIDE, 8):
            image.paste(tuple(chance.randrange(256) for _ in range(3)), (x, y, x + 8, y + 8))
    image.save(path)
    return path


def ready(model: str, **settings: Any) -> ImageCaptioner:
    module = ImageCaptioner(model, device="cpu", **settings)
    PreparedModule(module).ready()
    return module


def loaded(model: str) -> Model:
    return Model.load(model, "cpu")


def test_captions_one_picture(vit_gpt2: str, states: list[State]) -> None:
    paper = ImageCaptioner(vit_gpt2, max_tokens=16, beams=4)
    state = executor({"image_captioner": paper}).run({"question": "?", **states[0].input})
    caption = state.cache["image_caption"]
    assert 1 <= len(caption.split()) <= 15, "sixteen tokens, of which the first begins the caption"
    assert context_of(state) == f"Image caption: {caption}"
    assert len(ready(vit_gpt2, max_tokens=5, beams=1).run(states[1]).split()) <= 4


def test_a_batch_says_what_each_picture_says_alone(
    vit_gpt2: str, states: list[State], alone: list[str], tmp_path: Path
) -> None:
    assert len(set(alone)) > 8, "the model looks at the pictures"
    pictures = [Image.open(state.input["image"]) for state in states]
    assert loaded(vit_gpt2).describe(pictures, Captioning(vit_gpt2)) == alone
    for save in (save_blip, save_idefics3):  # they have a processor of their own; one is a model to chat with
        other = str(save(tmp_path / save.__name__))
        model, by_itself = loaded(other), [ready(other).run(state) for state in states[:4]]
        assert model.describe(pictures[:4], Captioning(other)) == by_itself and len(set(by_itself)) > 1


def test_the_default_is_a_small_model_to_chat_with_asked_for_one_sentence(tmp_path: Path) -> None:
    folder = save_idefics3(tmp_path / "smol")
    assert ImageCaptioner().settings == Captioning("HuggingFaceTB/SmolVLM-256M-Instruct", "auto", 64, 1, 16)
    model = loaded(str(folder))
    assert type(model.network).__name__ == "Idefics3ForConditionalGeneration"
    asked: list[Any] = []
    generate = model.network.generate
    model.network.generate = lambda **given: (asked.append(given), generate(**given))[1]
    wide, tall = Image.effect_noise((300, 90), 90).convert("RGB"), Image.new("RGB", (20, 64), "red")
    captions = model.describe([wide, tall], Captioning(str(folder), max_tokens=9))
    assert all(1 <= len(caption.split()) <= 9 and "User" not in caption for caption in captions)
    (given,) = asked
    assert given["pixel_values"].shape[:2] == (2, 1), "each picture whole, in no parts"
    said = model.tokens.decode(given["input_ids"][0])
    assert said.startswith("<|im_start|>") and said.count("<image>") == 4


class Short:
    """A network's `generate` on a GPU that has room for so many pictures; on the CPU it has for all."""

    def __init__(self, model: Model, room: int, error: type[RuntimeError]) -> None:
        self.generate, self.room, self.error = model.network.generate, room, error
        self.sizes: list[int] = []

    def __call__(self, **given: Any) -> Any:
        self.sizes.append(len(given["pixel_values"]))
        if self.sizes[-1] > self.room:
            raise self.error("MPS backend out of memory (allocated: 9 GB)")
        return self.generate(**given)


@pytest.mark.parametrize(("room", "sizes", "lines"), [
    (16, [16], []),
    (5, [16, 8, 4, 4, 4, 4], ["is too small for 16 at once: now 8", "is too small for 8 at once: now 4"]),
    (0, [16, 8, 4, 2, 1, 1, *[1] * 15], [
        *(f"is too small for {n} at once: now {n // 2}" for n in (16, 8, 4, 2)), "it runs on the CPU"
    ]),
])  # fmt: skip
@pytest.mark.parametrize("error", ["OutOfMemoryError", "RuntimeError"])
def test_a_gpu_without_room_gets_smaller_batches_and_then_the_cpu_works(
    vit_gpt2: str, states: list[State], room: int, sizes: list[int], lines: list[str], error: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    import torch

    kind = RuntimeError if error == "RuntimeError" else torch.OutOfMemoryError
    plain, settings = loaded(vit_gpt2), Captioning(vit_gpt2, max_tokens=16)
    pictures = [Image.open(state.input["image"]) for state in states]
    wanted = plain.describe(pictures, settings)
    short = Short(plain, room, kind)
    plain.network.generate = short
    batched = Batched(vit_gpt2, 16, "cuda", lambda: setattr(short, "room", 16))
    model = replace(plain, batched=batched)
    assert model.describe(pictures, settings) == wanted and short.sizes == sizes
    assert model.describe(pictures, settings) == wanted, "what was found out is kept: no line comes again"
    assert set(short.sizes[len(sizes) :]) == {sizes[-1]}
    assert [each for record, each in zip(caplog.messages, lines, strict=True) if each in record] == lines
    assert batched.device == ("cpu" if not room else "cuda")


def test_a_model_that_the_gpu_cannot_hold_is_loaded_to_the_cpu(
    vit_gpt2: str, states: list[State], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import torch

    moved, places = captioning._moved, []

    def move(network: Any, device: str) -> Any:
        places.append(device)
        if device == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return moved(network, device)

    monkeypatch.setattr(captioning, "_moved", move)
    model = Model.load(vit_gpt2, "cuda")
    assert places == ["cuda", "cpu"] and model.network.dtype is torch.float32
    assert model.describe([Image.open(states[0].input["image"])], Captioning(vit_gpt2))
    assert caplog.messages == [f"{vit_gpt2} does not fit into the memory of cuda: it runs on the CPU"]


@pytest.mark.parametrize("kind", ["cuda", "mps", None])
def test_auto_is_the_accelerator_that_torch_finds_and_else_the_cpu(
    kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: kind is not None)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device(kind or "cpu"))
    assert captioning.device_for("auto") == (kind or "cpu")


def test_runs_of_an_executor_share_one_model_and_its_batches(
    vit_gpt2: str, states: list[State], alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ready(vit_gpt2, batch=8)
    monkeypatch.setattr(Model, "load", lambda *_: pytest.fail("it is loaded again"))
    ready(vit_gpt2, batch=8)
    sizes: list[int] = []
    describe = Model.describe

    def counted(model: Model, pictures: Any, settings: Captioning) -> list[str]:
        sizes.append(len(pictures))
        while len(sizes) == 1 and len(captioner(settings)._waiting) < 15:
            threading.Event().wait(0.001)
        return describe(model, pictures, settings)

    monkeypatch.setattr(Model, "describe", counted)
    inputs = [{"question": "?", **state.input} for state in states]
    ended = list(executor({"image_captioner": module}).batch(inputs, workers=16))
    assert [state.cache["image_caption"] for state in ended] == alone
    assert sizes == [1, 8, 7]


def test_threads_leave_a_processor_free_unless_set(vit_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    before = torch.get_num_threads()
    try:
        for processors, torchs_own, wanted, threads in (
            (4, 4, None, 3), (8, 4, None, 4), (1, 1, None, 1), (4, 4, 4, 4), (4, 4, 1, 1)
        ):  # fmt: skip
            monkeypatch.setattr(captioning, "_captioners", {})
            monkeypatch.setattr("os.sched_getaffinity", lambda process, count=processors: range(count))
            torch.set_num_threads(torchs_own)
            ready(vit_gpt2, threads=wanted)
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(torch.get_num_threads).result() == threads
    finally:
        torch.set_num_threads(before)


def test_a_model_that_fails_is_told_to_every_run(
    vit_gpt2: str, states: list[State], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    model = loaded(vit_gpt2)
    monkeypatch.setattr(model.network, "generate", fails)
    monkeypatch.setattr(Model, "load", lambda *_: model)
    module = ready(vit_gpt2, batch=3)
    inputs = [{"question": "?", **state.input} for state in states[:3]]
    for state in executor({"image_captioner": module}).batch(inputs, workers=3):
        assert "failed on 1 picture(s): CUDA out of memory" in why(state)


@pytest.mark.parametrize("package", ["torch", "transformers", "PIL"])
def test_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=r"pip install torch transformers pillow.*multimodal_captioner"):
        ImageCaptioner().check()


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_a_model_that_cannot_be_loaded_is_told(
    vit_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModuleError, match="is no captioning model"):
        captioner(Captioning(str(tmp_path)))

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr(captioning, "_read", broken)
    with pytest.raises(ModuleError, match="must fit torch"):
        ready(vit_gpt2)


def test_the_text_detector_beside_it_works_at_the_same_time_with_the_same_outcome(
    vit_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidocr", reason="rapidocr is not installed")
    image = text_picture(tmp_path / "map.png", {(20, 15): "Nile", (200, 100): "Red Sea"})
    modules = {"image_captioner": ImageCaptioner(vit_gpt2), "text_detector": TextDetector("rapidocr")}
    inventory = Inventory("pictures", Fixed(list(modules)), modules)

    def outcome(parallel: bool) -> State:
        return Executor(inventory, parallel=parallel).run({"question": "What is it?", "image": str(image)})

    def met(work: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: (meeting.wait(), work(*given))[1]

    apart = outcome(parallel=False)
    meeting = threading.Barrier(2, timeout=20)  # it breaks when one is at work without the other
    monkeypatch.setattr(Model, "describe", met(Model.describe))
    monkeypatch.setattr(RapidEngine, "read", met(RapidEngine.read))
    together = outcome(parallel=True)
    assert together.cache == apart.cache and list(together.cache) == list(apart.cache)
    assert together.cache["detected_text"] == "Nile\nRed Sea" and together.cache["image_caption"]
    assert [record.output for record in together.history] == [record.output for record in apart.history]
