"""Runs in an event loop, side by side and resumed: the same events and the same end as one by one."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import LLM, Budget, Executor, LLMModule, Module, State, Step, bridge
from chameleon.core.access import Access
from chameleon.core.events import Event
from chameleon.core.log import EventLog
from chameleon.errors import LogError
from chameleon.inventory.schema import RepairSpec
from chameleon.llm import ScriptedModel
from chameleon.run.steps import parallel_group
from tests.engine.doubles import QUESTION, Ask, Does, Proposes, executor, failing, inventory_of, why
from tests.engine.random_runs import GIVEN, PLANNERS, cases, end, quick, timeless
from tests.engine.strategies import RUN
from tests.llm.asking import Start
from tests.loopback import Reply

MANY = 64


class Awaits(Module):
    """Waits in a loop for what its function comes to."""

    def __init__(self, function: Callable[[], Awaitable[Any]]) -> None:
        self.function = function

    async def run(self, state: State) -> Any:
        await asyncio.sleep(0)
        return await self.function()


async def one() -> int:
    return 1


def our_threads() -> int:
    return sum(thread.name.startswith("chameleon") for thread in threading.enumerate())


def in_a_loop(executor: Executor) -> list[Event]:
    async def streamed() -> list[Event]:
        return [event async for event in executor.astream(GIVEN)]

    return asyncio.run(streamed())


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_run_is_the_same_in_a_loop_and_goes_on_after_any_event(planner: str, data: st.DataObject) -> None:
    case = data.draw(cases(planner, calls=st.none() | st.integers(1, 4)))
    whole = list(case.executor(parallel=False).stream(GIVEN))
    assert timeless(in_a_loop(case.executor(parallel=False))) == timeless(whole)
    for cut in range(len(whole) + 1):
        model = case.model()
        rest = list(case.executor(parallel=False, model=model).stream(GIVEN, whole[:cut]))
        assert timeless(rest) == timeless(whole[cut:])
        assert len(model.requests) == sum(len(getattr(event, "calls", ())) for event in whole[cut:])


@pytest.mark.parametrize("planner", PLANNERS)
@settings(quick, max_examples=25)
@given(data=st.data())
def test_steps_side_by_side_come_to_the_same_as_one_by_one(planner: str, data: st.DataObject) -> None:
    case = data.draw(cases(planner))
    one_by_one, executor = case.executor(parallel=False).run(GIVEN), case.executor(parallel=True)
    whole = State.fold(events := list(executor.stream(GIVEN)))
    assert end(whole) == end(State.fold(in_a_loop(executor))) == end(one_by_one)
    # Two steps that ask the same at the same time share one call, so calls may differ.
    both = [[replace(each, seconds=0.0, calls=()) for each in run.executed] for run in (whole, one_by_one)]
    assert both[0] == both[1]
    for cut in range(len(events) + 1):
        assert end(executor.run(GIVEN, events[:cut])) == end(one_by_one)


@pytest.mark.parametrize("planner", PLANNERS)
@quick
@given(data=st.data())
def test_a_run_that_is_cancelled_goes_on_from_its_log(planner: str, data: st.DataObject) -> None:
    case = data.draw(cases(planner))
    whole = list(case.executor(parallel=True).stream(GIVEN))
    kept = data.draw(st.integers(1, len(whole)))
    seen: list[Event] = []

    async def broken_off() -> None:
        task = asyncio.current_task()
        assert task is not None
        async for event in case.executor(parallel=True).astream(GIVEN):
            seen.append(event)
            if len(seen) == kept:
                task.cancel()
                await asyncio.sleep(0)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(broken_off())
    state = asyncio.run(case.executor(parallel=True).arun(GIVEN, seen))
    assert end(state) == end(State.fold(whole))


def test_a_run_that_is_cancelled_while_a_module_waits_goes_on_from_its_file(tmp_path: Path) -> None:
    waits = [True]

    async def stuck() -> str:
        while waits:
            await asyncio.sleep(0.01)
        return "free"

    runner = executor({"first": lambda state: "done", "stuck": Awaits(stuck)})

    async def broken_off(log: EventLog) -> None:
        task = asyncio.create_task(runner.arun(QUESTION, log))
        while len(log.events) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with EventLog(tmp_path / "log.jsonl") as log:
        asyncio.run(broken_off(log))
        assert State.fold(log).executed_names == ("first",)
    waits.clear()
    with EventLog(tmp_path / "log.jsonl") as log:
        assert runner.run(QUESTION, log).answer == "free"


def test_many_runs_are_in_a_module_or_wait_for_a_model_at_once_without_threads(loopback: Start) -> None:
    def reply(request: dict[str, Any]) -> Reply:
        if server.peak == MANY:
            released.set()
        released.wait(20)
        return Reply("42")

    released, server = threading.Event(), loopback(reply)

    async def together() -> tuple[int, list[State]]:
        modules = {"meets": Awaits(asyncio.Barrier(MANY).wait), "ask": Ask()}
        runner = Executor(inventory_of(modules), LLM.connect("openai:local"))
        runs = [asyncio.create_task(runner.arun({"question": str(n)})) for n in range(MANY)]
        while server.peak < MANY:
            await asyncio.sleep(0.01)
        return our_threads(), await asyncio.gather(*runs)

    counted, states = asyncio.run(together())
    assert {state.cache["meets"] for state in states} == {*range(MANY)}
    assert {state.answer for state in states} == {"42"} and counted <= max(our_threads(), 8)


class AsksTwice(LLMModule):
    """Asks two questions, one after the other, in a coroutine."""

    async def run(self, state: State) -> str:
        return " ".join([(await self.model.aask([("user", name)])).text for name in ("a", "b")])


class AsksSeveral(Ask):
    """Asks several questions at once, and several samples of one."""

    def run(self, state: State) -> str:
        replies = [*self.model.ask_each(["a", "b", "c"]), *self.model.ask_many("d", 3)]
        return " ".join(reply.text for reply in replies)


@pytest.mark.parametrize("calls", [None, 1, 2, 4])
@pytest.mark.parametrize(("kind", "needs"), [(AsksTwice, 2), (AsksSeveral, 6)])
def test_calls_are_bounded_in_a_loop_as_without_one(kind: Any, needs: int, calls: int | None) -> None:
    def runner() -> Executor:
        llm = LLM.connect(ScriptedModel(lambda messages: messages[-1][1]))
        return Executor(inventory_of({"ask": kind()}), llm, budget=Budget(calls=calls))

    plain, looped = runner().run(QUESTION), asyncio.run(runner().arun(QUESTION))
    assert (looped.answer, looped.status) == (plain.answer, plain.status)
    assert looped.usage.calls == plain.usage.calls == min(calls or 9, needs)


def test_a_synchronous_question_in_a_loop_does_not_wait_for_the_same_one_there(loopback: Start) -> None:
    loopback(lambda request: Reply("ok", delay=0.2))
    llm = LLM.connect("openai:local")

    async def both() -> list[str]:
        first = asyncio.create_task(llm.aask("same"))
        while not llm._pipeline._flights:
            await asyncio.sleep(0.01)
        return [llm.ask("same").text, (await first).text]

    assert asyncio.run(both()) == ["ok", "ok"]


@pytest.mark.parametrize("failure", [StopIteration(), SystemExit(3), KeyError("x")])
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_a_module_raises_ends_the_run_as_without_a_loop(failure: Any, is_async: bool) -> None:
    async def fail() -> None:
        raise failure

    runner = executor({"bad": Awaits(fail) if is_async else failing(failure)})
    assert why(asyncio.run(runner.arun(QUESTION))) == why(runner.run(QUESTION))
    assert executor({"good": Awaits(one)}).run(QUESTION).answer == 1  # the loop that they share goes on


def test_everything_works_where_a_loop_runs_and_a_bad_input_of_a_batch_is_a_state_that_failed() -> None:
    runner = executor({"one": Awaits(one), "two": lambda state: 2})
    assert [state.answer for state in runner.batch([QUESTION] * 3, workers=2)] == [2, 2, 2]
    echo = executor({"echo": lambda state: state.input["question"]})
    inputs = ({"question": {1, 2} if number == 3 else str(number)} for number in range(5))

    async def inside() -> list[Any]:
        found = [runner.run(QUESTION), await runner.arun(QUESTION), *runner.batch([QUESTION] * 2, workers=2)]
        return found + [state async for state in runner.amap([QUESTION] * 2)]

    async def answers() -> list[Any]:
        return [state.answer or why(state) async for state in echo.amap(inputs, workers=2)]

    assert [state.answer for state in asyncio.run(inside())] == [2] * 6
    found = asyncio.run(answers())
    assert "set" in found.pop(3) and found == ["0", "1", "2", "4"]


def test_a_coroutine_that_waits_for_synchronous_code_is_told_to_await() -> None:
    async def waits() -> str:
        return why(executor({"one": Awaits(one)}).run(QUESTION))

    assert "Await `arun`" in executor({"outer": Awaits(waits)}).run(QUESTION).answer


def test_planners_of_ones_own_and_steps_side_by_side_do_not_hold_up_the_loop() -> None:
    both = threading.Barrier(2)

    def meet(state: State) -> list[Step]:
        return [] if state.plans or both.wait(20) < 0 else [Step("one")]

    runner = executor({"one": lambda state: 1}, Proposes(meet))

    async def two() -> list[State]:
        return await asyncio.gather(runner.arun(QUESTION), runner.arun(QUESTION))

    assert [state.answer for state in asyncio.run(two())] == [1, 1]
    side = {name: Does(lambda state: both.wait(20), reads=(), writes=(f"cache.{name}",)) for name in "ab"}
    runner = executor({**side, "end": lambda state: sorted(state.cache.values())})
    assert asyncio.run(runner.arun(QUESTION)).answer == (0, 1)


def test_what_work_tells_is_heard_before_its_end_also_where_that_came_at_once() -> None:
    def heard_of_work() -> list[str]:
        heard: list[str] = []
        told = bridge.in_this_loop(heard.append)
        with ThreadPoolExecutor() as pool:
            wait_for([work := pool.submit(told, "a piece")])
            bridge.result(work)
            return list(heard)

    assert asyncio.run(bridge.run(heard_of_work)) == ["a piece"]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_last_reply_is_told_as_it_comes(loopback: Start, is_async: bool) -> None:
    server = loopback(lambda request: "first" if len(server.requests) % 2 else "It is forty-two, I think.")
    modules = {"ask": Ask(), "again": Ask(), "end": lambda state: state.cache["again"]}
    runner, heard = Executor(inventory_of(modules), LLM.connect("openai:local")), list[str | None]()
    ended = (runner.arun if is_async else runner.run)(QUESTION, on_text=heard.append)
    state: Any = asyncio.run(ended) if is_async else ended
    assert state.answer == "".join(map(str, heard)) == "It is forty-two, I think." and len(heard) > 2
    assert [request.get("stream") for request in server.requests] == [None, True]


def test_a_reply_that_is_rejected_is_taken_back_and_a_callback_that_fails_is_no_fault(caplog: Any) -> None:
    def bad(piece: str | None) -> None:
        raise ValueError("my own bug")

    inventory = inventory_of({"ask": Ask()}, repair={"ask": RepairSpec(redo="ask", attempts=2)})
    heard = list[str | None]()
    for on_text in (heard.append, bad):
        runner = Executor(inventory, LLM.connect(ScriptedModel(["bad", "good"])))
        assert runner.run(QUESTION, on_text=on_text).answer == "good"
    assert heard == ["bad", None, "good"] and "my own bug" in caplog.text


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (RUN[1:], "no start"),
        ([RUN[0], RUN[0]], "two starts"),
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
def test_a_run_goes_on_from_a_torn_file(planner: str, data: st.DataObject, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("run") / "log.jsonl"
    executor = data.draw(cases(planner)).executor(parallel=data.draw(st.booleans()))
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


def test_a_step_waits_for_every_earlier_one_whose_output_it_reads() -> None:
    keys = {"a": ((), ("cache.x",)), "b": ((), ("cache.y",)), "c": (("cache.x",), ())}
    access = {name: Access(frozenset(r), (), frozenset(w)) for name, (r, w) in keys.items()}
    assert parallel_group([Step(name) for name in "abc"], access) == (Step("a"), Step("b"))
