"""`image_captioner` with real models of transformers, as small as they can be."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="captions need pillow")
pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
pytest.importorskip("transformers", reason="captions need transformers: pip install torch transformers")

from PIL import Image

from chameleon import Executor, Inventory, State
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
from tests.modules.vision.tiny_models import SIDE, save_blip
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
    state = executor({"image_captioner": ImageCaptioner(vit_gpt2)}).run({"question": "?", **states[0].input})
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
    blip = str(save_blip(tmp_path / "blip"))  # it has a processor of its own
    model, by_itself = loaded(blip), [ready(blip).run(state) for state in states[:4]]
    assert model.describe(pictures[:4], Captioning(blip)) == by_itself and len(set(by_itself)) > 1


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

    monkeypatch.setattr(captioning.Model, "_read", broken)
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
