"""The problems of an evaluation: looked through before anything is paid for, then read as they run."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.parts import Part

Read = Callable[..., Iterable[Problem]]
"""Reads the problems anew; see `read_problems` for the keywords `done`, `limit` and `seen`."""


def in_turn(
    problems: Iterable[Problem], lengths: Mapping[str, int] | None = None
) -> Iterator[tuple[Problem, ...]]:
    """Yield what can run side by side: problems alone, and conversations, each in the order of its positions.

    Problems that stand alone come first, each as it is met; conversations follow in the order of the data.
    `lengths` are the numbers of questions by conversation, and by "" of the problems that stand alone: with
    these a conversation need not wait for the end of the data.
    """
    conversations: OrderedDict[str, list[Problem]] = OrderedDict()
    left = Counter(lengths or ())
    for problem in problems:
        if problem.sequence:
            conversations.setdefault(problem.sequence, []).append(problem)
        else:
            yield (problem,)
        left[problem.sequence] -= 1
        while lengths and conversations and not left[""] and not left[next(iter(conversations))]:
            yield _in_order(conversations.popitem(last=False)[1])
    yield from map(_in_order, conversations.values())


def _in_order(questions: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(questions, key=lambda question: question.position))


class Problems:
    """The first `limit` problems; a conversation's stand together, so that the limit cuts only the last.

    Of these `part` has some, where it is given; `lengths` are those of its conversations alone.

    A first pass counts them and finds what they lack: their `ids`, those `without_question` and the `blind`,
    with a picture that was not found. Where an earlier run has `counted` them and found nothing to tell,
    there is no such pass, and no id is known. Raises what `read` raises.
    """

    def __init__(
        self, read: Read, limit: int | None = None, counted: int | None = None, part: Part | None = None
    ) -> None:
        self._read, self._limit, self.part = read, limit, part
        self._all_lengths: Counter[str] = Counter()
        self.lengths: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.without_question: list[str] = []
        self.blind: list[str] = []
        self._count = counted or 0
        if counted is None:
            every = (self._counted(problem) for problem in read(seen=self.ids))
            for problem in self._mine(islice(chain.from_iterable(in_turn(every)), limit)):
                self._count += 1
                self.lengths[problem.sequence] += 1
                self.ids.add(problem.id)
                if not problem.input:
                    self.without_question.append(problem.id)
                if problem.detail.get("has_picture") and not problem.picture:
                    self.blind.append(problem.id)
            if limit is not None and self.has_conversations:
                self.ids = {problem.id for problem in self}  # not of all that had to be read

    def _counted(self, problem: Problem) -> Problem:
        """Count a problem; of a question that waits for its conversation, return what is looked at alone."""
        self._all_lengths[problem.sequence] += 1
        given = dict.fromkeys(islice(problem.input, 1))
        return replace(problem, input=given, gold=None) if problem.sequence else problem

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Problem]:
        return self.besides(())

    def besides(self, done: Collection[str]) -> Iterator[Problem]:
        """Read the problems again, without those that are done, as far as they stand alone."""
        if not self.has_conversations:
            return self._mine(self._read(done=done, limit=self._limit))
        every = in_turn(self._read(done=()), self._all_lengths)
        return self._mine(islice(chain.from_iterable(every), self._limit))

    def _mine(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        return iter(problems) if self.part is None else filter(self.part.has, problems)

    @property
    def has_conversations(self) -> bool:
        return any(self._all_lengths)

    def need_no_second_look(self, benchmark: Benchmark) -> bool:
        """Whether there is nothing to tell of them when they are run another time."""
        is_checked = type(benchmark).check is not Benchmark.check
        return not (self.has_conversations or self.blind or is_checked)
