"""Self-consistency: several replies to the same prompt, and what most of them agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def agreed(texts: Sequence[str]) -> int:
    """The position of the text that occurs most often, to the letter; where all differ, of the first.

    The published rule. Ties go to the text that comes first. Raises ValueError for no texts.
    """
    counts = Counter(texts)
    return texts.index(max(texts, key=counts.__getitem__))
