"""Dates, durations and numbers in a text, as Microsoft's Recognizers-Text finds them, written plainly."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from decimal import localcontext
from functools import lru_cache
from typing import Any

from chameleon.errors import MissingPackage

_SEASON = re.compile(r"\d+/\d+")
_LONGEST = 1_000
_PRECISION = 15  # what the recogniser sets for the whole process when it is imported
_MIDNIGHT = re.compile(r".*-.*-.* 00:00:00")

Recognise = Callable[[str, str], list[Any]]


@lru_cache(maxsize=65_536)
def recognised(text: str) -> str:
    """A text with its dates and durations as TIMEX ("1995-01-26", "P3Y") and its numbers in digits.

    A text that begins like "1991/92" stays as it is, and so does one of more than 1,000 characters, over
    which the recogniser takes seconds; a time of midnight after a date is dropped. Source: Binder's
    normaliser. Raises `MissingPackage` without the recogniser.
    """
    if len(text) > _LONGEST:
        return text
    text = text.replace("\\n", "; ")
    dates, numbers, culture = _recognisers()
    for recognise, written in ((dates, _timex), (numbers, _number)):
        if not _SEASON.match(text):
            with localcontext(prec=_PRECISION):
                found = [(each.start, each.end + 1, written(each)) for each in recognise(text, culture)]
            text = _replaced(text, found)
    return text[: -len(" 00:00:00")] if _MIDNIGHT.match(text) else text


def check_packages() -> None:
    """Raise `MissingPackage` without the recogniser."""
    _recognisers()


def _replaced(text: str, found: Iterable[tuple[int, int, str | None]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop, instead in found:
        if instead is not None:
            parts += [text[end:start], instead]
            end = stop
    return "".join([*parts, text[end:]])


def _timex(found: Any) -> str | None:
    """What is found as TIMEX; None where it may mean several times."""
    values: list[Any] = (found.resolution or {}).get("values") or []
    return values[0]["timex"] if len(values) == 1 else None


def _number(found: Any) -> str | None:
    value = (found.resolution or {}).get("value")
    return None if value is None else str(value)


@lru_cache(maxsize=1)
def _recognisers() -> tuple[Recognise, Recognise, str]:
    try:
        with warnings.catch_warnings(), localcontext():  # it sets the precision of all decimals
            warnings.simplefilter("ignore")  # its patterns are written for older Pythons
            from recognizers_date_time import recognize_datetime
            from recognizers_number import Culture, recognize_number
    except ImportError as problem:
        raise MissingPackage(
            "Binder's rule needs Recognizers-Text",
            hint="Install it: pip install 'chameleon-compose[binder-metric]'.",
        ) from problem
    return recognize_datetime, recognize_number, Culture.English
