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
from collections.abc import Callable, Iterator
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
from measuring import Figure, in_turn, surroundings, table

from chameleon import LLM, Executor, Inventory, LLMModule, Module, State
from chameleon.evaluation.folder import RunFolder
from chameleon.planners.fixed import Fixed
from chameleon.prompt import Prompt

STEPS = [f"step_{number}" for number in range(1, 6)]
QUESTION = "How many apples are left when Ann has given two to Ben and one to Cleo?"
SYSTEM = "You answer questions about small tables. Think first, then reply in one sentence."
USER = "{{ context }}\n\nQuestion: {{ question }}"
LOGGED = "Chameleon, prompt modules, log in a file"
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


def chameleon(kind: type[Module], log: RunFolder | None) -> Callable[[], None]:
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


def langgraph(checkpointer: Any = None) -> Callable[[], None]:
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


def haystack(tracer: tracing.Tracer | None = None) -> Callable[[], None]:
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


def microseconds(run: Callable[[], None], runs: int) -> Callable[[], float]:
    """A measurement of the wall time of one step of `run`."""

    def measure() -> float:
        begun = time.perf_counter()
        for _ in range(runs):
            run()
        return (time.perf_counter() - begun) / runs / len(STEPS) * 1e6

    return measure


def measured(runs: int, repeats: int) -> dict[str, Figure]:
    with (
        tempfile.TemporaryDirectory() as name,
        contextlib.closing(RunFolder(Path(name) / "runs", {})) as log,
        SqliteSaver.from_conn_string(str(Path(name) / "checkpoints.sqlite")) as checkpoints,
    ):
        variants = {
            "the work itself": bare,
            LOGGED: chameleon(Answers, log),
            "Chameleon, prompt modules, no log": chameleon(Answers, None),
            "Chameleon, plain modules, log in a file": chameleon(Calls, log),
            "Chameleon, plain modules, no log": chameleon(Calls, None),
            "LangGraph, no checkpointer": langgraph(),
            "LangGraph, checkpoints in memory": langgraph(InMemorySaver()),
            "LangGraph, checkpoints in SQLite": langgraph(checkpoints),
            "Haystack, no tracer": haystack(),
            "Haystack, spans in a file": haystack(FileTracer(Path(name) / "spans.jsonl")),
        }
        for run in variants.values():
            run()
        return in_turn({name: microseconds(run, runs) for name, run in variants.items()}, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="runs of five steps per measurement")
    parser.add_argument("--repeats", type=int, default=9, help="measurements of each variant")
    options = parser.parse_args()
    found = measured(options.runs, options.repeats)
    work = found["the work itself"].median
    ours = found[LOGGED].median
    rows = [
        [
            name,
            figure.shown(),
            f"{figure.median - work:,.1f}" if figure.median != work else "",
            f"{(figure.median - work) / (ours - work):.1f}" if figure.median != work else "",
        ]
        for name, figure in found.items()
    ]
    header = ["", "µs a step: median (least–most)", "overhead", "times ours"]
    table("Five steps with a model that replies in no time", header, rows)
    logging = (ours - found["Chameleon, prompt modules, no log"].median) * len(STEPS)
    print(f"Writing the log: {logging:.0f} µs a problem of five steps (8 events)")
    print(surroundings("langgraph", "haystack-ai", "langchain-core"))


if __name__ == "__main__":
    main()
