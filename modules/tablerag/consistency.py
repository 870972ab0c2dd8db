"""Self-consistency (Wang et al., 2023): what most of several samples to the same prompt agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from chameleon import Module, State
from chameleon.llm_module import elect

Agree = Literal["value", "text"]


class Consistency(Module):
    """Gives the answer that most samples of table_answerer agree on. Always follows it."""

    reads = ("cache.answers",)
    writes = ("cache.answer",)

    def __init__(self, agree: Agree = "value") -> None:
        """`agree`: samples vote with the answers that they come to ("value"), or with their text to the
        letter, as published ("text"): there "Yes" and "Yes." differ. Where all differ the first counts.
        """
        self.agree: Agree = agree

    def run(self, state: State) -> Any:
        samples = state.cache["answers"]
        if self.agree == "text":
            return samples[agreed([sample["text"] for sample in samples])]["answer"]
        return elect([sample["answer"] for sample in samples])


def agreed(texts: Sequence[str]) -> int:
    """The position of the text that occurs most often, to the letter; where all differ, of the first.

    The published rule. Ties go to the text that comes first. Raises ValueError for no texts.
    """
    counts = Counter(texts)
    return texts.index(max(texts, key=counts.__getitem__))
