"""Measure what a step costs compared with a plain loop, a bare chat model and other frameworks.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/step_costs.py [--rounds 9] [--seconds 0.2]

One plan is a planner and five modules: six steps, with a prompt of 2.5 KB each (`workload.py`). All stacks
take turns in several rounds of one process; a ratio compares two CPU figures from one round.

- own modules: a custom planner and five custom modules, each with the work of the plain loop; then with the
  event log, as an evaluation writes it; then through `Evaluation`, with a scorer and results.
- prompt modules: `OneShot` and five `LLMModule`s, called through `LLM`, which also joins identical requests
  in flight, keeps the budget, retries, redacts secrets, and records parameters, token counts and times. The
  chat model is LangChain's with a fixed reply; `instant` skips LangChain's work in a call.
- the others: see `peers.py`.
"""

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path

import peers
from langchain_core.language_models.chat_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from peers import Run
from timings import UnitCost, costs, surroundings, table
from workload import (
    ALL,
    ANSWER,
    PLANNING,
    QUESTION,
    QUESTIONS,
    STEPS,
    SYSTEM,
    Instant,
    InstantChat,
    Same,
    bare,
    parse,
    plain,
    work,
)

from chameleon import LLM, Executor, Inventory, LLMModule, Module, State
from chameleon.core.events import Step
from chameleon.core.module import copy_with
from chameleon.core.planner import Planner, planned
from chameleon.core.prompt import Prompt
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.one_shot import OneShot

PLAIN, OWN, OWN_LOG, OWN_EVAL = (
    "plain Python loop",
    "**Chameleon, own modules**",
    "**same, event log**",
    "**same, through `Evaluation`: scorer, results, log**",
)
BARE = "bare chat model, f-string prompts"
PROMPTS, PROMPTS_LOG = "**Chameleon, prompt modules**", "**Chameleon, prompt modules, log**"
PROMPTS_EVAL = "**Chameleon, prompt modules, through `Evaluation`**"
AIMS = {OWN: (PLAIN, 25), OWN_LOG: (PLAIN, 33), OWN_EVAL: (PLAIN, 44), PROMPTS_LOG: (BARE, 2.4)}
IDS = count()


class Plans(Planner):
    """Always proposes the five steps."""

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        if planned(state):
            return ()
        work(state.input["question"], {})
        return [Step(name) for name in STEPS]


class WorkingModule(Module):
    """Does the work of a step."""

    def run(self, state: State) -> str:
        return work(state.input["question"], state.cache)


class Asks(LLMModule):
    """Asks the model and parses the answer in its reply."""

    _template = Prompt.parse(
        f"---\nslots: [question, context]\n---\n# system\n{SYSTEM}\n# user\n"
        "{{ context }}\n\nQuestion: {{ question }}\n",
        "answers",
    )

    def parse(self, text: str) -> str:
        return parse(text)


class AsksForPlan(OneShot):
    """Asks the model for the plan."""

    _template = Prompt.parse(
        f"---\nslots: [question]\n---\n# system\n{SYSTEM}\n# user\n"
        f"Question: {{{{ question }}}}\n{PLANNING}\n",
        "plans",
    )


def own() -> Executor:
    modules = {name: copy_with(WorkingModule(), name=name) for name in STEPS}
    return Executor(Inventory("own", Plans(), modules))


def prompts(model: BaseChatModel) -> Executor:
    modules = {name: copy_with(Asks(), name=name) for name in STEPS}
    return Executor(Inventory("prompts", AsksForPlan(), modules), LLM.connect(model, temperature=0))


def streamed(executor: Executor, log: RunDir | None = None) -> Run:
    def run(plans: int) -> None:
        for id in map(str, islice(IDS, plans)):
            for event in executor.stream({"question": QUESTION}):
                if log is not None:
                    log.append(id, event)

    state = executor.run({"question": QUESTION})
    assert (state.answer, state.plan) == (ANSWER, tuple(STEPS)), state.ended and state.ended.error
    return run


def evaluated(executor: Executor, log: RunDir) -> Run:
    def run(plans: int) -> None:
        rows = ({"id": str(id), "question": QUESTION, "gold": ANSWER} for id in islice(IDS, plans))
        Evaluation(executor, Same(), QUESTIONS, run_dir=log).run(QUESTIONS.problem(row, {}) for row in rows)

    return run


def measured(folder: Path, rounds: int, seconds: float) -> dict[str, UnitCost]:
    """Return what a plan costs in each stack."""
    with (
        RunDir(folder / "runs", {}) as log,
        SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as checkpoints,
    ):
        variants: dict[str, Run] = {
            PLAIN: plain,
            OWN: streamed(own()),
            OWN_LOG: streamed(own(), log),
            OWN_EVAL: evaluated(own(), log),
            BARE: partial(bare, InstantChat()),
            "instant model alone": partial(bare, Instant()),
            "**Chameleon, prompt modules, instant model**": streamed(prompts(Instant())),
            "**Chameleon, prompt modules, instant model, log**": streamed(prompts(Instant()), log),
            PROMPTS: streamed(prompts(InstantChat())),
            PROMPTS_LOG: streamed(prompts(InstantChat()), log),
            PROMPTS_EVAL: evaluated(prompts(InstantChat()), log),
            "LangGraph, edges from the plan": peers.langgraph(),
            "LangGraph, checkpoints in memory": peers.langgraph(checkpointer=InMemorySaver()),
            "LangGraph, checkpoints in SQLite": peers.langgraph(checkpointer=checkpoints),
            "LangGraph, chat model": peers.langgraph(asks=True),
            "LangGraph, chat model, checkpoints in SQLite": peers.langgraph(
                asks=True, checkpointer=checkpoints
            ),
            "LCEL: prompt, chat model, parser": peers.lcel(),
            "DSPy Predict": peers.dspy_predict(),
            "smolagents ToolCallingAgent, six turns": peers.smol(),
            "openai-agents, six turns": peers.openai_agents(),
            "pydantic-ai, six turns": peers.pydantic_ai(),
        }
        return costs(variants, rounds, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.2, help="how long a stack is measured in a round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measured(Path(name), options.rounds, options.seconds)
    rows = []
    for name, cost in found.items():
        to_plain = cost.cpu.over(found[PLAIN].cpu)
        to_bare = cost.cpu.over(found[BARE].cpu)
        beside, aim = AIMS.get(name, ("", 0))
        aims = ["" if beside != other else f"≤ {aim:g}" for other in (PLAIN, BARE)]
        cpu, wall = (f"{value / len(ALL):,.1f}" for value in (cost.cpu.median, min(cost.wall.values)))
        rows.append([name, cpu, wall, to_plain.shown(), aims[0], to_bare.shown(2), aims[1]])
    header = ["", "CPU µs a step", "least wall µs", "× plain loop", "aim", "× bare chat model", "aim"]
    table("Six steps with a model that replies in no time; median (least–most)", header, rows)
    print(surroundings("langchain-core", *peers.PACKAGES))


if __name__ == "__main__":
    main()
