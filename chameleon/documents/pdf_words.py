"""The words of a PDF's page, each at its place: those that stand level, and those that stand sideways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chameleon.documents.reading_order import Word
from chameleon.markup import visible

_SPACE = 0.15  # of the letters' size: letters further apart are of two words
_TURNED = 0.05  # of a letter's size: how far it may lean and stand level all the same
_Way = Callable[[Any], dict[str, float]]


def words_of(page: Any) -> tuple[list[Word], list[Word]]:
    """The level words of a page (pdfplumber's), and the sideways ones where they stand when it is turned.

    Slanted letters, which are those of stamps across the text, are left out.
    """
    level, up, down = list[Any](), list[Any](), list[Any]()
    for char in page.chars:
        a, b, *_ = char.get("matrix") or (1, 0, 0, 1)
        if abs(b) <= _TURNED * abs(a):
            level.append(char)
        elif abs(a) <= _TURNED * abs(b):
            (up if b > 0 else down).append(char)
    turned = [*_turned(up, _from_below(page)), *_turned(down, _from_above(page))]
    return _words(level), _words(turned)


def _from_below(page: Any) -> _Way:
    """Where letters stand, that climb from the foot of the page, when it is turned to read them."""
    foot = float(page.bbox[3])
    return lambda char: {
        "x0": foot - char["bottom"],
        "x1": foot - char["top"],
        "top": char["x0"],
        "bottom": char["x1"],
    }


def _from_above(page: Any) -> _Way:
    right = float(page.bbox[2])
    return lambda char: {
        "x0": char["top"],
        "x1": char["bottom"],
        "top": right - char["x1"],
        "bottom": right - char["x0"],
    }


def _turned(chars: Sequence[Any], way: _Way) -> list[Any]:
    placed = [{**char, **way(char), "upright": True} for char in chars]
    return [{**char, "doctop": char["top"], "size": char["bottom"] - char["top"]} for char in placed]


def _words(chars: Sequence[Any]) -> list[Word]:
    from pdfplumber.utils import extract_words

    upright = [{**char, "upright": True, "size": round(char["size"], 1)} for char in chars]
    return [
        Word(text, each["x0"], each["x1"], each["top"], each["bottom"], each["size"], each["fontname"])
        for each in extract_words(upright, extra_attrs=["size", "fontname"], x_tolerance_ratio=_SPACE)
        if (text := visible(each["text"]).strip())
    ]
