"""Verdicts, amounts and sentences in replies; what could be read in two ways is rejected, not guessed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from chameleon import StepRejected
from chameleon.modules.program.solution_generator import first_line, statements
from chameleon.modules.table_ops.table_query import sentence_in

ENTAILMENT, CONTRADICTION = "Entailment", "Contradiction"

_WORD = re.compile(
    r"(?P<denied>(?:\b(?:not|cannot|never)|n['’]t)\s+(?:be\s+|an?\s+|the\s+)*)?"
    r"\b(?:(?P<yes>entail\w*|true\b(?!\s+that))|(?P<no>contradict\w*|false\b))",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\W*(?:(?P<yes>yes)|no)\s*(?=[.,;:!*\"')—–-]|$)", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|cannot|never|neither|nor|hardly|unclear|whether|either|if|unless|would|could|might|may"
    r"|no|false\s+that)\b|n['’]t\b",
    re.IGNORECASE,
)
_OPEN, _THAT = re.compile(r"[\"'”’*\s]*\?"), re.compile(r"\s+that\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.,;:!?()\n—–]|\b(?:so|thus|hence|therefore|and|but|because|since)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"\W*(?:(?:the\s+)?(?:answer|label|verdict|statement)\b\W*(?:is\b\W*)?)?(?:an?\s+)?"
    r"(?:(?:not\s+(?:an?\s+)?)?(?:entail\w*|contradict\w*|true|false)|yes|no)(?=[\s.,;:!*\"')]|$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?P<minus>(?<![\w.,)])[-–−])?(?P<sign>(?:US\s?)?\$\s?|USD\s)?(?P<after>-)?"
    r"(?<![\w.,])(?P<number>[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?)"
    r"(?:\s?(?P<times>thousand|million|mn|billion|bn)\b|(?P<letter>[km])\b)?"
    r"(?![.,]?[0-9]|\s?%|\s?per\s?cent)(?P<unit>\s?(?:US\s)?(?:dollars?|USD)\b)?",
    re.IGNORECASE,
)
_TIMES = {"t": 1000, "k": 1000, "m": 1_000_000, "b": 1_000_000_000}
_SAID = re.compile(
    r"(?:^(?:[^\w\n]|_)*+|(?P<within>[.!?]\s+))(?:(?:so|thus|hence|therefore|overall|in\s+(?:short|sum))\b,?\s+)?"
    r"the\s+(?:(?:final|correct|short)\s+)?answer\s+is\b(?!\s*:)(?:\s+that\b)?"
    r"(?(within)(?=\W+(?:yes|no)\b))[\s*_]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^[ \t*_#-]*(?:final[ ]+)?answer[*_]*\s*:[\s*_]*(?=\S)", re.IGNORECASE | re.MULTILINE)
_WITH_COLON = re.compile(r"\bthe\s+(?:final\s+)?answer\s+is\s*:", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_EQUALS = re.compile(r"[=≈]")
_LEADS = re.compile(
    r"(?!\s*+,?\s*+(?:or|and|to|plus)\b)\s*+(?:$|[.,;:(!]|(?:on|for|in|because|since|as|under|by)\b)"
)


@dataclass(frozen=True, slots=True)
class _Amount:
    value: float
    is_money: bool
    is_year: bool


def verdict_in(text: str) -> str:
    """ "Entailment" or "Contradiction", in the statement of the answer, else where the reply begins with it.

    Raises `StepRejected` for a reply that says neither, both, or one under a condition.
    """
    said = _stated(text)
    if said is None:
        said = text.strip().partition("\n")[0] if _OPENING.match(text) else ""
    found = {_verdict(said, each) for each in _WORD.finditer(said)}
    if short := _SHORT.match(said):
        found.add(ENTAILMENT if short["yes"] else CONTRADICTION)
    if len(found) != 1 or None in found:
        raise StepRejected("the reply says neither Entailment nor Contradiction, or not clearly which")
    return str(found.pop())


def amount_in(text: str) -> str:
    """Dollars as "$1234" or "$1234.50": the amount that the statement of the answer comes to.

    That is what follows its last "=", else what it begins with, else its only amount of money, else its only
    number. A year is an amount only where there is nothing else. Without such a statement the reply must be
    one line. Raises `StepRejected` for a reply that holds none, or several.
    """
    said = _stated(text)
    if said is None:
        said = text.strip()
        if "\n" in said:
            raise StepRejected("the reply states no amount")
    value = _came_to(said)
    if value is None or not math.isfinite(value):
        raise StepRejected("the reply states no amount, or more than one")
    shown = f"{abs(value):.0f}" if value.is_integer() else f"{abs(value):.2f}"
    return f"{'-' if value < 0 else ''}${shown}"


def prose_in(text: str) -> str:
    """The sentences after the last statement of the answer, on one line; the whole reply where it has none.

    A statement is "The answer is:" anywhere, else "The answer is" where a line begins, or where a sentence
    begins that goes on with yes or no, else a line that begins with "Answer:" or "Final answer:". Elsewhere
    "the answer is" may be part of an answer: "Yes. The answer is in subsection (h)." Raises `StepRejected`
    for a reply that holds nothing.
    """
    if not _WITH_COLON.search(text):
        for statement in (_SAID, _LABEL):
            if said := list(statement.finditer(text)):
                return sentence_in(text[said[-1].end() :].rstrip("*_ \n"))
    return sentence_in(text)


def _stated(text: str) -> str | None:
    """The line after the last "The answer is", "Final answer:" or the like; None for none."""
    return first_line(next(iter(statements(text)), ""))


def _verdict(said: str, word: re.Match[str]) -> str | None:
    """What one word says; None where the clause before it leaves that open."""
    before = _CLAUSE.split(said[: word.start()])[-1]
    after = said[word.end() :]
    if _DOUBT.search(before) or _OPEN.match(after) or (word[0].lower() == "false" and _THAT.match(after)):
        return None
    return CONTRADICTION if bool(word["no"]) != bool(word["denied"]) else ENTAILMENT


def _came_to(said: str) -> float | None:
    *before, last = _EQUALS.split(said)
    if before:
        value = _single(last)
        return _single(before[-1]) if value is None else value
    leading = _NUMBER.match(said.lstrip("~≈*_ \"'“"))
    if leading and leading["sign"] and _LEADS.match(leading.string[leading.end() :]):
        return _amount(leading).value
    value = _single(_IN_BRACKETS.sub(" ", said))
    return _single(said) if value is None else value


def _single(said: str) -> float | None:
    """The one amount of a text: of money, else of any number but years, else a year."""
    found = [_amount(each) for each in _NUMBER.finditer(said)]
    money = {each.value for each in found if each.is_money}
    plain = {each.value for each in found if not each.is_year}
    values = money or plain or {each.value for each in found}
    return values.pop() if len(values) == 1 else None


def _amount(found: re.Match[str]) -> _Amount:
    word = found["times"] or found["letter"]
    times = _TIMES[word[0].lower()] if word else 1
    value = round(float(found["number"].replace(",", "")) * times, 2)
    is_money = bool(found["sign"] or found["unit"])
    is_year = bool(_YEAR.fullmatch(found["number"])) and not is_money and times == 1
    return _Amount(-value if found["minus"] or found["after"] else value, is_money, is_year)
