"""Answer from a text, or that in a picture, without a model: what it says, or what stands beside a label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State, Table
from chameleon.modules.offline.judge import answer
from chameleon.modules.offline.words import folded, language
from chameleon.modules.program.answer_generator import as_choice
from chameleon.pictures.pieces import UNREAD, Piece, lines_are_told, lines_of
from chameleon.table.dates import read_date
from chameleon.table.meaning import is_blank
from chameleon.table.table import told_apart

_CARRIER = "(?:sign|label|text|picture|image|photo|poster|note|ticket|receipt|banner|screen|plate|board|page)"
_ON = re.compile(rf" (?:on|in|of) the {_CARRIER}(?=\W*$)", re.IGNORECASE)
_SAYS = re.compile(
    rf"what (?:does|do) (?:it|this|(?:the|this) {_CARRIER}s?) (?:say|read)\W*|read the text\W*"
    rf"|what(?: text)? (?:is|stands) (?:written |printed )?(?:on|in) (?:it|the {_CARRIER})\W*", re.IGNORECASE
)  # fmt: skip
_MARKED = re.compile(r"(?P<label>[^:=]*[^\W\d][^:=]*?)\s*(?::(?!//|\d\d\b)|=)\s*(?P<value>.*)")
_BESIDE = re.compile(r"(?P<label>\D*?[^\W\d_][^\d\t]*?)[\s.]*[\s\t](?P<value>[-−–]?[$€£¥₹]?\s?[-−–]?\d.*)")
_DENIED = re.compile(r"\b(?:no|not|or|if|except|see|free|without)\b|[<>½?;]", re.IGNORECASE)
_COUNT = re.compile(r"^number of ", re.IGNORECASE)
_GOES_ON = re.compile(r"[a-z\d$€£¥₹(+&/,;•–-]")
_WORD = re.compile(r"[^\W\d_]+")
_WITH_FIGURES = re.compile(r"mon|tue|wed|thu|fri|sat|sun|am?|pm?|m|c|f|to|until|at|from|noon")
_LONGEST, _MOST_WORDS = 60, 8
_NO_LABEL = "no label in the text has such a value"
_HOW_TO_ASK = 'Ask "What does it say?", or for a value by its label, such as "What is the price?"'


class LabelReader(Module):
    """Answers from a text, or that in the picture, without a model: what it says, or the value of a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text|input.text", "cache.text_boxes?")
    writes = ("cache.answer", "cache.reading")

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer` and its `reading`: the line that has it. Labels are read as columns of one row.

        Raises `Declined` for what the text alone does not tell.
        """
        shown, text = _lines(state), [*map(str.strip, state.input.get("text", "").splitlines())]
        lines = [*shown, "", *text]
        if not any(lines):
            raise Declined(
                f"there is no text {'in the picture' if 'detected_text' in state.cache else ''}".strip()
            )
        question = state.input["question"]
        if _SAYS.fullmatch(question.strip()):
            value = line = " ".join(filter(None, shown if any(shown) else text)).replace("\t", " ")
        else:
            value, line = _labelled(_ON.sub("", question), lines)
        choices = state.input.get("choices") or ()
        if choices and (choice := as_choice(value, choices)) not in choices:
            raise Declined(f'the text has none of the choices there: "{value[:_LONGEST]}"')
        return {"answer": choice if choices else value, "reading": {"line": line.replace("\t", " ")}}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return dict(output)


def _lines(state: State) -> list[str]:
    """Return the lines in the picture, with tabs between the pieces of one where their places are known."""
    if boxes := state.cache.get("text_boxes"):
        lines = lines_of(map(Piece.from_json, boxes))
        if not lines_are_told(lines):
            what = "the lines of text in the picture cannot be told: they are tilted to differing degrees"
            raise Declined(what, hint="Take the picture from straight above.")
        return ["\t".join(piece.text.strip() for piece in line) for line in lines]
    return [line.strip() for line in state.cache.get("detected_text", "").splitlines()]


def _labelled(question: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return the value that the question asks for, and its line. Raises `Declined` for no single one."""
    asked = _stems(question)
    asked |= {idea for stem in asked for idea in language().ideas.get(stem, ())}
    near = (line for line in dict.fromkeys(lines) if asked & _stems(line))
    pairs = {line: pair for line in near if (pair := _pair(line)) is not None}
    if not pairs:
        raise Declined(_NO_LABEL, hint=_HOW_TO_ASK)
    labels, values = zip(*pairs.values(), strict=True)
    found = answer(question, Table(told_apart(labels), [values]))
    if found.result.kind != "cells" or len(found.form.columns) != 1:
        raise Declined(_NO_LABEL, hint=_HOW_TO_ASK)
    line = [*pairs][found.form.columns[0]]
    label, value = pairs[line]
    said = {line for line in lines if _stems(label) <= _stems(line)}
    if len(said) > 1:
        raise Declined(f'more than one line of the text speaks of "{label}"', hint="Ask for one in full.")
    words = _WORD.findall(folded(question))
    if words[:2] == ["how", "many"] and not {*_WORD.findall(folded(_COUNT.sub("", label)))} <= {*words}:
        raise Declined(f'"{label}" is not what is asked for')
    if "who" in words[:1] and any(map(str.isdigit, value)):
        raise Declined(f'the value of "{label}" is no name: "{value}"')
    if UNREAD in line:
        raise Declined(f'a part of the line "{line.replace(chr(9), " ")}" could not be read')
    below = lines[lines.index(line) + 1 :][:1]
    if below and below[0] and not _pair(below[0]) and _GOES_ON.match(below[0]):
        raise Declined(f'the value of "{label}" may go on in the next line')
    return value, line


def _stems(text: str) -> set[str]:
    words = language()
    return {token.stem for token in words.tokens(text) if token.low not in words.filler}


def _pair(line: str) -> tuple[str, str] | None:
    """Return the label and the one short value of a line; None where it is no such line."""
    label, _, value = (part.strip(" .") for part in line.rpartition("\t"))
    if (match := _MARKED.fullmatch(line)) or ("\t" not in line and (match := _BESIDE.fullmatch(line))):
        label, value = match["label"].strip(), match["value"].strip()
    is_value = _is_value(value, marked=match is not None and match.re is _MARKED)
    return (label, value) if label and "\t" not in label and is_value else None


def _is_value(text: str, *, marked: bool) -> bool:
    """Tell whether a text is one value: words beside a colon, a word with figures, or figures with units."""
    words, units = _WORD.findall(folded(text)), language().units
    if len(text) > _LONGEST or "\t" in text or is_blank(text) or _DENIED.search(text):
        return False
    if not any(map(str.isdigit, text)):
        return marked and 0 < len(words) <= _MOST_WORDS
    is_code = (
        len(text.split()) == 1
        or read_date(text) is not None
        or re.fullmatch(r"[A-Z]{1,3} \d+|\+?[\d() -]+", text) is not None
    )
    return (marked and is_code) or all(word in units or _WITH_FIGURES.fullmatch(word) for word in words)
