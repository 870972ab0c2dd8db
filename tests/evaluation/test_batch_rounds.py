"""Batches under runs of every kind: conversations, steps side by side, inventories within, tools, budgets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Module, State
from chameleon.errors import ModelError
from chameleon.evaluation.batches import Batches
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.results import Result
from chameleon.evaluation.run_dir import RunDir
from chameleon.llm.batches import Awaited, BatchQueue, batching
from chameleon.planners.fixed import Fixed
from chameleon.state import Event
from chameleon.usage import Budget, Meter, Usage, recording
from tests.e2e.by_cue import ByCue
from tests.e2e.test_chain_of_table_runs import CUES, EXAMPLES
from tests.evaluation.conversations import SETTINGS, SQA, problems
from tests.evaluation.rows import read_results
from tests.hosted import Asked, HostedServer
from tests.hosted_tools import Calls

PRICES = (1.0, 2.0)


@pytest.fixture
def server() -> Iterator[HostedServer]:
    with HostedServer(lambda asked: f"<{asked.messages[-1][1]}>") as made:
        yield made


@pytest.fixture
def llm(server: HostedServer) -> LLM:
    return LLM.connect("openai:gpt-4.1-mini", base_url=server.openai_url, api_key="k", prices=PRICES)


class Asks(Module):
    """Asks the model what a function makes of the state, one after the other; keeps the last reply."""

    needs_model = True
    reads = ("input.*", "cache.*")

    def __init__(self, prompts: Callable[[State], Sequence[Any]], llm: LLM | None = None) -> None:
        self.prompts, self.llm = prompts, llm

    def with_llm(self, llm: Any) -> Asks:
        made = type(self)(self.prompts, llm)
        made.name, made.reads, made.writes = self.name, self.reads, self.writes
        return made

    def run(self, state: State) -> Any:
        assert self.llm is not None
        said: list[str] = []
        for prompt in self.prompts(state):
            if isinstance(prompt, list):
                said += [reply.text for reply in self.llm.ask_each(prompt)]
            else:
                said.append(self.llm.ask(f"{prompt}{len(said)}").text)
        return " ".join(said)


def evaluated(
    executor: Executor, asked: Sequence[Problem], folder: Path, *, by_batches: bool
) -> dict[str, Result]:
    found: dict[str, Result] = {}
    with RunDir(folder, SETTINGS) as run_dir, Batches(folder, pauses=(0.002, 0.01)) as batches:
        Evaluation(
            executor,
            SQA.scorers["official"](),
            SQA,
            run_dir=run_dir,
            workers=4,
            on_result=lambda result: found.update({result.id: result}),
            batches=batches if by_batches else None,
        ).run(asked)
    return found


def outline(results: Mapping[str, Result]) -> dict[str, Any]:
    return {
        id: (result.answer, result.plan, result.usage.calls, result.usage.input_tokens)
        for id, result in results.items()
    }


def cost(results: Mapping[str, Result]) -> float:
    return sum(result.usage.cost or 0.0 for result in results.values())


def same_by_batches(
    executor: Executor, asked: Sequence[Problem], server: HostedServer, place: Path
) -> list[int]:
    """Evaluate at once and by batches; return the requests of each batch."""
    once = evaluated(executor, asked, place / "once", by_batches=False)
    server.forget()
    batched = evaluated(executor, asked, place / "batched", by_batches=True)
    assert outline(batched) == outline(once)
    assert not any(result.failed for result in once.values())
    assert cost(batched) == pytest.approx(cost(once) / 2) and cost(once) > 0
    sizes = [len(batch.asked) for batch in server.batches.all]
    assert sum(sizes) == sum(result.usage.calls for result in once.values())
    return sizes


def test_later_questions_of_a_conversation_wait(server: HostedServer, llm: LLM, tmp_path: Path) -> None:
    asked = problems([["says", "says", "says"], ["says"]])
    module = Asks(lambda state: [f"{state.input['question']} after {len(state.input['history'])} "])
    executor = Executor(Inventory("mine", Fixed(["ask"]), {"ask": module}), llm)
    assert same_by_batches(executor, asked, server, tmp_path) == [2, 1, 1]


def test_calls_side_by_side_go_together_and_those_in_a_row_do_not(
    server: HostedServer, llm: LLM, tmp_path: Path
) -> None:
    def asks(name: str, *more: Any) -> Asks:
        module = Asks(lambda state: [f"{name} {state.input['question']} ", *more])
        module.reads, module.writes = ("input.question",), (f"cache.{name}",)
        return module

    last = Asks(lambda state: [f"{state.cache['one']} {state.cache['two']}"])
    modules = {"one": asks("one", ["a", "b", "c"]), "two": asks("two"), "last": last}
    executor = Executor(Inventory("mine", Fixed(["one", "two", "last"]), modules), llm)
    assert same_by_batches(executor, problems([["says"]]), server, tmp_path) == [2, 3, 1]


def test_an_inventory_within_goes_on_from_where_it_waits(
    server: HostedServer, llm: LLM, tmp_path: Path
) -> None:
    (tmp_path / "parts.py").write_text(
        "from tests.evaluation.test_batch_rounds import Asks\n"
        "class Twice(Asks):\n"
        "    def __init__(self, prompts=None, llm=None):\n"
        "        super().__init__(prompts or self.two, llm)\n"
        "    def two(self, state):\n"
        "        told = f\"{state.input['question']} {len(state.cache)}\"\n"
        "        return [told, f'more {told}']\n"
    )
    for name, modules in {
        "inner": '{a: {use: "parts:Twice"}, b: {use: "parts:Twice"}}',
        "outer": "{in: {inventory: inner.yaml}}",
    }.items():
        plan = "[a, b]" if name == "inner" else "[in]"
        said = f"name: {name}\ninput: {{question: str}}\nplanner: {{use: fixed, plan: {plan}}}\n"
        (tmp_path / f"{name}.yaml").write_text(f"{said}modules: {modules}\n")
    executor = Executor(Inventory.load(str(tmp_path / "outer.yaml")), llm)
    sizes = same_by_batches(executor, problems([["says"], ["says"]]), server, tmp_path)
    assert sizes == [2, 2, 2, 2]


def test_a_budget_of_calls_ends_a_run_as_when_asked_at_once(
    server: HostedServer, llm: LLM, tmp_path: Path
) -> None:
    module = Asks(lambda state: ["a ", "b ", "c "])
    executor = Executor(Inventory("mine", Fixed(["ask"]), {"ask": module}), llm, budget=Budget(calls=2))
    for by_batches in (False, True):
        found = evaluated(executor, problems([["says"]]), tmp_path / str(by_batches), by_batches=by_batches)
        (result,) = found.values()
        assert result.error is not None and result.error.kind == "BudgetExceeded"
        assert result.usage.calls == 2
    assert len(server.batches.requests) == 2


def test_what_is_only_collected_costs_nothing_and_is_no_failure(llm: LLM) -> None:
    queue = BatchQueue()
    with recording(Meter()) as recorder, batching(queue, "1"):
        for ask in (lambda: llm.ask("a"), lambda: llm.ask_many("b", 3), lambda: llm.ask_each(["c", "d"])):
            with pytest.raises(Awaited):
                ask()
    assert recorder.calls == [] and recorder.meter.spent == Usage()
    assert [request.body.get("n", 1) for request in queue.waiting.values()] == [1, 3, 1, 1]
    assert not issubclass(Awaited, Exception)


def test_runs_that_ask_the_same_share_a_request_and_one_pays(
    server: HostedServer, llm: LLM, tmp_path: Path
) -> None:
    executor = Executor(Inventory("mine", Fixed(["ask"]), {"ask": Asks(lambda state: ["same"])}), llm)
    found = evaluated(executor, problems([["says"], ["says"], ["says"]]), tmp_path, by_batches=True)
    assert len(server.batches.requests) == 1
    assert sorted(result.usage.calls for result in found.values()) == [0, 0, 1]


def test_tools_of_models_that_think_go_by_responses(tmp_path: Path) -> None:
    def reply(asked: Asked) -> str:
        return f"<{asked.messages[-1][1]}>"

    with HostedServer(reply) as server:
        llm = LLM.connect("openai:gpt-6-luna", base_url=server.openai_url, api_key="k", prices=PRICES)
        with Batches(tmp_path, pauses=(0.002, 0.01)) as batches:
            for _ in range(4):
                try:
                    with batches.running("1", None):
                        said = llm.ask("Look there.", tools=[TOOL]).text
                except Awaited:
                    batches.answer(0.0, None)
        assert said == "<Look there.>"
        assert {batch.endpoint for batch in server.batches.all} <= {"/v1/chat/completions", "/v1/responses"}
        assert server.batches.all[-1].endpoint == "/v1/responses"


def test_other_providers_are_refused_when_they_are_asked() -> None:
    from chameleon.llm import ScriptedModel

    with batching(BatchQueue(), "1"), pytest.raises(ModelError, match="cannot be asked by batches"):
        LLM.connect(ScriptedModel(["x"])).ask("a")


class Killed(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5"])
def test_ended_at_any_write_it_goes_on_and_sends_nothing_twice(
    server: HostedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    address = server.openai_url if model.startswith("openai") else server.url
    llm = LLM.connect(model, base_url=address, api_key="k", prices=PRICES)
    module = Asks(lambda state: [f"{state.input['question']} {n}" for n in range(3)])
    executor = Executor(Inventory("mine", Fixed(["ask"]), {"ask": module}), llm)
    asked = problems([["says"], ["says"]])
    whole = evaluated(executor, asked, tmp_path / "whole", by_batches=True)
    writes = len((tmp_path / "whole" / "batches.jsonl").read_text("utf-8").splitlines())
    assert writes == 3 * (1 + 1 + 2 + 1) and len(server.batches.requests) == 6

    write = Batches._write
    left = [0.0]

    def dying(self: Batches, data: dict[str, Any]) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        write(self, data)
        if left[0] == 0.5:
            raise Killed

    monkeypatch.setattr(Batches, "_write", dying)
    for place in range(1, writes + 1):
        for moment in (place, place + 0.5):  # before it is written, and after
            sent, folder = len(server.batches.requests), tmp_path / str(moment)
            left[0] = moment
            with pytest.raises(Killed):
                evaluated(executor, asked, folder, by_batches=True)
            evaluated(executor, asked, folder, by_batches=True)
            again = read_results(folder)
            assert outline({row["id"]: Result.from_json(row) for row in again}) == outline(whole)
            assert len(server.batches.requests) == sent + 6, moment
            assert sum(row["usage"]["cost"] for row in again) == pytest.approx(cost(whole))


def answered(ask: Callable[[], Any], place: Path) -> tuple[Any, Usage]:
    """Ask in as many rounds as it takes; return what came, and what the last round booked."""
    with Batches(place, pauses=(0.002, 0.01)) as batches:
        for _ in range(20):
            try:
                with batches.running("1", None), recording(Meter()) as recorder:
                    return ask(), sum((call.usage for call in recorder.calls), Usage())
            except Awaited:
                batches.answer(0.0, None)
    raise AssertionError("it comes to no end")


TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
SCHEMA = {
    "title": "said",
    "type": "object",
    "properties": {"said": {"type": "string"}},
    "required": ["said"],
    "additionalProperties": False,
}
QUESTIONS: Mapping[str, Callable[[LLM], Any]] = {
    "schema": lambda llm: [llm.ask("a", schema=SCHEMA)],
    "tools": lambda llm: [llm.ask("a tool", tools=[TOOL])],
    "samples": lambda llm: llm.ask_many("a", 3, temperature=0.5),
    "stop": lambda llm: [llm.ask([("system", "b"), ("user", "a")], stop=["i"], max_tokens=50)],
    "seed": lambda llm: llm.ask_many("a", 2, seed=7),
    "in a loop": lambda llm: [asyncio.run(llm.aask("a"))],
    "cut off": lambda llm: [llm.ask("long", max_tokens=4)],
}


@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_kind_of_question_is_answered_as_at_once(tmp_path: Path, model: str, name: str) -> None:
    def reply(asked: Asked) -> str | Calls:
        if asked.body.get("tools") and "tool" in asked.messages[-1][1]:
            return Calls([("look", {})])
        return json.dumps({"said": "this " * (9 if "long" in asked.messages[-1][1] else 1)})

    with HostedServer(reply) as server:
        address = server.openai_url if model.startswith("openai") else server.url
        replies, found = [], []
        for by_batches in (False, True):
            llm = LLM.connect(model, base_url=address, api_key="k", prices=PRICES)
            ask = partial(QUESTIONS[name], llm)
            if by_batches:
                said, usage = answered(ask, tmp_path)
            else:
                with recording(Meter()) as recorder:
                    said = ask()
                usage = sum((call.usage for call in recorder.calls), Usage())
            calls = [[(call.name, call.args) for call in each.tool_calls] for each in said]
            replies.append(([(each.text, each.finish, each.widened) for each in said], calls))
            found.append(usage)
        assert replies[0] == replies[1]
        assert replace(found[0], cost=None) == replace(found[1], cost=None)
        assert found[1].cost == pytest.approx((found[0].cost or 0) / 2) and found[0].cost
        asked = [seen.body for seen in server.requests]
        half = len(asked) // 2
        assert sorted(map(json.dumps, asked[:half])) == sorted(map(json.dumps, asked[half:]))


def test_chain_of_table_comes_to_its_chain(tmp_path: Path) -> None:
    example = EXAMPLES["cyclists of ours"]
    replies = {CUES[name]: text for name, text in {**example.replies, "planner": example.plan}.items()}
    by_cue = ByCue(replies)

    def reply(asked: Asked) -> str:
        said = by_cue({"messages": [{"role": role, "content": text} for role, text in asked.messages]})
        assert isinstance(said, str)
        return said

    with HostedServer(reply) as server:
        llm = LLM.connect("openai:gpt-4.1-mini", base_url=server.openai_url, api_key="k", prices=PRICES)
        executor = Executor(Inventory.load(example.inventory), llm)
        given = {"question": example.question, "table": example.table}
        once = executor.run(given)
        log: list[Event] = []
        with Batches(tmp_path, pauses=(0.002, 0.01)) as batches:
            for _ in range(30):
                try:
                    with batches.running("1", None):
                        for event in executor.stream(given, tuple(log)):
                            log.append(event)
                            batches.book("1", [event])
                    break
                except Awaited:
                    batches.answer(0.0, None)
        state = State.fold(log)
        assert state.answer == once.answer == example.answer
        assert state.program == once.program
        assert state.usage.calls == once.usage.calls == len(server.batches.requests)
        assert state.usage.cost == pytest.approx((once.usage.cost or 0) / 2)
