"""Reason step by step to an answer (Chameleon, section 4.2; chain of thought)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, StepRejected

_STATED = re.compile(r"the answer is[:\s]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(\S+)\.\s+(?=[A-Z])")
_INITIALS = re.compile(r"(?:^|[\s(])(?:[A-Za-z]\.)+[A-Za-z]\.$")
_ABBREVIATIONS = frozenset(["mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "jr", "sr", "mt", "ft"])


class SolutionGenerator(LLMModule):
    """Writes a step-by-step solution that ends with "The answer is …". For questions that need no program."""

    prompt = "tabmwp/solution_generator"
    reads = (
        "input.question",
        "input.table?",
        "input.text?",
        "input.choices?",
        "input.unit?",
        "cache.knowledge?",
        "cache.table_description?",
        "cache.image_caption?",
        "cache.detected_text?",
        "cache.bing_search_response?",
        "cache.web_search_response?",
        "cache.wikipedia_search_response?",
    )
    writes = ("cache.solution",)

    def parse(self, text: str) -> str:
        if stated_answer(text) is None:
            raise StepRejected('the solution does not say "The answer is …"')
        return text.strip()

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"solution": output}


def stated_line(solution: str) -> str | None:
    """What follows the solution's last "The answer is …", to the end of its line; None if it says none."""
    stated = list(_STATED.finditer(solution))
    if not stated:
        return None
    return solution[stated[-1].end() :].partition("\n")[0].replace("**", "").strip() or None


def stated_answer(solution: str) -> str | None:
    """What the solution's last "The answer is …" says, up to the end of the sentence; None if it says none.

    The full stop is not a part of it, but "6:30 P.M.", "Mr. Park" and "3.5" are kept whole.
    """
    answer = stated_line(solution)
    if answer is None:
        return None
    for end in _SENTENCE_END.finditer(answer):
        word = end[1].lower().strip("(\"'")
        if "." not in word and word not in _ABBREVIATIONS and (len(word) > 1 or not word.isalpha()):
            answer = answer[: end.end(1)]
            break
    return (answer if _INITIALS.search(answer) else answer.removesuffix(".")) or None
