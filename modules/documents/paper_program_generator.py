"""Write a Python program that computes an answer from the passages of a paper (Program of Thoughts)."""

from __future__ import annotations

import re
from typing import Any

from chameleon import State
from chameleon.modules.documents.citing import PassageReader, cited_passages
from chameleon.modules.program.programs import program_in

_LINE = re.compile(r"^(?=[^\w\n]*+passages?\b[^\n=]*:)(?![^\S\n]*+#)", re.IGNORECASE | re.MULTILINE)


class PaperProgramGenerator(PassageReader):
    """Writes a program that sets `ans` from passages of a paper, and names those. Follows paper_retriever."""

    prompt = "papers/program_generator"
    writes = ("cache.program", "cache.sources")

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the program and its sources, which it names in a comment or beside it.

        Raises `StepRejected` for a reply without a program, or without numbers of passages that are there,
        and `Declined` where the model finds that the passages do not tell.
        """
        sources = cited_passages(text, state.input.get("passages") or ())
        return {"program": _LINE.sub("# ", program_in(text)), "sources": sources}
