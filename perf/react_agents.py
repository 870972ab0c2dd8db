"""What `react` and `one_shot` take over the same tools, and whether their runs resume and keep to budgets.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e . -r perf/requirements.txt
    /tmp/perf/bin/python perf/react_agents.py

No model is asked: the script knows which tools a question needs, and replies to each request in its form. For
`react` it writes the values that came back, for `one_shot` references. Tokens are estimated, tools as JSON.

- at once: the most tools that ran at the same time.
- resumed: from how many of the prefixes of its log the run came to the same answer in as many events.
- budgets: how many of the budgets that are too small, in calls and in steps, ended the run in time.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from timings import table

from chameleon import LLM, Budget, Executor, Inventory, State, tool
from chameleon.llm import ScriptedModel
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.planners.one_shot import OneShot
from chameleon.planners.react import React
from chameleon.text import estimated_tokens

NATIVE, TEXT, ONE_SHOT = "react", "react, in text", "one_shot"
PLANNERS = {NATIVE: React(native=True), TEXT: React(native=False), ONE_SHOT: OneShot()}
Turns = Sequence[Sequence[tuple[str, dict[str, str]]]]
PEOPLE, AREA = ("population", {"city": "Oslo"}), ("area", {"city": "Oslo"})
CAPITAL, ITS_AREA = ("capital", {"country": "Norway"}), ("area", {"city": "$capital"})
MILES = ("square_miles", {"square_km": "$area"})
DENSITY, MILLION = (("density", {"people": n, "area": "$square_miles"}) for n in ("$population", "1000000"))
TASKS: dict[str, tuple[str, Turns, str]] = {
    "1": ("How many people live in Oslo?", [[PEOPLE]], "709000"),
    "2 in a chain": ("How many square miles is Oslo?", [[AREA], [MILES]], "175.29"),
    "4 in a chain": (
        "Norway's capital of a million: how dense?",
        [[CAPITAL], [ITS_AREA], [MILES], [MILLION]],
        "5704.8",
    ),
    "4, two at once": ("People per square mile of Oslo?", [[PEOPLE, AREA], [MILES], [DENSITY]], "4044.7"),
}
running, peaks = list[str](), list[int]()


def looked_up(value: Any) -> Any:
    """Return the value after a while, as if from a network."""
    running.append("")
    peaks.append(len(running))
    time.sleep(0.02)
    running.pop()
    return value


def capital(country: str) -> str:
    """Tells the capital of a country."""
    return looked_up({"Norway": "Oslo"}[country])


def population(city: str) -> int:
    """Tells how many people live in a city."""
    return looked_up({"Oslo": 709_000}[city])


def area(city: str) -> float:
    """Tells the area of a city in square kilometres."""
    return looked_up({"Oslo": 454.0}[city])


def square_miles(square_km: float) -> float:
    """Converts square kilometres to square miles."""
    return looked_up(round(square_km / 2.59, 2))


def density(people: int, area: float) -> float:
    """Tells how many people live on one unit of an area."""
    return looked_up(round(people / area, 1))


def reply(form: str, turns: Turns, messages: Sequence[tuple[str, str]]) -> str | dict[str, Any]:
    """Return the next calls, or the answer, in the form that the planner asks for."""
    found = {text.name: text.text for _, text in messages if isinstance(text, ResultText)}
    found |= dict(re.findall(r"<(\w+)>\n(.*?)\n</\1>", "\n".join(text for _, text in messages[2:])))
    if (done := sum(role == "assistant" for role, _ in messages)) == len(turns):
        return ("Answer: " if form == TEXT else "") + [*found.values()][-1]
    calls = [call for turn in turns for call in turn] if form == ONE_SHOT else turns[done]
    named = "name" if form == NATIVE else "module"
    made = [
        {named: n, "args": {k: found.get(v.removeprefix("$"), v) for k, v in a.items()}} for n, a in calls
    ]
    return {"tool_calls": made} if form == NATIVE else json.dumps(made)


def row(kind: str, form: str) -> list[str]:
    """Run a task, go on from every prefix of its log, and run it with every budget that is too small."""
    question, turns, answer = TASKS[kind]
    inventory = Inventory.of([*map(tool, (capital, population, area, square_miles, density))], PLANNERS[form])
    llm, given = LLM.connect(ScriptedModel(partial(reply, form, turns))), {"question": question}
    executor = Executor(inventory, llm)
    peaks.clear()
    events = list(executor.stream(given))
    at_once, state = max(peaks), State.fold(events)
    assert str(state.answer) == answer, state.ended
    calls = [call for plan in state.plans for call in plan.calls]
    tools = json.dumps([React.as_tool(card) for card in inventory.cards]) if form == NATIVE else ""
    read = ["\n".join([tools, *(text for _, text in call.messages)]) for call in calls]
    written = [CallingText(call.text, [ToolCall(**each) for each in call.tool_calls]) for call in calls]
    tokens = [sum(map(estimated_tokens, texts)) for texts in (read, written)]
    runs = [[*events[:count], *executor.stream(given, events[:count])] for count in range(len(events))]
    resumed = sum(len(run) == len(events) and State.fold(run).answer == state.answer for run in runs)
    took = {"calls": len(calls), "steps": state.steps_taken}
    small = [(name, most) for name, count in took.items() for most in range(count)]
    kept = 0
    for name, most in small:
        run = Executor(inventory, llm, budget=Budget(**{name: most})).run(given)
        spent = run.usage.calls if name == "calls" else run.steps_taken
        kept += run.ended.reason == "budget" and spent <= most
    counts = (f"{count:,}" for count in (len(calls), len(events), at_once, *tokens))
    return [f"{kind}: {form}", *counts, f"{resumed} of {len(runs)}", f"{kept} of {len(small)}"]


if __name__ == "__main__":
    head = ["tools: planner", "calls", "events", "at once", "tokens read", "written", "resumed", "budgets"]
    table("One question each", head, [row(kind, form) for kind in TASKS for form in PLANNERS])
