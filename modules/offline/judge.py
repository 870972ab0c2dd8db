"""Judging: the cheapest form is the answer, unless another of like cost gives another; else it declines and says why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chameleon.modules.offline.algebra import Count, Form, Is, Pick, Result, Unfit, Where
from chameleon.modules.offline.grammar import forms_of
from chameleon.modules.offline.links import Links
from chameleon.modules.offline.sheet import Sheet
from chameleon.modules.offline.words import ENGLISH, folded, is_slip
from chameleon.errors import Declined

_NEAR, _MOST = 0.25, 1.05
_LONGEST = 10_000
_DOUBT = 5  # a cost of half of one is right nine times of ten, on the questions that it was read off
_MOST_TOKENS = 120
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"'“])")


@dataclass(frozen=True)
class Answer:
    """What a question comes to: the result, the form that gave it, and how sure that is, from 0 to 1."""

    result: Result
    form: Form
    confidence: float


def answer(question: str, sheet: Sheet) -> Answer:
    """Answer a question over a sheet. Raises `Declined` where no reading, or no single one, accounts for it."""
    if len(question) > _LONGEST:
        raise Declined(f"the question has more than {_LONGEST:,} characters")
    parts = [part for part in _SENTENCE.split(question.strip()) if part.strip()] or [""]
    last = max((place for place, part in enumerate(parts) if part.endswith("?")), default=len(parts) - 1)
    context, asked = parts[:last], parts[last]
    before = ENGLISH.tokens(" ".join(context))
    tokens = [*before, *ENGLISH.tokens(asked)]
    if len(tokens) > _MOST_TOKENS:
        raise Declined(f"the question has more than {_MOST_TOKENS} words")
    links = Links(tokens, sheet, len(before))
    slips = {word: right for word in links.unknown if (right := _meant(word, sheet))}
    if slips:
        tokens = [ENGLISH.tokens(slips[token.text])[0] if token.text in slips else token for token in tokens]
        links = Links(tokens, sheet, len(before))
    forms = forms_of(sheet, tokens, links.readings, len(before))
    if not forms:
        if links.unknown:
            raise Declined(f"these words were not understood: {', '.join(links.unknown)}")
        raise Declined("this kind of question is not understood")
    return _judged(sheet, forms)


def form_counts_nothing(form: Form, result: Result) -> bool:
    """Tell whether a count came to nothing, which is seldom what a question is about."""
    return isinstance(form, Count) and result.number == 0 and bool(form.of.columns)


def _meant(word: str, sheet: Sheet) -> str:
    """Return the only word of the language or of the table's names that a word is one slip of a finger from, or ""."""
    names = {low for text in (sheet.table.caption, *sheet.table.header) for low in re.findall(r"[^\W\d_]{4,}", folded(text))}
    near = {known for known in ENGLISH.vocabulary | names if is_slip(word.lower(), known, 4)} if len(word) >= 4 else set()
    stems = {ENGLISH.stem(known) for known in near}
    return min(near) if len(stems) == 1 else ""


def _judged(sheet: Sheet, forms: list[tuple[float, Form]]) -> Answer:
    first: tuple[float, Form, Result] | None = None
    why: Unfit | None = None
    least = forms[0][0]
    for cost, form in forms[:40]:
        if first is not None and cost > first[0] + _NEAR:
            break
        try:
            result = form.run(sheet)
        except Unfit as unfit:
            if why is None:
                why = unfit
            if unfit.empty and cost <= least + 0.02:
                raise Declined(str(unfit)) from None
            continue
        if _repeats(form, result):
            continue
        if form_counts_nothing(form, result):
            cost += 0.3
        if first is None:
            if why is not None and cost > least + (_NEAR if why.empty else 0.12):
                raise Declined(str(why))
            first = cost, form, result
        elif set(result.values) != set(first[2].values):
            raise Declined(f"two readings differ: {form.code(sheet)} and {first[1].code(sheet)}")
    if first is None:
        raise Declined(str(why or "this kind of question is not understood"))
    if first[0] > _MOST:
        raise Declined("too little of the question is accounted for")
    return Answer(first[2], first[1], max(0.0, 1 - first[0] / _DOUBT))


def _repeats(form: Form, result: Result) -> bool:
    """Tell whether an answer only says again what the question says."""
    if not isinstance(form, Pick) or not isinstance(form.of, Where):
        return False
    said = {text for each in form.of.conditions for part in getattr(each, "parts", (each,)) if isinstance(part, Is) for text in part.texts}
    return bool(said) and {folded(value) for value in result.values} <= said
