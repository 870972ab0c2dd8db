"""Measure how well and how fast `text_detector` reads, compared with RapidOCR and its defaults.

    pip install rapidocr onnxruntime pillow
    python perf/text_detection.py FOLDER [--repeats 3]

FOLDER has `image_samples.jsonl`, one object per line: `file` is the path of a picture in FOLDER, `ocr` the
text that EasyOCR read in it, as a Python list of (box, text, confidence). Words are runs of letters and
digits in lower case; precision, recall and F1 count them over all pictures together. Pictures are timed one
after another in one thread, after all models are loaded.
"""

import argparse
import ast
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from timings import Figure, surroundings, table

from chameleon import State
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures.opening import read_picture
from chameleon.run.steps import PreparedModule

Words = Counter[str]
Read = Callable[[Path], str]
DEFAULTS = "RapidOCR, its defaults"
OURS = "text_detector, rapidocr"


def words_of(text: str) -> Words:
    return Counter(re.findall(r"\w+", text.lower()))


def recorded(folder: Path) -> list[tuple[Path, Words]]:
    """Return the pictures with the words recorded for each."""
    lines = (folder / "image_samples.jsonl").read_text("utf-8").splitlines()
    samples = [(row["file"], ast.literal_eval(row["ocr"])) for row in map(json.loads, lines)]
    return [(folder / file, words_of(" ".join(text for _, text, _ in ocr))) for file, ocr in samples]


def scores(found: Sequence[Words], wanted: Sequence[Words]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    right = sum((a & b).total() for a, b in zip(found, wanted, strict=True))
    said, true = sum(a.total() for a in found), sum(b.total() for b in wanted)
    return right / said if said else 0.0, right / true, 2 * right / (said + true)


def with_defaults() -> Read:
    import numpy
    from rapidocr import RapidOCR

    reader = RapidOCR(params={"Global.log_level": "critical"})

    def read(path: Path) -> str:
        pixels = numpy.ascontiguousarray(numpy.asarray(read_picture(path).image)[:, :, ::-1])
        return " ".join(reader(pixels).txts or ())

    return read


def with_module(engine: Any) -> Read:
    module = TextDetector(engine)
    PreparedModule(module).ready()

    def read(path: Path) -> str:
        output = module.run(State(input={"image": str(path)}))
        return " ".join(piece["text"] for piece in output)

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("samples", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    samples = recorded(options.samples)
    readers = {
        DEFAULTS: with_defaults(),
        OURS: with_module("rapidocr"),
        "text_detector, auto": with_module("auto"),
    }
    found: dict[str, list[Words]] = {}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for read in readers.values():
        read(samples[0][0])  # loads the models
    for _ in range(options.repeats):  # all in each round, so that a disturbance affects all
        for name, read in readers.items():
            begun = time.perf_counter()
            texts = [read(path) for path, _ in samples]
            seconds[name].append((time.perf_counter() - begun) / len(samples))
            found[name] = [words_of(text) for text in texts]
    figures = {name: Figure(values) for name, values in seconds.items()}
    rows = []
    for name, figure in figures.items():
        quality = [f"{value:.3f}" for value in scores(found[name], [words for _, words in samples])]
        part = f"{figure.median / figures[DEFAULTS].median:.2f}"
        rows.append([name, *quality, figure.shown(3), part])
    header = ["", "precision", "recall", "F1", "s a picture: median (least–most)", "of the defaults' time"]
    table(f"Words of {len(samples)} pictures against the recorded ones", header, rows)
    print(surroundings("rapidocr", "onnxruntime", "pillow"))


if __name__ == "__main__":
    main()
