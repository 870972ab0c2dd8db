"""A model made of rules, for a loopback server: it plays every part that the TabMWP prompts ask for.

    with LoopbackServer(RuleModel()) as server: ...

It is a test double and claims no accuracy. What it replies is a function of the request alone: a hash of the
problem picks among plans, ways to write a list or a table, sound and faulty programs, and solutions with and
without their last sentence. So runs vary, every path of the executor is taken, and two runs of one problem
can be compared. `first` scripts the first replies to one asker, which is how the faults are tested.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import Declined, Table
from chameleon.modules.offline.judge import answer
from chameleon.modules.offline.sheet import Sheet
from chameleon.table.bars import split_rows
from tests.loopback import Answer, Reply

# The last line of each prompt, and who asks with it.
CUES = {
    "Modules:": "planner",
    "Rows:": "row_lookup",
    "Columns:": "column_lookup",
    "Knowledge:": "knowledge_retrieval",
    "Description:": "table_verbalizer",
    "Program:": "program_generator",
    "Solution:": "solution_generator",
}
PROGRAM = ("program_generator", "program_verifier", "program_executor", "answer_generator")
SOLUTION = ("solution_generator", "answer_generator")
PLANS = (
    PROGRAM,
    ("row_lookup", *PROGRAM),
    ("column_lookup", "row_lookup", *PROGRAM),
    ("knowledge_retrieval", *SOLUTION),
    ("table_verbalizer", *PROGRAM),
    ("row_lookup", *SOLUTION),
    ("knowledge_retrieval", "table_verbalizer", *SOLUTION),
    ("column_lookup", "knowledge_retrieval", *PROGRAM),
)
_ITEM = re.compile(
    r"^Question: (?P<question>.*?)"
    r"(?:\nChoices: (?P<choices>[^\n]*))?(?:\nUnit: (?P<unit>[^\n]*))?(?:\nTitle: (?P<title>[^\n]*))?"
    r"\n<table>\n(?P<table>.*?)\n</table>",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Item:
    """The problem that a prompt ends with, and who asks about it."""

    asker: str
    question: str
    table: Table
    choices: tuple[str, ...] = ()
    unit: str = ""

    def roll(self, what: str, sides: int) -> int:
        """A number below `sides` that this question always gets for `what`."""
        return zlib.crc32(f"{what}: {self.question}".encode()) % sides


def read_item(request: Mapping[str, Any]) -> Item:
    """Find the last problem in a request's prompt: those before it are demonstrations."""
    texts = [message["content"] for message in request["messages"] if message["role"] == "user"]
    asker = CUES[texts[-1].rstrip().splitlines()[-1]]
    found = _ITEM.search(texts[0], texts[0].rindex("\nHere is the "))
    assert found is not None, texts[0][-500:]
    header, *rows = split_rows(found["table"].split("\n"))
    choices = tuple(found["choices"].split(" | ")) if found["choices"] else ()
    table = Table(header, rows, found["title"] or "")
    return Item(asker, found["question"], table, choices, found["unit"] or "")


class RuleModel:
    """A reply function for `LoopbackServer`.

    `first` maps an asker ("planner", "row_lookup", …) to the answers that it gets before the rules reply.
    `asked` lists the askers in the order of the requests, `tokens` sums what the replies report as used.
    """

    def __init__(self, first: Mapping[str, Sequence[Answer]] | None = None, *, delay: float = 0.0) -> None:
        self._first = {asker: list(answers) for asker, answers in (first or {}).items()}
        self._delay = delay
        self._lock = threading.Lock()
        self.asked: list[str] = []
        self.tokens = (0, 0)

    def __call__(self, request: dict[str, Any]) -> Answer:
        item = read_item(request)
        with self._lock:
            self.asked.append(item.asker)
            if scripted := self._first.get(item.asker):
                return scripted.pop(0)
        text = _PARTS[item.asker](item, float(request["temperature"]) > 0)
        usage = (sum(len(message["content"]) for message in request["messages"]) // 4, len(text) // 4 + 1)
        with self._lock:
            self.tokens = (self.tokens[0] + usage[0], self.tokens[1] + usage[1])
        return Reply(text, usage=usage, delay=self._delay)


def _plan(item: Item, again: bool) -> str:
    plan = PLANS[item.roll("plan", len(PLANS))]
    listed = json.dumps(plan)
    lines = "\n".join(f"{number}. {name}" for number, name in enumerate(plan, 1))
    ways = (
        listed,
        listed,
        str(list(plan)),
        f"The table is small [see above], so I would take this plan:\n```json\n{listed}\n```\nIt will do.",
        " -> ".join(name.replace("_", " ").title() for name in plan),
        lines,
    )
    return ways[item.roll("way to write a plan", len(ways))]


def _rows(item: Item, again: bool) -> str:
    table, question = item.table, item.question.casefold()
    named = [index for index, row in enumerate(table.rows) if row[0] and row[0].casefold() in question]
    return _written(item, table.take_rows(named) if named else table)


def _columns(item: Item, again: bool) -> str:
    table = item.table
    kept = sorted({0, 1 + item.roll("column", len(table.header) - 1)})
    return _written(item, table.take_columns(kept))


def _written(item: Item, part: Table) -> str:
    lines = [" | ".join(row) for row in (part.header, *part.rows)]
    spread = ["|".join(f"  {cell.upper()} " for cell in row) for row in (part.header, *part.rows)]
    ruled = [lines[0], " | ".join("---" for _ in part.header), *lines[1:]]
    ways = (
        "\n".join(lines),
        "\n".join(spread),
        "Here is the part that matters:\n```\n" + "\n".join(ruled) + "\n```",
        "\n".join([*lines[:-1], lines[-1] + "7"]),  # no part of the table: a cell was changed
        "I cannot see any table in this message.",
    )
    return ways[item.roll("way to write a table", len(ways))]


def _knowledge(item: Item, again: bool) -> str:
    return f"A table with {len(item.table.header)} columns lists values. A total is the sum of all values."


def _description(item: Item, again: bool) -> str:
    rows = (", ".join(filter(None, row)) for row in item.table.rows)
    return "The table shows: " + "; ".join(rows) + "."


def _program(item: Item, again: bool) -> str:
    code = _sound_program(item)
    ways = (
        f"```python\n{code}\n```",
        f"Let us compute it.\n```python\n{code}\n```\nThis sets ans.",
        code,
        f"```python\n{code if again else code.replace('ans', 'result')}\n```",
        f"```python\n{code if again else '(' + code}\n```",
        f"```python\n{code if again else 'ans = 1 / 0'}\n```",
    )
    if item.roll("program that never works", 18) == 0:
        return "```python\nans = undefined_name + 1\n```"
    return ways[item.roll("way to write a program", len(ways))]


def _sound_program(item: Item) -> str:
    try:
        result = answer(item.question, Sheet(item.table)).result
        return f"ans = {float(result.number) if result.number is not None else ', '.join(result.values)!r}"
    except Declined:
        if item.choices:
            return (
                f"choices = {list(item.choices)!r}\nans = choices[{item.roll('choice', len(item.choices))}]"
            )
        cells = [cell for row in item.table.rows for cell in row]
        numbers = [float(digits) for cell in cells for digits in re.findall(r"\d+(?:\.\d+)?", cell)]
        what = ("sum(values)", "max(values, default=0)", "len(values)")[item.roll("calculation", 3)]
        return f"values = {numbers!r}\nans = round({what}, 2)"


def _solution(item: Item, again: bool) -> str:
    if item.choices:
        answer = item.choices[item.roll("choice", len(item.choices))]
    else:
        answer = item.table.rows[-1][-1] if item.table.rows else "0"
    reasoning = f"The last row is about {item.table.rows[-1][0] or 'it' if item.table.rows else 'nothing'}."
    if item.roll("solution without its end", 3) == 0 and not again:
        return reasoning
    return f"{reasoning} The answer is {answer}."


_PARTS: Mapping[str, Callable[[Item, bool], str]] = {
    "planner": _plan,
    "row_lookup": _rows,
    "column_lookup": _columns,
    "knowledge_retrieval": _knowledge,
    "table_verbalizer": _description,
    "program_generator": _program,
    "solution_generator": _solution,
}
