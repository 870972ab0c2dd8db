"""Summaries of tables, and questions that they answer, by a model at indexing (TableRAG)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from chameleon.prompt import Prompt, table_text
from chameleon.quoting import unframed
from chameleon.retrieval.document import Document

if TYPE_CHECKING:
    from chameleon.llm import LLM

PROMPT = "tablerag/index_summary"
_AT_ONCE = 16


def summarised(
    documents: Iterable[Document], llm: LLM, *, prompt: str = PROMPT, max_rows: int = 20, max_cell: int = 200
) -> Iterator[Document]:
    """Yield the documents, each with a summary of its table after its text; one call for each table.

    The model sees the table alone, never a question: an index that holds the questions it is asked finds
    everything and shows nothing. Give `llm` the parameters wanted (`llm.with_params(max_tokens=300)`) and a
    response store, so that building again costs nothing. Raises what the model raises.
    """
    template = Prompt.load(prompt)
    left = iter(documents)
    while batch := list(islice(left, _AT_ONCE)):
        asked = []
        for each in batch:
            if each.table is not None:
                text = table_text(each.table, style="pipe", max_rows=max_rows, max_cell=max_cell)
                title = unframed(" ".join(each.name.split()))
                asked.append(template.render({"table": text, "title": title}))
        replies = iter(llm.ask_each(asked) if asked else [])
        for each in batch:
            if each.table is None:
                yield each
                continue
            summary = next(replies).text.strip()
            yield replace(each, text="\n\n".join(filter(None, (each.text, summary))))
