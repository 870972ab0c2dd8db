"""Judge a case by the text of statutes, with or without reasoning first (Vaibhav et al., 2023)."""

from __future__ import annotations

import re
from typing import Any, Literal

from chameleon import LLMModule, State
from chameleon.modules.statutes.replies import CONTRADICTION, ENTAILMENT, amount_in, prose_in, verdict_in

__all__ = ("CONTRADICTION", "ENTAILMENT", "Form", "StatuteAnswerer", "answer_in", "form_of")

Form = Literal["verdict", "amount", "text"]

_OWED = r"(?:tax(?:es)?|fees?|dut(?:y|ies)|lev(?:y|ies)|tolls?|fines?)"
_AMOUNT_ASKED = re.compile(
    r"\b(?:how\s+much|how\s+many\s+dollars|(?:what|which)\s+(?:\w+\s+){0,3}?amount)\b"
    rf"|\bwhat\s+(?:\w+\s+){{0,2}}?{_OWED}\s+"
    r"(?:(?:do|does|did|must|will|should)\b[^?]{0,120}\b(?:owe|pay)\b"
    r"|(?:is|are|was|were)\b[^?]{0,120}\b(?:due|owed|payable)\b)"
    rf"|\bwhat\s+(?:is|are|was|were)\s+(?:[\w'’]+\s+){{1,4}}?{_OWED}(?:\s+liability)?"
    r"\s+(?:for|in)\s+(?:the\s+year\s+)?[12][0-9]{3}\b",
    re.IGNORECASE,
)


class StatuteAnswerer(LLMModule):
    """Judges a statement, or works out an amount, by the provisions that were found. Always comes last."""

    prompt = "sara/cot"
    reads = ("input.question", "input.text?", "cache.statute?")
    writes = ("cache.answer",)
    max_text_tokens = 12_000

    def __init__(self, form: Literal["auto", "verdict", "amount", "text"] = "auto") -> None:
        """`form`: what the answer is.

        - "verdict": "Entailment" or "Contradiction", for a statement;
        - "amount": dollars such as "$1234", for a question that asks how much;
        - "text": a sentence, for any other question;
        - "auto": whichever of these fits the question.

        Zero-shot, few-shot and chain of thought are prompts (`sara/zero_shot`, `sara/few_shot`, `sara/cot`);
        of a reply that reasons first the last "The answer is" counts, or "Final answer:".
        """
        self.form: Literal["auto", "verdict", "amount", "text"] = form

    def slots(self, state: State) -> dict[str, Any]:
        """`form` is what the answer is to be."""
        return super().slots(state) | {"form": self._form(state)}

    def interpret(self, text: str, state: State) -> str:
        return answer_in(text, self._form(state))

    def _form(self, state: State) -> Form:
        return form_of(str(state.input["question"])) if self.form == "auto" else self.form


def form_of(question: str) -> Form:
    """What kind of answer a question wants; a statement wants a verdict."""
    if _AMOUNT_ASKED.search(question):
        return "amount"
    return "text" if question.rstrip(" \"'”)").endswith("?") else "verdict"


def answer_in(text: str, form: Form) -> str:
    """The answer in a reply, after its last "The answer is" where it says so.

    Raises `StepRejected` for a reply that holds no answer of that form, or more than one.
    """
    if form == "text":
        return prose_in(text)
    return verdict_in(text) if form == "verdict" else amount_in(text)
