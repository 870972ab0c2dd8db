"""Thirty pictures of ScienceQA and ten drawn ones: nothing is raised, and noise is given as no answer."""

from __future__ import annotations

import random
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")
pytest.importorskip("numpy", reason="text engines need numpy")

from PIL import Image, ImageDraw

from chameleon import Executor, Inventory
from chameleon.core.prompt import context_of
from chameleon.modules.vision.image_captioner import ImageCaptioner
from tests.benchmarks.shared_data import DATA, needs_data
from tests.engine.doubles import executor
from tests.pictures.drawn import halves, text_picture

pytestmark = [
    pytest.mark.skipif(not find_spec("rapidocr"), reason="rapidocr is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
REAL = sorted((DATA / "scienceqa" / "images").glob("*.png"))


def drawn(folder: Path) -> dict[str, str]:
    """Draw ten pictures, each with the words that are to be read in it."""
    chance = random.Random(3)
    folder.mkdir(exist_ok=True)
    noise = Image.effect_noise((400, 300), 90)
    coloured = Image.merge("RGB", [Image.effect_noise((500, 200), 120) for _ in range(3)])
    blots, lines = Image.new("RGB", (400, 300), "white"), Image.new("RGB", (400, 300), "white")
    for _ in range(60):
        place = [chance.randrange(400), chance.randrange(300)]
        ImageDraw.Draw(blots).ellipse([*place, place[0] + 9, place[1] + 5], fill="black")
        ImageDraw.Draw(lines).line([*place, chance.randrange(400), chance.randrange(300)], fill="black")
    for name, image in {
        "noise": noise, "coloured": coloured, "blots": blots, "lines": lines, "halves": halves(300, 200),
        "white": Image.new("L", (200, 100), 255), "dot": Image.new("RGB", (1, 1)),
        "clear": Image.new("RGBA", (120, 90), (0, 0, 0, 0)),
    }.items():  # fmt: skip
        image.save(folder / f"{name}.png")
    text_picture(folder / "sign.png", {(20, 15): "Adult fare: 4.50"})
    text_picture(folder / "two.png", {(20, 15): "Harwick", (200, 100): "Lundby"})
    return {"sign": "Adult fare: 4.50", "two": "Harwick\nLundby"}


@cache
def pictures(folder: Path) -> tuple[Path, ...]:
    drawn(folder)
    return (*REAL, *sorted(folder.glob("*.png")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn")


@needs_data
def test_text_is_read_in_every_picture_and_noise_is_no_text_and_no_answer(folder: Path) -> None:
    paths = pictures(folder)
    assert len(paths) == 40
    inputs = [{"question": "What is the adult fare?", "image": str(path)} for path in paths]
    ended = list(Executor(Inventory.load("pictures_offline")).batch(inputs, workers=2))
    state_of = {path.stem: state for path, state in zip(paths, ended, strict=True)}
    assert {state.ended.reason for state in ended if state.ended} == {"answered", "declined"}
    read = {name: state.cache["detected_text"] for name, state in state_of.items()}
    for name, text in drawn(folder).items():
        assert read[name] == text
    for name in ("noise", "coloured", "blots", "lines", "halves", "white", "dot", "clear"):
        assert read[name] == "" and not context_of(state_of[name]), name
    assert sum(bool(read[path.stem]) for path in REAL) >= 20, "most pictures of ScienceQA have labels"
    assert {name: state.answer for name, state in state_of.items() if state.answer} == {"sign": "4.50"}


@needs_data
def test_a_captioner_says_something_of_every_picture(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="captions need torch: pip install torch transformers")
    from tests.modules.vision.tiny_models import save_idefics3

    model = str(save_idefics3(tmp_path / "smol"))
    inputs = [{"question": "What is it?", "image": str(path)} for path in pictures(folder)]
    captioner = executor({"image_captioner": ImageCaptioner(model, device="cpu", max_tokens=6)})
    ended = list(captioner.batch(inputs, workers=4))
    assert not [str(state.ended.error) for state in ended if state.ended and state.ended.error]
    assert all(isinstance(state.cache["image_caption"], str) for state in ended)
