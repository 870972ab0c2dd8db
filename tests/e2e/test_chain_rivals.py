"""Chain-of-Table's rivals end to end over real HTTP: worked examples, and how many calls they take."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.sandbox.zygote import why_unusable
from tests.e2e.tables import AWARDS, CYCLING, CYCLISTS, IMAGE_AWARDS, RACE, shared_table
from tests.loopback import Answer, LoopbackServer, Reply

Start = Callable[..., LoopbackServer]
sealed = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

QUESTION = "Which country had more cyclists in the race, Italy or Spain?"
STATEMENT = "italy had more cyclists in the race than spain"
CLOZE = (
    "{how many cyclists are from Italy?} cyclists are from Italy.\n"
    "{how many cyclists are from Spain?} cyclists are from Spain."
)
QUERIES = (
    "1: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(ITA)%'\n"
    "2: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(ESP)%'"
)
PROGRAM = """\
cyclist = table["columns"].index("Cyclist")
countries = [row[cyclist][-4:-1] for row in table["rows"]]
"""

MOST_CYCLISTS = """\
countries = [row[table["columns"].index("Cyclist")][-4:-1] for row in table["rows"]]
names = {"ITA": "Italy", "ESP": "Spain", "RUS": "Russia", "FRA": "France"}
ans = [names[c] for c in ("ITA", "RUS", "FRA") if countries.count(c) == 3]"""
MOST_AWARDS = """\
won = df[df["Supporting Actor"] != "NOT AWARDED"]["Supporting Actor"]
ans = str(won.value_counts().idxmax())"""
COUNTED = {
    CYCLING: (
        "Italy had {how many cyclists are from Italy?} cyclists.\n"
        "Russia had {how many cyclists are from Russia?} cyclists.",
        "1: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(ITA)%'\n"
        "2: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(RUS)%'",
        "Italy had 3 cyclists. Russia had 2 cyclists.",
    ),
    AWARDS: (
        "Morgan Freeman won {how many awards did Morgan Freeman win?} awards.",
        "1: SELECT COUNT(*) FROM w WHERE [Supporting Actor] = 'Morgan Freeman'",
        "Morgan Freeman won 4 awards.",
    ),
}


class Rival:
    """A model that answers by the last line of a prompt; several answers to one cue are given in turn.

    `last` holds the latest prompt for each cue.
    """

    def __init__(self, replies: Mapping[str, Answer | Sequence[Answer]]) -> None:
        self._replies = {
            cue: [each] if isinstance(each, str | Reply) else each for cue, each in replies.items()
        }
        self._lock = threading.Lock()
        self.asked: Counter[str] = Counter()
        self.last: dict[str, str] = {}

    def __call__(self, request: dict[str, Any]) -> Answer:
        text: str = request["messages"][-1]["content"]
        cue = text.rstrip().splitlines()[-1]
        with self._lock:
            answers = self._replies[cue]
            answer = answers[self.asked[cue] % len(answers)]
            self.asked[cue] += 1
            self.last[cue] = text
        return answer


def run(
    loopback: Start, rival: Rival, inventory: str, question: str = QUESTION, table: Table = RACE
) -> State:
    server = loopback(rival)
    executor = Executor(Inventory.load(inventory), LLM.connect("openai:local", retries=0))
    state = executor.run({"question": question, "table": table})
    assert state.usage.calls == len(server.requests)
    return state


@pytest.mark.parametrize(
    ("inventory", "cue", "reply", "answer"),
    [
        ("wikitq_end_to_end", "The answer is:", "Italy", ("Italy",)),
        ("wikitq_few_shot", "The answer is:", "ITA | ESP", ("ITA", "ESP")),
        ("wikitq_cot", "Explanation:", "Italy had 3, Spain 2. The answer is: Italy", ("Italy",)),
        ("tabfact_end_to_end", "The answer is:", "YES", "yes"),
        ("tabfact_few_shot", "The answer is:", "True.", "yes"),
        ("tabfact_cot", "Explanation:", "italy had 3, spain 2. The answer is: YES", "yes"),
        ("fetaqa_end_to_end", "The answer is:", "Italy had more, 3.", "Italy had more, 3."),
        ("fetaqa_few_shot", "The answer is:", "Italy had more, 3.", "Italy had more, 3."),
        ("fetaqa_cot", "Explanation:", "3 > 2. The answer is: Italy had more, 3.", "Italy had more, 3."),
    ],
)
def test_one_call_answers_from_the_whole_table(
    loopback: Start, inventory: str, cue: str, reply: str, answer: Any
) -> None:
    question = STATEMENT if inventory.startswith("tabfact") else QUESTION
    rival = Rival({cue: reply})
    state = run(loopback, rival, inventory, question)
    assert state.answer == answer and state.usage.calls == 1
    case = rival.last[cue].rpartition("/*")[2]
    assert "table caption : A race of ours\ncol : Rank | Cyclist" in case and "row 6 : 6 | Piero" in case
    assert question in case


@pytest.mark.parametrize(
    ("inventory", "last_line", "answer"),
    [
        ("wikitq_pot", 'ans = max(("ITA", "ESP"), key=countries.count)', ("ITA",)),
        ("wikitq_pot", "ans = [c for c in sorted(set(countries)) if countries.count(c) > 1]", ("ESP", "ITA")),
        ("tabfact_pot", 'ans = countries.count("ITA") > countries.count("ESP")', "yes"),
    ],
)
def test_a_program_is_one_call_and_runs_in_the_sandbox(
    loopback: Start, inventory: str, last_line: str, answer: Any
) -> None:
    rival = Rival({"Program:": f"```python\n{PROGRAM}{last_line}\n```"})
    state = run(loopback, rival, inventory, STATEMENT if inventory == "tabfact_pot" else QUESTION)
    assert state.answer == answer and rival.asked == {"Program:": 1}


def dater(answer: str) -> Rival:
    """Rows by vote: of 20 samples 12 name the Italians, 6 the Spaniards and 2 the Russian."""
    rows = ["f_row([row 1, row 4, row 6])"] * 6 + ["f_row([row 2, row 5])"] * 3 + ["f_row([row 3])"]
    replies: dict[str, Answer | Sequence[Answer]] = {
        "Sub-questions:": CLOZE,
        "SQL:": QUERIES,
        "similar words link to columns :": "The answer is : f_col([Rank, Cyclist])",
        "explain :": [f"The answer is : {row}" for row in rows],
        "The answer is:": answer,
    }
    return Rival(replies)


@sealed
@pytest.mark.parametrize(
    ("inventory", "question", "reply", "answer", "calls"),
    [
        ("wikitq_dater", QUESTION, "Italy", ("Italy",), 100),
        ("tabfact_dater", STATEMENT, "YES", "yes", 100),
        ("fetaqa_dater", QUESTION, "Italy had more.", "Italy had more.", 81),
    ],
)
def test_dater_counts_by_sql_and_answers_from_a_part_of_the_table(
    loopback: Start, inventory: str, question: str, reply: str, answer: Any, calls: int
) -> None:
    rival = dater(reply)
    state = run(loopback, rival, inventory, question)
    assert state.answer == answer and state.usage.calls == calls
    assert state.program == (
        "cloze_generator",
        "cloze_filler",
        "column_choice",
        "row_choice",
        "table_part",
        "table_query",
    )
    assert state.cache["evidence"] == "3 cyclists are from Italy. 2 cyclists are from Spain."
    assert state.table == RACE.take_columns([0, 1]).take_rows([0, 1, 3, 4, 5]), "the two best of three"
    case = rival.last["The answer is:"].rpartition("/*")[2]
    assert f"{question}\nIn the table: 3 cyclists are from Italy. 2 cyclists are from Spain." in case
    for cue in ("similar words link to columns :", "explain :"):
        assert "Team" in rival.last[cue].rpartition("/*")[2], "both choices are made on the whole table"
    assert "Orlov" not in case and "Orlov" in rival.last["SQL:"].rpartition("CREATE TABLE")[2]


@sealed
@pytest.mark.parametrize(
    ("question", "table_id", "program", "columns", "answer"),
    [
        (CYCLING, CYCLISTS, MOST_CYCLISTS, "Rank, Cyclist", "Italy"),
        (AWARDS, IMAGE_AWARDS, MOST_AWARDS, "Year, Supporting Actor", "Morgan Freeman"),
    ],
)
def test_the_papers_examples(
    loopback: Start,
    shared_data: Path,
    question: str,
    table_id: str,
    program: str,
    columns: str,
    answer: str,
) -> None:
    """Each rival comes to the paper's answer, in one call, or in 100 as the paper counts them for Dater."""
    table = shared_table(shared_data, table_id)
    cloze, queries, evidence = COUNTED[question]
    rival = Rival(
        {
            "The answer is:": answer,
            "Explanation:": f"It occurs most often. The answer is: {answer}",
            "Program:": f"```python\n{program}\n```",
            "Sub-questions:": cloze,
            "SQL:": queries,
            "similar words link to columns :": f"The answer is : f_col([{columns}])",
            "explain :": "The answer is : f_row([*])",
        }
    )
    calls = {}
    for method in ("end_to_end", "few_shot", "cot", "pot", "dater"):
        state = run(loopback, rival, f"wikitq_{method}", question, table)
        assert state.answer == (answer,), method
        calls[method] = state.usage.calls
    assert calls == {"end_to_end": 1, "few_shot": 1, "cot": 1, "pot": 1, "dater": 100}
    assert state.cache["evidence"] == evidence
    assert ", ".join(state.input["table"].header) == columns
