"""Give the final answer (Chameleon, section 4.2)."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal

from chameleon import Module, State
from chameleon.errors import Declined, Unverified
from chameleon.modules.program.solution_generator import (
    concluded,
    first_line,
    first_sentence,
    is_a_cell,
    lone_letter,
    settled,
    stated_answer,
    statements,
)
from chameleon.quoting import untagged
from chameleon.table.amounts import read_amount
from chameleon.table.grounding import unverified
from chameleon.text import one_line, unwrapped

# "B", "(b)", "B.", "option B", "B because …", "B – Thursday": a letter by itself.
_LETTERED = re.compile(r"(?:(?:option|choice|answer)\s+)?\(?([A-Za-z])(?:\)|[.:,;](?=\s|$)|$|(?=\s))")
_MAX_REASON_CHARS = 300
_UNKNOWN = re.compile(
    r"[\"'“*]?(?:unknown|not known)[\"'”*]?\s*(?:\Z|[.,;:(]|(?:because|since|as)\b)", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?:A\s+(?!because\b|since\b|as\b|for\b|[-–—(])|I\s|[a-z]\s)")
_CONTINUATION = re.compile(r"\w|[^\w\s]\w")  # "well-known" and "3.5" are not "well" and "3"
_CONJUNCTION = re.compile(r"\W*(?:or|and|nor|but|[/&+])(?:\W|$)")
_REASON = re.compile(
    r"\s*(?:[^\w\s]|(?:because|since|as|so|for|is|are|was|were|has|have|had|due|given|which)\b)"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_MARK = re.compile(r"\0(\d+)\0")  # between NULs, the position of a choice
_DENIAL = re.compile(r"\b(?:not|cannot|never|neither|nor|except)\b|n['’]t\b", re.IGNORECASE)


class AnswerGenerator(Module):
    """Gives the final answer: what the program computed, else what the solution says. Always the last."""

    reads = (
        "cache.program_result|cache.solution, cache.program?, cache.sources?, "
        "input.question?, input.choices?, input.table?, input.tables?"
    )
    writes = ("cache.answer",)

    def __init__(
        self, unmatched: Literal["statement", "option"] = "statement", checked: bool = False
    ) -> None:
        """Take settings, all optional.

        Args:
            unmatched: the answer to give if the solution states one that does not match any choice: the
                statement, or the most similar option if any (Chameleon, appendix A.2).
            checked: whether an answer in words must be a cell, to a question that asks for no computation. If
                not, the inventory's `on_error` may plan a program, once; then the run declines.
        """
        self.unmatched, self.checked = unmatched, checked

    def run(self, state: State) -> Any:
        result, choices = state.cache.get("program_result"), state.input.get("choices") or ()
        if result is not None:
            return as_choice(tidy(result), choices)
        answer = self._answer(state, choices)
        tables = [] if "sources" in state.cache else state.tables  # where passages have it
        if self.checked and tables and (why := unverified(answer, state.input["question"], tables)):
            raise (Declined if "program" in state.cache else Unverified)(why)
        return answer

    def _answer(self, state: State, choices: Sequence[str]) -> Any:
        """Return the solution's answer. Raises `Declined` if that is "unknown"."""
        solution = state.cache["solution"]
        if choices and (choice := chosen(solution, choices)) is not None:
            return choice
        stated = stated_answer(solution) or (None if choices else concluded(solution))
        answer = unwrapped(stated or solution.strip())
        if self.unmatched == "option" and (alike := get_close_matches(answer, choices, 1, 0.01)):
            return alike[0]
        if _UNKNOWN.match(answer) and not is_a_cell("unknown", state.table):
            raise Declined("the model found no answer", hint=one_line(solution, _MAX_REASON_CHARS))
        return settled(answer, state.table)


def tidy(value: Any) -> Any:
    """Drop the noise of binary floating point: 1.6000000000000001 becomes 1.6, and 18.0 becomes 18."""
    if isinstance(value, float):
        rounded = float(f"{value:.12g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value


def chosen(solution: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a solution settles on, or None if it names none or several.

    Statements of an answer are tried from the last one back: the choice that the statement begins with (the
    full text, its first line or first sentence), or else the only choice in the statement's first line.
    Without any statement, it is the choice whose letter is the last line, or the only one mentioned.
    """
    candidates = statements(solution)
    for statement in candidates:
        line = first_line(statement) or ""
        for part in (statement, line, first_sentence(line)):
            if (choice := as_choice(part, choices)) in choices:
                return str(choice)
        if (choice := mentioned(line, choices)) is not None:
            return choice
    return None if candidates else lone_letter(solution, choices) or mentioned(solution, choices)


def as_choice(answer: Any, choices: Sequence[str]) -> Any:
    """Return the choice that the answer means, or the answer itself if it matches none.

    Case, spaces, line breaks, "$", stars and the way prompts write tags are ignored, unless two choices
    differ in nothing else. Numbers are compared as numbers ("1/2" is 0.5). In a list, the only element that
    is a choice counts. A text that begins with a choice means that choice if it ends there or continues with
    punctuation or a reason ("Thursday, since …"), but not with another choice ("Thursday or Friday"). The
    same is true of a single letter ("(B)", "B because …").
    """
    if not choices:
        return answer
    if isinstance(answer, list | tuple):  # a row with the choice in it
        texts = [each for each in answer if not (isinstance(each, str) and len(each) == 1 and each.isalpha())]
        among = {one for each in texts if (one := as_choice(each, choices)) in choices}
        return among.pop() if len(among) == 1 else answer
    wording = {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer).strip()
    form = _form(wording)
    if equal := [choice for choice in choices if _form(choice) == form]:
        return _nearest(wording, equal)
    amount = read_amount(wording)
    numbers = [(choice, each.number) for choice in choices if (each := read_amount(choice)) is not None]
    same = [choice for choice, number in numbers if amount is not None and number == amount.number]
    if len(same) == 1:
        return same[0]
    if matches := [choice for choice in choices if _begins(form, _form(choice))]:
        length = max(len(_form(choice)) for choice in matches)
        matches = [choice for choice in matches if len(_form(choice)) == length]
        lines = wording.splitlines()
        first_lines = ("\n".join(lines[: choice.count("\n") + 1]) for choice in matches)
        stands_alone = any(_form(text) == form[:length] for text in first_lines)
        return _nearest(wording, matches) if stands_alone or _ends_there(form[length:], choices) else answer
    bare = wording.strip("*_`$ ")
    lettered = _LETTERED.match(bare)
    index = ord(lettered[1].upper()) - ord("A") if lettered else len(choices)
    if index >= len(choices):
        return answer
    # The "A" of "A dog" is not a letter, unless the text of that choice follows: "A Thursday".
    is_named = _form(bare[1:]).startswith(_form(choices[index]))
    return answer if _ARTICLE.match(bare) and not is_named else choices[index]


def mentioned(text: str, choices: Sequence[str]) -> str | None:
    """Return the only choice that occurs in the text as a whole phrase, or None for none or several.

    Choices inside longer ones and sentences with a negation do not count.
    """
    forms = {form: choice for choice in reversed(choices) if len(form := _form(choice)) > 1 or form.isdigit()}
    longest_first = sorted(forms, key=len, reverse=True)
    if not longest_first:
        return None
    phrase = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    plain = _form(text).replace("\0", " ")
    marked = phrase.sub(lambda match: f"\0{longest_first.index(match[0])}\0", plain)
    sentences = (part for part in _SENTENCE.split(marked) if not _DENIAL.search(part))
    numbers = {number for part in sentences for number in _MARK.findall(part)}
    return forms[longest_first[int(numbers.pop())]] if len(numbers) == 1 else None


def _begins(form: str, choice: str) -> bool:
    """Return whether a text begins with a choice that ends at a word boundary; both come from `_form`."""
    return bool(choice) and form.startswith(choice) and not _CONTINUATION.match(form, len(choice))


def _ends_there(rest: str, choices: Sequence[str]) -> bool:
    """Return whether the rest after a choice is only punctuation or a reason, without another choice."""
    if rest.strip() and (_CONJUNCTION.match(rest) or not _REASON.match(rest)):
        return False
    after = rest.lstrip(" ,;:/&()–—-")
    return not any(_begins(after, _form(choice)) for choice in choices)


def _nearest(answer: str, choices: Sequence[str]) -> str:
    """Return the choice spelled exactly like the answer, or the first: they differ only in case or signs."""
    folded = " ".join(answer.split())
    return next((each for each in choices if folded.startswith(" ".join(each.split()))), choices[0])


def _form(text: str) -> str:
    plain = untagged(text).casefold().replace("$", "").replace("*", "").replace(",", " ")
    return " ".join(plain.split()).rstrip(".")
