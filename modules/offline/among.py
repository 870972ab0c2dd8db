"""Answer without a model from the table that best matches the question's words, or from a union of tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import Any

from chameleon import Declined, State, Table
from chameleon.modules.documents.table_choice import Candidate
from chameleon.modules.offline.words import language_of
from chameleon.modules.table_ops.unions import differences, has_same_columns, union_of
from chameleon.modules.tablerag.table_retriever import source_of
from chameleon.retrieval.document import Document
from chameleon.table.replies import normal

_MAX_CELLS, _MAX_ANSWER_CHARS = 500_000, 60
_BEFORE = r"(?<!between)\s+(?:(?:in|of|for|from|over|during|across)\s+)?(?:the\s+)?"
_ALL_OF = re.compile(
    r"\s+(?:(?:in|of|for|from|over|during|across)\s+)?(?:both|all)\s+(?:of\s+)?(?:the\s+)?"
    r"(?:\w+\s+)?(?:years|seasons|months|quarters|weeks|tables|files|sheets|lists|editions)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:between|since|after|before|until|till|through)\b|\d\s*[-–—]\s*\d|\b\w+\s+to\s+(?:\d{4}|the end)\b"
    r"|\bfrom\s+\w+\s+to\b",
    re.IGNORECASE,
)
_COMPARISON = re.compile(r"\bthan\b", re.IGNORECASE)
_QUANTITY = re.compile(r"\bhow (?:many|much)\b|\b(?:total|sum|altogether|most|fewest|least)\b", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|altogether|sum|in all)\b", re.IGNORECASE)
_COUNT_PHRASE = re.compile(r"\bhow many ((?:different |distinct )?\w+(?: \w+)?)", re.IGNORECASE)
_MINIMUM = re.compile(r"\b(?:fewest|least|lowest|smallest)\b", re.IGNORECASE)
# Quantities that are never added up over years, whatever the question.
_NO_SUM = re.compile(
    r"\b(?:prices?|costs?|expensive|cheap\w*|rates?|ranks?|ratings?|percent\w*|shares?|average|mean|median|ages?|old|tall"
    r"|high\w*|low\w*|temperatures?|heights?|populations?|positions?|differen\w+|change\w*)\b|%",
    re.IGNORECASE,
)
_MAX_HITS = 10  # tables that a search keeps
_NAME_HINT = "Use a word that only one table's name has."

Found = tuple[Candidate, dict[str, Any]]
Read = Callable[[State, Table], dict[str, Any]]
"""Answers over one table, as `TableReader.answered` does, or raises `Declined`."""


def among(
    read: Read,
    state: State,
    candidates: Sequence[Candidate],
    passages: Sequence[tuple[Document, float]] = (),
    ahead: float = 1.0,
) -> dict[str, Any]:
    """Return the output of the table that answers.

    Among the tables with the largest number of distinctive words from the question, the best one is read,
    and any with a score close to it. All must give the same answer, unless one is part of another. If the
    question names several tables with the same columns ("in 2023 and 2024", "of both seasons"), their union
    is read.

    Args:
        candidates: the tables to choose from, best first.
        passages: the texts found, with their scores; the question may be about one of them.
        ahead: a score is close if it reaches the best one when multiplied by this.

    Raises:
        Declined: if no table answers, or if several disagree.
    """
    if (union := _union_of(state.input["question"], candidates)) is not None:
        return _union_output(read, state, *union)
    words = telling_words(state.input["question"])
    hits = {each.id: covered(words, _texts_in(each)) for each in candidates}
    top = max(map(len, hits.values()), default=0)
    texts = [document for document, _ in passages]
    text_hits = [covered(words, [text.name, text.text, *text.source.values()]) for text in texts]
    body_top = max((len(covered(words, [text.text])) for text in texts), default=0)
    if max(map(len, text_hits), default=0) > top or body_top == top > 1:  # a single word proves nothing
        raise Declined("the question may be about a text, and reading one needs a model")
    if not candidates or (words and not top):
        raise Declined("no word of the question singles out one of the tables found")
    fitting = [each for each in candidates if len(hits[each.id]) == top]
    first = fitting[0].score
    rivals = [each for each in fitting if first <= 0 or each.score * ahead >= first]
    try:
        (chosen, output), *agreeing = _consensus(read, state, rivals)
    except Declined as refusal:
        names = [each.called for each in candidates if has_same_columns(candidates[0].table, each.table)]
        of_all = " and ".join(names) if _ALL_OF.search(state.input["question"]) and names[1:] else ""
        if needed := _needed_pair(hits, candidates, top) or of_all:
            what = f"the question may need {needed} together, and combining them needs a model"
            raise Declined(what, hint=f"{refusal.what[0].upper()}{refusal.what[1:]}.") from None
        raise
    matches = [text for word, text in words.items() if word in hits[chosen.id]]
    choice: dict[str, Any] = {**chosen.to_json(), "words": matches, "tried": len(rivals)}
    choice |= {"agreeing": [each.id for each, _ in agreeing]} if agreeing else {}
    sources = [
        source_of(each.to_json()) | {key: value for key, value in out["sources"][0].items() if key != "table"}
        for each, out in ((chosen, output), *agreeing)
    ]
    return {**output, "sources": sources, "table_choice": choice, "table": chosen.table}


def _consensus(read: Read, state: State, rivals: Sequence[Candidate]) -> list[Found]:
    """Return the tables that answer, with their outputs. Raises `Declined` if they differ or one declines."""
    outcomes: dict[str, dict[str, Any] | Declined] = {}
    for each in rivals:
        try:
            outcomes[each.id] = read(state, each.table)
        except Declined as refusal:
            outcomes[each.id] = refusal
    tables = [each.table for each in rivals if isinstance(outcomes[each.id], dict)]
    if not tables and isinstance(failure := outcomes[rivals[0].id], Declined):
        what = f"in the table that fits best, {rivals[0].called}: {failure.what}"
        raise Declined(what, hint=failure.hint)
    rivals = [each for each in rivals if not _is_part(each.table, tables)]
    fits = [(each, output) for each in rivals if isinstance(output := outcomes[each.id], dict)]
    is_looked_up = all("cells" in output["sources"][0] for _, output in fits)  # equal sums may be chance
    is_copy = all(fits[0][0].table.contains(each.table) for each, _ in fits)
    is_same = len({str(output["answer"]) for _, output in fits}) == 1 and len(fits) == len(rivals)
    if not is_same or (len(fits) > 1 and not (is_looked_up or is_copy)):
        answers = {each.id: str(output["answer"])[:_MAX_ANSWER_CHARS] for each, output in fits}
        listing = "; ".join(f"{each.called}: {answers.get(each.id, 'cannot tell')}" for each in rivals)
        raise Declined(f"it is not clear which table is meant ({listing})", hint=_NAME_HINT)
    return fits


def _needed_pair(hits: Mapping[str, frozenset[str]], candidates: Sequence[Candidate], top: int) -> str:
    """Name the two related tables that together have more of the question's words than any single one."""
    best, pair = top, ""
    for first, second in combinations(candidates, 2):
        shared = {*map(str.casefold, first.table.header)} & {*map(str.casefold, second.table.header)}
        count = len(hits[first.id] | hits[second.id])
        if count > best and (shared or first.goes_with(second)):
            best, pair = count, f"{first.called} and {second.called}"
    return pair


def _union_of(question: str, choices: Sequence[Candidate]) -> tuple[str, list[Candidate], list[str]] | None:
    """Return the question to ask of a union, its tables and their distinguishing values; None if unsure.

    The question names two or more of the values that distinguish tables with the same columns ("in 2023 and
    2024"), or all of them ("both seasons", "all files"). It must then ask for something that adds up, and "in
    total" replaces the names. Or it compares two of them ("in 2023 than in 2024"). Spans ("from 2022 to
    2024") do not count, nor does a group that may lack a table.
    """
    counted, stems = _COUNT_PHRASE.search(question), language_of(question).stems
    for first in choices:
        group = [each for each in choices if has_same_columns(first.table, each.table)]
        names = [each.name for each in group]
        if len(group) < 2 or len(set(names)) < len(group):
            continue
        values = differences(names)
        nouns = [{*stems(each.name)} for each in first.table.columns if not each.meaning.is_number]
        if counted is not None and any(name and name <= {*stems(counted[1])} for name in nouns):
            return None  # ambiguous: branches of both years exist in either year, or in each
        cells = {cell.strip().casefold() for each in group for row in each.table.rows for cell in row}
        if _SPAN.search(question) or cells & {*map(str.casefold, values)}:
            return None
        mentions = [v for v in values if re.search(rf"(?<!\w){re.escape(v)}(?!\w)", question, re.I)]
        tables = [each for each, value in zip(group, values, strict=True) if value in mentions]
        if len(mentions) == 2 and _COMPARISON.search(question):
            return question, tables, mentions
        if len(mentions) > 1:
            words = "|".join(map(re.escape, mentions))
            run = re.compile(rf"{_BEFORE}(?:{words})(?:(?:,|\s+and|,\s+and)\s+(?:{words}))+(?!\w)", re.I)
            place = run.search(question)
            is_whole = place is not None and all(v.casefold() in place[0].casefold() for v in mentions)
        else:
            place, tables, mentions = _ALL_OF.search(question), group, values
            is_whole = place is not None and _are_all(place, choices, group, values)
        if place is None or not is_whole or not _QUANTITY.search(question) or _NO_SUM.search(question):
            return None
        before, after = question[: place.start()], question[place.end() :]
        total = "" if _TOTAL.search(f"{before} {after}") else " in total"
        return before + total + after, tables, mentions
    return None


def _are_all(
    place: re.Match[str], candidates: Sequence[Candidate], group: Sequence[Candidate], values: Sequence[str]
) -> bool:
    """Return whether a group is exactly the tables that "both seasons" or "all files" means."""
    words = [{*re.findall(r"\w+", each.name.casefold())} for each in group]
    stem = set.intersection(*words)
    others = [{*re.findall(r"\w+", each.name.casefold())} for each in candidates if each not in group]
    is_cut = len(candidates) == len(group) and len(candidates) >= _MAX_HITS and bool(group[0].source)
    is_related = any(stem and stem <= each for each in others)
    are_years = all(re.fullmatch(r"(?:1[5-9]|20)\d\d", value) for value in values)
    is_of_years = re.search(r"years|seasons", place[0], re.I) is not None
    is_both = "both" in place[0].casefold()
    return not (is_cut or is_related or (is_of_years and not are_years) or (is_both and len(group) != 2))


def _union_output(
    read: Read, state: State, question: str, group: Sequence[Candidate], values: Sequence[str]
) -> dict[str, Any]:
    """Return the output over the rows of several tables, with sources in each. Raises `Declined`."""
    union = union_of([(each.name, each.table) for each in group])
    new_state = replace(state, input={**state.input, "question": question})
    try:
        output = read(new_state, union)
    except Declined as refusal:
        names = ", ".join(each.called for each in group)
        raise Declined(f"in {names} together: {refusal.what}", hint=refusal.hint) from None
    (source,) = output["sources"]
    rows, sources, before = source.get("rows"), list[dict[str, Any]](), 0
    for each in group:
        after = before + len(each.table.rows)
        mine = None if rows is None else [row - before for row in rows if before < row <= after]
        cells = [[row - before, name] for row, name in source.get("cells", ()) if before < row <= after]
        before = after
        if mine or mine is None:
            read_from = {*map(normal, source["columns"])}
            columns = [name for name in each.table.header if normal(name) in read_from]
            extent: dict[str, Any] = {"of": len(each.table.rows), "columns": columns}
            extent |= {"rows": mine} if mine else {}
            extent |= {"cells": cells} if cells else {}
            sources.append(source_of(each.to_json()) | extent)
    if _MINIMUM.search(question) and len(sources) < len(group):
        missing = ", ".join(e.called for e in group if e.id not in {source["id"] for source in sources})
        raise Declined(f"the answer would be {output['answer']}, which is missing from {missing}")
    choice = {**group[0].to_json(), "words": list(values), "others": [each.id for each in group[1:]]}
    return {**output, "sources": sources, "table_choice": choice, "table": union}


def telling_words(question: str) -> dict[str, str]:
    """Return the distinctive words of a question by stem, without articles, "most" and the like."""
    words = language_of(question)
    small = words.filler | words.request | {word for phrase in words.phrases for word in phrase}
    tokens = (token for token in words.tokens(question) if token.low.isalnum() and token.low not in small)
    return {token.stem: token.text for token in tokens if token.stem not in words.licenses}


def covered(stems: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """Return the stems that occur in texts, directly or as a related word."""
    words = language_of("")
    known = {stem for text in texts for stem in words.stems(text)}
    return frozenset(stem for stem in stems if stem in known or words.ideas.get(stem, frozenset()) & known)


def _is_part(table: Table, others: Iterable[Table]) -> bool:
    """Return whether another table has all of its rows and columns, and more."""
    return any(other.contains(table) and not table.contains(other) for other in others)


def _texts_in(candidate: Candidate) -> Iterator[str]:
    cells = islice(chain.from_iterable(candidate.table.rows), _MAX_CELLS)
    return chain([candidate.name, *candidate.source.values()], candidate.table.header, cells)
