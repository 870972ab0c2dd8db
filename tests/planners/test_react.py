"""React: a model calls modules as tools, sees what came back, and answers; resumed from every prefix."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, StepRejected
from chameleon.core.log import event_from_json, event_to_json
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.react import React

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


def test_one_failed_call_beside_others_is_told_and_ends_nothing() -> None:
    script = [calls(*(("weather", {"city": city}) for city in ("Paris", "Atlantis", "Boom"))), "20 C"]
    events, model = run(script)
    assert State.fold(events).answer == "20 C"
    told = [text for role, text in model.requests[-1] if role == "tool"]
    assert told == ['{"temp": 20.0}', "Failed: there is no Atlantis", "Failed: it failed"]


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("wether", {"city": "Paris"}, "Did you mean 'weather'?"),
        ("weather", {"town": "Paris"}, "takes no argument 'town'"),
        ("weather", {}, "lacks the argument 'city'"),
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
    assert "holds no answer" in state_of(["Answer:", "Answer:"], native=False).why
    events, model = run([NATIVE[0]] * 4)
    assert State.fold(events).answer is None and len(State.fold(events).history) == 2
    assert "weather (city" in str(model.requests[3]), "what was called is told in words"


WORDS = [
    *("It is 68 F (rounded).", "68 F", "It is [very] warm.", "I do not know Rome, but Oslo has 4."),
    *("3 cities.\n\nThey are Lisbon, Porto and Lyon.", "2019\n\n2020\n\n2021"),
    *("Select the largest from the list: Lisbon.", "There is no tool 'hammer' in the shop."),
]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Answer: **Lisbon**", "Lisbon"),
        ("**Lisbon**", "Lisbon"),
        ("```\nLisbon\n```", "Lisbon"),
        ('Answer: {"answer": "Lisbon"}', "Lisbon"),
        ("Answer: The cities are:\n\n- Lisbon\n- Porto", "The cities are:\n\n- Lisbon\n- Porto"),
        ("Answer: Lisbon\n\nQuestion: the least?\nAnswer: Lyon", "Lisbon"),
        ('Answer: {"to": "Oslo"}', '{"to": "Oslo"}'),
        *((text, text) for text in WORDS),
        *((text, None) for text in ("Answer: fetch_rows(n=3)", "Answer: nan", "[]", '{"city": "Oslo"}')),
    ],
)
def test_an_answer_is_read_out_of_what_it_stands_in(said: str, answer: str | None) -> None:
    assert state_of([said, said], native=False).answer == answer
    assert state_of([NATIVE[0], said, said], native=True).answer == answer
