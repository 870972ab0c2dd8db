"""FinQA with only the facts that the questions need: an upper bound for any retriever."""

from collections.abc import Sequence
from typing import Any

from chameleon.benchmarks.finqa import Finqa, Lines
from chameleon.errors import InputError


class FinqaGold(Finqa):
    """FinQA cut to the gold facts, for the ceiling of retrieval (Chen et al., 2021).

    RAG-CoT calls it "Gold". A run gets the shortened report like any other, without notice. The figures are
    not figures of FinQA, and a file is read this way only if the benchmark is named.
    """

    name = "finqa_gold"
    known_by = ()  # it must be named
    published_as = "finqa"

    def given(
        self, question: str, lines: Lines, passages: list[dict[str, str]], facts: Sequence[str] | None
    ) -> dict[str, Any]:
        """Cut the report to the facts. Raises `InputError` if they are unknown."""
        if facts is None:
            raise InputError('the gold facts are missing: there is no "gold_inds"')
        gold_lines = [line for number, line in enumerate(lines) if not number or f"table_{number}" in facts]
        texts = [each for number, each in enumerate(passages) if f"text_{number}" in facts]
        return super().given(question, gold_lines, texts, None)
