"""Answer from a text, or the text in a picture, without a model: all of it, or the value of a label."""

import re
from collections.abc import Mapping
from typing import Any

from chameleon import Declined, Module, State, Table
from chameleon.modules.offline.judge import answer
from chameleon.modules.offline.words import language
from chameleon.modules.program.answer_generator import as_choice
from chameleon.pictures.pieces import UNREAD, Piece, lines_are_clear, lines_of
from chameleon.table.dates import read_date
from chameleon.table.table import distinct_names

_CARRIER = "(?:sign|label|text|picture|image|photo|poster|note|ticket|receipt|banner|screen|plate|board|page)"
_ON_CARRIER = re.compile(rf" (?:on|in|of) the {_CARRIER}(?=\W*$)", re.IGNORECASE)
_READ_REQUEST = re.compile(
    rf"(?:what (?:does|do) (?:it|this|(?:the|this) {_CARRIER}s?) (?:say|read)|read the text"
    rf"|what(?: text)? (?:is|stands) (?:written |printed )?(?:on|in) (?:it|the {_CARRIER}))\W*", re.IGNORECASE
)  # fmt: skip
# "Price: 5", but not 10:30 or https://; without a colon, the value begins with a figure.
_COLON_PAIR = re.compile(r"(?P<label>[^:=]*[^\W\d][^:=]*?)\s*(?::(?!//|\d\d\b)|=)\s*(?P<value>.*)")
_GAP_PAIR = re.compile(r"(?P<label>\D*?[^\W\d_][^\d\t]*?)[\s.]*[\s\t](?P<value>[-−–]?[$€£¥₹]?\s?[-−–]?\d.*)")
_UNCLEAR = re.compile(r"\b(?:no|not|or|if|except|see|free|without|unknown)\b|[<>½?;\t]", re.IGNORECASE)
_WITH_FIGURES = re.compile(r"mon|tue|wed|thu|fri|sat|sun|am?|pm?|m|c|f|to|until|at|from|noon")
_CONTINUATION, _WORD = re.compile(r"[a-z\d$€£¥₹(+&/,;•–-]"), re.compile(r"[^\W\d_]+")
_NO_LABEL, _MAX_VALUE_CHARS = "no label in the text has such a value", 60
_HOW_TO_ASK = 'Ask "What does it say?", or for a value by its label, such as "What is the price?"'


class LabelReader(Module):
    """Answers from a text, or that in the picture, without a model: what it says, or the value of a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text|input.text", "cache.text_boxes?")
    writes = ("cache.answer", "cache.reading")

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer` and its `reading`, the line that holds it. Labels act as columns of one row.

        Raises `Declined` for questions that the text does not answer.
        """
        picture, text = _lines(state), [*map(str.strip, state.input.get("text", "").splitlines())]
        if not any([*picture, *text]):
            is_picture = "detected_text" in state.cache
            raise Declined("there is no text in the picture" if is_picture else "the text is empty")
        if _READ_REQUEST.fullmatch(state.input["question"].strip()):
            value = line = " ".join(filter(None, picture if any(picture) else text)).replace("\t", " ")
        else:
            value, line = _value_and_line(_ON_CARRIER.sub("", state.input["question"]), [*picture, "", *text])
        if choices := state.input.get("choices") or ():
            value, raw_value = as_choice(value, choices), value
            if value not in choices:
                raise Declined(f'the text has none of the choices there: "{raw_value[:_MAX_VALUE_CHARS]}"')
        return {"answer": value, "reading": {"line": line.replace("\t", " ")}}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return dict(output)


def _lines(state: State) -> list[str]:
    """Return the lines in the picture, with tabs between the pieces of a line if their places are known."""
    if not (boxes := state.cache.get("text_boxes")):
        return [line.strip() for line in state.cache.get("detected_text", "").splitlines()]
    lines = lines_of(map(Piece.from_json, boxes))
    if not lines_are_clear(lines):
        what = "the lines of text in the picture cannot be determined: they are tilted differently"
        raise Declined(what, hint="Take the picture from straight above.")
    return ["\t".join(piece.text.strip() for piece in line) for line in lines]


def _value_and_line(question: str, lines: list[str]) -> tuple[str, str]:
    """Return the value that the question asks for and its line. Raises `Declined` unless one fits."""
    stems, words = _stems(question), _WORD.findall(question.lower())
    stems |= {idea for stem in stems for idea in language().ideas.get(stem, ())}
    candidates = [line for line in dict.fromkeys(lines) if stems & _stems(line)]
    pairs = {line: pair for line in candidates if (pair := _pair(line)) is not None}
    if not pairs:
        raise Declined(_NO_LABEL, hint=_HOW_TO_ASK)
    labels, values = zip(*pairs.values(), strict=True)
    outcome = answer(question, Table(distinct_names(labels), [values]))
    line = [*pairs][outcome.form.columns[0]] if outcome.form.columns else ""
    label, value = pairs.get(line, ("", ""))
    if outcome.result.kind != "cells" or not label:
        raise Declined(_NO_LABEL, hint=_HOW_TO_ASK)
    if sum(_stems(label) <= _stems(each) for each in candidates) > 1:
        raise Declined(f'more than one line of the text speaks of "{label}"', hint="Ask by its full name.")
    counted = {*_WORD.findall(re.sub(r"^number of ", "", label.lower()))} <= {*words}
    if (words[:2] == ["how", "many"] and not counted) or ("who" in words[:1] and re.search(r"\d", value)):
        raise Declined(f'the question does not ask for "{label}"')
    below = lines[lines.index(line) + 1 :][:1]
    if UNREAD in line or (below and _CONTINUATION.match(below[0]) and not _pair(below[0])):
        raise Declined(f'the value of "{label}" may continue in the next line, or could not be read')
    return value, line


def _stems(text: str) -> set[str]:
    words = language()
    return {token.stem for token in words.tokens(text) if token.low not in words.filler}


def _pair(line: str) -> tuple[str, str] | None:
    """Return the label and the short value of a line, or None if it does not hold one.

    The value after a colon is words, a date or a code; without a colon it must be figures with units.
    """
    label, _, value = (part.strip(" .") for part in line.rpartition("\t"))
    if (match := _COLON_PAIR.fullmatch(line)) or ("\t" not in line and (match := _GAP_PAIR.fullmatch(line))):
        label, value = match["label"].strip(), match["value"].strip()
    marked = match is not None and match.re is _COLON_PAIR
    words, units = _WORD.findall(value.lower()), language().units
    is_code = len(value.split()) == 1 or re.fullmatch(r"[A-Z]{1,3} \d+|\+?[\d() -]+", value) is not None
    is_code |= not re.search(r"\d", value) or read_date(value) is not None
    is_value = (marked and is_code) or all(word in units or _WITH_FIGURES.fullmatch(word) for word in words)
    is_clear = bool(value) and len(value) <= _MAX_VALUE_CHARS and is_value and not _UNCLEAR.search(value)
    return (label, value) if label and "\t" not in label and is_clear else None
