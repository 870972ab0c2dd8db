"""Answer from the text in a picture, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State
from chameleon.modules.offline.lexical.label_questions import CARRIERS, wanted_by, words_of
from chameleon.modules.offline.lexical.labelled import Found, value_of
from chameleon.pictures.pieces import UNREAD, Piece, lines_are_told, lines_of
from chameleon.table import read_value

_ON = rf"(?:on|in) the (?:{CARRIERS})"
_ALL_TEXT = re.compile(
    rf"what (?:does|do) (?:the (?:{CARRIERS})s?|it|this(?: (?:{CARRIERS}))?) (?:say|read)"
    rf"|what (?:is|text is|words? (?:is|are)) (?:written|printed) {_ON}"
    rf"|(?:what|which) (?:text|words?) (?:is|are|stands?) (?:there )?{_ON}"
    rf"|read the text (?:on|in|of) the (?:{CARRIERS})",
)
_WHICH_STANDS = re.compile(
    r"(?:which|what)(?: of these| of the)?(?: \w+){0,2} (?:is|are|stands?) "
    rf"(?:named|written|printed|labell?ed|listed|mentioned)(?: {_ON})?",
)
_NEGATIONS = frozenset(("no", "not", "non", "never", "without", "none", "un", "free"))
_HOW_TO_ASK = 'Ask "What does it say?", or for a value by its label, such as "What is the price?"'


class LexicalReader(Module):
    """Answers from a text, or that in the picture, without a model: what it says, or the value of a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text|input.text", "cache.text_boxes?")
    writes = ("cache.program_result", "cache.reading")

    def run(self, state: State) -> dict[str, str]:
        """The answer and the line it stands on. Raises `Declined` for what the text alone does not tell.

        Where a picture comes with a text, both are read.
        """
        seen, given = _seen(state), _lines(state.input.get("text", ""))
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        if not any([*seen, *given]):
            raise Declined(
                "there is no text in the picture" if "detected_text" in state.cache else "the text is empty"
            )
        choices = state.input.get("choices") or ()
        first = seen if any(seen) else given
        if _ALL_TEXT.fullmatch(question) or (choices and _WHICH_STANDS.fullmatch(question)):
            answer = _whole(first) if not choices else _standing_choice(question, first, choices)
        else:
            answer = _labelled(question, [*seen, "", *given], choices)
        return {"answer": answer.value, "line": answer.line}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["answer"], "reading": output["line"]}


def _seen(state: State) -> list[str]:
    """The lines in the picture, with tabs between the pieces of one where it is known how they stand.

    Raises `Declined` where text is tilted to differing degrees, so that its lines cannot be told.
    """
    if boxes := state.cache.get("text_boxes"):
        lines = lines_of(map(Piece.from_json, boxes))
        if not lines_are_told(lines):
            raise Declined(
                "the lines of text in the picture cannot be told: they are tilted to differing degrees",
                hint="Take the picture from straight above.",
            )
        return ["\t".join(piece.text.strip() for piece in line) for line in lines]
    return _lines(state.cache.get("detected_text", ""))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def _whole(lines: Sequence[str]) -> Found:
    written = [line.replace("\t", " ") for line in lines if line]
    return Found(" ".join(written), written[0])


def _labelled(question: str, lines: Sequence[str], choices: Sequence[str]) -> Found:
    """The value of the label that the question names; of choices, the one that it is."""
    wanted = wanted_by(question)
    if wanted is None:
        raise Declined("the text does not answer such a question by itself", hint=_HOW_TO_ASK)
    found = value_of(wanted, lines)
    if UNREAD in found.line:
        raise Declined(f'a part of the line "{found.line.replace(chr(9), " ")}" could not be read')
    found = Found(found.value.replace("\t", " "), found.line.replace("\t", " "))
    if not choices:
        return found
    equal = [choice for choice in choices if _is_same(found.value, choice)]
    if len(equal) != 1:
        many = "several" if equal else "none"
        raise Declined(f'what stands beside "{wanted.name}" is {many} of the choices: "{found.value}"')
    return Found(equal[0], found.line)


def _is_same(value: str, choice: str) -> bool:
    """Whether a choice is the value: the same text, number, time or date; one may leave out the unit."""
    if _form(value) == _form(choice):
        return True
    one, other = read_value(value), read_value(choice)
    if one.kind != other.kind or one.kind not in ("number", "time", "date"):
        return False
    units_agree = not one.unit or not other.unit or one.unit.lower() == other.unit.lower()
    return (one.number, one.time, one.date) == (other.number, other.time, other.date) and units_agree


def _form(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _standing_choice(question: str, lines: Sequence[str], choices: Sequence[str]) -> Found:
    standing = list(_standing(question, [line.replace("\t", " ") for line in lines if line], choices))
    if len(standing) != 1:
        raise Declined(f"{'several' if standing else 'none'} of the choices stand in the text")
    return standing[0]


def _standing(question: str, lines: Sequence[str], choices: Sequence[str]) -> Iterator[Found]:
    """The choices that stand in the text: as a whole line of it, or within one that denies nothing."""
    whole, which = _ALL_TEXT.fullmatch(question), _WHICH_STANDS.fullmatch(question)
    for choice in choices:
        words = words_of(choice)
        for line in [*lines, " ".join(lines)] if whole else lines:
            written = words_of(line)
            if words == written or (which and _is_in(words, written) and not _NEGATIONS & set(written)):
                yield Found(choice, line)
                break


def _is_in(words: Sequence[str], written: Sequence[str]) -> bool:
    """Whether the words stand in the text next to each other."""
    starts = range(len(written) - len(words) + 1)
    return bool(words) and any(list(written[start : start + len(words)]) == list(words) for start in starts)
