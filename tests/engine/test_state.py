"""A state is the fold of its events, and tells what failed."""

from __future__ import annotations

import pytest

from chameleon import Declined, errors
from chameleon.core.events import Event, Failure
from chameleon.core.state import State
from chameleon.errors import ChameleonError, LogError, ModelError, StepRejected
from chameleon.inventory.schema import RepairSpec
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import failing, run
from tests.engine.strategies import RUN


class TestState:
    def test_is_the_fold_of_its_events(self) -> None:
        state = State.fold(RUN)
        assert (state.answer, state.executed_names, state.plan) == ("3", ("look", "say"), ("look", "say"))
        assert dict(state.cache) == {"look": 3, "say": "3"}
        assert State.fold(RUN[:-1]).answer is None

    @pytest.mark.parametrize(
        ("events", "told"),
        [
            (RUN[1:], "no beginning"),
            ([RUN[0], RUN[0]], "two beginnings"),
            ([*RUN, RUN[2]], "after its end"),
            ([RUN[0], RUN[2]], "was not pending: look"),
            ([RUN[0], RUN[1], RUN[3]], "was not pending: say"),
        ],
    )
    def test_refuses_events_out_of_order(self, events: list[Event], told: str) -> None:
        with pytest.raises(LogError, match=told):
            State.fold(events)


class OutOfReach(Declined):
    """A user's own way of saying no."""


class NotGood(StepRejected):
    """A user's own verdict."""


class OutOfOrder(ModelError):
    """A user's own failure of a model."""


@pytest.mark.parametrize(
    ("problem", "reason", "program"),
    [
        (OutOfReach("not mine"), "declined", ("step",)),
        (OutOfOrder("no model"), "failed", ("step",)),
        (NotGood("no"), "answered", ("step", "step", "plain")),
    ],
)
def test_errors_of_ones_own_count_as_the_kind_that_they_are(
    problem: Exception, reason: str, program: tuple[str, ...]
) -> None:
    state = run(
        {"step": failing(problem), "plain": lambda state: 1},
        Fixed(["step"]),
        repair={"step": RepairSpec(redo="step", attempts=2)},
        on_error={"step": ["plain"]},
    )
    assert state.ended is not None and (state.ended.reason, state.executed_names) == (reason, program)


SECRET = "sk-0123456789abcdef"
PATH = "/srv/accounts/plans"


def test_no_error_has_its_own_words_told() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, ChameleonError):
            reason = Failure.of(kind(f"{PATH} {SECRET}", where=PATH, hint=PATH)).reason
            assert reason.startswith(("it ", "its ", "what ", "the ")) and "/" not in reason
