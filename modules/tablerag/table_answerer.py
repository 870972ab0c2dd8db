"""Answer from the table and all that was found out about it, several times (TableRAG)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from chameleon import LLMModule, State, StepRejected
from chameleon.errors import ChameleonError
from chameleon.modules.program.solution_generator import stated_line
from chameleon.modules.table_ops.table_query import Answer, items_in, sentence_in, verdict_in, without_stop
from chameleon.modules.tablerag.conversation import turns
from chameleon.modules.tablerag.table_formatter import formatted
from chameleon.prompt import text_within
from chameleon.quoting import on_one_line

Form = Literal["verdict", "label", "items", "short"]

SUPPORTS, REFUTES, UNKNOWN = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"
_LABEL = re.compile(
    r"\W*(?:(?:the )?(?:answer|label|verdict|claim)\W+(?:is\W+)?)?"
    r"(?:(?P<unknown>not[ _]enough[ _]info(?:rmation)?|nei|unknown|undecidable|2)"
    r"|(?P<supports>support(?:s|ed)|true|yes|1)|(?P<refutes>refute[sd]|false|no|0))\b(?![ \t]+\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\W*([01])\W*")


class TableAnswerer(LLMModule):
    """Answers from the table and what the others found out about it, in several samples for consistency."""

    prompt = "tablerag/tabfact"
    reads = (
        "input.question",
        "input.table",
        "input.passages?",
        "input.history?",
        "cache.kept?",
        "cache.terms?",
        "cache.summary?",
        "cache.table_format?",
    )
    writes = ("cache.answers",)
    samples = 5
    max_rows: int | None = 100

    def __init__(self, form: Form = "verdict") -> None:
        """`form`: what an answer is.

        - "verdict": "yes" or "no" (TabFact); 1 and 0, the published replies, are read as well;
        - "label": "SUPPORTS", "REFUTES" or "NOT ENOUGH INFO" (FEVEROUS); published: 1, 0 and 2;
        - "items": a list of texts, "a | b" in the reply (SQA);
        - "short": a few words (HybridQA).
        """
        self.form: Form = form

    def run(self, state: State) -> list[dict[str, Any]]:
        """The samples that hold an answer, each with `answer` and `text`. Raises the first rejection."""
        replies = self.ask(state)
        values = [self._value_or_rejection(reply, state) for reply in replies]
        read = [
            {"answer": value, "text": reply.text.strip()}
            for reply, value in zip(replies, values, strict=True)
            if not isinstance(value, ChameleonError)
        ]
        if not read:
            raise values[0]
        return read

    def parse(self, text: str) -> Answer:
        return answer_in(text, self.form)

    def slots(self, state: State) -> dict[str, Any]:
        """`table` is in the chosen form; `history` and `passages` have a line for each turn and passage."""
        slots = super().slots(state) | {"history": turns(state)}
        slots["passages"] = text_within("\n".join(_passages(state)), self.max_text_tokens)
        if chosen := state.cache.get("table_format"):
            limits = {"max_rows": self.max_rows, "max_cell": self.max_cell}
            limits["max_tokens"] = self.max_table_tokens
            slots["table"] = formatted(state.input["table"], chosen, state.cache.get("kept"), **limits)
        return slots


def answer_in(text: str, form: Form) -> Answer:
    """The answer in a reply, after its last "The answer is" where it says so.

    Raises `StepRejected` for a reply that holds no answer of that form.
    """
    if form == "items":
        return items_in(text)
    if form == "short":
        return without_stop(sentence_in(text).strip(" *\"'`“”")) or sentence_in(text)
    if form == "label":
        return label_in(text)
    number = _NUMBER.fullmatch(stated_line(text) or text)
    return ("no", "yes")[int(number[1])] if number else verdict_in(text)


def label_in(text: str) -> str:
    """ "SUPPORTS", "REFUTES" or "NOT ENOUGH INFO", from the labels in any case, yes, no, and 1, 0, 2."""
    found = _LABEL.match(stated_line(text) or text.strip())
    if found is None:
        raise StepRejected("the reply gives none of the three labels")
    labels = {"supports": SUPPORTS, "refutes": REFUTES, "unknown": UNKNOWN}
    return labels[str(found.lastgroup)]


def _passages(state: State) -> list[str]:
    """Each passage as a line: its title and its text."""
    lines = []
    for passage in state.input.get("passages") or ():
        given = passage if isinstance(passage, Mapping) else {"text": passage}
        parts = (str(on_one_line(str(given.get(key) or ""))).strip() for key in ("title", "text"))
        lines.append(": ".join(filter(None, parts)))
    return lines
