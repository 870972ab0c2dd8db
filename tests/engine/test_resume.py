"""Properties of whole runs: resuming, running side by side, and batches change nothing in the outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import State
from chameleon.core.events import StepRecord
from chameleon.core.log import EventLog
from tests.engine.random_runs import GIVEN, PLANNERS, cases, end, timeless

quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_run_resumed_after_any_event_goes_on_as_if_nothing_had_happened(
    planner: str, data: st.DataObject
) -> None:
    case = data.draw(cases(planner, calls=st.none() | st.integers(1, 4)))
    whole = list(case.executor(parallel=False).stream(GIVEN))
    for cut in range(len(whole) + 1):
        model = case.model()
        executor = case.executor(parallel=False, model=model)
        rest = list(executor.stream(GIVEN, whole[:cut]))
        assert timeless(rest) == timeless(whole[cut:])
        assert len(model.requests) == sum(len(getattr(event, "calls", ())) for event in whole[cut:])


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_parallel_run_resumed_after_any_event_comes_to_the_same_end(
    planner: str, data: st.DataObject
) -> None:
    case = data.draw(cases(planner))
    executor = case.executor(parallel=True)
    whole = list(executor.stream(GIVEN))
    for cut in range(len(whole) + 1):
        assert end(executor.run(GIVEN, whole[:cut])) == end(State.fold(whole))


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
        for event in executor.stream(GIVEN):
            log.append(event)
    written = path.read_bytes()
    path.write_bytes(written[: int(len(written) * data.draw(st.floats(0, 1)))])
    with EventLog(path) as log:
        for event in executor.stream(GIVEN, tuple(log)):
            log.append(event)
    with EventLog(path) as log:
        assert end(State.fold(log)) == end(whole)
        assert list(executor.stream(GIVEN, log)) == [], "a finished run has nothing more to do"


@pytest.mark.parametrize("planner", PLANNERS)
@settings(quick, max_examples=25)
@given(data=st.data())
def test_steps_side_by_side_come_to_the_same_as_one_by_one(planner: str, data: st.DataObject) -> None:
    case = data.draw(cases(planner))
    one_by_one = case.executor(parallel=False).run(GIVEN)
    side_by_side = case.executor(parallel=True).run(GIVEN)
    assert end(side_by_side) == end(one_by_one)
    # Two steps that ask the same at the same time share one call, so calls may differ.
    assert [_without_calls(record) for record in side_by_side.executed] == [
        _without_calls(record) for record in one_by_one.executed
    ]


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


def _without_calls(record: StepRecord) -> StepRecord:
    return replace(record, seconds=0.0, calls=())
