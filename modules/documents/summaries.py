"""Let a model write summaries of tables, with questions that they answer, for an index (TableRAG)."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from itertools import islice

from chameleon.core.prompt import Prompt, table_text
from chameleon.errors import AuthFailed, EmptyReply, ModelError, NoModel, ParameterRefused, ScriptExhausted
from chameleon.llm import LLM
from chameleon.quoting import unframed
from chameleon.retrieval.document import Document

PROMPT = "tablerag/index_summary"
MAX_TOKENS = 400
_FATAL_ERRORS = (AuthFailed, NoModel, ParameterRefused, ScriptExhausted)
_THREADS, _MAX_FAILURES_IN_A_ROW = 16, 20


class Summaries:
    """Adds a model's summary to documents with a table: content, keywords and questions.

        llm = LLM.connect("openai:gpt-6-luna", store=ResponseStore.default("auto"), max_tokens=MAX_TOKENS)
        build_index("tables.index", Summaries(llm)(documents))

    The model sees only the table, never a user's question: an index that contains the questions it is tested
    with finds everything and proves nothing. With a response store, rebuilding costs nothing.
    """

    def __init__(self, llm: LLM) -> None:
        self.llm = llm
        self.failed: dict[str, ModelError] = {}
        """Errors of the documents without a summary, by document id."""
        self._prompt = Prompt.load(PROMPT)
        self._failed_in_a_row = 0

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents in order, unchanged if they failed; one call for each table.

        Raises `ModelError` for an error that would repeat for all others, such as a wrong key, or after
        twenty failures in a row; and `StoreError`.
        """
        rest = iter(documents)
        with ThreadPoolExecutor(_THREADS, "chameleon-summaries") as threads:
            while batch := list(islice(rest, _THREADS)):
                futures = [threads.submit(copy_context().run, self._summary, each) for each in batch]
                for document, future in zip(batch, futures, strict=True):
                    yield self._with_summary(document, future.result())

    def _summary(self, document: Document) -> str | ModelError:
        if document.table is None:
            return ""
        title = unframed(" ".join(document.name.split()))
        text = table_text(document.table, style="pipe", max_rows=20, max_cell=200)
        try:
            reply = self.llm.ask(self._prompt.render({"table": text, "title": title}), whole=False)
        except ModelError as problem:
            return problem
        return reply.text.strip() or EmptyReply("the reply is empty")

    def _with_summary(self, document: Document, summary: str | ModelError) -> Document:
        if isinstance(summary, str):
            self._failed_in_a_row = self._failed_in_a_row if document.table is None else 0
            return replace(document, text="\n\n".join(filter(None, (document.text, summary))))
        self._failed_in_a_row += 1
        if isinstance(summary, _FATAL_ERRORS) or self._failed_in_a_row >= _MAX_FAILURES_IN_A_ROW:
            raise summary
        self.failed[document.id] = summary
        return document
