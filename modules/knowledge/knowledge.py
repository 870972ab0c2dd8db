"""Let a model write knowledge, a table in words or a search query for a question (Chameleon, 4.2)."""

import re

from chameleon import LLMModule, StepRejected
from chameleon.core.llm_module import Asking

_LABEL = re.compile(r"^(?:search )?query\s*:\s*", re.IGNORECASE)
_QUOTES = "\"'`“”‘’«»"


class KnowledgeRetrieval(LLMModule):
    """Recalls background knowledge, such as definitions and formulas, that the question needs."""

    prompt = "tabmwp/knowledge_retrieval"
    reads = (
        "input.question, input.table?, input.text?, input.choices?, input.metadata?, "
        "cache.image_caption?, cache.detected_text?"
    )
    writes = ("cache.knowledge",)
    _takes_cut_off = True


class TableVerbalizer(LLMModule):
    """Describes the table in sentences. For tables that are hard to read, such as stem-and-leaf plots."""

    prompt = "tabmwp/table_verbalizer"
    reads = ("input.question?", "input.table")
    writes = ("cache.table_description",)
    _takes_cut_off = True


class QueryGenerator(LLMModule):
    """Writes the query for a search engine. For questions that need facts from the web."""

    prompt = "search/query_generator"
    reads = ("input.question", "input.*", "cache.*")
    writes = ("cache.query",)
    _asking = Asking({"max_tokens": 64})
    _takes_cut_off = True  # a query without its last words is still a query

    def parse(self, text: str) -> str:
        """Return the first line with words, without label and quotes.

        Raises `StepRejected` if no line has any.
        """
        for line in text.splitlines():
            words = _LABEL.sub("", " ".join(line.split()).strip("*- ")).strip()
            if quoted := len(words) > 1 and words[0] in _QUOTES and words[-1] in _QUOTES:
                words = words[1:-1].strip()
            if words and (quoted or any(c.isalnum() for c in words)):
                return words
        raise StepRejected("the reply has no query")
