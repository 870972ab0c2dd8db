"""Recall the knowledge that a question takes for granted (Chameleon, section 4.2)."""

from __future__ import annotations

from chameleon import LLMModule


class KnowledgeRetrieval(LLMModule):
    """Recalls background knowledge, such as definitions and formulas, that the question needs."""

    prompt = "tabmwp/knowledge_retrieval"
    reads = (
        "input.question",
        "input.table?",
        "input.text?",
        "input.choices?",
        "cache.image_caption?",
        "cache.detected_text?",
    )
    writes = ("cache.knowledge",)
    takes_cut_off = True
