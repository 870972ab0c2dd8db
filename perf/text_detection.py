"""How well and how fast `text_detector` reads, beside RapidOCR with its own defaults.

    pip install rapidocr onnxruntime pillow
    python perf/text_detection.py FOLDER [--repeats 3]

FOLDER, or the file itself, is laid out so:

    FOLDER/image_samples.jsonl      {"file": "images/1.png", "ocr": "[([[0, 0], …], 'text', 0.9)]"} a line
    FOLDER/images/1.png             the pictures, wherever `file` says

`file` is the path of a picture from the file's folder, and `ocr` what EasyOCR read in it, as a Python list of
(box, text, confidence). Words are runs of letters and digits in lower case; precision, recall and F1 count
them over all pictures together, whatever their place. The time is that of one picture after another in one
thread, from the open file to the text, once all models are loaded. Thirty pictures take some two minutes on
two cores with nothing else to do, most of them for RapidOCR's defaults; stderr tells when a round is done.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from timings import Figure, surroundings, table

from chameleon import State
from chameleon.errors import ChameleonError, InputError
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.pictures.engines import chosen_engine
from chameleon.pictures.opening import read_picture
from chameleon.run.steps import PreparedModule

Words = Counter[str]
Read = Callable[[Path], str]
DEFAULTS = "RapidOCR, its defaults"
OURS = "text_detector, rapidocr"


def words_of(text: str) -> Words:
    return Counter(re.findall(r"\w+", text.lower()))


def recorded(given: Path) -> list[tuple[Path, Words]]:
    """The pictures with the words that were recorded for each. Raises `InputError`."""
    file = given / "image_samples.jsonl" if given.is_dir() else given
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{file} cannot be read: {problem}", hint="Name a file of samples.") from problem
    samples = [_sample(file, number, line) for number, line in enumerate(lines, 1)]
    if not any(words for _, words in samples):
        raise InputError(f"{file} has no words to compare with")
    return samples


def _sample(file: Path, number: int, line: str) -> tuple[Path, Words]:
    try:
        row = json.loads(line)
        picture = file.parent / row["file"]
        words = words_of(" ".join(text for _, text, _ in ast.literal_eval(row["ocr"])))
    except (ValueError, TypeError, KeyError, SyntaxError) as problem:
        what = f"no sample with `file` and `ocr`: {type(problem).__name__}: {problem}"
        raise InputError(what, where=f"{file}, line {number}") from problem
    if not picture.is_file():
        raise InputError(f"there is no picture {picture}", where=f"{file}, line {number}")
    return picture, words


def scores(found: Sequence[Words], wanted: Sequence[Words]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
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
    if options.repeats < 1:
        parser.error("--repeats is to be at least 1")
    try:
        samples = recorded(options.samples)
        chosen_engine("rapidocr", ())  # the others are measured where they are installed
    except ChameleonError as problem:
        parser.error(str(problem))
    readers = {
        DEFAULTS: with_defaults(),
        OURS: with_module("rapidocr"),
        "text_detector, auto": with_module("auto"),
    }
    found: dict[str, list[Words]] = {}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for name, read in readers.items():
        _say(f"loads the models of {name}")
        read(samples[0][0])
    for number in range(1, options.repeats + 1):  # all of them in each round: what disturbs one disturbs all
        for name, read in readers.items():
            begun = time.perf_counter()
            texts = [read(path) for path, _ in samples]
            seconds[name].append((time.perf_counter() - begun) / len(samples))
            found[name] = [words_of(text) for text in texts]
            _say(f"round {number} of {options.repeats}, {name}: {seconds[name][-1]:.3f} s a picture")
    figures = {name: Figure(values) for name, values in seconds.items()}
    rows = []
    for name, figure in figures.items():
        quality = [f"{value:.3f}" for value in scores(found[name], [words for _, words in samples])]
        part = f"{figure.median / figures[DEFAULTS].median:.2f}"
        rows.append([name, *quality, figure.shown(3), part])
    header = ["", "precision", "recall", "F1", "s a picture: median (least–most)", "of the defaults' time"]
    table(f"Words of {len(samples)} pictures against the recorded ones", header, rows)
    print(surroundings("rapidocr", "onnxruntime", "pillow"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
