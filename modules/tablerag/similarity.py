"""Keep the rows and columns, or the passages, most similar to the question, without a model (TableRAG)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State, Table
from chameleon.core.conversation import query_of
from chameleon.modules.tablerag.cut import TableCut, part, whole
from chameleon.retrieval.embeddings import NONE, automatic, require_embeddings
from chameleon.retrieval.ranking import similarities
from chameleon.retrieval.spec import MINILM
from chameleon.text import beginning, estimated_tokens

Order = Literal["table", "similarity"]

_SHOWN_CELLS = 12  # per column: its first distinct cells show what it contains
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n\s*\n")
_PIECE_TOKENS = 120  # about the longest text that a short-text embedding can represent


class BySimilarity(Module):
    """A module that compares texts with the question; `by` says how likeness is measured."""

    by: str

    def check(self) -> None:
        """Raise `InputError` for an unknown `by`, `MissingPackage` if its embeddings are not installed."""
        similarities("", [], self.by)
        method, _, model = self.by.partition(":")
        if method == "dense":
            require_embeddings(model or MINILM)

    def runtime_info(self) -> Mapping[str, Any]:
        """Return what `by` resolves to on this machine."""
        if self.by != "auto":
            return {"by": self.by}
        return {"by": "bm25" if automatic() == NONE else f"dense:{MINILM}"}


class SemanticFilter(TableCut, BySimilarity):
    """Keeps the rows that are most like the question, without a model. For tables with many rows."""

    def __init__(
        self,
        rows: PositiveInt | None = 10,
        columns: PositiveInt | None = None,
        *,
        by: str = "auto",
        order: Order = "table",
    ) -> None:
        """Take settings, all optional. There is no threshold, as published.

        Args:
            rows, columns: how many to keep, None for all.
            by: the similarity measure: "bm25", "dense" or "dense:NAME" (embeddings), "late" or "late:NAME"
                (token by token, like ColBERT), or "auto" (dense if embeddings are installed, else bm25).
            order: the order of the kept rows: "table", or "similarity" (the nearest last, as published).
        """
        self.rows, self.columns, self.by, self.order = rows, columns, by, order

    def cut(self, state: State) -> dict[str, Any]:
        table: Table = state.input["table"]
        if not table.rows:
            return whole("the table has no rows")
        query = query_of(state.input)
        columns = self._positions(query, self.column_texts(table), self.columns, "table")
        # Whole rows are compared, with the columns that will be dropped: a match there must count.
        rows = self._positions(query, ["|".join(row) for row in table.rows], self.rows, self.order)
        return part(table, rows, columns)

    def column_texts(self, table: Table) -> list[str]:
        """Return each column as text: its name and its first distinct cells."""
        texts = []
        for column in table.columns:
            cells = [cell for cell in dict.fromkeys(column.cells) if cell.strip()]
            texts.append(f"{column.name}: {', '.join(cells[:_SHOWN_CELLS])}")
        return texts

    def _positions(self, query: str, texts: Sequence[str], limit: int | None, order: Order) -> list[int]:
        if limit is not None and len(texts) > limit:
            scores = similarities(query, texts, self.by)
            if min(scores) < max(scores):  # else all are equally similar, and a cut would be random
                return top(scores, limit, order)
        return list(range(len(texts)))


def top(similarities: Sequence[float], most: int, order: Order = "table") -> list[int]:
    """Return the positions of the `most` greatest, ties in order; "similarity" puts the greatest last."""
    ranked = sorted(range(len(similarities)), key=lambda position: -similarities[position])[:most]
    return sorted(ranked) if order == "table" else ranked[::-1]


class PassageRetriever(BySimilarity):
    """Keeps the passages that are most like the question, without a model. For questions with passages."""

    reads = ("input.question", "input.passages?", "input.history?")
    writes = ("input.passages",)

    def __init__(self, max_tokens: PositiveInt = 1500, *, by: str = "bm25") -> None:
        """Take settings, all optional.

        Passages are split between sentences into pieces of about 120 tokens, each with its title. The pieces
        most similar to the question that fit are kept, in order. If all passages fit, they stay whole.

        Args:
            max_tokens: how much text to keep, in estimated tokens.
            by: as in `semantic_filter`; in our tests, bm25 kept more answers of HybridQA's passages than
                minilm.
        """
        self.max_tokens, self.by = max_tokens, by

    def run(self, state: State) -> dict[str, Any]:
        """Return `passages`, and `kept`: the numbers of pieces kept and in total (omitted if all fit)."""
        passages = []
        for item in state.input.get("passages") or ():
            fields = item if isinstance(item, Mapping) else {"text": item}
            passage = {key: str(fields.get(key) or "").strip() for key in ("title", "text")}
            if any(passage.values()):
                passages.append(passage)
        if sum(_tokens(each["title"], each["text"]) for each in passages) <= self.max_tokens:
            return {"passages": passages}
        titles = [each["title"] for each in passages]
        pieces = [(of, text) for of, each in enumerate(passages) for text in _pieces(each["text"])]
        compared = [f"{titles[of]}: {text}" if titles[of] else text for of, text in pieces]
        scores = similarities(query_of(state.input), compared, self.by)
        ranked = top(scores, len(pieces), "similarity")[::-1]
        left, picks = self.max_tokens, dict[int, list[int]]()  # by passage
        for place in ranked:
            of, text = pieces[place]
            # The title counts toward the first piece of its passage.
            cost = _tokens("" if of in picks else titles[of], text)
            if cost <= left:
                left -= cost
                picks.setdefault(of, []).append(place)
        parts = [
            {"title": titles[of], "text": " ".join(pieces[place][1] for place in sorted(places))}
            for of, places in sorted(picks.items())
        ]
        return {"passages": parts, "kept": [sum(map(len, picks.values())), len(pieces)]}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"passages": output["passages"]} if "kept" in output else {}


def _pieces(text: str) -> Iterator[str]:
    """Yield adjacent sentences joined up to the size of a piece; a longer sentence is truncated."""
    sentences, tokens = list[str](), 0
    for sentence in _SENTENCE_END.split(text):
        piece = beginning(sentence.strip(), _PIECE_TOKENS)
        size = estimated_tokens(piece) if piece else 0
        if sentences and tokens + size > _PIECE_TOKENS:
            yield " ".join(sentences)
            sentences, tokens = [], 0
        sentences += [piece] if piece else []
        tokens += size
    if sentences:
        yield " ".join(sentences)


def _tokens(title: str, text: str) -> int:
    return estimated_tokens(f"{title}: {text}")
