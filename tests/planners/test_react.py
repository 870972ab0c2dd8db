"""React: a model calls modules as tools, sees what came back, and answers; resumed from every prefix."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, StepRejected, tool
from chameleon.core.log import event_from_json, event_to_json
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.react import React

GIVEN = {"question": "How warm is Paris in Fahrenheit?"}
both = threading.Barrier(2)


@tool
def weather(city: str) -> dict[str, float]:
    """Tells the temperature in a city, in Celsius."""
    if city == "Atlantis":
        raise StepRejected("there is no Atlantis")
    if city == "Boom":
        raise ValueError("/secret/path")
    return {"temp": 20.0}


@tool
def meet(name: str) -> str:
    """Waits for the other."""
    both.wait(10)
    return name


@tool
async def convert(amount: float, to: str = "F") -> float:
    """Converts a temperature."""
    return amount * 9 / 5 + 32


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": "", "tool_calls": [{"name": name, "args": args} for name, args in made]}


def run(script: Sequence[Any], before: Sequence[Any] = (), **options: Any) -> tuple[list[Any], ScriptedModel]:
    model = ScriptedModel(script, tools=options.get("native") is not False)
    inventory = Inventory.of([weather, convert, meet], React(**options))
    return list(Executor(inventory, LLM.connect(model)).stream(GIVEN, before)), model


NATIVE = [calls(("weather", {"city": "Paris"})), calls(("convert", {"amount": "$weather.temp"})), "68 F"]
IN_TEXT = [
    '[{"module": "weather", "args": {"city": "Paris"}}]',
    '[{"module": "convert", "args": {"amount": "$weather.temp"}}]',
    "Answer: 68 F",
]


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
    ("wrong", "why"),
    [
        (calls(("wether", {"city": "Paris"})), "Did you mean 'weather'?"),
        (calls(("weather", {"town": "Paris"})), "takes no argument 'town'"),
        (calls(("weather", {})), "lacks the argument 'city'"),
    ],
)
def test_a_wrong_call_is_told_once_and_can_be_mended(wrong: dict[str, Any], why: str) -> None:
    events, model = run([wrong, *NATIVE])
    assert State.fold(events).answer == "68 F"
    assert why in model.requests[1][-1][1]
    events, _ = run([wrong, wrong])
    ended = State.fold(events).ended
    assert ended is not None and ended.reason == "failed" and why in str(ended.error)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", ["pizza", "model_answer"])
def test_what_can_be_called_is_named_to_a_model_that_called_nothing_of_it(native: bool, name: str) -> None:
    args = {"answer": "20"}
    wrong = calls((name, args)) if native else json.dumps([{"module": name, "args": args}])
    events, model = run([wrong, "Answer: 20"], native=native)
    assert State.fold(events).answer == "20"
    assert "There are: convert, meet, weather." in model.requests[1][-1][1]


@pytest.mark.parametrize(
    "reply",
    [
        'Let me look.\n[{"module": "weather", "args": {"city": "Paris"}]',
        'Let me look.\n[{"module": "wether", "args": {"city": "Paris"}}]',
        "I will look at the weather first.",
        'Action: wether\nAction Input: {"city": "Paris"}',
        "Action: weather\nAction Input: Paris\nObservation: 20\nFinal Answer: 20",
        'wether(city="Paris")',
    ],
)
def test_a_call_in_text_that_cannot_be_read_is_told_and_never_the_answer(reply: str) -> None:
    events, model = run([reply, *IN_TEXT], native=False)
    assert State.fold(events).answer == "68 F"
    assert 'begin with "Answer:"' in model.requests[1][-1][1]
    ended = State.fold(run([reply, reply], native=False)[0]).ended
    assert ended is not None and ended.reason == "failed"


@pytest.mark.parametrize("reply", ["It is 68 F (rounded).", "68 F", "It is [very] warm."])
def test_words_without_a_tool_or_a_call_may_be_the_answer(reply: str) -> None:
    for native in (True, False):
        assert State.fold(run([reply], native=native)[0]).answer == reply


def test_the_form_of_the_paper_is_a_call() -> None:
    said = 'Thought: I need a number.\nAction: weather\nAction Input: {"city": "Paris"}'
    for native in (True, False):
        script = [said, *(NATIVE if native else IN_TEXT)[1:]]
        ran = State.fold(run(script, native=native)[0]).executed_names
        assert ran == ("weather", "convert", "model_answer")


@pytest.mark.parametrize(
    "reply",
    [
        'Let me look.\n[{"module": "weather", "args": {"city": "Paris"}]',
        'Now:\n{"name": "weather", "arguments": {"city": "Paris"',
        'Let me look.\nweather(town="Paris")',
        'wether(city="Paris")',
        'Action: wether\nAction Input: {"city": "Paris"}',
        '{"name": "wether", "arguments": {"city": "Paris"}}',
    ],
)
def test_a_call_that_is_written_beside_native_tools_is_never_the_answer(reply: str) -> None:
    events, model = run([reply, *NATIVE], native=True)
    assert State.fold(events).answer == "68 F"
    assert model.requests[1][-1][1].startswith("That will not do")
    whole = 'Let me look.\n[{"module": "weather", "args": {"city": "Paris"}}]'
    assert State.fold(run([whole, *NATIVE[1:]], native=True)[0]).executed_names[0] == "weather"


@pytest.mark.parametrize(
    "answer",
    [
        "The weather says 20, and to convert that gives 68 F.",
        *('{"degrees": 20}', "[20, 68]", '{"name": "Paris", "of": ["France"]}'),
        *("$weather.temp", "$$5"),
    ],
)
def test_a_native_answer_may_speak_of_a_tool_be_json_or_begin_with_a_dollar(answer: str) -> None:
    assert State.fold(run([NATIVE[0], answer])[0]).answer == answer


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ([f"Answer: {IN_TEXT[0]}", "Answer: 20"], "20"),
        (["Answer: 10.47\n\nCall again."], "10.47"),
        (["The answer is:\nLyon."], "Lyon."),
        ([IN_TEXT[0], IN_TEXT[0], IN_TEXT[0], "Answer: 20"], "20"),
        (["Let me look.\n[weather", "{fault}"], None),
        (["Let me look.\n[weather", "Answer: no"], "no"),
    ],
)
def test_what_stands_behind_answer_is_a_call_or_one_answer(script: list[str], answer: str | None) -> None:
    fault = State.fold(run(script[:1] * 2, native=False)[0]).plans[0].refused.partition(". ")[0]
    said = [each.replace("{fault}", fault.capitalize()) for each in script]
    assert State.fold(run(said, native=False)[0]).answer == answer


def test_a_model_that_calls_on_is_stopped() -> None:
    cities = [calls(("weather", {"city": city})) for city in "ABCDEF"]
    events, model = run([*cities[:2], *IN_TEXT[:1] * 2], max_turns=2)
    ended = State.fold(events).ended
    assert ended is not None and "raise max_turns" in str(ended.error)
    told = [text for role, text in model.requests[2] if role != "system"]
    assert told[1] == 'weather (city: "A")' and "last turn" in told[-1], "in words, and without tools"
    ended = State.fold(run(["Answer:", "Answer:"], native=False)[0]).ended
    assert ended is not None and "holds no answer" in str(ended.error)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Answer: **Lisbon**", "Lisbon"),
        ("**Lisbon**", "Lisbon"),
        ("```\nLisbon\n```", "Lisbon"),
        ('Answer: {"answer": "Lisbon"}', "Lisbon"),
        ("Answer: The cities are:\n\n- Lisbon\n- Porto", "The cities are:\n\n- Lisbon\n- Porto"),
        ("3 cities.\n\nThey are Lisbon, Porto and Lyon.", "3 cities.\n\nThey are Lisbon, Porto and Lyon."),
        ("2019\n\n2020\n\n2021", "2019\n\n2020\n\n2021"),
        ("Answer: Lisbon\n\nQuestion: the least?\nAnswer: Lyon", "Lisbon"),
        ("Select the largest from the list: Lisbon.", "Select the largest from the list: Lisbon."),
        ("I do not know Rome, but Oslo has 4.", "I do not know Rome, but Oslo has 4."),
        ("There is no tool 'hammer' in the shop.", "There is no tool 'hammer' in the shop."),
        ('Answer: {"to": "Oslo"}', '{"to": "Oslo"}'),
        ("Answer: fetch_rows(n=3)", None),
        ("Answer: nan", None),
        ("[]", None),
        ('{"city": "Oslo"}', None),
    ],
)
def test_an_answer_is_read_out_of_what_it_stands_in(said: str, answer: str | None) -> None:
    assert State.fold(run([said, said], native=False)[0]).answer == answer
    assert State.fold(run([NATIVE[0], said, said], native=True)[0]).answer == answer


def test_native_tools_are_taken_away_for_the_last_turn() -> None:
    events, model = run([NATIVE[0]] * 4)
    state = State.fold(events)
    assert state.answer is None and len(state.history) == 2
    assert "weather (city" in str(model.requests[3]), "what was called is told in words"
