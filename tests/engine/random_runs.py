"""Random inventories of small deterministic tools, with every planner, for properties of runs."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from chameleon import LLM, Budget, Declined, Executor, Inventory, LLMModule, Module, State, StepRejected
from chameleon.core.events import Event, Plan, RunEnded, StepRecord
from chameleon.core.prompt import Prompt
from chameleon.inventory.schema import RepairSpec, RulesSpec
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.one_shot import OneShot
from chameleon.planners.replanning import Replanning
from chameleon.planners.rules import Rules
from chameleon.planners.then import Then

NAMES = ("ant", "bee", "cat", "dog", "eel")
KEYS = ("input.question", "input.a", "cache.a", "cache.b", "cache.c")
GIVEN = {"question": "How many?", "a": [1, {"b": 2}]}
PLANNERS = ("fixed", "rules", "one_shot", "then", "replanning", "replanning then", "then replanning")

quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
_PLANNER_PROMPT = Prompt.parse("# user\n{% for card in modules %}{{ card.name }} {% endfor %}\nModules:")
_TOOL_PROMPT = Prompt.parse("---\nslots: ['question?']\n---\n# user\nQuestion: {{ question }} {{ context }}")


class Tool(Module):
    """Writes a digest of all that it may see; what it does else is set by `behaviour`."""

    def __init__(self, reads: Any, writes: Any, behaviour: str) -> None:
        self.reads, self.writes, self.behaviour = reads, writes, behaviour

    def run(self, state: State) -> Any:
        attempt = state.step.redo.attempt if state.step and state.step.redo else 0
        if problem := {"crashes": KeyError("nothing there"), "declines": Declined("no")}.get(self.behaviour):
            raise problem
        if self.behaviour in ("returns a set", "writes what it may not"):
            return {1} if self.behaviour == "returns a set" else "mischief"
        if self.behaviour.startswith("rejects") and attempt < int(self.behaviour.split()[1]):
            raise StepRejected(f"attempt {attempt} will not do")
        return {"by": self.name, "saw": digest(state, self.reads is None)}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {key[6:]: output for key in self.writes if key.startswith("input.")}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        if output == "mischief":
            return {"forbidden": 1}
        return {key[6:]: output for key in self.writes if key.startswith("cache.")}


class Asker(LLMModule):
    """A tool that asks the model, and may reject its reply."""

    writes = ("cache.b",)
    _template = _TOOL_PROMPT  # type: ignore[assignment]

    def __init__(self, reads: Any, rejects: bool) -> None:
        self.reads, self.rejects = reads, rejects

    def parse(self, text: str) -> Any:
        if self.rejects and len(text) % 2:
            raise StepRejected(f"{text!r} is odd")
        return text

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"b": output}


def digest(state: State, whole: bool) -> str:
    """All that a module can see, in few letters."""
    seen: list[Any] = [sorted(state.input.items()), sorted(state.cache.items()), state.step]
    plans = [(plan.names, plan.by, plan.note, plan.refused) for plan in state.plans]
    seen += [state.executed_names, plans, state.pending] if whole else []
    return f"{zlib.crc32(repr(seen).encode()):x}"


@dataclass(frozen=True)
class Case:
    """An inventory, a script for its model, and limits; `describe` is what hypothesis prints."""

    inventory: Inventory
    replies: tuple[str, ...]
    budget: Budget

    def model(self) -> ScriptedModel:
        """A model that replies by the messages alone, so that a resumed run hears the same."""
        replies = self.replies
        return ScriptedModel(lambda messages: replies[zlib.crc32(repr(messages).encode()) % len(replies)])

    def executor(self, *, parallel: bool, model: ScriptedModel | None = None) -> Executor:
        llm = LLM.connect(model or self.model())
        return Executor(self.inventory, llm, budget=self.budget, parallel=parallel)


optional = [f"{key}?" for key in KEYS]
keys = st.sampled_from([*KEYS, *optional, *optional, "cache.a|cache.b?", "cache.*", "history"])
reads = st.none() | st.lists(keys, max_size=2).map(tuple)
writes = st.lists(st.sampled_from(KEYS[1:]), max_size=2, unique=True).map(tuple)
faults = ["crashes", "declines", "returns a set", "writes what it may not"]
behaviours = st.sampled_from(["works"] * 8 + ["rejects 1", "rejects 2", "rejects 9", *faults])
modules = st.builds(Tool, reads, writes, behaviours) | st.builds(Asker, reads, st.booleans())
names = st.sampled_from(NAMES)
plans = st.lists(names, min_size=1, max_size=5)
texts = plans.map(json.dumps) | st.sampled_from(["no plan", "3", "even", '["yak"]'])
replies = st.lists(texts, min_size=1, max_size=4).map(tuple)
policies = st.sampled_from(["stop", "skip", "skip", "fallback"]) | st.lists(names, min_size=1, max_size=2)
redos = st.builds(RepairSpec, redo=names, attempts=st.integers(1, 3), temperature_step=st.just(0.1))
repairs = st.dictionaries(names, redos, max_size=5)


@st.composite
def planners(draw: st.DrawFn, kind: str) -> Any:
    if kind == "fixed":
        return Fixed(draw(plans))
    if kind == "rules":
        odd = {"plan": draw(plans), "when": {"question": {"matches": draw(st.sampled_from(["how", "why"]))}}}
        return Rules([odd, *draw(st.just([]) | plans.map(lambda plan: [{"plan": plan}]))])
    if kind == "one_shot":
        planner = OneShot()
        planner._template = _PLANNER_PROMPT  # type: ignore[misc]
        return planner
    simple = st.sampled_from(["fixed", "rules", "one_shot"]).flatmap(planners)
    if kind == "then":
        return Then(draw(st.lists(simple, min_size=2, max_size=3)))
    if kind == "replanning":
        return Replanning(draw(simple), draw(st.integers(0, 2)))
    if kind == "replanning then":
        return Replanning(draw(planners("then")), 1)
    return Then([draw(planners("replanning")), draw(simple)])


no_limit: st.SearchStrategy[int | None] = st.none()


@st.composite
def cases(draw: st.DrawFn, planner: str, calls: st.SearchStrategy[int | None] = no_limit) -> Case:
    inventory = Inventory(
        name="random",
        planner=draw(planners(planner)),
        modules={name: draw(modules) for name in NAMES},
        fallback=tuple(draw(st.just([]) | plans)),
        rules=RulesSpec(last=draw(st.just([]) | names.map(lambda name: [name]))),
        repair=draw(repairs),
        on_error=draw(st.dictionaries(names, policies)),
    )
    limits = Budget(steps=draw(st.sampled_from([3, 12])), calls=draw(calls))
    return Case(inventory, draw(replies), limits)


def end(state: State) -> dict[str, Any]:
    """What a run comes to."""
    return {
        "input": state.input,
        "cache": list(state.cache.items()),
        "answer": state.answer,
        "ended": state.ended and (state.ended.reason, state.ended.error),
        "program": state.executed_names,
        "plan": state.plan,
    }


def timeless(events: Sequence[Event]) -> list[Event]:
    """The events without the seconds that they took."""
    stripped: list[Event] = []
    for event in events:
        if isinstance(event, Plan | StepRecord | RunEnded):
            spent = {} if isinstance(event, RunEnded) else {"seconds": 0.0}
            event = replace(event, calls=tuple(replace(call, seconds=0.0) for call in event.calls), **spent)
        stripped.append(event)
    return stripped
