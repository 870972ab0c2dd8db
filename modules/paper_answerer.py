"""Answer from the passages of a paper, and name those that the answer rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import Declined, LLMModule, State, StepRejected
from chameleon.modules.papers.passages import source_of
from chameleon.modules.solution_generator import lone_letter, stated_answer
from chameleon.quoting import Quoted, block, on_one_line, untagged

_RESTS = re.compile(r"^\W*passages?\W*:\W*(.+)$", re.IGNORECASE | re.MULTILINE)
_NONE = re.compile(r"none\b", re.IGNORECASE)


class PaperAnswerer(LLMModule):
    """Reasons from passages of a paper to an answer, and names those it rests on. Follows paper_retriever."""

    prompt = "papers/paper_answerer"
    reads = ("input.question", "input.passages", "input.choices?", "input.unit?")
    writes = ("cache.solution", "cache.sources")
    wordless = ("cache.sources",)

    def slots(self, state: State) -> dict[str, Any]:
        """The passages by number, each with its headings and page."""
        passages = enumerate(state.input.get("passages") or (), 1)
        return super().slots(state) | {"found": Quoted("\n".join(_shown(n, each) for n, each in passages))}

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """The solution and its sources.

        Raises `StepRejected` for a reply without an answer, or without numbers of passages that are there,
        and `Declined` where the model finds that the passages do not tell.
        """
        passages = state.input.get("passages") or ()
        lines = _RESTS.findall(text)
        if lines and _NONE.match(lines[-1].strip()):
            raise Declined(
                "the passages found do not answer the question",
                hint="Ask in the words of the paper, or name the section.",
            )
        if stated_answer(text) is None and lone_letter(text, state.input.get("choices") or ()) is None:
            raise StepRejected('the solution does not say "The answer is …"')
        numbers = list(dict.fromkeys(map(int, re.findall(r"\d{1,4}", lines[-1])))) if lines else []
        if not numbers:
            raise StepRejected("the reply names no passage", hint='Write "Passages: " and their numbers.')
        if not all(1 <= number <= len(passages) for number in numbers):
            raise StepRejected(f"the reply names passages that are not there: there are {len(passages)}")
        return {
            "solution": text.strip(),
            "sources": [source_of(passages[number - 1], number) for number in numbers],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"solution": output["solution"], "sources": output["sources"]}


def _shown(number: int, passage: Mapping[str, Any]) -> str:
    page = f"page {passage['page']}" if passage.get("page") is not None else ""
    place = ", ".join(filter(None, [str(passage.get("title") or ""), page]))
    head = f"Passage {number}: {untagged(on_one_line(place))}" if place else f"Passage {number}:"
    return f"{head}\n{block('passage', str(passage['text']))}"
