"""Answer from the passages of a paper, and name those that the answer rests on."""

from __future__ import annotations

from typing import Any

from chameleon import State, StepRejected
from chameleon.modules.documents.citing import PassageReader, cited_passages
from chameleon.modules.program.solution_generator import lone_letter, stated_answer


class PaperAnswerer(PassageReader):
    """Reasons from passages of a paper to an answer, and names those it rests on. Follows paper_retriever."""

    prompt = "papers/paper_answerer"
    writes = ("cache.solution", "cache.sources")

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the solution and its sources.

        Raises `StepRejected` for a reply without an answer, or without numbers of passages that are there,
        and `Declined` where the model finds that the passages do not tell.
        """
        sources = cited_passages(text, state.input.get("passages") or ())
        if stated_answer(text) is None and lone_letter(text, state.input.get("choices") or ()) is None:
            raise StepRejected('the solution does not say "The answer is …"')
        return {"solution": text.strip(), "sources": sources}
