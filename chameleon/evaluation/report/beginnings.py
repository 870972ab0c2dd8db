"""What many prompts begin with: instructions and demonstrations stand on the page once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chameleon.evaluation.report.text import Shown, both_ends, shown
from chameleon.text import shared_start

_LEAST = 250
_SAMPLE = 100
_MOST_ALIKE = 8
_LONGEST = 20_000


@dataclass
class Beginning:
    """A text that prompts begin with: `used` is the longest part that any two of them share."""

    number: int
    text: str
    used: int = 0


@dataclass(frozen=True)
class PromptText:
    """A message of a prompt: the shared beginning that it has, how long that is, and what comes after it."""

    rest: Shown
    beginning: int = 0
    length: int = 0


class Beginnings:
    """Recognises shared beginnings while the prompts pass by; keeps no more than a few texts of each kind.

    The first prompt of a kind is shown as it is, since nobody knows yet what others will share with it.
    """

    def __init__(self) -> None:
        self._alike: dict[str, list[Beginning]] = {}
        self._count = 0

    def split(self, text: str) -> PromptText:
        """The message without the part that an earlier one has begun with too."""
        alike = self._alike.setdefault(text[:_SAMPLE], []) if len(text) >= _LEAST else []
        best, length = None, 0
        for beginning in alike:
            if (shared := _shared(beginning.text, text)) > length:
                best, length = beginning, shared
        rest = len(text) - length
        if len(text) >= _LEAST and rest >= _LEAST and len(alike) < _MOST_ALIKE:
            self._count += 1
            alike.append(Beginning(self._count, text[:_LONGEST]))
        if best is None or length < _LEAST:
            return PromptText(both_ends(text))
        best.used = max(best.used, length)
        return PromptText(both_ends(text[length:]), best.number, length)

    def __iter__(self) -> Iterator[tuple[int, Shown]]:
        """The beginnings that were referred to: their numbers and texts."""
        for alike in self._alike.values():
            for beginning in alike:
                if beginning.used:
                    yield beginning.number, shown(beginning.text[: beginning.used], _LONGEST)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with, in whole lines; all of `other` where `one` begins with it."""
    alike = shared_start(one, other)
    return alike if alike == len(other) else one.rfind("\n", 0, alike) + 1
