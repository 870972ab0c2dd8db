"""Answer from the passages of a paper, and name those that the answer rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, State, StepRejected
from chameleon.modules.documents.citing import cited, shown
from chameleon.modules.program.solution_generator import lone_letter, stated_answer


class PaperAnswerer(LLMModule):
    """Reasons from passages of a paper to an answer, and names those it rests on. Follows paper_retriever."""

    prompt = "papers/paper_answerer"
    reads = ("input.question", "input.passages", "input.choices?", "input.unit?", "cache.retrieval_note?")
    writes = ("cache.solution", "cache.sources")
    non_text = ("cache.sources",)

    def slots(self, state: State) -> dict[str, Any]:
        """The passages by number, each with its headings and page."""
        return super().slots(state) | {"found": shown(state.input.get("passages") or ())}

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """The solution and its sources.

        Raises `StepRejected` for a reply without an answer, or without numbers of passages that are there,
        and `Declined` where the model finds that the passages do not tell.
        """
        sources = cited(text, state.input.get("passages") or ())
        if stated_answer(text) is None and lone_letter(text, state.input.get("choices") or ()) is None:
            raise StepRejected('the solution does not say "The answer is …"')
        return {"solution": text.strip(), "sources": sources}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"solution": output["solution"], "sources": output["sources"]}
