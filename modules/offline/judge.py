"""Judge the readings: the cheapest one answers, unless another of similar cost gives a different answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.forms import Computed, Fold, Form, HowMany, Pick, rows_left_out
from chameleon.modules.offline.kinds import forms_of
from chameleon.modules.offline.links import Links
from chameleon.modules.offline.rows import Is, Ordered, Unfit, Where
from chameleon.modules.offline.sheet import Sheet, is_headless
from chameleon.modules.offline.words import Token, language_of
from chameleon.retrieval.analysis import folded
from chameleon.table import Table

_MAX_QUESTION_CHARS, _MAX_TOKENS, _MAX_COLUMNS, _MAX_FORMS = 10_000, 120, 8, 40
_PERCENT = re.compile(r"\d ?(?:%|per ?cent)|\bin (?:%|per ?cent)", re.IGNORECASE)
_COMMAS = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)(?![\w]|[.,]\d)")  # 1.250,50
_SENTENCE = re.compile(  # not after an initial, "St." or a German ordinal such as "3."
    r"(?<=[.?!])(?<!\b[A-Z]\.)(?<!\b(?:Dr|St|Mr|Ms|Jr|Sr|No|Nr|vs)\.)(?<!\bMrs\.)(?<!\bProf\.)"
    r"(?<! \d\.)(?<! \d\d\.)\s+(?=[A-Z\"'“])"
)
Read = tuple[float, Form, Sheet, Computed]


@dataclass(frozen=True)
class Answer:
    """The answer to a question: the result, the form that gave it, and a confidence from 0 to 1."""

    result: Computed
    form: Form
    confidence: float
    sheet: Sheet

    @property
    def reading(self) -> str:
        """Return how the question was read, with the rows that were left out."""
        notes = rows_left_out(self.form, self.sheet)
        totals = len(self.sheet.summaries)
        notes += [f"{totals} of totals and notes"] if totals and self.result.kind != "cells" else []
        return self.form.in_words(self.sheet) + (f"; rows left out: {', '.join(notes)}" if notes else "")


def answer(question: str, table: Table) -> Answer:
    """Answer a question over a table. Raises `Declined` if no reading explains it, or if readings conflict.

    The last sentence is the question; earlier sentences must not name a cell or a number.
    """
    if len(question) > _MAX_QUESTION_CHARS:
        raise Declined(f"the question has more than {_MAX_QUESTION_CHARS:,} characters")
    if tuple(map(folded, table.header)) == ("stem", "leaf"):
        raise Declined("stem-and-leaf plots are not read")
    if is_headless(table):
        hint = "Give it a first row with the names of the columns."
        raise Declined("the header of the table looks like one of its rows", hint=hint)
    words = language_of(question)
    sheet = Sheet.of(table, words)
    parts = [part for part in _SENTENCE.split(question.strip()) if part.strip()]
    tokens = words.tokens(_with_points(parts[-1], sheet) if parts else "")
    if sum(len(words.tokens(part)) for part in parts) > _MAX_TOKENS:
        raise Declined(f"the question has more than {_MAX_TOKENS} words")
    lead = Links(words.tokens(" ".join(parts[:-1])), sheet)
    if any(item.kind in ("cell", "number") and item.cost < Cost.FORM for item in lead.items):
        what = "a sentence before the question may change its meaning"
        raise Declined(what, hint="Ask in one sentence.")
    links = [Links(tokens, each) for each in (sheet, sheet.long) if each is not None]
    forms = [(*pair, each.sheet) for each in links for pair in forms_of(each.sheet, tokens, each.cuts)]
    if not forms:
        raise _refusal(tokens, links[0], sheet)
    outcome = _best_answer(sorted(forms, key=lambda one: one[0]))
    fractions = (outcome.sheet.columns[index] for index in outcome.form.columns)
    for column in fractions if _PERCENT.search(question) else ():
        if column.kind == "number" and not column.units and all(-1 <= n < 2 for n in column.filled):
            what = f"it is not clear whether {column.sample[0]} of {column.plain} is a percentage"
            raise Declined(what, hint="Write its cells with %, or ask for the number as written.")
    return outcome


def _with_points(question: str, sheet: Sheet) -> str:
    """Rewrite the figures of a question in English notation if the table writes 1.250,50."""
    if all(column.meaning.mark != "," for column in sheet.columns):
        return question
    return _COMMAS.sub(lambda figure: figure[0].replace(".", "").replace(",", "."), question)


def _refusal(tokens: Sequence[Token], links: Links, sheet: Sheet) -> Declined:
    """Return the refusal for words, or a kind of question, that were not understood."""
    if not links.unknown:
        return Declined("this kind of question is not understood", hint=_how_to_ask(sheet))
    rest = [token for token in tokens if token.text not in links.unknown]
    forms = forms_of(sheet, rest, Links(rest, sheet).cuts)
    hint = (
        f"Without them it would be read as: {forms[0][1].in_words(sheet)}." if forms else _how_to_ask(sheet)
    )
    return Declined(f"these words were not understood: {', '.join(dict.fromkeys(links.unknown))}", hint=hint)


def _how_to_ask(sheet: Sheet) -> str:
    """List the columns that a question may ask for, with an example question."""
    names = [column.plain for column in sheet.columns if column.plain]
    more = f" and {len(names) - _MAX_COLUMNS} more" if len(names) > _MAX_COLUMNS else ""
    advice = f"The table has these columns: {', '.join(name[:40] for name in names[:_MAX_COLUMNS])}{more}"
    if not sheet.amounts or sheet.key is None:
        return f"{advice}."
    return f'{advice}, as in "Which {sheet.key.plain} has the highest {sheet.amounts[-1].plain}?".'


def _best_answer(forms: Sequence[tuple[float, Form, Sheet]]) -> Answer:
    """Return the answer of the cheapest form that the table supports. Raises `Declined`."""
    first: Read | None = None
    cause: Unfit | None = None
    lowest = forms[0][0]
    for price, form, sheet in forms[:_MAX_FORMS]:
        if price > (first[0] if first is not None else lowest) + Cost.NEAR:
            break
        try:
            result = form.run(sheet)
        except Unfit as unfit:
            if unfit.empty and price <= lowest:
                raise Declined(str(unfit), hint=f"It was read as: {form.in_words(sheet)}.") from None
            cause = cause or unfit
            continue
        cost = price + _doubt(form, result, sheet)  # the price is for the words, the doubt for the result
        if first is None:
            first = cost, form, sheet, result
        elif _differ(first, (cost, form, sheet, result)):
            both = f"{first[1].in_words(first[2])}, or {form.in_words(sheet)}"
            raise Declined(f"it may mean two things: {both}", hint="Reword it to match one of them.")
    if first is None:
        raise Declined(str(cause or "this kind of question is not understood"), hint=_how_to_ask(forms[0][2]))
    cost, form, sheet, result = first
    is_doubted = cost - _doubt(form, result, sheet) <= Cost.MOST
    for column in (sheet.columns[index] for index in form.columns):
        copies = [each for each in sheet.columns if (each.original, each.kind) == (column.original, "number")]
        if len(copies) > 1:
            raise Declined(f'it may mean two columns: "{copies[0].plain}" and "{copies[1].plain}"')
    if cost > Cost.MOST:
        hint = f"It would be read as: {form.in_words(sheet)}."
        doubted = f"it comes to {', '.join(result.values)}, which may not be what is meant"
        raise Declined(doubted if is_doubted else "too many words of the question were not used", hint=hint)
    return Answer(result, form, max(0.0, 1 - cost / Cost.DOUBT), sheet)


def _doubt(form: Form, result: Computed, sheet: Sheet) -> float:
    """Return the extra cost of a doubtful result: a count of zero or one, or of only some matching cells."""
    of = getattr(form, "of", None)
    where = of.of if isinstance(of, Ordered) else of
    if not isinstance(where, Where) or not where.conditions:
        return 0.0
    few = {0: Cost.NONE, 1: Cost.ONE}.get(int(result.number or 0), 0.0) if isinstance(form, HowMany) else 0.0
    tests = [part for each in where.conditions for part in getattr(each, "parts", (each,))]
    cells = [each for each in tests if isinstance(each, Is)]
    is_denied = any(getattr(each, "negated", False) for each in where.conditions)
    is_whole = isinstance(form, HowMany | Fold) or isinstance(of, Ordered) or is_denied  # not looked up
    is_loose = isinstance(form, Fold) and any(len(each.texts) > 1 and not each.is_exact for each in cells)
    return few + Cost.NONE * (is_loose or (is_whole and any(_is_part(each, sheet) for each in cells)))


def _is_part(condition: Is, sheet: Sheet) -> bool:
    """Return whether other cells of the column extend these texts: "College student" for "Student"."""
    pattern = re.compile("|".join(rf"\b{re.escape(text)}\b" for text in condition.texts if text) or "(?!)")
    others = (text for text in sheet.columns[condition.column].places if text not in condition.texts)
    return any(map(pattern.search, others))


def _differ(first: Read, other: Read) -> bool:
    """Return whether two readings disagree; equal numbers from different columns are a coincidence."""
    (_, one, sheet, result), (_, two, other_sheet, also) = first, other
    if set(result.values) != set(also.values):
        return not _names_the_same(one, two, sheet)
    if sheet is not other_sheet or not result.kind == "number" == also.kind or result.rows == also.rows:
        return False
    names, others = ({sheet.columns[index].name for index in form.columns} for form in (one, two))
    return names != others


def _names_the_same(one: Form, two: Form, sheet: Sheet) -> bool:
    """Return whether two forms identify the same rows, one by name and one by code."""
    if not (isinstance(one, Pick) and isinstance(two, Pick) and one.of == two.of):
        return False
    columns = [sheet.columns[index] for form in (one, two) for index in form.wanted]
    return all(column is sheet.key or column.numbers_rows for column in columns)
