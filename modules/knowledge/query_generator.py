"""Turn a question into a search query (Chameleon, section 4.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, StepRejected

_LABEL = re.compile(r"^(?:search )?query\s*:\s*", re.IGNORECASE)
_QUOTES = "\"'`“”‘’«»"


class QueryGenerator(LLMModule):
    """Writes the query for a search engine. For questions that need facts from the web."""

    prompt = "search/query_generator"
    reads = ("input.question", "input.*", "cache.*")
    writes = ("cache.query",)
    llm_params: Mapping[str, Any] = {"max_tokens": 64}
    takes_cut_off = True  # a query without its last words is a query still

    def parse(self, text: str) -> str:
        """The first line that says something, without label and quotes. Raises `StepRejected` for none."""
        for line in text.splitlines():
            words = _LABEL.sub("", " ".join(line.split()).strip("*- ")).strip()
            if quoted := len(words) > 1 and words[0] in _QUOTES and words[-1] in _QUOTES:
                words = words[1:-1].strip()
            if words and (quoted or any(c.isalnum() for c in words)):
                return words
        raise StepRejected("the reply holds no query")
