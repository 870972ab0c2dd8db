"""Reason step by step to an answer (Chameleon, section 4.2; chain of thought)."""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import LLMModule, State, StepRejected, Table
from chameleon.core.module import Traits
from chameleon.core.prompt import Messages
from chameleon.text import no_answer, says_unknown, unwrapped

_STATED = re.compile(r"\bthe (?:\w+ )?answer is\b[:\s]*", re.IGNORECASE)
_LABELED = re.compile(r"^[ \t*_#-]*(?:(?:the|my|final|correct) )*answer[*_]*\s*:[\s*_]*(?=\S)", re.I | re.M)
_BOXED = re.compile(r"(?:\$|\\\()?\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}(?:\$|\\\))?")
_TEXT_IN_FORMULA = re.compile(r"\\text\{([^{}]*)\}")
_LONE_LETTER = re.compile(r"[\W_]*(?:(?:option|choice)[\W_]+)?([A-Z])[\W_]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<!\S)(\S+)\.\s+(?=[A-Z])")
_INITIALS = re.compile(r"(?:^|[\s(])(?:[A-Za-z]\.)+[A-Za-z]\.$")  # P.M., U.S.
_COMPUTED = re.compile(r"[-$€£\d(][\d\s,.$€£%()+*/×÷–−-]*=\s*([-−]?[$€£]?\d[\d,.]*%?(?: [a-z]+)?)")
_CLAUSE = re.compile(r"([^,]+?),? (?:which|who|with|where|whose|because|since)\b")  # "Ann, who …"
_SENTENCES = re.compile(r"\n|(?<=[.!?])\s+(?=[A-Z])")
_CONCLUDED = re.compile(
    r"[A-Z][^:#=]*\b(?:is|are|was|were|equals) ((?:[$€£]\s?)?[-−]?\d[\d,]*(?:\.\d+)?\s?%?"
    r"(?: (?:thousand|million|billion|dozen))?)(?: [a-z]+)?(?: (?:in|of|at|for) [^:#=]*)?[.!]?"
)
_DIGITS = re.compile(r"[\d.,]*\d")
_DENIAL = re.compile(r"\b(?:no|not|cannot|never|neither|nor|unknown|without|if)\b|n['’]t\b", re.IGNORECASE)
_ASKS_NUMBER = re.compile(
    r"(?i)\bhow (?:many|much|long|far|old|tall|big|high|heavy|often)\b"
    r"|^\W*what (?:is|was|are|were) (?!the name)"
    r"|\b(?:total|sum|median|mean|average|difference|percent|number|mode|range)\b"
)
_MAX_SENTENCE_CHARS = 400  # characters
_MAX_STATEMENTS = 20  # a model in a loop repeats itself thousands of times
_ABBREVIATIONS = frozenset(["mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "jr", "sr", "mt", "ft"])

GIVEN = (
    "input.question, input.table?, input.tables?, input.text?, input.choices?, input.unit?, "
    "cache.knowledge?, cache.table_description?"
)
"""The keys that solutions and programs are written from."""


class SolutionGenerator(LLMModule):
    """Writes a step-by-step solution that ends with "The answer is …". For questions that need no program."""

    prompt = "tabmwp/solution_generator"
    traits = Traits(shows_own_keys=True)
    reads = (
        f"{GIVEN}, input.metadata?, input.image?, cache.image_caption?, cache.detected_text?, "
        "cache.bing_search_response?, cache.web_search_response?, cache.wikipedia_search_response?"
    )
    writes = ("cache.solution",)

    def __init__(
        self,
        sees: Literal["auto", "image", "nothing"] = "nothing",
        max_side: PositiveInt = 1024,
        last_sentence: bool = False,
    ) -> None:
        """Take settings, all optional.

        Args:
            sees: whether to send the image; "auto" sends it if the model is known to take pictures. The
                prompt's slot `sees` has the result.
            max_side: the longer side of the sent image, in pixels.
            last_sentence: whether the last attempt, if it states no answer, may be a cell of the table or end
                in a sentence with one number ("The median is 8."), if the question asks for one.
        """
        self.sees, self.max_side, self.last_sentence = sees, max_side, last_sentence

    def check(self) -> None:
        if self.sees == "image":
            from chameleon.pictures.opening import require_pillow

            require_pillow()

    def slots(self, state: State) -> dict[str, Any]:
        return super().slots(state) | {"sees": self._picture(state) is not None}

    def messages(self, state: State) -> Messages:
        messages, picture = super().messages(state), self._picture(state)
        if picture is None:
            return messages
        from chameleon.llm.message import with_picture

        return with_picture(messages, picture, self.max_side)

    def _picture(self, state: State) -> str | None:
        """Return the path of the image to send, if any."""
        can_see = self.sees == "auto" and self._llm is not None and self._llm.sees
        return state.input.get("image") if can_see or self.sees == "image" else None

    def salvage(self, text: str, state: State, *, is_cut: bool) -> str | None:
        """Return the text if the answer may still be found in it: a choice, or see `last_sentence`."""
        if state.input.get("choices"):
            return text or None
        answer = unwrapped(text)
        if is_cut or not self.last_sentence or no_answer(answer):
            return None
        if is_a_cell(answer, state.table):
            return f"The answer is {answer}."
        if says_unknown(answer):
            return f"{text}\nThe answer is unknown."
        return text if _ASKS_NUMBER.search(state.input["question"]) and concluded(text) else None

    def interpret(self, text: str, state: State) -> str:
        return solution_in(text, state)


def solution_in(text: str, state: State) -> str:
    """Return the solution. Raises `StepRejected` if it states no answer, not even a letter."""
    answer = stated_answer(text)
    if answer is None and lone_letter(text, state.input.get("choices") or ()) is None:
        raise StepRejected('the solution does not say "The answer is …"')
    is_given = answer and (answer in (state.input.get("choices") or ()) or is_a_cell(answer, state.table))
    if answer and not is_given and (why := no_answer(answer)):
        raise StepRejected(why, hint='End with "The answer is X."')
    return text.strip()


def statements(solution: str) -> list[str]:
    r"""Return the text after each of the last statements of an answer, the last statement first.

    A statement is "The answer is …" (or "The correct answer is …"), else a line that begins with "Answer:",
    else the content of \boxed{…}. The last one comes first because models correct themselves at the end; the
    published code takes the first.
    """
    plain = _TEXT_IN_FORMULA.sub(r"\1", solution)
    unboxed = _BOXED.sub(r"\1", plain)
    for statement in (_STATED, _LABELED):
        if last := deque((match.end() for match in statement.finditer(unboxed)), _MAX_STATEMENTS):
            texts = (unboxed[end:].strip() for end in reversed(last))
            return [part for part in texts if re.search(r"\w", _first(part))]  # not the "…" of our messages
    boxes = deque(_BOXED.finditer(plain), _MAX_STATEMENTS)
    return [part for match in reversed(boxes) if (part := match[1].strip())]


def concluded(solution: str) -> str | None:
    """Return the number in the last sentence of a solution, such as "8" in "The median is 8.", or None."""
    sentence = _SENTENCES.split(solution.strip()[-_MAX_SENTENCE_CHARS:])[-1]
    match = _CONCLUDED.fullmatch(sentence)
    is_sure = match is not None and len(_DIGITS.findall(sentence)) == 1 and not _DENIAL.search(sentence)
    return match[1] if match is not None and is_sure else None


def is_a_cell(text: str, table: Table | None) -> bool:
    """Return whether a text is a cell of the table, ignoring case."""
    form = text.strip().casefold()
    return table is not None and any(cell.strip().casefold() == form for row in table.rows for cell in row)


def settled(text: str, table: Table | None) -> str:
    """Shorten an answer: "1,006" for "8,595 - 7,589 = 1,006", or the cell before "which had …"."""
    if computed := _COMPUTED.fullmatch(text):
        return computed[1]
    clause = _CLAUSE.match(text)
    cell = unwrapped(clause[1]) if clause else ""
    return cell if cell and is_a_cell(cell, table) else text


def lone_letter(solution: str, choices: Sequence[str]) -> str | None:
    """Return the choice whose letter is the whole last line of the solution: "(B)", "**B**", "B."."""
    match = _LONE_LETTER.fullmatch(solution.strip().rpartition("\n")[2])
    index = ord(match[1].upper()) - ord("A") if match else len(choices)
    return choices[index] if index < len(choices) else None


def stated_line(solution: str) -> str | None:
    """Return the rest of the line after the solution's last "The answer is …", or None."""
    ends = deque((each.end() for each in _STATED.finditer(solution)), 1)
    return first_line(solution[ends[-1] :]) if ends else None


def first_line(text: str) -> str | None:
    """Return the first line without the stars of bold type, or None if it is empty."""
    return text.partition("\n")[0].replace("**", "").strip() or None


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without the period.

    "6:30 P.M.", "Mr. Park" and "3.5" are kept whole.
    """
    for end in _SENTENCE_END.finditer(text):
        word = end[1].lower().strip("(\"'")
        if "." not in word and word not in _ABBREVIATIONS and (len(word) > 1 or not word.isalpha()):
            text = text[: end.end(1)]
            break
    return text if _INITIALS.search(text) else text.removesuffix(".")


def stated_answer(solution: str) -> str | None:
    """Return the first sentence of the solution's last statement of an answer, or None."""
    return _first(next(iter(statements(solution)), "")) or None


def _first(statement: str) -> str:
    return first_sentence(first_line(unwrapped(statement)) or "")
