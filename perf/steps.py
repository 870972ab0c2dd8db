"""What a step costs beside LangGraph and Haystack, and what its log costs.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/steps.py [--runs 200] [--repeats 9]

Five steps, one after another. In all frameworks each step does the same work, `answer`: it fills a question
and the reply of the step before into a prompt (Jinja2, two messages), asks a LangChain chat model that
replies in no time, and passes the reply on. The overhead of a step is the wall time of a run divided by
five, less that of one `answer`, called in a loop.

- Chameleon, plain modules: five modules that call `answer` themselves, as the nodes of the others do.
- Chameleon, prompt modules: five `LLMModule`s, asked through `LLM`, which also joins equal questions in
  flight, keeps the budget, retries, takes secrets out, and logs parameters, token counts and times.
  The log is a file that holds every prompt and reply, written as an evaluation writes it: each step is with
  the operating system when it ends.
- LangGraph: a `StateGraph` of five nodes whose state collects prompts and replies: without a checkpointer
  (then nothing is kept), with one in memory, and with one in an SQLite file, which is nearest to our log.
- Haystack: a `Pipeline` of five components: without a tracer (then nothing is kept), and with one that writes
  what its spans hold, the components' inputs and outputs, to a file, which is nearest to our log.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import operator
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Pipeline, component, tracing
from jinja2 import Environment
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from measuring import Figure, surroundings, table

from chameleon import LLM, Executor, Inventory, LLMModule, Module, State
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from chameleon.prompt import Prompt

STEPS = [f"step_{number}" for number in range(1, 6)]
QUESTION = "How many apples are left when Ann has given two to Ben and one to Cleo?"
SYSTEM = "You answer questions about small tables. Think first, then reply in one sentence."
USER = "{{ context }}\n\nQuestion: {{ question }}"
WORK = "the work itself"
Run = Callable[[], None]
REPLY = AIMessage(
    content="Ann has four apples left, since seven less three is four.",
    response_metadata={"finish_reason": "stop"},
    usage_metadata={"input_tokens": 52, "output_tokens": 14, "total_tokens": 66},
)


class Instant(BaseChatModel):
    """A chat model that replies in no time: not even LangChain's own callbacks are counted."""

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("invoke replies")

    def invoke(self, *_: Any, **__: Any) -> AIMessage:
        return REPLY


MODEL = Instant()
TEMPLATES = [Environment().from_string(text) for text in (SYSTEM, USER)]


def answer(question: str, context: str) -> tuple[list[str], str]:
    """The work of a step: the prompt that was sent, and the reply."""
    system, user = (template.render(question=question, context=context) for template in TEMPLATES)
    reply = MODEL.invoke([SystemMessage(content=system), HumanMessage(content=user)])
    return [system, user], reply.content.strip()


def bare() -> None:
    context = ""
    for _ in STEPS:
        _, context = answer(QUESTION, context)


class Answers(LLMModule):
    """Answers the question."""

    template = Prompt.parse(
        f"---\nslots: [question, context]\n---\n# system\n{SYSTEM}\n# user\n{USER}\n", "answers"
    )


class Calls(Module):
    """Answers the question with a function of its own, as a LangGraph node does."""

    writes = "cache.context"

    def run(self, state: State) -> dict[str, Any]:
        prompt, reply = answer(state.input["question"], state.cache.get("context", ""))
        return {"prompt": prompt, "reply": reply}

    def update_cache(self, cache: Any, output: Any) -> dict[str, Any]:
        return {"context": output["reply"]}


def chameleon(kind: type[Module], log: RunDir | None) -> Run:
    modules = {name: kind() for name in STEPS}
    executor = Executor(Inventory("five", Fixed(STEPS), modules), LLM.connect(MODEL, temperature=0))
    runs = count()

    def run() -> None:
        id = str(next(runs))
        for event in executor.stream({"question": QUESTION}):
            if log is not None:
                log.append(id, event)

    return run


class Collected(TypedDict, total=False):
    question: str
    context: str
    calls: Annotated[list[tuple[list[str], str]], operator.add]


def node(state: Collected) -> Collected:
    prompt, reply = answer(state["question"], state.get("context", ""))
    return {"context": reply, "calls": [(prompt, reply)]}


def langgraph(checkpointer: Any = None) -> Run:
    graph = StateGraph(Collected)
    for name, before in zip(STEPS, [START, *STEPS], strict=False):
        graph.add_node(name, node)
        graph.add_edge(before, name)
    graph.add_edge(STEPS[-1], END)
    compiled = graph.compile(checkpointer=checkpointer)
    threads = count()

    def run() -> None:
        config = {"configurable": {"thread_id": str(next(threads))}} if checkpointer else None
        compiled.invoke({"question": QUESTION}, config)

    return run


@component
class Answerer:
    @component.output_types(question=str, prompt=list, reply=str)
    def run(self, question: str, context: str = "") -> dict[str, Any]:
        prompt, reply = answer(question, context)
        return {"question": question, "prompt": prompt, "reply": reply}


def haystack(tracer: tracing.Tracer | None = None) -> Run:
    pipeline = Pipeline()
    for name in STEPS:
        pipeline.add_component(name, Answerer())
    for before, after in pairwise(STEPS):
        pipeline.connect(f"{before}.question", f"{after}.question")
        pipeline.connect(f"{before}.reply", f"{after}.context")

    def run() -> None:
        tracing.disable_tracing() if tracer is None else tracing.enable_tracing(tracer)
        pipeline.run({STEPS[0]: {"question": QUESTION}})

    return run


class FileSpan(tracing.Span):
    def __init__(self, tags: dict[str, Any]) -> None:
        self.tags = tags

    def set_tag(self, key: str, value: Any) -> None:
        self.tags[key] = value

    def set_content_tag(self, key: str, value: Any) -> None:
        self.tags[key] = value


class FileTracer(tracing.Tracer):
    """Writes each span as a line when it ends."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("ab", buffering=0)

    @contextlib.contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Any = None
    ) -> Iterator[FileSpan]:
        span = FileSpan({"operation": operation_name, **(tags or {})})
        yield span
        self.file.write((json.dumps(span.tags, default=str) + "\n").encode())

    def current_span(self) -> None:
        return None


@dataclass(frozen=True)
class Cost:
    """What one step of a variant takes, in µs: of wall time, and of the processors."""

    wall: Figure
    processor: Figure


def spent(run: Run, runs: int) -> tuple[float, float]:
    """Wall and processor µs of a step of `run`."""
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(runs):
        run()
    steps = runs * len(STEPS) / 1e6
    return (time.perf_counter() - wall) / steps, (time.process_time() - processor) / steps


def costs(variants: Mapping[str, Run], runs: int, repeats: int) -> dict[str, Cost]:
    """Measure all variants in each of several rounds: what disturbs the machine disturbs all of them."""
    for run in variants.values():
        run()
    rounds = [{name: spent(run, runs) for name, run in variants.items()} for _ in range(repeats)]
    return {
        name: Cost(*(Figure(values) for values in zip(*(each[name] for each in rounds), strict=True)))
        for name in variants
    }


def measured(runs: int, repeats: int) -> dict[str, Cost]:
    with (
        tempfile.TemporaryDirectory() as name,
        contextlib.closing(RunDir(Path(name) / "runs", {})) as log,
        SqliteSaver.from_conn_string(str(Path(name) / "checkpoints.sqlite")) as checkpoints,
    ):
        variants = {
            WORK: bare,
            "plain modules, log in a file": chameleon(Calls, log),
            "plain modules, no log": chameleon(Calls, None),
            "prompt modules, log in a file": chameleon(Answers, log),
            "prompt modules, no log": chameleon(Answers, None),
            "LangGraph, no checkpointer": langgraph(),
            "LangGraph, checkpoints in memory": langgraph(InMemorySaver()),
            "LangGraph, checkpoints in SQLite": langgraph(checkpoints),
            "Haystack, no tracer": haystack(),
            "Haystack, spans in a file": haystack(FileTracer(Path(name) / "spans.jsonl")),
        }
        return costs(variants, runs, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="runs of five steps per measurement")
    parser.add_argument("--repeats", type=int, default=9, help="measurements of each variant")
    options = parser.parse_args()
    found = measured(options.runs, options.repeats)
    work = found.pop(WORK)
    overheads = {name: cost.wall.median - work.wall.median for name, cost in found.items()}
    used = {name: cost.processor.median - work.processor.median for name, cost in found.items()}
    rows = [
        [name, cost.wall.shown(), f"{overheads[name]:,.1f}", cost.processor.shown(), f"{used[name]:,.1f}"]
        for name, cost in found.items()
    ]
    header = ["", "wall: median (least–most)", "overhead", "processor", "overhead"]
    alone = [WORK, work.wall.shown(), "", work.processor.shown(), ""]
    table("Five steps with a model that replies in no time, µs a step", header, [alone, *rows])
    ours = [name for name in found if "modules" in name]
    rows = [
        [name, *(f"{overheads[name] / overheads[mine]:.1f}" for mine in ours)]
        for name in found
        if name not in ours
    ]
    table("How often our overhead goes into theirs, by wall time", ["", *ours], rows)
    for kind in ("plain modules", "prompt modules"):
        wall, processor = (
            len(STEPS) * (each[f"{kind}, log in a file"] - each[f"{kind}, no log"])
            for each in (overheads, used)
        )
        print(f"Logging the 8 events of a problem, {kind}: {wall:.0f} µs wall, {processor:.0f} µs processor")
    print(surroundings("langgraph", "haystack-ai", "langchain-core"))


if __name__ == "__main__":
    main()
