"""Keep, of the passages beside a table, those that belong to the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.modules.tablerag.conversation import query_of
from chameleon.modules.tablerag.likeness import check_likeness, resolved_likeness
from chameleon.text import beginning, estimated_tokens

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n\s*\n")
_PIECE_TOKENS = 120  # what an embedding of a short text still tells apart


class PassageRetriever(Module):
    """Keeps the passages that are most like the question, without a model. For questions with passages."""

    reads = ("input.question", "input.passages?", "input.history?")
    writes = ("input.passages",)

    def __init__(self, max_tokens: PositiveInt = 1500, *, by: str = "bm25") -> None:
        """`max_tokens`: how much text is kept, in estimated tokens. `by`: as for `semantic_filter`;
        bm25 was measured to keep more answers of HybridQA's passages than minilm.

        Passages are cut between sentences into pieces of some 120 tokens, each with its title; the pieces
        nearest to the question are kept, in their order, as long as they fit. What fits whole stays whole.
        """
        self.max_tokens, self.by = max_tokens, by

    def check(self) -> None:
        check_likeness(self.by)

    def runtime_info(self) -> Mapping[str, Any]:
        return resolved_likeness(self.by)

    def run(self, state: State) -> dict[str, Any]:
        """`passages`: those that are kept; `kept`: of so many pieces that many (not there if all are)."""
        passages = list(_passages(state.input.get("passages") or ()))
        if sum(_tokens(each["title"], each["text"]) for each in passages) <= self.max_tokens:
            return {"passages": passages}
        from chameleon.retrieval.ranking import similarities

        pieces = [piece for number, each in enumerate(passages) for piece in _pieces(number, each)]
        near = similarities(query_of(state), [piece.written for piece in pieces], self.by)
        chosen = self._fitting(pieces, sorted(range(len(pieces)), key=lambda index: -near[index]))
        kept = [
            {
                "title": each["title"],
                "text": " ".join(pieces[index].text for index in chosen if pieces[index].of == n),
            }
            for n, each in enumerate(passages)
        ]
        counts = {"kept": [len(chosen), len(pieces)]}
        return {"passages": [each for each in kept if each["text"]]} | counts

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"passages": output["passages"]} if "kept" in output else {}

    def _fitting(self, pieces: Sequence[_Piece], ranked: Iterable[int]) -> list[int]:
        """The nearest pieces, as many as fit; a title is counted with the first piece of its passage."""
        left, chosen, titled = self.max_tokens, list[int](), set[int]()
        for index in ranked:
            piece = pieces[index]
            cost = _tokens("" if piece.of in titled else piece.title, piece.text)
            if cost > left:
                continue
            left -= cost
            chosen.append(index)
            titled.add(piece.of)
        return sorted(chosen)


@dataclass(frozen=True, slots=True)
class _Piece:
    of: int
    title: str
    text: str

    @property
    def written(self) -> str:
        return f"{self.title}: {self.text}" if self.title else self.text


def _passages(given: Iterable[Any]) -> Iterable[dict[str, str]]:
    for passage in given:
        if isinstance(passage, Mapping):
            title, text = (str(passage.get(key) or "").strip() for key in ("title", "text"))
        else:
            title, text = "", str(passage).strip()
        if title or text:
            yield {"title": title, "text": text}


def _pieces(number: int, passage: Mapping[str, str]) -> Iterable[_Piece]:
    """Neighbouring sentences together, up to the size of a piece; a longer sentence keeps its beginning."""
    held, tokens = list[str](), 0
    for sentence in _SENTENCE_END.split(passage["text"]):
        part = beginning(sentence.strip(), _PIECE_TOKENS)
        if not part:
            continue
        size = estimated_tokens(part)
        if held and tokens + size > _PIECE_TOKENS:
            yield _Piece(number, passage["title"], " ".join(held))
            held, tokens = [], 0
        held.append(part)
        tokens += size
    if held:
        yield _Piece(number, passage["title"], " ".join(held))


def _tokens(title: str, text: str) -> int:
    return estimated_tokens(f"{title}: {text}")
