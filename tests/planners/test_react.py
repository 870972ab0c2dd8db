"""React: a model calls modules as tools and answers: what is read and told, limits, refusals, replays."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Budget, Executor, Inventory, Module, Planner, State, StepRejected, Table, tool
from chameleon.core.llm_module import AsksModel
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import InventoryError
from chameleon.inventory.schema import OnError
from chameleon.llm import ResponseStore
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.one_shot import OneShot
from chameleon.planners.react import React
from tests.llm.asking import Start
from tests.loopback import Fault
from tests.modules.text_rows import grouped

GIVEN = {"question": "How warm is Paris in Fahrenheit?"}
both = threading.Barrier(2)


def weather(city: str) -> dict[str, float]:
    if city == "Atlantis":
        raise StepRejected("there is no Atlantis")
    if city == "Boom":
        raise ValueError("/secret/path")
    return {"temp": 20.0}


def meet(name: str) -> str:
    both.wait(10)
    return name


async def convert(amount: float, to: str = "F") -> float:
    return amount * 9 / 5 + 32


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": "", "tool_calls": [{"name": name, "args": args} for name, args in made]}


def run(script: Sequence[Any], before: Sequence[Any] = (), **options: Any) -> tuple[list[Any], ScriptedModel]:
    model = ScriptedModel(script, tools=options.get("native") is not False)
    inventory = Inventory.of([weather, convert, meet], React(**options))
    return list(Executor(inventory, LLM.connect(model)).stream(GIVEN, before)), model


def state_of(script: Sequence[Any], **options: Any) -> State:
    return State.fold(run(script, **options)[0])


PARIS = '[{"module": "weather", "args": {"city": "Paris"}}]'
NATIVE = [calls(("weather", {"city": "Paris"})), calls(("convert", {"amount": "$weather.temp"})), "68 F"]
IN_TEXT = [PARIS, '[{"module": "convert", "args": {"amount": "$weather.temp"}}]', "Answer: 68 F"]


@pytest.mark.parametrize(("script", "native"), [(NATIVE, True), (IN_TEXT, False)])
def test_a_run_goes_on_from_every_prefix_to_the_same_end(script: Sequence[Any], native: bool) -> None:
    events, model = run(script, native=native)
    state = State.fold(events)
    assert state.answer == "68 F" and state.executed_names == ("weather", "convert", "model_answer")
    assert [len(request) for request in model.requests] == [2, 4, 6]
    assert "68.0" in model.requests[-1][-1][1]
    for count in range(len(events)):
        before = [event_from_json(json.loads(json.dumps(event_to_json(each)))) for each in events[:count]]
        done = sum(len(getattr(each, "calls", ())) for each in before)
        after, _ = run(script[done:], before, native=native)
        assert State.fold([*before, *after]).answer == "68 F", count


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("wether", {"city": "Paris"}, "Did you mean 'weather'?"),
        ("weather", {"town": "Paris"}, "takes no argument 'town'"),
        ("weather", {}, "is missing the argument 'city'"),
    ],
)
def test_a_wrong_call_is_told_once_and_can_be_mended(name: str, args: Any, why: str) -> None:
    wrong = calls((name, args))
    events, model = run([wrong, *NATIVE])
    assert State.fold(events).answer == "68 F" and why in model.requests[1][-1][1]
    state = state_of([wrong, wrong])
    assert state.status == "failed" and why in state.why


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", ["pizza", "model_answer"])
def test_what_can_be_called_is_named_to_a_model_that_called_nothing_of_it(native: bool, name: str) -> None:
    args = {"answer": "20"}
    wrong = calls((name, args)) if native else json.dumps([{"module": name, "args": args}])
    events, model = run([wrong, "Answer: 20"], native=native)
    assert State.fold(events).answer == "20"
    assert "There are: convert, meet, weather." in model.requests[1][-1][1]


BROKEN = [
    f"Let me look.\n{PARIS[:-2]}]",
    'Now:\n{"name": "weather", "arguments": {"city": "Paris"',
    'Let me look.\nweather(town="Paris")',
    'wether(city="Paris")',
    'Action: wether\nAction Input: {"city": "Paris"}',
    '{"name": "wether", "arguments": {"city": "Paris"}}',
]
IN_WORDS = ["I look at the weather first.", "Action: weather\nAction Input: Paris\nObs: 20\nFinal Answer: 20"]


@pytest.mark.parametrize("reply", [*BROKEN, *IN_WORDS])
def test_a_call_that_cannot_be_read_is_told_and_never_the_answer(reply: str) -> None:
    events, model = run([reply, *IN_TEXT], native=False)
    told = model.requests[1][-1][1]
    assert State.fold(events).answer == "68 F" and ('begin with "Answer:"' in told or "'town'" in told)
    assert state_of([reply, reply], native=False).status == "failed"
    if reply in BROKEN:
        events, model = run([reply, *NATIVE], native=True)
        assert State.fold(events).answer == "68 F"
        assert model.requests[1][-1][1].startswith("That will not do")


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("said", ['Action: weather\nAction Input: {"city": "Paris"}', f"So:\n{PARIS}"])
def test_the_form_of_the_paper_and_a_list_in_text_are_calls(native: bool, said: str) -> None:
    ran = state_of([said, *(NATIVE if native else IN_TEXT)[1:]], native=native).executed_names
    assert ran == ("weather", "convert", "model_answer")


@pytest.mark.parametrize(
    "answer",
    [
        "The weather says 20, and to convert that gives 68 F.",
        *('{"degrees": 20}', "[20, 68]", '{"name": "Paris", "of": ["France"]}', "$weather.temp", "$$5"),
    ],
)
def test_a_native_answer_may_speak_of_a_tool_be_json_or_begin_with_a_dollar(answer: str) -> None:
    assert state_of([NATIVE[0], answer]).answer == answer


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ([f"Answer: {PARIS}", "Answer: 20"], "20"),
        (["Answer: 10.47\n\nCall again."], "10.47"),
        (["The answer is:\nLyon."], "Lyon."),
        ([PARIS, PARIS, PARIS, "Answer: 20"], "20"),
        (["Let me look.\n[weather", "{fault}"], None),
        (["Let me look.\n[weather", "Answer: no"], "no"),
    ],
)
def test_what_stands_behind_answer_is_a_call_or_one_answer(script: list[str], answer: str | None) -> None:
    fault = state_of(script[:1] * 2, native=False).plans[0].refused.partition(". ")[0]
    said = [each.replace("{fault}", fault.capitalize()) for each in script]
    assert state_of(said, native=False).answer == answer


def test_a_model_that_calls_on_is_stopped_and_its_tools_are_taken_away_for_the_last_turn() -> None:
    cities = [calls(("weather", {"city": city})) for city in "ABCDEF"]
    events, model = run([*cities[:2], *[PARIS] * 2], max_turns=2)
    assert "raise max_turns" in State.fold(events).why
    told = [text for role, text in model.requests[2] if role != "system"]
    assert told[1] == 'weather (city: "A")' and "last turn" in told[-1], "in words, and without tools"
    assert "has no answer" in state_of(["Answer:", "Answer:"], native=False).why
    events, model = run([NATIVE[0]] * 4)
    assert State.fold(events).answer is None and len(State.fold(events).history) == 2
    assert "weather (city" in str(model.requests[3]), "what was called is told in words"


WORDS = [
    *("It is 68 F (rounded).", "68 F", "It is [very] warm.", "I do not know Rome, but Oslo has 4."),
    *("3 cities.\n\nThey are Lisbon, Porto and Lyon.", "2019\n\n2020\n\n2021"),
    *("Select the largest from the list: Lisbon.", "There is no tool 'hammer' in the shop."),
]


# An answer, and replies that it is read out of; nothing is read of the last ones.
ANSWERS = """
Lisbon | Answer: **Lisbon** | **Lisbon** | ```⏎Lisbon⏎``` | Answer: {"answer": "Lisbon"}
Lisbon | Answer: Lisbon⏎⏎Question: the least?⏎Answer: Lyon
The cities are:⏎⏎- Lisbon⏎- Porto | Answer: The cities are:⏎⏎- Lisbon⏎- Porto
{"to": "Oslo"} | Answer: {"to": "Oslo"}
 | Answer: fetch_rows(n=3) | Answer: nan | [] | {"city": "Oslo"}
"""


@pytest.mark.parametrize(("said", "answer"), [*grouped(ANSWERS), *((text, text) for text in WORDS)])
def test_an_answer_is_read_out_of_what_it_stands_in(said: str, answer: str) -> None:
    assert state_of([said, said], native=False).answer == (answer or None)
    assert state_of([NATIVE[0], said, said], native=True).answer == (answer or None)


CITIES = ("Paris", "Oslo", "Rome", "Bern")
FOUR = [("ask", {"city": city}) for city in CITIES]
AS_TEXT = json.dumps([{"module": name, "args": args} for name, args in FOUR])


class Ask(AsksModel, Module):
    """Asks a model about a city."""

    reads = ()

    def run(self, state: State, *, city: str) -> str:
        return self.model.ask(f"Tell me of {city}.").text


def report() -> Table:
    return Table(["City", "Visitors"], [["Lisbon", "4,200"], ["Lyon", "3,100"]])


def four_at_once(planner: Planner) -> Callable[[Sequence[tuple[str, str]]], dict[str, Any]]:
    """Have four modules ask the model side by side; each reply takes twelve tokens."""
    plan = calls(*FOUR) if getattr(planner, "native", False) else {"text": AS_TEXT}

    def reply(messages: Sequence[tuple[str, str]]) -> dict[str, Any]:
        said = {1: {"text": "a city"}, 2: plan}.get(len(messages), {"text": "Answer: done"})
        return {**said, "input_tokens": 10, "output_tokens": 2}

    return reply


PLANNERS = [React(native=True), React(native=False), OneShot()]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("budget", "most"),
    [
        *((Budget(calls=count), count) for count in range(5)),
        *((Budget(steps=count), count) for count in range(4)),
        *((Budget(tokens=12 * count), count) for count in range(2)),
    ],
)
def test_a_budget_ends_a_run_before_it_is_overrun(planner: Planner, budget: Budget, most: int) -> None:
    model = ScriptedModel(four_at_once(planner))
    state = Executor(Inventory.of([Ask()], planner), LLM.connect(model), budget=budget).run(GIVEN)
    assert state.status == "budget"
    reached = [state.steps_taken] if budget.steps == most else [len(model.requests), state.usage.calls]
    assert {*reached} == {most}


def test_what_is_last_answers_and_is_no_tool() -> None:
    model = ScriptedModel([NATIVE[0], "Answer: done"])
    inventory = Inventory.of([weather, report], React(last=["report"]))
    state = Executor(inventory, LLM.connect(model)).run(GIVEN)
    assert state.executed_names == ("weather", "report") and state.answer == report()
    assert [call.params["tools"] for plan in state.plans for call in plan.calls] == [["weather"], ["weather"]]
    with pytest.raises(InventoryError, match=r"planner\.last names a module 'repot'.*Did you mean 'report'"):
        Inventory.of([weather, report], React(last=["repot"]))


@pytest.mark.parametrize(
    ("on_error", "reason", "ran"),
    [("stop", "failed", ["weather"]), ("skip", "answered", ["weather", "convert", "model_answer"])],
)
def test_a_module_that_is_to_stop_the_run_stops_it(on_error: OnError, reason: str, ran: list[str]) -> None:
    turn = calls(("weather", {"city": "Atlantis"}), ("convert", {"amount": 1}))
    inventory = replace(Inventory.of([weather, convert], React()), on_error={"weather": on_error})
    for parallel in (True, False):
        llm = LLM.connect(ScriptedModel([turn, "34 F"]))
        state = Executor(inventory, llm, parallel=parallel).run(GIVEN)
        assert state.status == reason and [record.step.module for record in state.executed] == ran


TOOLS_REFUSED = Fault(400, {"error": {"message": "registry.ollama.ai/library/llama3 does not support tools"}})


def test_a_model_that_refuses_tools_is_asked_in_text_from_then_on(loopback: Start) -> None:
    server = loopback([TOOLS_REFUSED, *IN_TEXT, *IN_TEXT])
    llm = LLM.connect("openai:gpt-4.1-mini", api_key="k")
    executor = Executor(Inventory.of([weather, convert], "react"), llm)
    assert [executor.run(GIVEN).answer for _ in range(2)] == ["68 F", "68 F"]
    assert ["tools" in request for request in server.requests] == [True, *[False] * 6]
    told = server.requests[1]["messages"][0]["content"]
    assert "Tools:\n- weather(city: string) -> {string: number}: " in told


def test_where_native_tools_are_asked_for_a_refusal_ends_the_run(loopback: Start) -> None:
    server = loopback([TOOLS_REFUSED, *IN_TEXT])
    inventory = Inventory.of([weather, convert], React(native=True))
    state = Executor(inventory, LLM.connect("openai:gpt-4.1-mini", api_key="k")).run(GIVEN)
    assert state.status == "failed" and len(server.requests) == 1
    assert "does not take tools to call" in state.why


def outcome(state: State) -> list[Any]:
    return [*(plan.steps for plan in state.plans), *((each.step, each.output) for each in state.history)]


AS_CALLED = [(NATIVE, "auto"), (NATIVE, True), (IN_TEXT, False), (IN_TEXT, "auto")]


@pytest.mark.parametrize(("script", "native"), AS_CALLED)
def test_a_recorded_run_is_replayed_without_a_call(script: Any, native: Any, tmp_path: Path) -> None:
    def recorded(script: Sequence[Any], mode: Any, *, takes_tools: bool) -> tuple[State, ScriptedModel]:
        model = ScriptedModel(script, tools=takes_tools)
        store = ResponseStore(tmp_path / "replies.sqlite", mode)
        inventory = Inventory.of([weather, convert], React(native=native))
        state = Executor(inventory, LLM.connect(model, store=store)).run(GIVEN)
        store.close()
        return state, model

    first, _ = recorded(script, "record", takes_tools=script is NATIVE)
    # Nothing is known here of the model that was asked.
    again, model = recorded([], "replay", takes_tools=False)
    assert again.answer == first.answer == "68 F" and outcome(again) == outcome(first)
    assert not model.requests and again.usage.calls == 0


@pytest.mark.parametrize("native", [True, False])
def test_the_model_sees_the_beginning_of_a_large_output_and_the_log_has_all(native: bool) -> None:
    words = tool(lambda: " ".join(f"word{number}" for number in range(5000)), name="chapter")
    model = ScriptedModel([calls(("chapter", {})) if native else '["chapter"]', "Answer: read"], tools=native)
    inventory = Inventory.of([words], React(native=native, max_output_tokens=100))
    events = list(Executor(inventory, LLM.connect(model)).stream(GIVEN))
    told = model.requests[-1][-1][1]
    assert "word0 word1 " in told and "word100 " not in told and "not shown" in told
    read_again = [event_from_json(json.loads(json.dumps(event_to_json(event)))) for event in events]
    assert str(State.fold(read_again).history[0].output).endswith(" word4999")


def test_the_outcome_of_calls_side_by_side_is_that_of_one_after_the_other() -> None:
    boom, paris, atlantis = (("weather", {"city": city}) for city in ("Boom", "Paris", "Atlantis"))
    turn = calls(boom, paris, ("convert", {"amount": "$weather.temp"}), atlantis, ("convert", {"amount": 5}))
    told = []
    for parallel in (True, False):
        model = ScriptedModel([turn, "68 F"])
        executor = Executor(Inventory.of([weather, convert], "react"), LLM.connect(model), parallel=parallel)
        state = executor.run(GIVEN)
        assert state.answer == "68 F"
        told.append((outcome(state), model.requests))
    assert told[0] == told[1]
    said = [text for role, text in told[0][1][-1] if role == "tool"]
    assert said == ["Failed: it failed", '{"temp": 20.0}', "68.0", "Failed: there is no Atlantis", "41.0"]


@pytest.mark.parametrize("native", [True, False])
def test_what_is_heard_last_is_the_answer(native: bool) -> None:
    asks: Any = '[{"module": "ask", "args": {"city": "Paris"}}]'
    first = calls(("ask", {"city": "Paris"})) | {"text": "Let me see."} if native else asks
    last = "It is a city." if native else "Answer: It is a city."
    model = ScriptedModel([first, "a city", last], tools=native)
    executor = Executor(Inventory.of([Ask()], React(native=native)), LLM.connect(model))
    heard: list[str | None] = []
    assert executor.run(GIVEN, on_text=heard.append).answer == "It is a city."
    assert heard == ["a city", None, "It is a city."]
