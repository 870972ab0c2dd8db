"""Give the answer that stands in the cache, where modules have worked on after it was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State


class FinalAnswer(Module):
    """Gives the answer that was found, unchanged. Comes last, after what looks at the answer."""

    reads = ("cache.answer",)
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        return state.cache["answer"]

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {}
