"""Judge a case by the text of statutes, with or without reasoning first (Mavi et al., 2023)."""

import math
import re
from fractions import Fraction
from typing import Any, Literal

from chameleon import Declined, LLMModule, State, StepRejected
from chameleon.core.module import Traits
from chameleon.core.prompt import TableView
from chameleon.modules.program.solution_generator import first_line, statements
from chameleon.modules.table_ops.table_query import sentence_in
from chameleon.table.amounts import read_amount
from chameleon.text import one_line

Form = Literal["verdict", "amount", "text"]

ENTAILMENT, CONTRADICTION = "Entailment", "Contradiction"

_WORD = re.compile(
    r"(?P<denied>(?:\b(?:not|cannot|never)|n['’]t)\s+(?:be\s+|an?\s+|the\s+)*)?"
    r"\b(?:(?P<yes>entail\w*|true\b(?!\s+that))|(?P<no>contradict\w*|false\b(?!\s+that)))",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\W*(?:(?P<yes>yes)|no)\s*(?=[.,;:!*\"')—–-]|$)", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|cannot|never|neither|nor|hardly|unclear|whether|either|if|unless|would|could|might|may|no"
    r"|false\s+that)\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.,;:!?()\n—–]|\b(?:so|thus|hence|therefore|and|but|because|since)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"\W*(?:(?:the\s+)?(?:answer|statement)\b\W*(?:is\b\W*)?)?(?:(?:not|an?)\s+)*(?:entail|contradict|(?:true|false|yes|no)\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?P<minus>(?<![\w.,)])[-–−])?(?P<sign>(?:US\s?)?\$\s?|USD\s)?(?P<after>-)?"
    r"(?<![\w.,])(?P<number>[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?)"
    r"(?:\s?(?P<times>thousand|million|mio|mn|billion|bn|(?<=[0-9])[km])\b)?"
    r"(?![.,]?[0-9]|\s?%|\s?per\s?cent)(?P<unit>\s?(?:US\s)?(?:dollars?|USD)\b)?",
    re.IGNORECASE,
)
_TIMES = {"t": 1000, "k": 1000, "m": 1_000_000, "b": 1_000_000_000}  # by the first letter of the word
_MAX_CHARS = 2000  # characters of a line that is searched for a verdict
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_CLAUSE_END = re.compile(
    r",?\s(?:(?:on|for|in|because|since|as|under|by|which)\b|\()|[.:,;]\s(?!or\b|and\b|plus\b|to\b)"
)
_AMOUNT_ASKED = re.compile(
    r"\b(?:how\s+much|how\s+many\s+dollars|(?:what|which)\s+(?:\w+\s+){0,3}?amount)\b"
    r"|\bwhat\s+(?:(?!if|when|happens)[\w'’]+\s+){0,3}?(?:tax(?:es)?|fees?|dut(?:y|ies)|lev(?:y|ies)|tolls?|fines?)"
    r"\b[^?]{0,120}\b(?:owed?|pay|due|payable|liability)\b",
    re.IGNORECASE,
)


class StatuteAnswerer(LLMModule):
    """Judges a statement, or works out an amount, by the provisions that were found. Always comes last."""

    prompt = "sara/cot"
    traits = Traits(shows_own_keys=True)
    reads = ("input.question", "input.text?", "cache.statute?")
    writes = ("cache.answer",)
    table_view = TableView(max_text_tokens=12_000)

    def __init__(self, form: Literal["auto", "verdict", "amount", "text"] = "auto") -> None:
        """Set `form`, the kind of answer.

        - "verdict": "Entailment" or "Contradiction", for a statement;
        - "amount": dollars such as "$1234", for a question that asks how much;
        - "text": a sentence, for any other question;
        - "auto": whichever of these fits the question.

        Zero-shot, few-shot and chain of thought are prompts (`sara/zero_shot`, `sara/few_shot`, `sara/cot`);
        in a reply that reasons first, the last "The answer is" or "Final answer:" counts.
        """
        self.form: Literal["auto", "verdict", "amount", "text"] = form

    def slots(self, state: State) -> dict[str, Any]:
        """Return the slots; `form` is the kind of answer."""
        return super().slots(state) | {"form": self._form(state)}

    def interpret(self, text: str, state: State) -> str:
        answer = answer_in(text, self._form(state))
        if answer.strip(" .\"'").casefold() == "unknown":
            raise Declined("the statutes do not say", hint=one_line(text, _MAX_CHARS))
        return answer

    def _form(self, state: State) -> Form:
        return form_of(str(state.input["question"])) if self.form == "auto" else self.form


def form_of(question: str) -> Form:
    """Return the kind of answer that a question asks for; a statement asks for a verdict."""
    if _AMOUNT_ASKED.search(question):
        return "amount"
    return "text" if question.rstrip(" \"'”)").endswith("?") else "verdict"


def answer_in(text: str, form: Form) -> str:
    """Return the answer in a reply. Raises `StepRejected` unless it has exactly one answer of that form."""
    return {"verdict": verdict_in, "amount": _amount_in, "text": sentence_in}[form](text)


def verdict_in(text: str) -> str:
    """Return "Entailment" or "Contradiction". Raises `StepRejected` for neither, both, or a condition."""
    answer = _stated_answer(text)
    if answer is None:
        answer = text.strip().partition("\n")[0] if _OPENING.match(text) else ""
    verdicts = set[str]()
    for word in _WORD.finditer(answer[:_MAX_CHARS]):
        is_asked = re.match(r"[^\w,.;:]*\?", answer[word.end() :])
        is_open = is_asked or _DOUBT.search(_CLAUSE.split(answer[: word.start()])[-1])
        is_no = bool(word["no"]) != bool(word["denied"])
        verdicts.add("" if is_open else CONTRADICTION if is_no else ENTAILMENT)
    if short := _SHORT.match(answer):
        verdicts.add(ENTAILMENT if short["yes"] else CONTRADICTION)
    if len(verdicts) != 1 or "" in verdicts:
        raise StepRejected("the reply says neither Entailment nor Contradiction, or not clearly which")
    return verdicts.pop()


def _amount_in(text: str) -> str:
    """Return the amount that the answer states, as "$1234" or "$1234.50".

    It is read after the last "=", or else before it. Of several amounts, one at the very start counts, else
    the only one outside brackets. A reply without "The answer is" or the like must be one line. Raises
    `StepRejected` for a reply with no amount or several.
    """
    answer = _stated_answer(text)
    if answer is None:
        answer = text.strip()
        if "\n" in answer:
            raise StepRejected("the reply states no amount")
    for part in reversed(re.split("[=≈]", answer)[-2:]):
        begins = _NUMBER.match(bare := part.lstrip("~*_ \"'“"))
        first = _CLAUSE_END.split(bare)[0] if begins and begins["sign"] else ""
        for clause in (first, re.sub(r"\([^()]*\)", " ", part), part):
            value = _only_amount(clause)
            if value is not None and math.isfinite(value):
                digits = f"{abs(value):.0f}" if value.is_integer() else f"{abs(value):.2f}"
                return f"{'-' if value < 0 else ''}${digits}"
    raise StepRejected("the reply states no amount, or more than one")


def _stated_answer(text: str) -> str | None:
    """Return the line after the last "The answer is", "Final answer:" or the like, or None."""
    return first_line(next(iter(statements(text)), ""))


def _only_amount(text: str) -> float | None:
    """Return the only amount in a text: money, else a number that is not a year, else a year."""
    kinds: tuple[set[float], ...] = (set(), set(), set())  # money, other numbers, years
    for match in _NUMBER.finditer(text):
        times = _TIMES.get((match["times"] or "")[:1].lower(), 1)
        amount = read_amount(match["number"]) or read_amount(match["number"], ",")
        value = math.nan if amount is None else round(float(Fraction(amount.number) * times), 2)
        is_year = _YEAR.fullmatch(match["number"]) and times == 1
        kind = 0 if match["sign"] or match["unit"] else 2 if is_year else 1
        kinds[kind].add(-value if match["minus"] or match["after"] else value)
    values = next(filter(None, kinds), set())
    return values.pop() if len(values) == 1 else None
