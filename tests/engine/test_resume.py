"""Properties of whole runs: resuming, running side by side, and batches change nothing in the outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import State
from chameleon.core.events import Event
from chameleon.core.log import EventLog
from chameleon.errors import LogError
from tests.engine.random_runs import GIVEN, PLANNERS, cases, end, quick, timeless
from tests.engine.strategies import RUN


def test_a_state_is_the_fold_of_its_events() -> None:
    state = State.fold(RUN)
    assert (state.answer, state.executed_names, state.plan) == ("3", ("look", "say"), ("look", "say"))
    assert dict(state.cache) == {"look": 3, "say": "3"} and State.fold(RUN[:-1]).answer is None


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
def test_events_out_of_order_are_refused(events: list[Event], told: str) -> None:
    with pytest.raises(LogError, match=told):
        State.fold(events)


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_run_resumed_after_any_event_goes_on_as_if_nothing_happened(planner: str, data: Any) -> None:
    case = data.draw(cases(planner, calls=st.none() | st.integers(1, 4)))
    whole = list(case.executor(parallel=False).stream(GIVEN))
    for cut in range(len(whole) + 1):
        model = case.model()
        rest = list(case.executor(parallel=False, model=model).stream(GIVEN, whole[:cut]))
        assert timeless(rest) == timeless(whole[cut:])
        assert len(model.requests) == sum(len(getattr(event, "calls", ())) for event in whole[cut:])


@pytest.mark.parametrize("planner", PLANNERS)
@settings(quick, max_examples=25)
@given(data=st.data())
def test_steps_side_by_side_come_to_the_same_as_one_by_one_also_resumed(planner: str, data: Any) -> None:
    case = data.draw(cases(planner))
    one_by_one, executor = case.executor(parallel=False).run(GIVEN), case.executor(parallel=True)
    whole = list(executor.stream(GIVEN))
    assert end(State.fold(whole)) == end(one_by_one)
    # Two steps that ask the same at the same time share one call, so calls may differ.
    runs = (State.fold(whole), one_by_one)
    both = [[replace(each, seconds=0.0, calls=()) for each in run.executed] for run in runs]
    assert both[0] == both[1]
    for cut in range(len(whole) + 1):
        assert end(executor.run(GIVEN, whole[:cut])) == end(one_by_one)


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_run_resumed_from_a_torn_file_comes_to_the_same_end(
    planner: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = data.draw(cases(planner))
    path = tmp_path_factory.mktemp("run") / "log.jsonl"
    executor = case.executor(parallel=data.draw(st.booleans()))
    whole = executor.run(GIVEN, log=())
    with EventLog(path) as log:
        executor.run(GIVEN, log)
    written = path.read_bytes()
    path.write_bytes(written[: int(len(written) * data.draw(st.floats(0, 1)))])
    with EventLog(path) as log:
        executor.run(GIVEN, log)
    with EventLog(path) as log:
        assert end(State.fold(log)) == end(whole)
        assert list(executor.stream(GIVEN, log)) == [], "a finished run has nothing more to do"


@quick
@given(case=cases("then"))
def test_nothing_that_was_given_is_changed(case: Any) -> None:
    given_input = {"question": "How many?", "a": [1, {"b": 2}]}
    events = list(case.executor(parallel=True).stream(given_input))
    assert given_input == GIVEN
    states = [State.fold(events[:count]) for count in range(len(events) + 1)]
    before = [end(state) for state in states]
    case.executor(parallel=True).run(given_input, events[:2])
    assert [end(state) for state in states] == before
