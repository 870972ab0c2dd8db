"""ScienceQA: multiple-choice science questions with text and pictures (Lu et al., 2022)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.choices import OptionIndexRule, OptionTextRule
from chameleon.benchmarks.tables.table_benchmark import text_in, texts_in, wrong
from chameleon.evaluation.benchmark import Benchmark, Problem, Row, Scorer

_BY_SUBJECT = {"natural science": "NAT", "social science": "SOC", "language science": "LAN"}
_GRADE = re.compile(r"grade(\d{1,2})")
_IMAGE_FILE = "image.png"
"""The name of every picture in the release, in the problem's folder: it is not a path from the data."""
_METADATA = ("grade", "subject", "topic", "category", "skill")


class Scienceqa(Benchmark):
    """Science questions with options, from text and pictures (Lu et al., 2022).

    Rows come from the original release (`problems.json`, keyed by pid). TXT are questions with a hint, IMG
    with a picture (some have both), NO with neither.
    """

    name = "scienceqa"
    columns = ("NAT", "SOC", "LAN", "TXT", "IMG", "NO", "G1-6", "G7-12")
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "chameleon": OptionTextRule,
        "scienceqa": OptionIndexRule,
    }
    id_key = "pid"
    known_by = ({"question", "choices", "answer", "hint", "subject"},)
    picture_key = "image"
    picture_folders = ("", "images", "images/test", "images/val", "images/train", "test", "val", "train")

    def picture_named(self, row: Row) -> str:
        """Return the row's `image`, except the "image.png" of the release, which means PID/image.png."""
        name = row.get("image")
        return name if isinstance(name, str) and name != _IMAGE_FILE else ""

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the problem in a row. `input` has question, options, the hint as `text`, and `metadata`.

        `gold` is the text of the right option; `detail` holds the options and its index. The picture becomes
        `image` if it is next to the data, as in the release (`images/test/PID/image.png`), or if the row
        names it (`"image": "images/museum.png"`).
        """
        id, index = self.required_id(row), row.get("answer")
        question, choices = text_in(row, "question"), texts_in(row, "choices")
        if len(choices) < 2:
            raise wrong(row, "choices", "a list of two texts or more")
        if type(index) is not int or not 0 <= index < len(choices):
            raise wrong(row, "answer", "the index of a choice")
        if not question.strip():
            raise wrong(row, "question", "a text")
        hint, has_image = str(row.get("hint") or ""), bool(row.get("image"))
        return Problem(
            id=id,
            input={
                "question": question,
                "choices": choices,
                "text": hint or None,
                "metadata": _metadata(row) | {"has_image": has_image},
            },
            gold=choices[index],
            columns=tuple(_columns(row, hint)),
            detail={"choices": choices, "index": index, "has_picture": has_image},
        )


def _metadata(row: Row) -> dict[str, Any]:
    """Return metadata for the planner: the grade as a number, and the place in the subject."""
    fields = {key: row[key] for key in _METADATA if isinstance(row.get(key), str)}
    grade = _GRADE.fullmatch(fields.get("grade", ""))
    return fields | ({"grade": int(grade[1])} if grade else {})


def _columns(row: Row, hint: str) -> Iterator[str]:
    if (subject := row.get("subject")) in _BY_SUBJECT:
        yield _BY_SUBJECT[str(subject)]
    if hint:
        yield "TXT"
    if row.get("image"):
        yield "IMG"
    if not hint and not row.get("image"):
        yield "NO"
    if grade := _GRADE.fullmatch(str(row.get("grade", ""))):
        # Chameleon's script leaves grade 1 out of both columns; ScienceQA's own counts it here.
        yield "G1-6" if int(grade[1]) <= 6 else "G7-12"
