"""Choose the table to answer from without a model: the one that accounts for every word of the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import PositiveInt

from chameleon import Declined, Module, State, Table
from chameleon.modules.documents.table_choice import Candidate, candidates, passages
from chameleon.modules.offline.coverage import covered, telling_words, texts_in
from chameleon.modules.offline.grammar import Program, write_program
from chameleon.modules.program.programs import run_code
from chameleon.modules.tablerag.table_retriever import source_of

_LONGEST_ANSWER = 60
_NAME_IT = "Ask again with words that only the name of one has."


class _Fit(NamedTuple):
    candidate: Candidate
    program: Program


class LexicalTableChoice(Module):
    """Chooses the found table that has the question's words and answers it, without a model, or declines."""

    reads = ("input.question", "input.choices?", "input.unit?", "input.index", "cache.retrieved")
    writes = ("input.table", "input.tables", "cache.table_choice", "cache.sources")
    non_text = ("cache.table_choice", "cache.sources")

    def __init__(self, ahead: float = 1.5, max_table_rows: PositiveInt = 200_000) -> None:
        """What counts as a rival, and what is read.

        - `ahead`: a table is a rival of the first unless that has so many times its score.
        - `max_table_rows`: tables with more rows are not read; 100,000 take some seconds.
        """
        self.ahead, self.max_table_rows = ahead, max_table_rows

    def run(self, state: State) -> dict[str, Any]:
        """The chosen table. Raises `Declined` where none or no single one answers.

        Of the tables found, those count that have as many of the question's telling words as any of them, and
        of these the first with its rivals. All of them must answer, and alike: one that fits as well and
        cannot be read may be the one that is meant, unless it is a part of one that answers, as a view is.
        Where a passage has more of these words than any table, or says as many itself, it may be meant.
        """
        stems = telling_words(state.input["question"])
        found = candidates(state)
        words = {each.id: covered(stems, texts_in(each)) for each in found}
        most = max(map(len, words.values()), default=0)
        in_texts = [
            len(covered(stems, [text.name, text.text, *text.source.values()])) for text, _ in passages(state)
        ]
        said = max((len(covered(stems, [text.text])) for text, _ in passages(state)), default=0)
        if max(in_texts, default=0) > most or said == most > 1:  # one word alone says nothing
            raise Declined("a text has the question's words as much as any table, and no model reads it")
        if not found or (stems and not most):
            raise Declined("no table in the index has to do with the question")
        fitting = [each for each in found if len(words[each.id]) == most]
        near = [each for each in fitting if _is_near(each.score, fitting[0].score, self.ahead)]
        chosen, *agreeing = self._alike(state, near)
        told = [text for word, text in stems.items() if word in words[chosen.id]]
        alike = {"agreeing": [each.id for each in agreeing]} if agreeing else {}
        return {**chosen.to_json(), "words": told, "tried": len(near), **alike, "table": chosen.table}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"], "tables": []}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        chosen = {key: value for key, value in output.items() if key != "table"}
        return {"table_choice": chosen, "sources": [source_of(chosen)]}

    def _alike(self, state: State, near: Sequence[Candidate]) -> list[Candidate]:
        """The tables that answer. Raises `Declined` where they differ, or one that is no part does not."""
        fits: list[_Fit] = []
        refused: list[tuple[Candidate, Declined]] = []
        for each in near:
            try:
                fits.append(_Fit(each, self._program(state, each)))
            except Declined as refusal:
                refused.append((each, refusal))
        if not fits:
            raise _of_nearest(*refused[0])
        whole = [fit.candidate.table for fit in fits]
        fits = [fit for fit in fits if not _is_part(fit.candidate.table, whole)]
        refused = [(each, why) for each, why in refused if not _is_part(each.table, whole)]
        if refused:
            fit, be = ("fits", "is") if len(refused) == 1 else ("fit", "are")
            raise Declined(
                f"it is not clear which table is meant: {_named(each for each, _ in fits)} would answer, and "
                f"{_named(each for each, _ in refused)} {fit} as well and {be} not understood",
                hint=_NAME_IT,
            )
        answering = [fit.candidate for fit in fits]
        if len(fits) == 1:
            return answering
        answers = [run_code(fit.program.code, fit.candidate.table).value for fit in fits]
        if any(answer != answers[0] for answer in answers):
            told = [
                f"{fit.candidate.called}: {_short(answer)}" for fit, answer in zip(fits, answers, strict=True)
            ]
            raise Declined(f"{len(fits)} tables answer, and not alike ({'; '.join(told)})", hint=_NAME_IT)
        if not all(map(_is_looked_up, fits, answers)) and not _are_copies(answering):
            raise Declined(
                f"it is not clear which table is meant: {_named(answering)} come to the same number",
                hint=_NAME_IT,
            )
        return answering

    def _program(self, state: State, candidate: Candidate) -> Program:
        given, table = state.input, candidate.table
        if len(table.rows) > self.max_table_rows:
            raise Declined(f"it has {len(table.rows):,} rows, more than are read without a model")
        choices, unit = given.get("choices") or (), given.get("unit") or ""
        return write_program(given["question"], table, choices, unit)


def _is_part(table: Table, others: Iterable[Table]) -> bool:
    """Whether another table has all of its rows and columns, and more."""
    return any(other.contains(table) and not table.contains(other) for other in others)


def _is_looked_up(fit: _Fit, answer: Any) -> bool:
    """Whether an answer is in words, or a number of the table: a count or a sum may be equal by chance."""
    columns = [fit.candidate.table.columns[place] for place in fit.program.columns]
    return isinstance(answer, str) or any(value.plain == answer for each in columns for value in each.values)


def _are_copies(found: Sequence[Candidate]) -> bool:
    first = found[0].table
    return all(first.contains(each.table) and each.table.contains(first) for each in found)


def _is_near(score: float, first: float, ahead: float) -> bool:
    """Whether a score is no less than the first by so many times; of scores below 0, none is."""
    return first <= 0 or score * ahead >= first


def _named(tables: Iterable[Candidate]) -> str:
    return ", ".join(each.called for each in tables)


def _of_nearest(nearest: Candidate, refusal: Declined) -> Declined:
    """Why the table that fits best does not answer."""
    return Declined(f"of the table that fits best, {nearest.called}: {refusal.what}", hint=refusal.hint)


def _short(answer: Any) -> str:
    text = str(answer)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[: _LONGEST_ANSWER - 1]}…"
