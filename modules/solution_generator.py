"""Reason step by step to an answer (Chameleon, section 4.2; chain of thought)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, StepRejected

ANSWER = re.compile(r"the answer is[:\s]*(.+?)(?:\.(?=\s|$)|\n|$)", re.IGNORECASE)


class SolutionGenerator(LLMModule):
    """Writes a step-by-step solution that ends with "The answer is …". For questions that need no program."""

    prompt = "tabmwp/solution_generator"
    reads = (
        "input.question",
        "input.table?",
        "input.choices?",
        "input.unit?",
        "cache.knowledge?",
        "cache.table_description?",
    )
    writes = ("cache.solution",)

    def parse(self, text: str) -> str:
        if not ANSWER.search(text):
            raise StepRejected('the solution does not say "The answer is …"')
        return text.strip()

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"solution": output}
