"""Judge a case by the text of statutes, with or without reasoning first (Vaibhav et al., 2023)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from chameleon import LLMModule, State, StepRejected
from chameleon.modules.solution_generator import stated_line
from chameleon.modules.table_query import sentence_in

Form = Literal["verdict", "amount", "text"]

ENTAILMENT, CONTRADICTION = "Entailment", "Contradiction"
_AMOUNT_ASKED = re.compile(
    r"\b(?:how\s+much|how\s+many\s+dollars|(?:what|which)\s+(?:\w+\s+){0,3}?amount)\b", re.IGNORECASE
)
_VERDICT = re.compile(
    r"(?P<no>\bnot\s+(?:an?\s+)?(?:entail\w*|true)|\bcontradict\w*|\bfalse\b|\bno\b)"
    r"|(?P<yes>\bnot\s+(?:an?\s+)?(?:contradict\w*|false)|\bentail\w*|\btrue\b|\byes\b)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\W*(?:(?:the )?(?:answer|label|verdict|statement)\b\W*(?:is\b\W*)?)?(?:an?\s+)?(?:{_VERDICT.pattern})"
    r"(?=[\s.,;:!*\"')]|$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<minus>[-–]\s?)?\$?\s?(?P<number>[0-9][0-9,]*(?:\.[0-9]+)?)(?![0-9%])")


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
        of a reply that reasons first the last "The answer is" counts.
        """
        self.form: Literal["auto", "verdict", "amount", "text"] = form

    def slots(self, state: State) -> dict[str, Any]:
        """`form` is what the answer is to be."""
        return super().slots(state) | {"form": self._form(state)}

    def interpret(self, text: str, state: State) -> str:
        return answer_in(text, self._form(state))

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"answer": output}

    def _form(self, state: State) -> Form:
        return form_of(str(state.input["question"])) if self.form == "auto" else self.form


def form_of(question: str) -> Form:
    """What kind of answer a question wants; a statement wants a verdict."""
    if _AMOUNT_ASKED.search(question):
        return "amount"
    return "text" if question.rstrip(" \"'”)").endswith("?") else "verdict"


def answer_in(text: str, form: Form) -> str:
    """The answer in a reply, after its last "The answer is" where it says so.

    Raises `StepRejected` for a reply that holds no answer of that form.
    """
    if form == "text":
        return sentence_in(text)
    said = stated_line(text)
    return verdict_in(text, said) if form == "verdict" else amount_in(text, said)


def verdict_in(text: str, said: str | None) -> str:
    """ "Entailment" or "Contradiction": what the statement of the answer says first, else the whole reply."""
    found = _VERDICT.search(said) if said is not None else _BARE.match(text)
    if found is None:
        raise StepRejected("the reply says neither Entailment nor Contradiction")
    return CONTRADICTION if found["no"] else ENTAILMENT


def amount_in(text: str, said: str | None) -> str:
    """Dollars as "$1234" or "$1234.50": the first amount that is stated, else the only one of the reply."""
    found = list(_NUMBER.finditer(text if said is None else said))
    if not found or (said is None and len(found) > 1):
        raise StepRejected("the reply states no amount")
    marked = next((each for each in found if "$" in each[0]), found[0])
    number = float(marked["number"].replace(",", ""))
    shown = f"{number:.0f}" if number.is_integer() else f"{number:.2f}"
    return f"{'-' if marked['minus'] and number else ''}${shown}"
