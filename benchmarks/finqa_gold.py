"""FinQA with nothing but the facts that the questions need: the ceiling of what any retriever finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chameleon.benchmarks.finqa import Finqa, Lines
from chameleon.errors import InputError


class FinqaGold(Finqa):
    """FinQA cut to the gold facts, for the ceiling of retrieval (Chen et al., 2021).

    RAG-CoT calls it "Gold". A run is given such a report like any other, and is told nothing of it; the
    figures are no figures of FinQA, and no file is taken for it unless it is named.
    """

    name = "finqa_gold"
    known_by = ()  # it must be named

    def given(
        self, question: str, lines: Lines, passages: list[dict[str, str]], facts: Sequence[str] | None
    ) -> dict[str, Any]:
        """Cut the report to the facts. Raises `InputError` where these are not known."""
        if facts is None:
            raise InputError('the gold facts are not known: there is no "gold_inds"')
        kept = [line for number, line in enumerate(lines) if not number or f"table_{number}" in facts]
        texts = [each for number, each in enumerate(passages) if f"text_{number}" in facts]
        return super().given(question, kept, texts, None)
