"""Let Binder's programs vote on the answer (Cheng et al., 2023).

A program that failed or found nothing has no vote; when none is left, the vote fails, where the published
code answers 0. A verdict is "no" where a program finds nothing that bears the statement out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.modules.sql.answers import as_answer, truth_of
from chameleon.modules.sql.voting import Ballot, VoteBy, elected
from chameleon.modules.table_ops.table_query import Answer, Form


class BinderVote(Module):
    """Gives the answer that most programs agree on. Follows binder_executor; always the last."""

    reads = ("cache.ballots",)
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items", by: VoteBy = "simple", weight: float = 3.0) -> None:
        """`form`: "items" (a list of texts), "verdict" ("yes" or "no") or "text".

        `by`: what a vote counts; see `chameleon.modules.sql.voting.elected`. `weight` is that of "yes" where
        `by` is "answer_biased", as published for TabFact.
        """
        self.form: Form = form
        self.by: VoteBy = by
        self.weight = weight

    def run(self, state: State) -> Answer:
        ballots = [self._ballot(ballot) for ballot in state.cache["ballots"]]
        outcome = elected(ballots, self.by, favoured=(1,), weight=self.weight)
        return as_answer(list(outcome.answer), self.form)  # type: ignore[arg-type]

    def _ballot(self, told: Mapping[str, Any]) -> Ballot:
        answer = told.get("answer")
        if answer is not None and self.form == "verdict":
            truth = truth_of(answer)
            answer = None if truth is None else (int(truth),)
        return Ballot(None if answer is None else tuple(answer), told.get("logprob"))
