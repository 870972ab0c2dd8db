"""Plans as models write and mangle them: executed as meant or refused, never with a step or argument lost."""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, Literal

import pytest

from chameleon import LLM, Inventory, State
from chameleon.core.plan_text import parse_plan
from chameleon.core.planner import check_plan
from chameleon.errors import PlanError
from chameleon.llm import ScriptedModel
from chameleon.planners.react import React
from tests.engine.files import pieces

Random = random.Random
Call = tuple[str, dict[str, Any]]
Write = Callable[[list[Call], Random], str]
Mangle = Callable[[str, Random], str]


def convert(amount: float, to: Literal["C", "F"] = "F") -> float: ...
def weather(city: str, days: int = 1) -> dict[str, float]: ...
def search(query: str, sites: list[str] | None = None, options: dict[str, Any] | None = None) -> str: ...
def now() -> str: ...
def recall(note: str = "", most: int = 0) -> str: ...
def summary_writer(state: State) -> str: ...


INVENTORY = Inventory.of([convert, weather, search, now, recall, summary_writer])
NAMES = ("row_lookup", "column_lookup", "solution_generator", "program_generator", "answer_generator")
TEXTS = [
    *["Rome", "", "{n}", "null", "$weather.temp", "$$5", "], [", "# x // y", "<b>{n}</b>"],
    *['say "now"', '{{"module": "now"}}', "river, bank (north) [{n}]", "weather -> convert"],
    *["convert(amount={n})", "then search; |{n}|", "“São” – {n}", "back\\slash {n}", "amount: {n}"],
    *["a\nz {n}", "it's {n}", "1. weather: {n}"],
]


def meant(chance: Random, number: Any) -> list[Call]:
    """Return a plan whose values are each there once, so that it shows where one is lost."""

    def text() -> str:
        return chance.choice(TEXTS).format(n=f"v{next(number)}")

    def one() -> Call:
        more = {"sites": [text(), text()], "options": {"deep": [True, None], "of": {"name": text()}}}
        noted = {"note": text(), "most": next(number)}
        calls: list[Call] = [
            ("convert", {"amount": chance.choice([next(number), -next(number), next(number) + 0.5])}),
            ("convert", {"amount": "$weather.temp", "to": chance.choice("CF")}),
            ("weather", {"city": text(), "days": next(number)}),
            ("search", {"query": text(), **(more if chance.random() < 0.5 else {})}),
            ("recall", {key: value for key, value in noted.items() if chance.random() < 0.7}),
            (chance.choice(["now", "summary_writer"]), {}),
        ]
        return chance.choice(calls)

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


def dumped(value: Any, chance: Random) -> str:
    return json.dumps(value, indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)


def objects(plan: list[Call], chance: Random) -> list[Any]:
    return [as_object(call, chance) for call in plan]


def lines(plan: list[Call], form: Callable[[Call], str], start: str = "{n}. ") -> str:
    return "\n".join(start.format(n=n) + form(call) for n, call in enumerate(plan, 1))


def spelled(plan: list[Call], form: str, each: str) -> str:
    args = ["".join(each.format(key, value) for key, value in args.items()) for _, args in plan]
    return "\n".join(form.format(n, plan[n - 1][0]) + text for n, text in enumerate(args, 1))


FORMS: dict[str, Write] = {
    "JSON": lambda plan, chance: dumped(objects(plan, chance), chance),
    "structured": lambda plan, chance: dumped({"modules": objects(plan, chance)}, chance),
    "steps": lambda plan, chance: dumped({"why": "[y]", "plan": {"steps": objects(plan, chance)}}, chance),
    "by name": lambda plan, chance: dumped([{name: args} if args else name for name, args in plan], chance),
    "Python": lambda plan, chance: repr(objects(plan, chance)),
    "tags": lambda plan, chance: "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': args})}\n</tool_call>" for name, args in plan
    ),
    "calls": lambda plan, chance: lines(plan, as_call, ""),
    "list of calls": lambda plan, chance: f"[{', '.join(as_call(call, json.dumps) for call in plan)}]",
    "texts of calls": lambda plan, chance: json.dumps([as_call(call) for call in plan]),
    "arrows": lambda plan, chance: " -> ".join(as_call(call, json.dumps) for call in plan),
    "labeled": lambda plan, chance: f"Plan: {', then '.join(as_call(call) for call in plan)}",
    "numbered": lambda plan, chance: lines(plan, as_call),
    "numbered objects": lambda plan, chance: lines(plan, lambda call: f"{call[0]} {json.dumps(call[1])}"),
    "numbered steps": lambda plan, chance: lines(plan, lambda call: json.dumps(as_object(call, chance))),
    "bullets": lambda plan, chance: lines(plan, lambda call: f"`{as_call(call, json.dumps)}`", "- "),
    "remarks": lambda plan, chance: lines(plan, lambda call: f"**{as_call(call)}** - because", "* "),
    "steps with remarks": lambda plan, chance: lines(plan, lambda call: f"{as_call(call)}: so", "Step {n}: "),
    "ReAct": lambda plan, _: lines(plan, lambda c: f"Action: {c[0]}\nAction Input: {json.dumps(c[1])}", ""),
}
# Forms of which no reader can know that it has all arguments: meant, or refused.
LOOSE: dict[str, Write] = {
    "YAML": lambda plan, chance: spelled(plan, "- module: {1}\n  args:", "\n    {}: {}"),
    "bullets below": lambda plan, chance: spelled(plan, "- {1}", "\n    {} = {}"),
    "next to the list": lambda plan, chance: (
        f"{json.dumps([name for name, _ in plan])}\n{spelled(plan, '{1}:', ' {} = {}')}"
    ),
    "Action, bare": lambda plan, chance: "\n".join(
        f"Action: {name}\nAction{chance.choice([' ', '_', ''])}Input: {next(iter(args.values()), '')}"
        for name, args in plan
    ),
    "prose": lambda plan, chance: spelled(plan, "{}. {}", " with {} {}"),
    "brackets": lambda plan, chance: lines(plan, lambda call: re.sub(r"\((.*)\)", r"[\1]", as_call(call))),
    "synonyms": lambda plan, chance: json.dumps(
        [{"module": name, chance.choice(["inputs", "payload", "Args", "with"]): args} for name, args in plan]
    ),
    "nested calls": lambda plan, chance: f"summary_writer({', '.join(as_call(call) for call in plan)})",
}
HARMLESS: list[Mangle] = [
    lambda text, chance: text,
    lambda text, chance: f"Let me think [about it], for the best.\n{text}",
    lambda text, chance: f"The plan:\n\n{text}\n",
    lambda text, chance: f"```json\n{text}\n```",
    lambda text, chance: f"{text}\n\nThat is all (I think).",
    lambda text, chance: re.sub("[_](?=writer|generator)", lambda _: chance.choice(" -_"), text),
    lambda text, chance: text.replace("\n", "\r\n") if "a\nz" not in text else text,
]
MORE = "summary_writer for all"
MANGLES: list[Mangle] = [
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
    lambda text, chance: text.replace(",", chance.choice(["", ";", ",,", " and ", "\n"]), 1),
    lambda text, chance: text.replace("weather", chance.choice(["Weather", "wether", "**weather**"]), 1),
    lambda text, chance: text.replace("\n", chance.choice(["\n\n", "\nthen ", "\nand ", ",\n", " ", ""]), 1),
    lambda text, chance: " ".join(text.split()),
    lambda text, chance: chance.choice(["Plan: %s", "I think %s\nDone.", "%s because it fits"]) % text,
    lambda text, chance: f"{text}\n{chance.choice(['Then ', 'and ', '- ', ''])}{MORE}",
    lambda text, chance: text.replace('"args"', '"then": "now", "args"', 1),
    lambda text, chance: text.replace(": so", chance.choice(["", ": so, then", " - so"]), 1),
]


def calls_in(text: str) -> list[Call]:
    """What a planner makes of a reply: it is read, and checked against the schemas. Raises `PlanError`."""
    steps = parse_plan(text, INVENTORY.modules, INVENTORY.takes)
    check_plan(steps, INVENTORY, {"input.question"}, [])
    return [(step.module, json.loads(json.dumps(step.args or {}))) for step in steps]


def tally(text: str, results: Counter[str]) -> list[Call] | None:
    """What is read, counted; None if it is refused."""
    with suppress(PlanError):
        read = calls_in(text)
        results["read"] += 1
        return read
    results["refused"] += 1
    return None


def altered(plan: list[Call], read: list[Call], text: str) -> bool:
    """Whether a plan has each step and argument, and values of which a mangle has changed characters."""
    if [(name, [*args]) for name, args in plan] != [(name, [*args]) for name, args in read]:
        return False
    pairs = zip(leaves([args for _, args in plan]), leaves([args for _, args in read]), strict=True)
    return all(
        one == other or squeezed(f"{other:.9g}" if isinstance(other, float) else str(other)) in squeezed(text)
        for one, other in pairs
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


def conserved(plan: list[Call], read: list[Call], text: str) -> bool:
    """Whether what was read is a part of a plan, and nothing of its other steps is in the text."""
    if not read[-1][1] and text.rstrip().endswith(read[-1][0]):  # cut off where its arguments begin
        plan = [(name, {} if read[-1] == (name, {}) else args) for name, args in plan]
    for start in range(len(plan)):
        kept, lost = plan[start : start + len(read)], [*plan[:start], *plan[start + len(read) :]]
        if altered(kept, read, text):
            marks = [mark for mark in re.findall(r"v?\d{4}", repr(lost)) if mark in text]
            keys = {key for _, args in lost for key in args}
            more = [key for key in keys if uses(key, text) > uses(key, json.dumps(read))]
            return not (marks or more or [n for n, _ in lost if n in text and n not in repr(kept)])
    return False


def uses(key: str, text: str) -> int:
    return len(re.findall(rf"\b{key}\W{{0,3}}[:=]", text))


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_in_a_known_form_is_read_as_meant_or_refused(form: str) -> None:
    chance, number = Random(form), count(1000)
    harmless, mangled = Counter[str](), Counter[str]()
    for _ in range(250):
        plan = meant(chance, number)
        text = chance.choice(HARMLESS)(FORMS[form](plan, chance), chance)
        assert tally(text, harmless) in (plan, None), (plan, text)
        for _ in range(chance.randint(1, 2)):
            text = chance.choice(MANGLES)(text, chance)
        read = tally(text, mangled)
        wanted = [*plan, ("summary_writer", {})] if MORE in text else plan
        assert read is None or altered(wanted, read, text), (plan, read, text)
    assert harmless["read"] >= 240 and mangled["read"] >= 60 and mangled["refused"] >= 40, (harmless, mangled)


@pytest.mark.parametrize("form", FORMS)
def test_names_alone_are_read_as_meant_or_refused(form: str) -> None:
    chance, results = Random(form), Counter[str]()
    for _ in range(150):
        plan = chance.sample(NAMES, chance.randint(2, 4))
        text = chance.choice(HARMLESS)(FORMS[form]([(name, {}) for name in plan], chance), chance)
        text = chance.choice([chance.choice(MANGLES), lambda text, chance: text])(text, chance)
        cut = chance.choice([len(text), len(text), len(text), chance.randrange(len(text))])
        text = text[:cut] + chance.choice(["", "", "\nNo [row_lookup] is needed here.", *"[]{}(),:\"'\n-"])
        with suppress(PlanError):
            read = [step.module for step in parse_plan(text, NAMES)]
            results["read"] += 1
            is_whole = all(name.replace("_", " ") in re.sub("[-_]", " ", text) for name in plan)
            assert read == plan or not is_whole, (plan, read, text)
    assert results["read"] >= 40, results


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_that_is_cut_or_mistyped_anywhere_loses_nothing_else(form: str) -> None:
    chance, number, results = Random(form), count(1000), Counter[str]()
    plan = [*meant(chance, number)[:2], ("now", {}), ("convert", {"amount": next(number), "to": "C"})]
    text = FORMS[form](plan, chance)
    for place in range(len(text)):
        sign = chance.choice("[]{}(),:;\"'\n-=$ ")
        before, after = text[:place], text[place:]
        for mangled in (before, before + sign + after, before + after[1:]):
            read = tally(mangled, results)
            assert read is None or conserved(plan, read, mangled), (plan, read, mangled)
    assert results["read"] >= 20 and results["refused"] >= 150, results


@pytest.mark.parametrize("form", LOOSE)
def test_arguments_in_a_form_that_is_not_known_are_never_left_out(form: str) -> None:
    chance, number = Random(form), count(1000)
    for _ in range(60):
        plan = meant(chance, number)
        text = chance.choice(HARMLESS)(LOOSE[form](plan, chance), chance)
        assert tally(text, Counter()) in (plan, None), (plan, text)


# Each below the fault that is told.
REFUSED = pieces(__file__, "refused_plans.txt")


@pytest.mark.parametrize("each", REFUSED)
def test_a_plan_of_which_a_part_might_be_lost_is_refused_with_the_fault(each: str) -> None:
    fault, _, text = each.partition("\n")
    with pytest.raises(PlanError) as caught:
        calls_in(text) if NAMES[0] not in text else parse_plan(text, NAMES)
    assert fault in str(caught.value)


LONG = '[{"module": "convert", "args": {"amount": 3, "to": "C"}}]' + "\n" * 19_000


@pytest.mark.parametrize("text", [*pieces(__file__, "read_plans.txt"), LONG], ids=lambda text: text[:40])
def test_what_models_write_is_read(text: str) -> None:
    begun = time.process_time()
    assert calls_in(text) == [("convert", {"amount": 3, "to": "C"})]
    assert time.process_time() - begun < 0.5


def test_an_object_among_the_arguments_that_looks_like_a_call_is_an_argument() -> None:
    args = {"query": "x", "options": {"module": "weather", "args": {"city": "Rome"}}}
    assert calls_in(json.dumps([{"module": "search", "args": args}])) == [("search", args)]


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


def test_calls_by_a_providers_tools_are_taken_as_meant_or_refused() -> None:
    chance, number, results, said = Random("native"), count(1000), Counter[str](), list[tuple[str, Any]]()
    model = ScriptedModel(lambda _: {"tool_calls": [{"name": name, "args": args} for name, args in said]})
    planner, state = React(native=True).with_llm(LLM.connect(model)), State({"question": "?"})
    for _ in range(400):
        plan = meant(chance, number)
        wrong = chance.randrange(2 * len(plan))
        said[:] = [
            chance.choice(NATIVE[2:] if place == wrong else NATIVE[:2])(name, args, chance)
            for place, (name, args) in enumerate(plan)
        ]
        try:
            steps = planner.propose(state, INVENTORY).steps
            check_plan(steps, INVENTORY, state.keys, [], whole=False)
        except PlanError:
            results["refused"] += 1
            continue
        results["read"] += 1
        assert [(step.module, json.loads(json.dumps(step.args or {}))) for step in steps] == plan, said
    assert results["read"] >= 150 and results["refused"] >= 100, results
