"""What Binder's programs ask a model, and how the replies are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon import StepRejected
from chameleon.modules.sql.database import Cell

Item = tuple[str, ...]

MOST_ITEMS = 50
_LABEL = re.compile(r"^(?:the )?answer(?: is)?\s*:?\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:row\s+)?(\d{1,6})\s*[|:.)\t]\s*(.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MapQuestion:
    """A question about each of many items, which have a value under each of `names`."""

    asked: str
    names: tuple[str, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question about what stands in `blocks`: columns, results of queries, values."""

    asked: str
    blocks: tuple[str, ...]


Question = MapQuestion | AnswerQuestion


def item_lines(items: Sequence[Item]) -> str:
    """Items as the prompt lists them, numbered from 1, with bars between their values."""
    return "\n".join(f"{number} | {' | '.join(item)}" for number, item in enumerate(items, 1))


def map_answers(text: str, count: int) -> dict[int, str]:
    """The answers in a reply by the number of their item, in lower case.

    A line is "3 | yes"; the last field is the answer, as in the published code, so that a reply may repeat
    the item. What is missing is missing: a number that was not asked about, or a line without one, counts
    for nothing.
    """
    found: dict[int, str] = {}
    for line in text.splitlines():
        match = _NUMBERED.match(line.strip().strip("|").strip())
        if match and 1 <= (number := int(match[1])) <= count:
            answer = tidy(re.split(r"[|\t]", match[2])[-1])
            if answer and number not in found:
                found[number] = answer
    return found


def single_answer(text: str) -> str:
    """The answer in a reply: its first line that says something, in lower case."""
    answer = next(filter(None, (tidy(_LABEL.sub("", line.strip())) for line in text.splitlines())), "")
    if not answer:
        raise StepRejected("the reply holds no answer")
    return answer


def tidy(text: str) -> str:
    """One answer in lower case, without the full stop and the quotes around it."""
    said = " ".join(text.replace("**", "").split()).lower()
    said = said.removesuffix(".") if not said.endswith("..") and said.count(".") == 1 else said
    return said[1:-1].strip() if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'`" else said


def as_text(cell: Cell) -> str:
    """A cell as a prompt shows it, on one line."""
    return "" if cell is None else " ".join(str(cell).split())
