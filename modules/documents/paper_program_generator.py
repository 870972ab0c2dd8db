"""Write a Python program that computes an answer from the passages of a paper (Program of Thoughts)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, State
from chameleon.modules.documents.citing import cited, shown
from chameleon.modules.program.programs import program_in

_LINE = re.compile(r"^(?=[^\w\n]*+passages?\b[^\n=]*:)(?![^\S\n]*+#)", re.IGNORECASE | re.MULTILINE)


class PaperProgramGenerator(LLMModule):
    """Writes a program that sets `ans` from passages of a paper, and names those. Follows paper_retriever."""

    prompt = "papers/program_generator"
    reads = ("input.question", "input.passages", "input.choices?", "input.unit?", "cache.retrieval_note?")
    writes = ("cache.program", "cache.sources")
    non_text = ("cache.sources",)

    def slots(self, state: State) -> dict[str, Any]:
        """The passages by number, each with its headings and page."""
        return super().slots(state) | {"found": shown(state.input.get("passages") or ())}

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """The program and its sources, which it names in a comment or beside it.

        Raises `StepRejected` for a reply without a program, or without numbers of passages that are there,
        and `Declined` where the model finds that the passages do not tell.
        """
        sources = cited(text, state.input.get("passages") or ())
        return {"program": _LINE.sub("# ", program_in(text)), "sources": sources}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program": output["program"], "sources": output["sources"]}
