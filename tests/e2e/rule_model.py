"""Models made of rules, for a loopback server: one plays every part of TabMWP, one answers by cues."""

import json
import re
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import Executor, Inventory, State, Table
from chameleon.core.events import Event
from chameleon.core.log import event_to_json
from chameleon.llm import ResponseStore
from chameleon.table.bars import split_rows
from tests.llm.asking import local
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
    ("column_lookup", "knowledge_retrieval", *PROGRAM),
    ("knowledge_retrieval", "table_verbalizer", *SOLUTION),
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
        text = _text(item, float(request["temperature"]) > 0)
        usage = (sum(len(message["content"]) for message in request["messages"]) // 4, len(text) // 4 + 1)
        with self._lock:
            self.tokens = (self.tokens[0] + usage[0], self.tokens[1] + usage[1])
        return Reply(text, usage=usage, delay=self._delay)


def _text(item: Item, again: bool) -> str:
    """Reply to the asker; of three programs and solutions one is of use only when it is written `again`."""
    table, lines = item.table, [" | ".join(row) for row in (item.table.header, *item.table.rows)]
    named = [index for index, row in enumerate(table.rows) if row[0].casefold() in item.question.casefold()]
    numbers = [float(digits) for line in lines for digits in re.findall(r"\d+(?:\.\d+)?", line)]
    is_faulty = item.roll("fault", 3) == 0 and not again
    code = f"ans = {item.choices[0]!r}" if item.choices else f"ans = round(sum({numbers}), 2)"
    faults = (code.replace("ans", "result"), f"({code}", "ans = 1 / 0")
    code = faults[item.roll("kind of fault", len(faults))] if is_faulty else code
    answer = item.choices[-1] if item.choices else table.rows[-1][-1]
    plan = PLANS[item.roll("plan", len(PLANS))]
    numbered = "\n".join(f"{number}. {name}" for number, name in enumerate(plan, 1))
    told = f"The table is small [see above]:\n```json\n{json.dumps(plan)}\n```\nIt will do."
    plans = (json.dumps(plan), " -> ".join(name.replace("_", " ").title() for name in plan), numbered, told)
    return {
        "planner": plans[item.roll("way to write a plan", len(plans))],
        "row_lookup": "\n".join([lines[0], *(lines[index + 1] for index in named)]),
        "column_lookup": "I cannot see any table in this message.",
        "knowledge_retrieval": "A total is the sum of all values.",
        "table_verbalizer": f"The table shows: {'; '.join(lines)}.",
        "program_generator": f"```python\n{code}\n```",
        "solution_generator": "It is the last." if is_faulty else f"It is the last. The answer is {answer}.",
    }[item.asker]


def tabmwp(
    *,
    store: ResponseStore | None = None,
    retries: int = 0,
    timeout: float = 30.0,
    naps: list[float] | None = None,
) -> Executor:
    """An executor whose model is the server at OPENAI_BASE_URL; `naps` notes waits, which take no time."""
    llm = local(retries, naps, store=store, timeout=timeout)
    return Executor(Inventory.load("tabmwp"), llm)


def events(state: State) -> list[Event]:
    assert state.started is not None and state.ended is not None
    return [state.started, *state.plans, *state.history, state.ended]


def outline(state: State, without: Iterable[str] = ("seconds", "at")) -> list[Any]:
    def pruned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: pruned(item) for key, item in value.items() if key not in without}
        return [pruned(item) for item in value] if isinstance(value, list) else value

    return [pruned(event_to_json(event)) for event in events(state)]


Given = str | Answer | Sequence[Answer] | Callable[[str], Answer]


class ByCue:
    """Answer by a cue: how the last line of a prompt begins, else a text in it; "Caption:" for a picture.

    Several answers are given in turn. `asked` counts by cue, `last` holds the latest prompt for each.
    """

    def __init__(self, replies: Mapping[str, Given]) -> None:
        self.replies = dict(replies)
        self._lock = threading.Lock()
        self.asked: Counter[str] = Counter()
        self.last: dict[str, str] = {}

    def __call__(self, request: dict[str, Any]) -> Answer:
        content = request["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        end = text.rstrip().splitlines()[-1] if content == text else "Caption:"
        cues = [cue for cue in self.replies if end.startswith(cue)]
        cue = max(cues, key=len) if cues else next(cue for cue in self.replies if cue in text)
        with self._lock:
            number = self.asked[cue]
            self.asked[cue] += 1
            self.last[cue] = text
        reply = self.replies[cue]
        if callable(reply):
            return reply(text)
        return reply[number % len(reply)] if isinstance(reply, list | tuple) else reply  # type: ignore[return-value]
