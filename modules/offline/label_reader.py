"""Answer from a text, or that in a picture, without a model: what it says, or what stands beside a label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State
from chameleon.modules.offline.sheet import amounts_in
from chameleon.modules.offline.words import ENGLISH, folded
from chameleon.modules.program.answer_generator import as_choice
from chameleon.pictures.pieces import UNREAD, Piece, lines_are_told, lines_of
from chameleon.table.dates import MONTHS, read_date
from chameleon.table.meaning import is_blank

_CARRIER = "(?:sign|label|text|picture|image|photo|poster|note|ticket|receipt|banner|screen|plate|board|page)"
_ON = rf"(?: (?:on|in|of) the {_CARRIER})?"
_SAYS = re.compile(
    rf"what (?:does|do) (?:it|this|(?:the|this) {_CARRIER}s?) (?:say|read)|read the text{_ON}"
    r"|(?:what|which)(?: text| words?)? (?:is|are|stands?) (?:there |written |printed )*(?:on|in) "
    rf"(?:it|the {_CARRIER})"
)
_ASKED = re.compile(
    r"(?P<how>how many|how much|how \w+|what time|when|who|what)(?:'s|(?: is| are| was| were| does| did)?) "
    rf"(?:the )?(?P<count>number of )?(?P<label>.+?)(?: are there| is there| cost)?{_ON}"
)
_MARKED = re.compile(r"(?P<label>[^:=]*[^\W\d][^:=]*?)\s*(?::(?!//|\d\d\b)|=)\s*(?P<value>.*)")
_BESIDE = re.compile(r"(?P<label>\D*?[^\W\d_][^\d\t]*?)[\s.]*[\s\t](?P<value>[-−–]?[$€£¥₹]?\s?[-−–]?\d.*)")
_COUNT = re.compile(r"^number of ", re.IGNORECASE)
_CLOCK = re.compile(r"(?:[01]?\d|2[0-4]):[0-5]\d(?!\d)|\d{1,2}\s?[ap]\.?\s?m", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_GOES_ON = re.compile(r"[a-z\d$€£¥₹(+&/,;•–-]")
_DENIES = frozenset(
    ("no", "not", "non", "never", "without", "none", "un", "free", "or", "if", "except", "see")
)
_CALENDAR = (*MONTHS, *ENGLISH.data["weekdays"])
_AROUND = ("am", "pm", "a", "p", "m", "c", "f", "to", "until", "till", "at", "from", "noon", "midnight")
_BESIDE_FIGURES = frozenset((*_CALENDAR, *(name[:3] for name in _CALENDAR), *_AROUND))
_LONGEST, _MOST_WORDS, _MOST_CHARACTERS = 60, 8, 200
_NO_LABEL = "no label in the text has such a value, and no model reads the rest of it"
_HOW_TO_ASK = 'Ask "What does it say?", or for a value by its label, such as "What is the price?"'


class LabelReader(Module):
    """Answers from a text, or that in the picture, without a model: what it says, or the value of a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text|input.text", "cache.text_boxes?")
    writes = ("cache.answer", "cache.reading")

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer` and its `reading`: the line that has it.

        Raises `Declined` for what the text alone does not tell. Where a picture comes with a text, labels of
        both are read.
        """
        lines, below = _lines(state), state.input.get("text", "").splitlines()
        if not any([*lines, *below]):
            is_picture = "detected_text" in state.cache
            raise Declined("there is no text in the picture" if is_picture else "the text is empty")
        question = " ".join(state.input["question"].lower().replace("’", "'").split()).rstrip("?!. ")
        if _SAYS.fullmatch(question):
            value = line = " ".join(filter(None, lines if any(lines) else map(str.strip, below)))
            value = value.replace("\t", " ")
        else:
            value, line = _labelled(question, [*lines, "", *map(str.strip, below)])
        choices = state.input.get("choices") or ()
        if choices and (choice := as_choice(value, choices)) not in choices:
            raise Declined(f'the text has none of the choices there: "{value[:_LONGEST]}"')
        return {"answer": choice if choices else value, "reading": {"line": line.replace("\t", " ")}}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return dict(output)


def _lines(state: State) -> list[str]:
    """Return the lines in the picture, with tabs between the pieces of one where their places are known.

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
    return [line.strip() for line in state.cache.get("detected_text", "").splitlines()]


def _labelled(question: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return the value of the only label that has the words which the question asks for, and its line."""
    asked = _ASKED.fullmatch(question)
    how, wanted = (asked["how"], asked["label"]) if asked else ("what", question)
    how = "how many" if asked and asked["count"] else how
    price = ENGLISH.stem("price")
    implied = {price, *ENGLISH.ideas[price]} if how == "how much" else set[str]()
    stems = _stems(wanted) - implied
    having = {line for line in lines if stems and stems <= _stems(line)}
    if len(having) > 1:
        raise Declined(
            f'more than one line of the text speaks of "{wanted}"', hint="Ask for one of them in full."
        )
    line = next(iter(having), "")
    label, value = _pair(line) or ("", "")
    name, counts = _COUNT.subn("", label)
    if not stems <= _stems(name) <= implied | _stems(question):
        raise Declined(_NO_LABEL, hint=_HOW_TO_ASK)
    is_named = set(_WORD.findall(folded(name))) <= set(_WORD.findall(question))
    if not is_named if how == "how many" else counts:
        raise Declined(f'"{label}" is not what is asked for')
    if UNREAD in line:
        raise Declined(f'a part of the line "{line.replace(chr(9), " ")}" could not be read')
    if not _answers(how, value):
        raise Declined(f'the value of "{label}" does not answer "{how}": "{value[:_LONGEST]}"')
    below = lines[max(place for place, each in enumerate(lines) if each == line) + 1 :][:1]
    is_open = len(value.split()) > 1 and not amounts_in(value)
    if below and below[0] and not _pair(below[0]) and (is_open or _GOES_ON.match(below[0])):
        raise Declined(f'the value of "{label}" may go on in the next line')
    return value, line


def _stems(text: str) -> set[str]:
    """Return the stems of the words of a text that say something."""
    return {token.stem for token in ENGLISH.tokens(text) if token.low not in ENGLISH.filler}


def _pair(line: str) -> tuple[str, str] | None:
    """Return the label and the value of a line; None where it is no such line.

    Beside a colon stands one short value; without one, words may be the rest of a sentence.
    """
    if len(line) > _MOST_CHARACTERS:
        return None
    if marked := _MARKED.fullmatch(line):
        label, value = marked["label"], marked["value"].strip()
        return (label, value) if _is_value(value, marked=True) else None
    label, _, value = (part.strip(" .") for part in line.rpartition("\t"))
    if "\t" not in line and (beside := _BESIDE.fullmatch(line)):
        label, value = beside["label"], beside["value"]
    is_figure = value != "" and not value[0].isalpha() and "\t" not in label
    return (label, value) if label and is_figure and _is_value(value, marked=False) else None


def _is_value(text: str, *, marked: bool) -> bool:
    """Return whether a text is one value: words, one word with figures, or figures with units and times."""
    words = _WORD.findall(folded(text))
    if len(text) > _LONGEST or "\t" in text or is_blank(text) or _DENIES & set(words):
        return False
    if not any(map(str.isdigit, text)):
        is_plain = re.search(r"[/;?]", text) is None or " " not in text
        return marked and is_plain and 0 < len(words) <= _MOST_WORDS
    if marked and (len(text.split()) == 1 or re.fullmatch(r"[A-Z]{1,3} \d+|\+?[\d() -]+", text)):
        return True
    figures = re.findall(r"\d[\d.,:]*", text)
    is_plain = all(word in _BESIDE_FIGURES or word in ENGLISH.units for word in words)
    return is_plain and re.search(r"[<>½/](?!h\b)|\(", text) is None and (marked or len(figures) <= 2)


def _answers(how: str, value: str) -> bool:
    """Return whether a value is of the kind that the question's first words ask for."""
    if how == "who":
        return not any(map(str.isdigit, value))
    if how == "how many":
        return re.fullmatch(r"\d{1,3}(?:,\d{3})+|\d+", value) is not None
    if how in ("when", "what time"):
        first = re.split(r"\s?(?:to|until|[-–—])\s?", value)[0]
        is_date = read_date(value) is not None or bool(_BESIDE_FIGURES & set(_WORD.findall(folded(value))))
        return _CLOCK.match(first) is not None or (how == "when" and is_date and any(map(str.isdigit, value)))
    return not how.startswith("how ") or any(each.unit for each in amounts_in(value))
