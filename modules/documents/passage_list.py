"""Show the passages of a paper that are nearest to a question, where no model reads them."""

from __future__ import annotations

from typing import Any, NoReturn

from chameleon import Declined, Module, State


class PassageList(Module):
    """Declines, since no model reads the paper; the passages nearest to the question are shown."""

    reads = ("cache.nearest",)
    writes = ("cache.answer",)
    non_text = ("cache.answer",)

    def run(self, state: State) -> NoReturn:
        count = len(state.cache["nearest"])
        shown = "the nearest passage is" if count == 1 else f"the {count} nearest passages are"
        raise Declined(f"no model reads the paper; {shown} shown")

    def update_cache(self, cache: Any, output: Any) -> NoReturn:
        raise AssertionError("it never has an output")
