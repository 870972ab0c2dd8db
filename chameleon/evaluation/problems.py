"""The problems of an evaluation: checked before anything is paid for, then read as they run."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem

PART = "part"
"""The key of the settings."""
_PART_PATTERN = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class PartOfProblems:
    """One of `of` parts of the problems, from 1, chosen by hash of the id; a conversation is in one."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "PartOfProblems":
        """Read "3/16". Raises `InputError` for anything else."""
        match = _PART_PATTERN.fullmatch(text)
        number, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= of:
            raise InputError(f"{text!r} is not a part", hint="Write 3/16 for the third part of sixteen.")
        return cls(number, of)

    def has(self, problem: Problem) -> bool:
        """Return whether a problem is in this part."""
        name = hashlib.sha256((problem.sequence or problem.id).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(name[:8]) % self.of == self.number - 1  # the same on every machine

    def __str__(self) -> str:
        return f"part {self.number} of {self.of}"


def in_turn(problems: Iterable[Problem]) -> Iterator[tuple[Problem, ...]]:
    """Yield what can run side by side: single problems, and conversations in the order of their positions.

    Single problems come first, as they are read; conversations follow in the order of the data.
    """
    conversations: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.sequence:
            conversations.setdefault(problem.sequence, []).append(problem)
        else:
            yield (problem,)
    for questions in conversations.values():
        yield tuple(sorted(questions, key=lambda question: question.position))


class Problems:
    """The problems to run, those of a conversation together: the limit can cut only the last conversation.

    A first pass counts them and collects their `ids`, those `without_question` and the `blind` ones, whose
    picture was not found.

    Args:
        read: called for each pass; its errors are raised.
        limit: the number of problems to take, of all parts together; None takes all.
        part: the part that the problems are restricted to.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Problem]],
        limit: int | None = None,
        part: PartOfProblems | None = None,
    ) -> None:
        self._read, self._limit, self.part = read, limit, part
        self.ids: set[str] = set()
        self.has_conversations = False  # also in other parts
        self.without_question: list[str] = []
        self.blind: list[str] = []
        self._count = 0
        for problem in self._first():
            self.has_conversations |= bool(problem.sequence)
            if self._is_mine(problem):
                self._count += 1
                self.ids.add(problem.id)
                if not problem.input:
                    self.without_question.append(problem.id)
                if problem.detail.get("has_picture") and not problem.picture:
                    self.blind.append(problem.id)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Problem]:
        return filter(self._is_mine, self._first())

    def _first(self) -> Iterator[Problem]:
        return islice(chain.from_iterable(in_turn(self._read())), self._limit)

    def _is_mine(self, problem: Problem) -> bool:
        return self.part is None or self.part.has(problem)
