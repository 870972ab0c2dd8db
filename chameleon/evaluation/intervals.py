"""How far a share of right answers may be off, for so many questions."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

Z_90 = 1.645
"""Half of a 90 % interval, in standard errors."""


class Difference(NamedTuple):
    """How much larger a share is than another over the same `n` questions, and half of its interval."""

    value: float
    half_width: float
    n: int


def half_width(share: float, n: int) -> float:
    """Half of the 90 % interval of a share of n: 1.645 times the root of p (1 - p) / n.

    It is Wald's, as published with retrieval-augmented chain of thought: no width at 0 and at 1, where it
    says too little. Raises ValueError for n below 1.
    """
    if n < 1:
        raise ValueError("a share is one of at least one")
    return Z_90 * sqrt(share * (1 - share) / n)


def difference(ours: Mapping[str, bool], first: Mapping[str, bool]) -> Difference | None:
    """How much more often ours is right than the first, over the questions that both have; None without any.

    The interval is that of paired verdicts: what both have right, or both wrong, tells nothing of it.
    """
    both = ours.keys() & first.keys()
    if not both:
        return None
    n = len(both)
    gains = sum(ours[id] and not first[id] for id in both)
    losses = sum(first[id] and not ours[id] for id in both)
    value = (gains - losses) / n
    variance = max((gains + losses) / n - value * value, 0.0)
    return Difference(value, Z_90 * sqrt(variance / n), n)
