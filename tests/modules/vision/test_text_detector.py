"""`text_detector`: one form of output from every engine, in reading order, in pixels of the original."""

import logging
import random
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")
pytest.importorskip("numpy", reason="text engines need numpy")

from PIL import Image, ImageDraw
from pytest import LogCaptureFixture, MonkeyPatch

from chameleon import Declined, Executor, Inventory, State
from chameleon.core.prompt import context_of
from chameleon.errors import InventoryError, MissingPackage
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures import engines
from tests.benchmarks.shared_data import DATA, needs_data
from tests.engine.doubles import executor
from tests.modules.vision.conftest import inventory_of
from tests.pictures.drawn import halves, text_picture

_HAS_BOTH = find_spec("rapidocr") and find_spec("onnxruntime")
rapidocr = pytest.mark.skipif(not _HAS_BOTH, reason="rapidocr and onnxruntime are not installed")
GONE = MissingPackage("it is not here")
WORDS = {(20, 15): "Melting point", (300, 15): "Boiling", (20, 100): "Water 100"}


@pytest.fixture(autouse=True)
def _no_engine_is_kept(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_engines", dict(engines._engines))


def detect(path: Path | str, **settings: Any) -> State:
    return executor({"text_detector": TextDetector(**settings)}).run({"question": "?", "image": str(path)})


@rapidocr
def test_reads_text_with_boxes_in_reading_order(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = detect(text_picture(tmp_path / "words.png", WORDS), engine="rapidocr")
    assert state.cache["detected_text"] == "Melting point Boiling\nWater 100"
    assert capfd.readouterr() == ("", ""), "nothing is printed"
    for each, (place, text) in zip(state.cache["text_boxes"], WORDS.items(), strict=True):
        assert each["text"] == text and 0.5 <= each["confidence"] <= 1
        first, _, third, _ = each["box"]
        assert first == pytest.approx(place, abs=12) and third[0] > first[0] and third[1] > first[1]
    Image.new("RGB", (1, 1), "white").save(tmp_path / "blank.png")
    state = detect(tmp_path / "blank.png", engine="rapidocr")
    assert (state.cache["detected_text"], state.cache["text_boxes"]) == ("", ())
    framed = detect(Path(__file__).parents[3] / "demos" / "data" / "ferry.png", engine="rapidocr")
    text = framed.cache["detected_text"]
    assert "Adult fare: $4.50" in text and "|" not in text, "a frame close to the text is no letter"


@rapidocr
def test_boxes_are_in_pixels_of_the_upright_original(tmp_path: Path) -> None:
    text_picture(tmp_path / "words.png", {(20, 100): "Water 100"})
    large = Image.open(tmp_path / "words.png").resize((2100, 800)).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    large.save(tmp_path / "turned.png", exif=exif)
    (found,) = detect(tmp_path / "turned.png", engine="rapidocr").cache["text_boxes"]
    assert found["text"] == "Water 100"
    assert found["box"][0] == pytest.approx((100, 525), abs=60)


def test_what_the_engine_is_not_sure_of_is_left_out(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    readers = double_of_easyocr(monkeypatch)
    path = text_picture(tmp_path / "words.png", {}, (30, 20))
    first = detect(path, engine="easyocr", languages=["fr"])
    assert first.cache["detected_text"] == "Paris Lyon"
    box = ((1.2, 2), (10, 2), (10, 8), (1, 8))
    assert first.cache["text_boxes"][0] == {"text": "Paris", "box": box, "confidence": 0.9}
    unsure = detect(path, engine="easyocr", languages=["fr"], least_confidence=0, boxes=True)
    told = context_of(unsure)
    assert told.startswith("Detected text:\n<detected_text>\n[([[1, 2], ") and "], '8 4 < 8 $')]\n</" in told
    shapes = [(20, 30, 3)] * 2
    assert readers == [(["fr"], {"gpu": False, "verbose": False}, shapes)], "the reader is loaded once"


def test_a_line_not_read_in_full_answers_nothing(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    boxes = [[[left, 20], [left + 60, 20], [left + 60, 40], [left, 40]] for left in (10, 110, 210)]
    path = text_picture(tmp_path / "prices.png", {}, (300, 60))
    for texts, read in (
        ([("Tea", 0.9), ("2.50", 0.9), ("3.SO", 0.3)], "Tea 2.50 […]"),
        ([("gre3n", 0.2), ("Tea:", 0.9), ("2.50", 0.9)], "[…] Tea: 2.50"),
    ):
        monkeypatch.setattr(engines, "_engines", {})
        double_of_easyocr(monkeypatch, [(box, *text) for box, text in zip(boxes, texts, strict=True)])
        state = detect(path, engine="easyocr")
        assert state.cache["detected_text"] == read
        asked = State(input={"question": "What is the tea?", "image": str(path)}, cache=state.cache)
        with pytest.raises(Declined, match="no label in the text has such a value"):
            LabelReader().run(asked)
    sure = detect(path, engine="easyocr", least_confidence=0.95)
    assert sure.cache["detected_text"] == "", "a line of which nothing is read is left out"


def test_auto_takes_what_works(tmp_path: Path, monkeypatch: MonkeyPatch, caplog: LogCaptureFixture) -> None:
    readers = double_of_easyocr(monkeypatch, has_gpu=True)
    path = text_picture(tmp_path / "a.png", {(20, 15): "Boiling"})
    assert detect(path).cache["detected_text"] == "Paris Lyon" and readers[0][1]["gpu"]
    monkeypatch.setattr(engines, "_engines", {})
    monkeypatch.setattr(sys.modules["easyocr"], "Reader", failing_reader)
    assert "cannot load its models" in detect(path, engine="easyocr").why
    if find_spec("rapidocr") is None:
        pytest.skip("no other engine is installed")
    with caplog.at_level(logging.WARNING, "chameleon"):
        assert detect(path).cache["detected_text"] == "Boiling"
    assert "easyocr is skipped" in caplog.text


def test_bad_settings_and_what_to_install_are_told(monkeypatch: MonkeyPatch) -> None:
    for settings in ({"least_confidence": 50}, {"languages": [""]}, {"engine": "magic"}):
        with pytest.raises(InventoryError, match=next(iter(settings))):
            inventory_of("text_detector", **settings)
    if find_spec("rapidocr"):
        with pytest.raises(InventoryError, match="rapidocr takes no languages"):
            TextDetector("rapidocr", languages=["de"]).check()
    for package in ("easyocr", "rapidocr", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    hints = {"easyocr": "pip install easyocr", "rapidocr": "pip install rapidocr onnxruntime"}
    for engine, hint in {**hints, "auto": ".*".join(hints.values())}.items():
        with pytest.raises(InventoryError, match=hint):
            inventory_of("text_detector", engine=engine).check()


def test_what_auto_came_to_is_told_without_loading_it(monkeypatch: MonkeyPatch) -> None:
    here = [name for name in engines.ENGINES if TextDetector(name).runtime_info()["engine"]]  # type: ignore[arg-type]
    for present in (here, here[1:], []):
        with monkeypatch.context() as patch:
            for name in set(engines.ENGINES) - set(present):
                patch.setattr(engines.ENGINES[name], "check", lambda _: (_ for _ in ()).throw(GONE))
            resolved = TextDetector().runtime_info()
        assert resolved["engine"] == (present or [None])[0]
        assert set(resolved["versions"]) >= {"pillow", *present[:1]}
    assert engines._engines.keys() <= {(name, ()) for name in here}


@rapidocr
def test_rapidocr_runs_on_cuda_if_it_is_there(monkeypatch: MonkeyPatch) -> None:
    import onnxruntime
    import rapidocr

    made: list[dict[str, Any]] = []
    monkeypatch.setattr(rapidocr, "RapidOCR", lambda params: made.append(params))
    for provider in ("CUDAExecutionProvider", "CPUExecutionProvider"):
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda name=provider: [name])
        engines.RapidEngine()
    assert [params["EngineConfig.onnxruntime.use_cuda"] for params in made] == [True, False]


def failing_reader(*_: Any, **__: Any) -> Any:
    raise RuntimeError("operator torchvision::nms does not exist")


_FOUND = (
    ([[30, 2], [40, 2], [40, 8], [30, 8]], "Lyon", 0.8),
    ([[1.2, 2.0], [10, 2], [10, 8], [1, 8]], "Paris", 0.9),
    ([[1, 22], [10, 22], [10, 28], [1, 28]], "8 4 < 8 $", 0.04),
)


def double_of_easyocr(monkeypatch: MonkeyPatch, found: Sequence[Any] = _FOUND, has_gpu: bool = False) -> Any:
    """Replace EasyOCR by a double; return what its readers were made with."""
    made: list[Any] = []

    class Reader:
        def __init__(self, languages: list[str], **options: Any) -> None:
            self.shapes: list[Any] = []
            made.append((languages, options, self.shapes))

        def readtext(self, image: Any) -> list[Any]:
            self.shapes.append(image.shape)
            return list(found)

    torch = {"accelerator": SimpleNamespace(is_available=lambda: has_gpu)}
    for name, held in {"easyocr": {"Reader": Reader}, "torchvision": {}, "torch": torch}.items():
        module = ModuleType(name)
        module.__dict__.update(held, __spec__=ModuleSpec(name, None))
        monkeypatch.setitem(sys.modules, name, module)
    return made


REAL = sorted((DATA / "scienceqa" / "images").glob("*.png"))


def drawn(folder: Path) -> dict[str, str]:
    """Draw ten pictures; return the words that are to be read in two of them."""
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


@rapidocr
@needs_data
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_text_is_read_in_every_picture_and_noise_is_no_text_and_no_answer(tmp_path: Path) -> None:
    shown = drawn(tmp_path)
    paths = [*REAL, *sorted(tmp_path.glob("*.png"))]
    assert len(paths) == 40
    inputs = [{"question": "What is the adult fare?", "image": str(path)} for path in paths]
    ended = list(Executor(Inventory.load("pictures_offline")).batch(inputs, workers=2))
    state_of = {path.stem: state for path, state in zip(paths, ended, strict=True)}
    assert {state.status for state in ended} == {"answered", "declined"}
    read = {name: state.cache["detected_text"] for name, state in state_of.items()}
    for name, text in shown.items():
        assert read[name] == text
    for name in ("noise", "coloured", "blots", "lines", "halves", "white", "dot", "clear"):
        assert read[name] == "" and not context_of(state_of[name]), name
    assert sum(bool(read[path.stem]) for path in REAL) >= 20, "most pictures of ScienceQA have labels"
    assert {name: state.answer for name, state in state_of.items() if state.answer} == {"sign": "4.50"}
