"""Plans with arguments, as models write and mangle them: executed as meant or refused."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Any, Literal

import pytest

from chameleon import LLM, Inventory, State, Step, tool
from chameleon.errors import PlanError
from chameleon.llm import ScriptedModel
from chameleon.plan_text import parse_plan
from chameleon.planners.react import React

Random = random.Random
Record = Callable[[str, object], None]
Call = tuple[str, dict[str, Any]]


@tool
def convert(amount: float, to: Literal["C", "F"] = "F") -> float:
    "Converts a temperature."
    return amount


@tool
def weather(city: str, days: int = 1) -> dict[str, float]:
    "Tells the weather of a city."
    return {"temp": 20.0}


@tool
def search(query: str, sites: list[str] | None = None, options: dict[str, Any] | None = None) -> str:
    "Finds text."
    return query


@tool
def now() -> str:
    "Tells the time."
    return "12:00"


@tool
def recall(note: str = "", most: int = 0) -> str:
    "Tells what was noted."
    return note


@tool
def summary_writer(state: State) -> str:
    "Sums up what was found."
    return "sum"


INVENTORY = Inventory.of([convert, weather, search, now, recall, summary_writer])
TAKES = INVENTORY.takes
TEXTS = [
    *["Rome", "", "{n}", "null", "$weather.temp", "$$5", "], [", "# x // y", "<b>{n}</b>"],
    *['say "now"', '{{"module": "now"}}', "river, bank (north) [{n}]", "weather -> convert"],
    *["convert(amount={n})", "then search; |{n}|", "“São” – {n}", "back\\slash {n}", "amount: {n}"],
    *["a\nz {n}", "it's {n}", "1. weather: {n}"],
]


def meant(chance: Random, number: Any) -> list[Call]:
    """A plan whose values are each there once, so that it shows where one is lost."""

    def text() -> str:
        return chance.choice(TEXTS).format(n=f"v{next(number)}")

    def one() -> Call:
        match chance.randrange(6):
            case 0:
                return "convert", {"amount": chance.choice([next(number), -next(number), next(number) + 0.5])}
            case 1:
                return "convert", {"amount": "$weather.temp", "to": chance.choice("CF")}
            case 2:
                return "weather", {"city": text(), "days": next(number)}
            case 3:
                more = {"sites": [text(), text()], "options": {"deep": [True, None], "of": {"name": text()}}}
                return "search", {"query": text(), **(more if chance.random() < 0.5 else {})}
            case 4:
                given = {"note": text(), "most": next(number)}
                return "recall", {key: value for key, value in given.items() if chance.random() < 0.7}
        return chance.choice(["now", "summary_writer"]), {}

    return [("weather", {"city": text()}), *(one() for _ in range(chance.randint(1, 3)))]


def as_call(call: Call, write: Callable[[Any], str] = repr) -> str:
    name, args = call
    return f"{name}({', '.join(f'{key}={write(value)}' for key, value in args.items())})"


def as_object(call: Call, chance: Random) -> Any:
    name, args = call
    forms: list[Callable[[], Any]] = [
        lambda: {"module": name, "args": args},
        lambda: {"name": name, "arguments": args, "reason": "it helps"},
        lambda: {"type": "function", "function": {"name": name, "arguments": json.dumps(args)}},
        lambda: {"step": 1, "tool": name, "parameters": args},
        lambda: {"action": name, "action_input": args, "thought": "[why] {that}"},
        lambda: {"module": name, **args},
        lambda: name if not args else {"module": name, "args": args},
    ]
    return chance.choice(forms)()


def objects(plan: list[Call], chance: Random) -> list[Any]:
    return [as_object(call, chance) for call in plan]


def dumped(given: Any, chance: Random) -> str:
    return json.dumps(given, indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)


def lines(plan: list[Call], form: Callable[[Call], str], start: str = "{n}. ") -> str:
    return "\n".join(start.format(n=n) + form(call) for n, call in enumerate(plan, 1))


def behind(call: Call) -> str:
    return f"{call[0]} {json.dumps(call[1])}" if call[1] else call[0]


FORMS: dict[str, Callable[[list[Call], Random], str]] = {
    "JSON": lambda plan, chance: dumped(objects(plan, chance), chance),
    "structured": lambda plan, chance: dumped({"modules": objects(plan, chance)}, chance),
    "steps": lambda plan, chance: dumped(
        {"thought": "[why]", "plan": {"steps": objects(plan, chance)}}, chance
    ),
    "by name": lambda plan, chance: dumped([{name: args} if args else name for name, args in plan], chance),
    "Python": lambda plan, chance: repr(objects(plan, chance)),
    "tags": lambda plan, chance: "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': args})}\n</tool_call>" for name, args in plan
    ),
    "calls": lambda plan, chance: "\n".join(as_call(call) for call in plan),
    "list of calls": lambda plan, chance: f"[{', '.join(as_call(call, json.dumps) for call in plan)}]",
    "texts of calls": lambda plan, chance: json.dumps([as_call(call) for call in plan]),
    "arrows": lambda plan, chance: " -> ".join(as_call(call, json.dumps) for call in plan),
    "numbered": lambda plan, chance: lines(plan, as_call),
    "numbered objects": lambda plan, chance: lines(plan, behind),
    "numbered steps": lambda plan, chance: lines(plan, lambda call: json.dumps(as_object(call, chance))),
    "bullets": lambda plan, chance: lines(plan, lambda call: f"`{as_call(call, json.dumps)}`", "- "),
}


def written(args: dict[str, Any], form: str) -> str:
    return "".join(form.format(key, value) for key, value in args.items())


# How arguments may stand of which no reader can know that it has them all: meant, or refused.
LOOSE: dict[str, Callable[[list[Call], Random], str]] = {
    "YAML": lambda plan, chance: "\n".join(
        f"- module: {name}\n  args:" + written(args, "\n    {}: {}") for name, args in plan
    ),
    "lines below": lambda plan, chance: "\n".join(
        f"{n}. {name}" + written(args, "\n   - {}: {}") for n, (name, args) in enumerate(plan, 1)
    ),
    "bullets below": lambda plan, chance: "\n".join(
        f"- {name}" + written(args, "\n    {} = {}") for name, args in plan
    ),
    "beside the list": lambda plan, chance: (
        json.dumps([name for name, _ in plan])
        + "".join(f"\n{name}:{written(args, ' {} = {}')}" for name, args in plan if args)
    ),
    "objects beside": lambda plan, chance: (
        json.dumps([name for name, _ in plan])
        + f"\nwith {json.dumps(chance.choice([[args for _, args in plan], dict(plan)]))}"
    ),
    "beside, in one object": lambda plan, chance: json.dumps(
        {"modules": [name for name, _ in plan], "args": [args for _, args in plan]}
    ),
    "ReAct": lambda plan, chance: "\n".join(
        f"Thought: so\nAction: {name}\nAction Input: {json.dumps(args)}" for name, args in plan
    ),
    "Action, bare": lambda plan, chance: "\n".join(
        f"Action: {name}\nAction{chance.choice([' ', '_', ''])}Input: {next(iter(args.values()), '')}"
        for name, args in plan
    ),
    "options": lambda plan, chance: lines(plan, lambda call: call[0] + written(call[1], " --{} {}")),
    "prose": lambda plan, chance: lines(plan, lambda call: call[0] + written(call[1], " with {} {}")),
    "colons": lambda plan, chance: lines(plan, lambda call: as_call(call, json.dumps).replace("=", ": ")),
    "brackets": lambda plan, chance: lines(plan, lambda call: re.sub(r"\((.*)\)", r"[\1]", as_call(call))),
    "angles": lambda plan, chance: "\n".join(
        f'<invoke name="{name}">{written(args, """<parameter name="{}">{}</parameter>""")}</invoke>'
        for name, args in plan
    ),
    "assigned": lambda plan, chance: "\n".join(f"x{n} = {as_call(call)}" for n, call in enumerate(plan)),
    "table": lambda plan, chance: "\n".join(
        ["| module | args |", "|---|---|", *(f"| {name} | {json.dumps(args)} |" for name, args in plan)]
    ),
    "synonyms": lambda plan, chance: json.dumps(
        [{"module": name, chance.choice(["inputs", "payload", "Args", "with"]): args} for name, args in plan]
    ),
    "lists of values": lambda plan, chance: json.dumps(
        [{"module": name, "args": [*args.values()]} if args else name for name, args in plan]
    ),
    "nested calls": lambda plan, chance: f"summary_writer({', '.join(as_call(call) for call in plan)})",
    "twice": lambda plan, chance: json.dumps(
        [{"module": name, "args": args, "arguments": {**args, "days": 0}} for name, args in plan]
    ),
    "halves": lambda plan, chance: "\n".join(
        json.dumps(objects(part, chance)) for part in (plan[:1], plan[1:])
    ),
}
HARMLESS: list[Callable[[str, Random], str]] = [
    lambda text, chance: text,
    lambda text, chance: f"Let me think [about it], for the best.\n{text}",
    lambda text, chance: f"The plan:\n\n{text}\n",
    lambda text, chance: f"```json\n{text}\n```",
    lambda text, chance: f"{text}\n\nThat is all (I think).",
    lambda text, chance: text.replace("summary_writer", chance.choice(["summary writer", "Summary-Writer"])),
    lambda text, chance: text.replace("\n", "\r\n") if "a\nz" not in text else text,
]
MANGLES: list[Callable[[str, Random], str]] = [
    lambda text, chance: text.replace('"', "'"),
    lambda text, chance: text.replace("'", '"'),
    lambda text, chance: text.translate({34: chance.choice("“”„")}),
    lambda text, chance: re.sub(r'"([^"]*)"', r"“\1”", text),
    lambda text, chance: re.sub(r"([\]}])", lambda sign: "," * (chance.random() < 0.5) + sign[0], text),
    lambda text, chance: text.replace("null", "None").replace("true", "True"),
    lambda text, chance: re.sub(r"\bv?\d{4}\b", chance.choice(["NaN", "-Infinity", "01"]), text, count=1),
    lambda text, chance: re.sub(r'("\w+": ?)("[^"]*"|[\d.-]+)', r"\1\2, \1 0", text, count=1),
    lambda text, chance: re.sub(r"(\w+=)([\d.-]+|'[^']*')", r"\1\2, \1 0", text, count=1),
    lambda text, chance: re.sub(r"(\d{4})", r"\1 // or so\n", text, count=1),
    lambda text, chance: text.replace("args", chance.choice(["arg", "argument", "inputs"]), 1),
    lambda text, chance: text.replace("(", chance.choice(["( ", "(\n", " (", "[", "{"]), 1),
    lambda text, chance: text.replace("\\", chance.choice(["", "\\\\"])),
    lambda text, chance: text.replace(",", chance.choice(["", ";", ",,"]), 1),
    lambda text, chance: text.replace("weather", chance.choice(["Weather", "wether", "**weather**"]), 1),
    lambda text, chance: " ".join(text.split()),
]


MORE = "summary_writer for all"
REMARKS: dict[str, Callable[[list[Call], Random], str]] = {
    "bullets with remarks": lambda plan, chance: lines(plan, lambda call: f"{as_call(call)}: because", "- "),
    "stars with remarks": lambda plan, chance: lines(
        plan, lambda call: f"**{as_call(call)}** - because", "* "
    ),
    "numbers with remarks": lambda plan, chance: lines(plan, lambda call: f"{as_call(call)} (it helps)"),
    "steps with remarks": lambda plan, chance: lines(plan, lambda call: f"{as_call(call)}: so", "Step {n}: "),
    "calls, then": lambda plan, chance: ", then ".join(as_call(call) for call in plan),
    "a list of lines": lambda plan, chance: json.dumps(
        [name if not args else {"module": name, "args": args} for name, args in plan], indent=2
    ),
    "an object a line": lambda plan, chance: "\n".join(
        json.dumps({"module": name, "args": args}) for name, args in plan
    ),
    "Action": lambda plan, chance: "\n".join(
        f"Action: {name}\nAction Input: {json.dumps(args)}" for name, args in plan
    ),
}
TANGLES: list[Callable[[str, Random], str]] = [
    lambda text, chance: f"Plan: {text}",
    lambda text, chance: f"I think {text}\nDone.",
    lambda text, chance: f"{text} because it fits",
    lambda text, chance: f"First of all,\nlet me think.\n\n{text}\n\nThat is it,\nand all.",
    lambda text, chance: f"{text}\n{chance.choice(['Then ', 'and ', '- ', ''])}{MORE}",
    lambda text, chance: text.replace(
        '"args"', chance.choice(['"x": 1, "args"', '"then": "now", "args"']), 1
    ),
    lambda text, chance: dropped(text, "}]", chance),
    lambda text, chance: dropped(text, "{[(", chance),
    lambda text, chance: dropped(text, "\n", chance),
    lambda text, chance: dropped(text, "\"'", chance),
    lambda text, chance: re.sub(
        r": because", chance.choice(["", ": because, then", " - because"]), text, count=1
    ),
    lambda text, chance: text.replace("\n", chance.choice(["\n\n", "\nthen ", "\nand ", ",\n", " "]), 1),
    lambda text, chance: text.replace(", ", chance.choice([" and ", " then ", "\n", "; "]), 1),
]


def dropped(text: str, signs: str, chance: Random) -> str:
    """Leave out one of these signs."""
    places = [place for place, sign in enumerate(text) if sign in signs] or [len(text)]
    place = chance.choice(places)
    return text[:place] + text[place + 1 :]


def readings(text: str) -> list[Step]:
    """What a planner makes of a reply: it is read, and held against the schemas. Raises `PlanError`."""
    steps = parse_plan(text, INVENTORY.modules, TAKES)
    INVENTORY.check_plan(steps, State({"question": "?"}))
    return list(steps)


def calls_of(steps: Iterable[Step]) -> list[Call]:
    return [(step.module, json.loads(json.dumps(step.args or {}))) for step in steps]


def tally(text: str, found: Counter[str]) -> list[Call] | None:
    """What is read, counted; None where it is refused."""
    try:
        read = calls_of(readings(text))
    except PlanError:
        found["refused"] += 1
        return None
    found["read"] += 1
    return read


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_in_a_known_form_is_read_as_meant_or_refused(form: str, record_property: Record) -> None:
    chance, number = Random(form), count(1000)
    harmless, mangled = Counter[str](), Counter[str]()
    for _ in range(250):
        plan = meant(chance, number)
        text = chance.choice(HARMLESS)(FORMS[form](plan, chance), chance)
        assert tally(text, harmless) in (plan, None), (plan, text)
        text = chance.choice(MANGLES)(text, chance)
        read = tally(text, mangled)
        assert read is None or altered(plan, read, text), (plan, read, text)
    record_property("harmless", dict(harmless))
    record_property("mangled", dict(mangled))
    assert harmless["read"] >= 200 and mangled["read"] >= 80 and mangled["refused"] >= 20, (harmless, mangled)


@pytest.mark.parametrize("form", REMARKS)
def test_no_step_is_lost_beside_prose_remarks_and_what_is_left_of_a_step(
    form: str, record_property: Record
) -> None:
    chance, number, found = Random(form), count(1000), Counter[str]()
    for _ in range(600):
        plan = [*meant(chance, number), *[("now", {})] * chance.randrange(2)]
        chance.shuffle(plan)
        text = REMARKS[form](plan, chance)
        for _ in range(chance.randint(1, 2)):
            text = chance.choice(TANGLES)(text, chance)
        read = tally(text, found)
        more = ("summary_writer", {})
        is_explained = '"module"' in text and more in plan
        wanted = [plan] if MORE not in text or is_explained else [[*plan, more]]
        assert read is None or any(altered(each, read, text) for each in wanted), (plan, read, text)
    record_property("tangled", dict(found))
    assert found["read"] >= 50 and found["refused"] >= 100, found


def altered(plan: list[Call], read: list[Call], text: str) -> bool:
    """Whether a plan has each step and argument, and values of which a mangle has changed characters."""
    if [(name, [*args]) for name, args in plan] != [(name, [*args]) for name, args in read]:
        return False
    values = zip(leaves([args for _, args in plan]), leaves([args for _, args in read]), strict=True)
    return all(
        one == other or squeezed(f"{other:.9g}" if isinstance(other, float) else str(other)) in squeezed(text)
        for one, other in values
    )


def leaves(value: Any) -> list[Any]:
    if not isinstance(value, dict | list):
        return [value]
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in leaves(part)]


def squeezed(text: str) -> str:
    """A text without quotes, backslashes and spaces, its escapes read."""
    text = re.sub(r"\\+u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text)
    return re.sub(r"""\\+[nr]|[\s\\"'“”„]""", "", text)


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_that_is_cut_or_mistyped_anywhere_loses_nothing_else(
    form: str, record_property: Record
) -> None:
    chance, number, found = Random(form), count(1000), Counter[str]()
    plan = [*meant(chance, number)[:2], ("now", {}), ("convert", {"amount": next(number), "to": "C"})]
    text = FORMS[form](plan, chance)
    for place in range(len(text)):
        sign = chance.choice("[]{}(),:;\"'\n-=$ ")
        before, after = text[:place], text[place:]
        for mangled in (before, before + sign + after, before + after[1:]):
            read = tally(mangled, found)
            assert read is None or conserved(plan, read, mangled), (plan, read, mangled)
    record_property("cut or mistyped", dict(found))
    assert found["read"] >= 20 and found["refused"] >= 150, found


def conserved(plan: list[Call], read: list[Call], text: str) -> bool:
    """Whether what was read is a part of a plan, and nothing of its other steps is in the text."""
    if not read[-1][1] and text.rstrip().endswith(read[-1][0]):  # cut off where its arguments begin
        plan = [(name, {} if read[-1] == (name, {}) else args) for name, args in plan]
    for start in range(len(plan)):
        kept, lost = plan[start : start + len(read)], [*plan[:start], *plan[start + len(read) :]]
        if altered(kept, read, text):
            marks = [mark for mark in re.findall(r"v?\d{4}", repr(lost)) if mark in text]
            keys = {key for _, args in lost for key in args}
            more = [key for key in keys if len(given(key, text)) > len(given(key, json.dumps(read)))]
            names = [name for name, _ in lost if name in text and name not in repr(kept)]
            return not (marks or more or names)
    return False


def given(key: str, text: str) -> list[str]:
    return re.findall(rf"\b{key}\W{{0,3}}[:=]", text)


@pytest.mark.parametrize("form", LOOSE)
def test_arguments_in_a_form_that_is_not_known_are_never_left_out(form: str) -> None:
    chance, number = Random(form), count(1000)
    for _ in range(60):
        plan = meant(chance, number)
        text = chance.choice(HARMLESS)(LOOSE[form](plan, chance), chance)
        assert tally(text, Counter()) in (plan, None), (plan, text)


NATIVE: list[Callable[[str, dict[str, Any], Random], tuple[str, Any]]] = [
    lambda name, args, chance: (name, args),
    lambda name, args, chance: (name.replace("_", "-").title(), args),
    lambda name, args, chance: (name, json.dumps(args)[: chance.randrange(len(json.dumps(args)))]),
    lambda name, args, chance: (name, json.dumps(args or {"x": 1}).replace(":", ': NaN, "x":', 1)),
    lambda name, args, chance: (name, json.dumps([args])),
    lambda name, args, chance: (name + chance.choice(["s", "_tool", ""]), args),
    lambda name, args, chance: (name, {**args, chance.choice(["unit", "to", "args"]): float("nan")}),
    lambda name, args, chance: (name, {key[:-1]: value for key, value in args.items()}),
]


def test_calls_by_a_providers_tools_are_taken_as_meant_or_refused(record_property: Record) -> None:
    chance, number, found = Random("native"), count(1000), Counter[str]()
    plan, said = list[Call](), list[tuple[str, Any]]()
    script = lambda messages: {"tool_calls": [{"name": name, "args": args} for name, args in said]}  # noqa: E731
    planner = React(native=True).with_llm(LLM.connect(ScriptedModel(script)))
    state = State({"question": "?"})
    for _ in range(400):
        plan = meant(chance, number)
        wrong = chance.randrange(2 * len(plan))
        said = [
            chance.choice(NATIVE[2:] if place == wrong else NATIVE[:2])(name, args, chance)
            for place, (name, args) in enumerate(plan)
        ]
        try:
            steps = planner.propose(state, INVENTORY).steps
            INVENTORY.check_plan(steps, state, whole=False)
        except PlanError:
            found["refused"] += 1
            continue
        found["read"] += 1
        assert calls_of(steps) == plan, said
    record_property("native", dict(found))
    assert found["read"] >= 150 and found["refused"] >= 100, found


@pytest.mark.parametrize(
    "text",
    [
        'weather(city=\'Rome\')\n1. "now"\n2. {"module": "convert", "args": {"amount": 3}}',
        '1. "now"\n2. {"module": "convert", "args": {"amount": 3}}\n3. {"module": "now"}',
        'convert(amount=3)\nweather["Rome")',
        'convert(amount=3, # to="C"\n)',
        'search(query="a", sites=["b" "c"])',
        'convert(amount=3)\nweather city="Rome"',
        '{"module": "convert", "args": {"amount": 3}}\n{"module": "wether", "args": {}}',
        '{"module": "convert", "args": {"amount": 3}} {"module": "now"} and so on\n{"module": "now"}',
        "- `convert(amount=3)`- `now()`\n- `now()`",
        'convert(amount=weather(city="Rome"), to="F")',
        '{"module": "weather", "args": {"city": "Rome"}, "days": 3}',
        '{"module": "now", "args": {"zone": "UTC"}}',
        '{"module": "convert", "args": {"amount": 3, "amount": 4}}',
        'convert(3, "F", "C")',
        "convert(3, amount=4)",
        'convert(**{"amount": 3})',
        'Plan: - now: first\n- weather(city="Rome"): then this',
        'I think now\nweather(city="Rome")\nDone.',
        "- now: because- summary_writer: because\n- summary_writer: b",
        "now, then\n summary_writer because it fits",
        'weather(city="Rome")\nnow\nweather(city="Rome") because it fits',
        'Plan: nw\nweather(city="Rome")\nDone.',
        '[{"module": "now", "x": 1}]',
        '{"module": "now", "then": "weather(city=\'Rome\')"}',
        '{"plan": ["now"], "then": "summary_writer, now"}',
        '{"plan": ["now"], "args": {"x": 1}}',
        '[{"modul": "convert", "args": {"amount": 3}}]',
        "now, then ind_rows(wo['now'])",
        '{"type": "function", "function": {"name": "now"}, "then": "summary_writer"}',
        '["now"]\n- summary_writer: last',
        '["now"]\nThen now',
        'now\n{"x": 1}',
        '- now("UTC")',
        '{"module": "now"}\n({"module": "now"})',
        '{"odule": "now"} {"module": "now"} because it fits',
        "Thought: so\nAction: recall\nAction Input: Rome",
        "Action: recall\nActin Input: Rome",
        "Action: recall\nAction Input:\nRome",
        "- now\n- recall\n  nte: Rome",
        "- module: recall\n  why: it helps\n  n;: 3",
        "v3'])\nnow",
        "- now\nthen - vert(amount(=3): so\n- now",
        '{"plan": ["now"], "x": 3}',
        "recallrecall\nnow",
        "s ; earch\nnow",
        "- now: because\n- summ`ary_writer: because",
        "Step 1: now - because\nStep 2summary_writer - so",
        "```\nnow\nsear|ch(query3)\n```",
        "- now\n- recall\n  note Rome",
        "Action: now\ntion Input: Rome",
        "Action: coAction Input: Rome\nAction: now\nAction Input:",
        "Action: recall\nAction Input\n1.: 3",
        "Action: recallction Input: Rome\nAction: now\nAction Input:",
        "Action: recall\nAction In3",
        "Action now Action Input:\nAction: now\nAction Input:",
        "Action: recall\nAction Inpu\nt: Rome",
        "- module: now\n\n - module summary_writer (ok)",
        "- module: now\n- module: summar y_writer",
        "- module: now\n- module: convemount: 3",
        "- module: recall\n  noe Rome",
        '1. {"module": "now"}\n2. "ow"\n3. {"module": "now"}',
        '{"plan": ["now"], "then": "the rest"}',
    ],
)
def test_an_argument_or_a_step_that_might_be_lost_refuses_the_plan(text: str) -> None:
    with pytest.raises(PlanError):
        readings(text)


@pytest.mark.parametrize(
    "text",
    [
        'convert(3, "C")',
        'convert({"amount": 3, "to": "C"})',
        "convert(amount=3, to='C',)",
        'First I thought of a search (of pages), but:\n\n```python\nconvert(amount=3, to="C")\n```',
        '{"convert": {"amount": 3, "to": "C",}}',
        '**convert**(amount=3, to="C")',
        "1. convert with {'amount': 3, 'to': 'C'}",
        '{"module": "Convert", "params": {"amount": 3, "to": "C"}, "note": "for [Rome]"}',
        "{“module”: “convert”, “args”: {“amount”: 3, “to”: “C”}}",
        '{"modules": [{"name": "convert", "kwargs": {"amount": 3, "to": "C"}, "why": "no search"}]}',
        'Action: convert\nAction Input: {"amount": 3, "to": "C"}\nObservation:',
        '{"question": "3 degrees?", "confidence": 0.9, "plan": [{"convert": {"amount": 3, "to": "C"}}]}',
        "a) Not yet :)\nconvert(amount=3, to='C')",
        "The weather is not asked for.\n[\"convert(amount=3, to='C')\"]\nIt gives the search nothing.",
    ],
)
def test_what_models_write_is_read(text: str) -> None:
    assert calls_of(readings(text)) == [("convert", {"amount": 3, "to": "C"})]


def test_a_list_over_several_lines_is_read_whole_whatever_follows_it() -> None:
    text = 'Plan: ["now",\n  "summary_writer",\n  "now"\n] because it fits'
    assert [step.module for step in readings(text)] == ["now", "summary_writer", "now"]


def test_the_steps_of_a_list_may_be_explained_once() -> None:
    text = '["now", "summary_writer"]\n\n- now: tells the time\n- summary_writer: sums it up'
    assert [step.module for step in readings(text)] == ["now", "summary_writer"]
    with pytest.raises(PlanError, match="'now' stands beside the plan"):
        readings(text + "\n- now: again")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'now\n{"module": "weather", "args": {"city": "Rome"}}',
            "'now' stands beside the plan, and not in it",
        ),
        ('weather(city="Rome") -> nope(x=1)', "there is no module 'nope'. There are: "),
        ('nope(x=1) -> weather(city="Rome")', "there is no module 'nope'. There are: "),
        ('wether(city="Rome")', "there is no module 'wether'. Did you mean 'weather'?"),
        ('weather {"citty": "Rome"}', "weather takes no argument 'citty'. Did you mean 'city'?"),
        ("v3'])\nnow", 'what ends with "v3\']" cannot be read'),
        ('[{"module": "now", "x": 1}]', "the call of now has a key 'x'. Give its name alone."),
    ],
)
def test_the_fault_is_told_as_it_is(text: str, told: str) -> None:
    with pytest.raises(PlanError) as caught:
        readings(text)
    assert str(caught.value).startswith(told)


def test_an_object_among_the_arguments_that_looks_like_a_call_is_an_argument() -> None:
    inner = {"module": "weather", "args": {"city": "Rome"}}
    text = json.dumps([{"module": "search", "args": {"query": "x", "options": inner}}])
    assert calls_of(readings(text)) == [("search", {"query": "x", "options": inner})]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000,
        "convert(" * 2_000,
        '{"module": ' * 1_500,
        "weather[" * 2_000,
        f"convert(amount={'(' * 3_000}",
        f"Action: recall\nAction Input{' ' * 15_000}x",
        "recall\n  a: b" * 1_500,
        "weather" + "\n" * 15_000 + "x(",
    ],
    ids=range(8),
)
def test_a_hostile_reply_is_refused_in_time(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(PlanError):
        readings(text)
    for native in (True, False):
        with suppress(PlanError):
            replied = React(native=native).with_llm(LLM.connect(ScriptedModel(lambda messages: text)))
            replied.propose(State({"question": "?"}), INVENTORY)
    assert time.process_time() - begun < 20
