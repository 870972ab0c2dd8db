"""Questions for the value of a label: "What is the adult fare?", "How many pages are there?"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Label = tuple[str, ...]

CARRIERS = (
    "sign|label|text|picture|image|photo|poster|caption|note|ticket|receipt|banner|screen|plate|board|page"
)
_PRICES = ("price", "cost", "fare", "fee")
_ARTICLES = frozenset(("a", "an", "the"))
# "The number of rooms" is no room number: such a phrase keeps its order and its plural.
_COUNTING = re.compile(r"(?:the )?(number|count|amount|total|sum|quantity|percentage|rate|share) of (.+)")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?!\w)")
_SHORT = re.compile(r"^(what|who|when|how much)['’]s\b")
_WORDS = re.compile(r"\w+")

_TYPED = ("clock", "date", "money", "quantity", "number")
_ANY = (*_TYPED, "span", "dates", "moment", "code", "address", "words")
_KEY = r"(?:the |an? )?(?P<key>.+?)"
_ON = rf"(?: (?:on|in) the (?:{CARRIERS}))?"
_FORMS: tuple[tuple[re.Pattern[str], tuple[str, ...], str], ...] = tuple(
    (re.compile(pattern + _ON), kinds, needed)
    for pattern, kinds, needed in (
        (rf"how many are {_KEY}", ("number",), "a number"),
        (rf"how many {_KEY}(?: (?:are|is) (?:there|given|listed))?", ("number",), "a number"),
        (r"what (?:is|was) (?:the )?number of (?P<count>.+?)", ("number",), "a number"),
        (rf"how much (?:does|do|did) {_KEY} cost", ("money",), "a price"),
        (rf"what (?:does|do|did) {_KEY} cost", ("money",), "a price"),
        (rf"how much (?:is|are|was|were) {_KEY}", ("money", "quantity"), "a price or an amount"),
        (
            r"how (?:high|large|long|heavy|wide|far|old|tall|deep|fast) (?:is|are|was|were) the (?P<key>.+?)",
            ("quantity",),
            "an amount with its unit",
        ),
        (rf"(?:at )?what time (?:is|was) {_KEY}", ("clock", "span"), "a time"),
        (
            rf"(?:when|(?:at )?what time) (?:does|do|did) {_KEY} (?P<deed>leave|depart|sail|start|begin)",
            ("clock", "date", "moment"),
            "one time",
        ),
        (
            rf"when (?:is|are|was|were) {_KEY}",
            ("clock", "date", "moment", "span", "dates"),
            "a time or a date",
        ),
        (r"who (?:is|are|was|were) the (?P<key>.+?)", ("name",), "a name"),
        (r"what (?:is|are|was|were) the (?P<key>.+?)", _ANY, "one short value"),
        (
            r"(?P<key>(?!(?:what|who|when|where|which|why|how|is|are|do|does)\b)\w[^?!.:;]*)",
            _ANY,
            "one short value",
        ),
    )
)
_AGAINST: Mapping[str, re.Pattern[str]] = {
    deed: re.compile(pattern, re.IGNORECASE)
    for deeds, pattern in (
        (("leave", "depart", "sail"), r"\b(?:arriv\w*|return\w*|land\w*|dock\w*|inbound)\b"),
        (("start", "begin"), r"\b(?:ends?|ending|finish\w*|clos\w*|until|over)\b"),
    )
    for deed in deeds
}


@dataclass(frozen=True)
class Wanted:
    """The label that a question names, and the kind of value that answers it.

    - `name`: the label as the question has it; `content`: its words, for lines that speak of it as well.
    - `labels`: the forms in which it may stand in the text, in the order of `ordered`.
    - `kinds`: what its value may be (`short_values`), and in words, `needed`.
    - `exact`: it must stand as it was asked for, in the plural: "pages" counts them, and "page" numbers one.
    - `against`: what in a text makes it unclear whether a time is the one of what was asked.
    """

    name: str
    labels: tuple[Label, ...]
    content: frozenset[str]
    kinds: tuple[str, ...]
    needed: str
    exact: bool = False
    against: re.Pattern[str] | None = None


def wanted_by(question: str) -> Wanted | None:
    """What a question (in lower case, without its mark) asks for; None for a question of another form."""
    question = _SHORT.sub(r"\1 is", question)
    for form, kinds, needed in _FORMS:
        if (asked := form.fullmatch(question)) is None:
            continue
        parts = asked.groupdict()
        key = parts.get("key") or parts["count"]
        label = ordered(key)
        if not label or (form is _FORMS[-1][0] and len(label) > 5):
            return None
        labels = [label]
        if kinds == ("number",):
            labels = [tuple(_plain(key)), ("number", "of", *_plain(key))]
        elif "money" in kinds and kinds != _ANY:
            labels += [(*label, price) for price in _PRICES]
        against = _AGAINST.get(parts.get("deed") or "")
        content = frozenset(map(singular, label))
        return Wanted(key, tuple(labels), content, kinds, needed, kinds == ("number",), against)
    return None


def ordered(phrase: str) -> Label:
    """The words of a label in one order, without articles: "price of the ticket" is "ticket price"."""
    phrase = _POSSESSIVE.sub("", phrase.lower())
    if counting := _COUNTING.fullmatch(phrase.strip()):
        return (counting[1], "of", *_plain(counting[2]))
    parts = re.split(r"\b(?:of|for)\b", phrase)
    return tuple(word for part in reversed(parts) for word in _plain(part))


def same(asked: Label, label: Label) -> bool:
    """Whether two labels are the same but for singular and plural."""
    return [singular(word) for word in asked] == [singular(word) for word in label]


def singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and word[-2] not in "sui" else word


def words_of(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _plain(phrase: str) -> list[str]:
    return [word for word in words_of(phrase) if word not in _ARTICLES]
