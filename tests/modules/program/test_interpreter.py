"""Python as a tool: what it prints, the value of its last line, and what is told of one that fails."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import LLM, Executor, Table
from chameleon.llm import ScriptedModel
from chameleon.planners.react import React

VISITS = Table(["City", "Visitors"], [["Lisbon", "4,200"], ["Porto", "2,900"]])
HOTELS = Table(["Hotel", "Beds"], [["Faro", "12"]])


def outputs(*programs: str, **given: Any) -> list[Any]:
    replies = [*(f"```python\n{each}\n```" for each in programs), "Answer: done"]
    executor = Executor("code_interpreter", LLM.connect(ScriptedModel(replies)))
    state = executor.run({"question": "What?", "table": VISITS, **given})
    assert state.answer == "done"
    records = [each for each in state.executed if each.step.module == "python"]
    return [each.output if each.error is None else each.error.message for each in records]


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("print(df['Visitors'].sum())", "7100"),
        ("total = df['Visitors'].sum()\n(total +\n 1)", "7101"),
        ("len(df);  # é: how many\n# there are", "2"),
        ("df = pd.read_html('<table>')[0]\nlen(df)", "2"),
        ("x = 1", "It printed nothing. Print what you want to see."),
        ("x = 1\ndf['Town']", "KeyError in line 2: 'Town'"),
        ("tables['table 2']['Beds'].max() + len(df)", "14"),
        ("text.split()[0]", "Once"),
    ],
)
def test_what_a_program_shows(program: str, shown: str) -> None:
    assert outputs(program, tables=[HOTELS], text="Once upon a time") == [shown]


def test_a_block_of_code_is_a_call_and_an_answer_before_it_is_none() -> None:
    def run(*replies: str, module: str = "sql_query") -> tuple[Any, ...]:
        executor = Executor([module], LLM.connect(ScriptedModel(list(replies))), planner=React(native=False))
        state = executor.run({"question": "How many visitors?", "table": VISITS})
        steps = [step for plan in state.plans for step in plan.steps]
        return state.answer, *(step.args for step in steps if step.module == module)

    query = "SELECT SUM(Visitors) FROM w"
    for written in (f"```sql\n{query}\n```", f"I look.\n```sqlite\n{query}\n", f"sql_query: {query}", query):
        assert run(written, "Answer: 7100") == ("7100", {"query": query})
    assert run(f"```\n{query}\n```\nAnswer: 5", "Answer: 7100") == ("7100", {"query": query})
    assert run(f"Answer: 7100\n\n```sql\n{query}\n```")[0].startswith("7100")
    assert run(f"```sql\n{query.replace(' w', ' visits')}\n```", "Answer: 7100")[0] == "7100"


def test_a_checked_answer_is_what_a_query_gave() -> None:
    def run(*replies: str) -> Any:
        executor = Executor("tables_agent", LLM.connect(ScriptedModel(list(replies))))
        return executor.run({"question": "How many visitors?", "table": VISITS})

    query = "```sql\nSELECT SUM(Visitors) FROM w\n```"
    assert run("Answer: 7,100", query, "Answer: 7,100").answer == "7,100"
    state = run("Answer: 7,100", "Answer: 7,100")
    assert state.ended.reason == "declined" and "has to be computed" in state.ended.error.message
    assert run(query, "Answer: In all, there were 7100 visitors.").answer == "7100"
    state = run(query, query, *["Answer: 9,100"] * 2, query, query)
    assert state.ended.reason == "declined" and "'9,100' is neither" in state.ended.error.message
    for replies in ([query] * 4, [query, query, query, "Answer: 9,100", query]):
        assert run(*replies).ended.reason == "declined"
