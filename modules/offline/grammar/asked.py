"""The asked sentence as plain text: which words stand in it, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from chameleon.modules.offline.grammar.problem import Problem


@dataclass(frozen=True)
class Asked:
    """The sentence of a problem that asks."""

    problem: Problem

    @cached_property
    def texts(self) -> dict[int, str]:
        """The asked words in lower case, by position."""
        return {i: self.problem.words[i].text.lower() for i in self.problem.asked}

    def places_of(self, *texts: str) -> frozenset[int]:
        return frozenset(i for i, text in self.texts.items() if text in texts)

    def has(self, *texts: str) -> bool:
        """Whether these words stand in the asked sentence one after the other."""
        return bool(self.phrase(*texts))

    def phrase(self, *texts: str) -> frozenset[int]:
        """The positions of the first place where these words follow each other; empty for none."""
        asked = self.problem.asked
        for start in range(len(asked) - len(texts) + 1):
            run = asked[start : start + len(texts)]
            if tuple(self.texts[i] for i in run) == texts:
                return frozenset(run)
        return frozenset()
