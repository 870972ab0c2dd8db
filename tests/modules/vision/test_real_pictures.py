"""Thirty pictures of ScienceQA and ten drawn ones: noise is given as no answer."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")
pytest.importorskip("numpy", reason="text engines need numpy")

from PIL import Image, ImageDraw

from chameleon import Executor, Inventory
from chameleon.core.prompt import context_of
from tests.benchmarks.shared_data import DATA, needs_data
from tests.pictures.drawn import halves, text_picture

pytestmark = [
    pytest.mark.skipif(not find_spec("rapidocr"), reason="rapidocr is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
REAL = sorted((DATA / "scienceqa" / "images").glob("*.png"))


def drawn(folder: Path) -> dict[str, str]:
    """Draw ten pictures, each with the words that are to be read in it."""
    chance = random.Random(3)
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


@needs_data
def test_text_is_read_in_every_picture_and_noise_is_no_text_and_no_answer(tmp_path: Path) -> None:
    shown = drawn(tmp_path)
    paths = [*REAL, *sorted(tmp_path.glob("*.png"))]
    assert len(paths) == 40
    inputs = [{"question": "What is the adult fare?", "image": str(path)} for path in paths]
    ended = list(Executor(Inventory.load("pictures_offline")).batch(inputs, workers=2))
    state_of = {path.stem: state for path, state in zip(paths, ended, strict=True)}
    assert {state.ended.reason for state in ended if state.ended} == {"answered", "declined"}
    read = {name: state.cache["detected_text"] for name, state in state_of.items()}
    for name, text in shown.items():
        assert read[name] == text
    for name in ("noise", "coloured", "blots", "lines", "halves", "white", "dot", "clear"):
        assert read[name] == "" and not context_of(state_of[name]), name
    assert sum(bool(read[path.stem]) for path in REAL) >= 20, "most pictures of ScienceQA have labels"
    assert {name: state.answer for name, state in state_of.items() if state.answer} == {"sign": "4.50"}
