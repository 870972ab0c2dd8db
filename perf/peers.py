"""The same plan in each framework that `step_costs.py` compares with Chameleon, as its docs show it.

Each function returns a function that runs the plan a number of times. A step calls `workload.work` directly,
or a model that replies instantly. The agents call a model of their framework, which requests a tool five
times and then answers: six turns and five tool calls.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, count, repeat
from typing import Any, TypedDict

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

import dspy
import smolagents
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import END, START, StateGraph
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as TypedAgent
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart
from pydantic_ai.messages import ModelResponse as TypedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from workload import ALL, PLANNER, PLANNING, QUESTION, REPLY, STEPS, SYSTEM, InstantChat, parse, work

PACKAGES = ("langgraph", "langgraph-checkpoint-sqlite", "pydantic-ai-slim", "openai-agents")
PACKAGES += ("dspy", "smolagents")
Run = Callable[[int], None]
CHAT = InstantChat()


def each(once: Callable[[], Any]) -> Run:
    """Run a plan again and again."""

    def run(plans: int) -> None:
        for _ in range(plans):
            once()

    return run


def each_async(once: Callable[[], Awaitable[Any]]) -> Run:
    """Run a plan again and again in one event loop."""

    async def many(plans: int) -> None:
        for _ in range(plans):
            await once()

    return lambda plans: asyncio.run(many(plans))


# LangGraph: a graph whose edges follow the plan in its state.


class Graph(TypedDict, total=False):
    question: str
    found: dict[str, str]
    plan: list[str]


def _asked(question: str, found: dict[str, str], end: str = "") -> str:
    context = "\n\n".join(found.values())
    user = f"{context}\n\nQuestion: {question}{end}"
    return str(CHAT.invoke([SystemMessage(content=SYSTEM), HumanMessage(content=user)]).content)


def _planner(asks: bool) -> Callable[[Graph], Graph]:
    def plan(state: Graph) -> Graph:
        if asks:
            return {"plan": json.loads(_asked(state["question"], {}, f"\n{PLANNING}")), "found": {}}
        work(state["question"], {})
        return {"plan": STEPS, "found": {}}

    return plan


def _node(name: str, asks: bool) -> Callable[[Graph], Graph]:
    def step(state: Graph) -> Graph:
        question, found = state["question"], state["found"]
        output = parse(_asked(question, found)) if asks else work(question, found)
        return {"found": found | {name: output}, "plan": state["plan"][1:]}

    return step


def langgraph(*, asks: bool = False, checkpointer: Any = None) -> Run:
    graph = StateGraph(Graph)
    graph.add_node(PLANNER, _planner(asks))
    graph.add_edge(START, PLANNER)
    for name in STEPS:
        graph.add_node(name, _node(name, asks))
    for name in ALL:
        graph.add_conditional_edges(name, lambda state: state["plan"][0] if state["plan"] else END)
    compiled, threads = graph.compile(checkpointer=checkpointer), count()

    def once() -> None:
        config = {"configurable": {"thread_id": str(next(threads))}} if checkpointer else None
        assert len(compiled.invoke({"question": QUESTION}, config)["found"]) == len(STEPS)

    return each(once)


# Without a plan: six calls, one after another.


def lcel() -> Run:
    prompt = ChatPromptTemplate([("system", SYSTEM), ("user", "{context}\n\nQuestion: {question}")])
    return _six((prompt | CHAT | StrOutputParser()).invoke)


def dspy_predict() -> Run:
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    model = dspy.utils.DummyLM([])
    model.answers = repeat({"answer": REPLY})
    dspy.configure(lm=model)
    signature = dspy.Signature("context: str, question: str -> answer: str", SYSTEM)
    predict = dspy.Predict(signature)
    return _six(lambda given: predict(**given).answer)


def _six(ask: Callable[[dict[str, str]], str]) -> Run:
    def once() -> None:
        found: dict[str, str] = {}
        for name in ALL:
            found[name] = parse(ask({"context": "\n\n".join(found.values()), "question": QUESTION}))
        assert found[PLANNER] == parse(REPLY)

    return each(once)


# Agents: six turns and five calls of a tool.


def look(found: str) -> str:
    """Look something up.

    Args:
        found: the results so far.
    """
    return work(QUESTION, {"found": found})


class SmolModel(smolagents.Model):
    def __init__(self) -> None:
        super().__init__()
        self.turns = _turns("look", "final_answer")

    def generate(self, messages: Any, *_: Any, **__: Any) -> smolagents.ChatMessage:
        name = next(self.turns)
        given = {"answer": REPLY} if name == "final_answer" else {"found": REPLY}
        function = smolagents.models.ChatMessageToolCallFunction(name=name, arguments=given)
        call = smolagents.models.ChatMessageToolCall(function=function, id="1", type="function")
        role = smolagents.models.MessageRole.ASSISTANT
        return smolagents.ChatMessage(role, "", [call], token_usage=smolagents.TokenUsage(520, 14))


def _turns(tool: str, last: str) -> Iterator[str]:
    return chain.from_iterable(repeat([*[tool] * len(STEPS), last]))


def smol() -> Run:
    off = smolagents.LogLevel.OFF
    tool = smolagents.tool(look)
    agent = smolagents.ToolCallingAgent([tool], SmolModel(), instructions=SYSTEM, verbosity_level=off)

    def once() -> None:
        assert agent.run(QUESTION) == REPLY and len(agent.memory.steps) == 1 + len(ALL)

    return each(once)


class AgentModel(Model):
    def __init__(self) -> None:
        self.turns, self.ids = _turns("look", ""), count()

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        id = str(next(self.ids))
        if name := next(self.turns):
            given = json.dumps({"found": REPLY})
            output: Any = ResponseFunctionToolCall(
                id=id, call_id=id, name=name, arguments=given, type="function_call"
            )
        else:
            text = ResponseOutputText(text=REPLY, type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id=id, content=[text], role="assistant", status="completed", type="message"
            )
        usage = Usage(requests=1, input_tokens=520, output_tokens=14, total_tokens=534)
        return ModelResponse(output=[output], usage=usage, response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def openai_agents() -> Run:
    agent = Agent(name="answers", instructions=SYSTEM, model=AgentModel(), tools=[function_tool(look)])

    async def once() -> None:
        assert (await Runner.run(agent, QUESTION)).final_output == REPLY

    return each_async(once)


def pydantic_ai() -> Run:
    turns = _turns("look", "")

    def reply(messages: list[ModelMessage], info: AgentInfo) -> TypedResponse:
        name = next(turns)
        return TypedResponse([ToolCallPart(name, {"found": REPLY}) if name else TextPart(REPLY)])

    agent = TypedAgent(FunctionModel(reply), instructions=SYSTEM, tools=[look])

    async def once() -> None:
        assert (await agent.run(QUESTION)).output == REPLY

    return each_async(once)
