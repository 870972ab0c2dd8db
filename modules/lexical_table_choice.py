"""Choose the table to answer from without a model: the one that accounts for every word of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chameleon import Declined, Module, State
from chameleon.modules.corpus.candidates import Candidate, candidates
from chameleon.modules.corpus.coverage import covered, telling_words
from chameleon.modules.grammar import Program, write_program
from chameleon.modules.program_executor import run_code

_LONGEST_ANSWER = 60


class _Fit(NamedTuple):
    candidate: Candidate
    program: Program


class LexicalTableChoice(Module):
    """Chooses the found table that has the question's words and answers it, without a model, or declines."""

    reads = ("input.question", "input.choices?", "input.unit?", "input.index", "cache.retrieved")
    writes = ("input.table", "input.tables", "cache.table_choice")
    wordless = ("cache.table_choice",)

    def __init__(self, ahead: float = 1.5) -> None:
        """`ahead`: how many times the next score the first must have to be taken where answers differ."""
        self.ahead = ahead

    def run(self, state: State) -> dict[str, Any]:
        """The chosen table. Raises `Declined` where none or no single one answers.

        Of the tables found only those stay that have as many of the question's telling words as any of them:
        one that has fewer may be read to the end by chance. They are tried in their order. Where several
        answer, and not alike, the first is taken if its score is `ahead` times that of the next.
        """
        stems = telling_words(state.input["question"])
        found = candidates(state)
        if not found:
            raise Declined("no table was found in the index")
        words = {each.id: covered(stems, each) for each in found}
        most = max(map(len, words.values()))
        if stems and not most:
            raise Declined("no table in the index has to do with the question")
        fits: list[_Fit] = []
        refused: list[tuple[Candidate, Declined]] = []
        for each in found:
            if len(words[each.id]) == most:
                try:
                    fits.append(_Fit(each, _program(state, each)))
                except Declined as refusal:
                    refused.append((each, refusal))
        if not fits:
            raise _of_nearest(*refused[0])
        chosen, *agreeing = self._alike(fits)
        told = [text for word, text in stems.items() if word in words[chosen.id]]
        alike = {"agreeing": [each.id for each in agreeing]} if agreeing else {}
        tried = len(fits) + len(refused)
        return {**chosen.to_json(), "words": told, "tried": tried, **alike, "table": chosen.table}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"], "tables": []}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table_choice": {key: value for key, value in output.items() if key != "table"}}

    def _alike(self, fits: Sequence[_Fit]) -> list[Candidate]:
        """The tables that answer alike, or the first alone. Raises `Declined` where several differ."""
        first = fits[0].candidate
        if len(fits) == 1 or first.score >= self.ahead * fits[1].candidate.score > 0:
            return [first]
        answers = [run_code(fit.program.code, fit.candidate.table).plain for fit in fits]
        if all(answer == answers[0] for answer in answers):
            return [fit.candidate for fit in fits]
        told = [
            f"{fit.candidate.called}: {_short(answer)}" for fit, answer in zip(fits, answers, strict=True)
        ]
        raise Declined(
            f"{len(fits)} tables answer, and not alike ({'; '.join(told)})",
            hint="Ask again with words that only the name of one has.",
        )


def _program(state: State, candidate: Candidate) -> Program:
    given = state.input
    choices, unit = given.get("choices") or (), given.get("unit") or ""
    return write_program(given["question"], candidate.table, choices, unit)


def _of_nearest(nearest: Candidate, refusal: Declined) -> Declined:
    """Why the table that fits best does not answer."""
    return Declined(f"of the table that fits best, {nearest.called}: {refusal.what}", hint=refusal.hint)


def _short(answer: Any) -> str:
    text = str(answer)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[: _LONGEST_ANSWER - 1]}…"
