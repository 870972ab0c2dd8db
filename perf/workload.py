"""The work of a step for all frameworks in `step_costs.py`, and models that reply to it instantly.

A plan is one planning step and five modules. A step puts the question and the results of earlier steps into a
prompt of 2.5 KB, and parses the answer in the reply. Custom modules have the reply ready; the others ask a
chat model for it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from chameleon.evaluation.benchmark import Benchmark, Problem, Scorer

PLANNER = "planner"
STEPS = [f"step_{number}" for number in range(1, 6)]
ALL = [PLANNER, *STEPS]
QUESTION = "How many apples are left when Ann has given two to Ben and one to Cleo?"
SYSTEM = "You answer questions. Think first.\n" + "Question: How much is 1 and 1? The answer is 2.\n" * 50
ANSWER = "four apples are left"
PLAN, REPLY = json.dumps(STEPS), f"Seven less three is four, so the answer is {ANSWER}."
PLANNING = "Modules:"  # the end of the planner's prompt
_FOUND = re.compile(r"the answer is (.*)\.$")


def parse(reply: str) -> str:
    """Return the answer in a reply, or a plan unchanged."""
    found = _FOUND.search(reply)
    return found[1] if found else reply


def work(question: str, found: Mapping[str, str]) -> str:
    """Do the work of a step, with the reply ready."""
    context = "\n\n".join(found.values())
    prompt = f"{SYSTEM}\n\n{context}\n\nQuestion: {question}"
    return parse(REPLY) if prompt else ""


def plain(plans: int) -> None:
    """Do only the work: a loop, a function call, a dictionary."""
    for _ in range(plans):
        found: dict[str, str] = {}
        for name in ALL:
            found[name] = work(QUESTION, found)


class InstantChat(BaseChatModel):
    """A LangChain chat model that replies instantly: with a plan to the planner, else with the answer."""

    @property
    def _llm_type(self) -> str:
        return "at-once"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_reply(messages))])


class Instant(InstantChat):
    """The same without LangChain's own work in a call: callbacks, copies and checks."""

    def invoke(self, input: Any, *_: Any, **__: Any) -> AIMessage:
        return _reply(input)


def _reply(messages: list[BaseMessage]) -> AIMessage:
    text = PLAN if str(messages[-1].content).endswith(PLANNING) else REPLY
    usage = {"input_tokens": 520, "output_tokens": 14, "total_tokens": 534}
    return AIMessage(content=text, response_metadata={"finish_reason": "stop"}, usage_metadata=usage)


def bare(chat: BaseChatModel, plans: int) -> None:
    """Ask a chat model with f-string prompts, the minimum for any step through LangChain."""
    for _ in range(plans):
        found: dict[str, str] = {}
        for name in ALL:
            context = "\n\n".join(found.values())
            user = f"{context}\n\nQuestion: {QUESTION}" + (f"\n{PLANNING}" if name == PLANNER else "")
            reply = chat.invoke([SystemMessage(content=SYSTEM), HumanMessage(content=user)])
            found[name] = parse(str(reply.content))


class Same(Scorer):
    """Counts answers equal to the gold answer as right."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        return bool(prediction == problem.gold)


class OneLiners(Benchmark):
    """Problems of one line, each with its answer."""

    name = "questions"

    def problem(self, row: Mapping[str, Any], tables: Mapping[str, Any]) -> Problem:
        return Problem(row["id"], {"question": row["question"]}, gold=row["gold"])


QUESTIONS = OneLiners()
