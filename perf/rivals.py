"""Run the alternatives on the same server: the plain question, and agents of other frameworks.

Each function takes the server's address and the model's name, and returns a function that answers problems.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

from chameleon.core.prompt import table_text
from chameleon.evaluation.benchmark import Problem
from chameleon.sandbox import shared_sandbox

TURNS, TOKENS = 6, 512
logging.getLogger("httpx").setLevel(logging.WARNING)


@dataclass(frozen=True)
class Came:
    """The outcome of a problem: an answer, or how it `ended` without one (declined, failed), and its cost."""

    answer: Any
    ended: str = ""
    calls: int = 0
    read: int = 0
    written: int = 0


Ask = Callable[[Problem], Came]


def question(problem: Problem) -> str:
    """Write a problem as a person would: the table, the question, its unit and its choices."""
    given = problem.input
    parts = [
        given["table"].caption,
        table_text(given["table"], style="pipe"),
        f"Question: {given['question']}",
    ]
    parts += [f"Unit: {given['unit']}"] if given.get("unit") else []
    parts += [f"Choices: {' | '.join(given['choices'])}"] if given.get("choices") else []
    return "\n\n".join(filter(None, parts))


def plain(url: str, model: str) -> Ask:
    """Ask the model once, without an example."""

    def ask(problem: Problem) -> Came:
        told = "Answer the question from the table. Reply with the answer alone."
        messages = [{"role": "system", "content": told}, {"role": "user", "content": question(problem)}]
        body = json.dumps({"model": model, "messages": messages, "temperature": 0, "max_tokens": TOKENS})
        request = Request(f"{url}/chat/completions", body.encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=600) as reply:
            data = json.load(reply)
        usage = data["usage"]
        said = data["choices"][0]["message"]["content"].strip()
        return Came(said, "", 1, usage["prompt_tokens"], usage["completion_tokens"])

    return ask


def code_agent(url: str, model: str) -> Ask:
    """Ask smolagents' CodeAgent, which has the table as a DataFrame and may import pandas."""
    import smolagents

    served = smolagents.OpenAIModel(model, api_base=url, api_key="none", temperature=0, max_tokens=TOKENS)

    def ask(problem: Problem) -> Came:
        agent = smolagents.CodeAgent(
            [],
            served,
            additional_authorized_imports=["pandas", "numpy"],
            max_steps=TURNS,
            verbosity_level=smolagents.LogLevel.OFF,
        )
        task = f"{question(problem)}\n\nThe table is also there as the pandas DataFrame df."
        answer = agent.run(task, additional_args={"df": problem.input["table"].to_pandas()})
        used = agent.monitor.get_total_token_counts()
        calls = sum(getattr(step, "model_output_message", None) is not None for step in agent.memory.steps)
        value = answer.item() if hasattr(answer, "item") and getattr(answer, "size", 0) == 1 else answer
        value = value if isinstance(value, str | int | float | bool | list) else str(value)
        return Came(value, "", calls, used.input_tokens, used.output_tokens)

    return ask


def langchain_agent(url: str, model: str) -> Ask:
    """Ask LangChain's agent with a tool that runs pandas, in our sandbox."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    served = ChatOpenAI(model=model, base_url=url, api_key="none", temperature=0, max_tokens=TOKENS)

    def ask(problem: Problem) -> Came:
        def run_pandas(code: str) -> str:
            """Runs Python code; df is the table as a pandas DataFrame. Print what you want to see."""
            result = shared_sandbox().run(
                f"{code}\nans = 0", {"table": problem.input["table"].to_program_input()}
            )
            return result.stdout if result.ok else f"{result.error_type}: {result.message}"

        told = "Answer the question about the table with the help of the tool. Reply with the answer alone."
        agent = create_agent(served, [run_pandas], system_prompt=told)
        asked = {"messages": [("user", question(problem))]}
        said = agent.invoke(asked, {"recursion_limit": 2 * TURNS + 1})["messages"]
        usages = [each.usage_metadata for each in said if getattr(each, "usage_metadata", None)]
        read, written = (sum(each[f"{k}_tokens"] for each in usages) for k in ("input", "output"))
        return Came(said[-1].text.strip(), "", len(usages), read, written)

    return ask


RIVALS: dict[str, Callable[[str, str], Ask]] = {
    "smolagents CodeAgent": code_agent,
    "LangChain agent": langchain_agent,
}
