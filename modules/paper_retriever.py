"""Keep, of a paper, the passages that the question needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import PositiveInt

from chameleon import Declined, Module, State
from chameleon.modules.papers.passages import nearness
from chameleon.tokens import estimated_tokens


class PaperRetriever(Module):
    """Keeps the passages of a paper that the question needs, by their words, headings and numbers."""

    reads = ("input.question", "input.passages")
    writes = ("input.passages", "cache.retrieved")
    wordless = ("cache.retrieved",)

    def __init__(self, k: PositiveInt = 8, max_tokens: PositiveInt = 4000) -> None:
        """`k`: how many passages are kept; `max_tokens`: how long they are together at most, estimated."""
        self.k, self.max_tokens = k, max_tokens

    def run(self, state: State) -> dict[str, Any]:
        """`kept`: the passages, the nearest first; `of`: how many there were.

        Raises `Declined` where no word of the question stands in any of them.
        """
        passages = state.input.get("passages") or ()
        near = nearness(state.input["question"], passages)
        kept, left = list[int](), self.max_tokens
        for place in sorted(range(len(passages)), key=lambda place: -near[place]):
            size = estimated_tokens(f"{passages[place].get('title', '')}\n{passages[place]['text']}")
            if near[place] <= 0 or len(kept) == self.k:
                break
            if size <= left or not kept:
                kept.append(place)
                left -= size
        if not kept:
            raise Declined(
                "no passage of the paper has a word of the question", hint="Ask in the words of the paper."
            )
        told = [
            {
                "id": f"passage {place + 1}",
                "name": str(passages[place].get("title") or passages[place]["text"])[:80],
                "score": float(near[place]),
                "source": {"passage": place + 1},
            }
            for place in kept
        ]
        return {"kept": told, "of": len(passages), "passages": [passages[place] for place in sorted(kept)]}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"passages": output["passages"]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"retrieved": output["kept"]}
