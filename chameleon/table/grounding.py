"""Check whether an answer in words is based on a cell, or on a result computed over the whole table."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from chameleon.table.amounts import read_amount
from chameleon.table.table import Column, Table

_COMPUTES = re.compile(  # words with "est" are superlatives, but not interest, forest, west, …
    r"\bhow (?:many|much|often|long|far|old)\b|\bper ?cent|%"
    r"|\b(?:total|sum|average|mean|median|mode|range|differences?|number of|count|amount|(?:al)?together)\b"
    r"|\b(?:more|less|fewer|most|least|best|worst|first|last|top|both|all|every|same|than|rank(?:ed)?)\b"
    r"|(?-i:\b(?!(?:inter|for|w|gu|t|qu|r|ch|n|v|p|b|rep|requ|sugg|cont|prot|harv|hon|mod|inv)est\b)[a-z]+est\b)"
    r"|\b(?:bigger|smaller|larger|higher|lower|longer|shorter|older|younger|earlier|later|before|after)\b",
    re.IGNORECASE,
)
_NUMBER_QUERY = re.compile(
    r"\bhow (?:many|much|often)\b|\bpercent"
    r"|\bwhat (?:is|was|are|were) the (?:total|sum|average|mean|median|difference|number)\b",
    re.IGNORECASE,
)
_LIST_QUERY = re.compile(r"\b(?:each|every|per|by|respectively|list)\b|\bhow m.*\bhow m", re.IGNORECASE)
_NAME_QUERY = re.compile(
    r"^\W*(?:who|whose|whom|where"
    r"|(?:in |on |at )?which (?!years?|dates?|number|seasons?|ranks?|positions?|places?|of)\w+)\b",
    re.IGNORECASE,
)
_TRUTH_QUERY = re.compile(r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could)\b(?!.*\bor\b)", re.I)
_NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?|[-−]?\.\d+")
_WORDS = re.compile(r"[^\W_]+")
_NAMES = re.compile(r"\b(?!(?:The|This|That|There|These|They|Not|Yes|Answer)\b)[A-Z][^\W_]{2,}")
_PARTS = re.compile(r",\s+|;\s*|\s*\|\s*|\n+|\s+and\s+")  # items of a list
_MAX_WORDS = 3  # words of an answer that is not a sentence
_TRUTH_REPLY = re.compile(r"\W*(?:yes|no|true|false)\b", re.IGNORECASE)
_TRUTHS = ("yes", "no", "true", "false")
_EDGE_CHARS = " .,;:!?\"'“”‘’`*()[]"


def of_another_kind(question: str, value: Any, tables: Sequence[Table]) -> str:
    """Say if the question wants one number, a name, or yes or no, and the answer is another kind; or ""."""
    value = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    is_list = isinstance(value, list | tuple)
    is_truth, text = isinstance(value, bool), str(value) if is_list or isinstance(value, str) else ""
    is_number = (isinstance(value, int | float) and not is_truth) or read_amount(text) is not None
    asks_number = _NUMBER_QUERY.search(question) is not None
    if asks_number and not is_number and not _NUMBER.search(text):
        return "the question asks for a number, and the answer has no number"
    is_one = asks_number and not _LIST_QUERY.search(question)
    if is_one and is_list and value and all(read_amount(str(each)) for each in value):
        return f"the question asks for one number, and the answer has {len(value)}: add them up"
    columns = [each for table in tables for each in table.columns if str(value) in each.cells]
    match = _NAME_QUERY.search(question)  # "Which month …", for a column Month
    noun = match[0].rpartition(" ")[2].lower()[:4] if match else ""
    is_name = any(each.meaning.kind in ("code", "text") or noun in each.name.lower() for each in columns)
    if match and (is_number or is_truth) and not is_name:
        return "the question asks for a name, and the answer is not one"
    if is_number and not asks_number and value in (0, "0") and not columns:
        return "nothing in the table fits"
    if _TRUTH_QUERY.search(question) and is_number:
        return 'the question is answered by "yes" or "no"'
    return ""


def unverified(answer: Any, question: str, tables: Sequence[Table], results: Iterable[Any] = ()) -> str:
    """Say which part of an answer in words has no evidence; "" if all of it has.

    Evidence is in `results`, from programs and queries over the whole tables; or in the cells, if the
    question names one row and asks for nothing computed. Yes and no can be based on any result.
    """
    if reason := of_another_kind(question, answer, tables):
        return reason
    computed = [*_texts(list(results))]
    is_read = not computes(question) and any(_names_one_row(question, answer, t) for t in tables)
    if not computed and not is_read:
        return "the answer was read off the table, and has to be computed"
    evidence = [*computed, *(cell for each in tables if is_read for row in each.rows for cell in row)]
    names = {form for text in [*evidence, *(_TRUTHS if computed else ())] if (form := _form(text))}
    numbers = {number for text in evidence for number in _numbers(text)}
    context = " ".join([question, *evidence, *(name for each in tables for name in each.header)]).casefold()
    parts = [*_texts(answer)]
    if not all(_form(part) in names for part in parts):
        parts = [part for text in parts for part in _PARTS.split(text) if _form(part)]
    for part in parts:
        form, mine = _form(part), [*_numbers(part)]
        inside = (name for name in names if len(name) > 2 and name in form)
        is_told = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", form) for name in inside)
        is_known = all(_is_among(each, numbers) for each in mine) if mine else is_told
        strangers = [word for word in _NAMES.findall(part) if word.casefold() not in context]  # in no cell
        if not (form in names or (is_known and not strangers)):
            return f"{part.strip()!r} is neither a cell of the table nor the result of a query or program"
    return ""


def computes(question: str) -> bool:
    """Return whether a question asks for counting, adding or comparing, by its words."""
    return _COMPUTES.search(question) is not None


def _names_one_row(question: str, answer: Any, table: Table) -> bool:
    """Return whether the cells that a question names are in one row, and the answer is another cell of it."""
    question_text, answer_form = f" {' '.join(_WORDS.findall(question.casefold()))} ", _form(str(answer))
    candidates = set(range(len(table.rows)))
    for column in table.columns:
        rows: dict[str, set[int]] = {}
        for row, cell in enumerate(column.cells):
            words = " ".join(_WORDS.findall(cell.casefold()))
            if len(words) > 1 and _form(cell) != answer_form and f" {words} " in question_text:
                rows.setdefault(words, set()).add(row)
        for places in rows.values():
            candidates &= places
    cells = [cell for row in candidates for cell in table.rows[row]] if len(candidates) == 1 else []
    numbers = {number for cell in cells for number in _numbers(cell)}
    mine = {*_numbers(str(answer))}
    return any(form and form in answer_form for form in map(_form, cells)) or bool(mine and mine <= numbers)


def lists_only(result: Any, table: Table) -> bool:
    """Return whether a query's result only lists each row of the table, without computing anything."""
    if not isinstance(result, Table) or not 1 < len(table.rows) == len(result.rows):
        return False

    def values(column: Column) -> tuple[Any, ...]:
        return tuple(tuple(_numbers(cell)) or _form(cell) for cell in column.cells)

    columns = set(map(values, table.columns))
    return all(values(column) in columns for column in result.columns)


def alone(answer: str, result: Any) -> str:
    """Return the answer, or the single value of `result` if the answer is a sentence around it."""
    texts = [*_texts(result)]
    is_sentence = answer.endswith(".") and len(answer.split()) > _MAX_WORDS and not _TRUTH_REPLY.match(answer)
    is_told = len(texts) == 1 and re.search(rf"(?<![\w.]){re.escape(texts[0])}(?!\w|[.,]\d)", answer)
    return texts[0] if is_sentence and is_told else answer


def _texts(value: Any) -> Iterator[str]:
    """Yield the values in a result, as texts."""
    if isinstance(value, Table):
        yield from (cell for row in value.rows for cell in row)
    elif isinstance(value, Mapping | list | tuple):
        parts = value.values() if isinstance(value, Mapping) else value
        yield from (text for each in parts for text in _texts(each))
    elif value is not None:
        yield str(value)


def _form(text: str) -> str:
    return " ".join(text.split()).strip(_EDGE_CHARS).casefold()


def _numbers(text: str) -> Iterator[Fraction]:
    if (amount := read_amount(text)) is not None:
        yield Fraction(amount.number)
        return
    for figure in _NUMBER.findall(text):
        yield Fraction(figure.replace(",", "").replace("−", "-").rstrip("."))


def _is_among(number: Fraction, numbers: set[Fraction]) -> bool:
    """Return whether a number is among these, or is one of them rounded to two decimals or fewer."""
    return number in numbers or any(round(each, digits) == number for each in numbers for digits in (0, 1, 2))
