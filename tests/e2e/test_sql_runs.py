"""Text-to-SQL and Binder end to end over real HTTP: worked examples, and how many calls they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.sandbox.zygote import why_unusable
from tests.e2e.tables import AWARDS, CYCLING, CYCLISTS, IMAGE_AWARDS, RACE, shared_table
from tests.loopback import LoopbackServer

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

Start = Callable[..., LoopbackServer]

COUNTRIES = {"ugo ferri (ita)": "italy", "iker sola (esp)": "spain", "dario bo (ita)": "italy"}
MOST_AMONG_FOUR = (
    'SELECT QA("map@what is the country?"; cyclist) FROM w WHERE rank <= 4 '
    'GROUP BY QA("map@what is the country?"; cyclist) ORDER BY COUNT(*) DESC LIMIT 1'
)
SQL_OF = {
    CYCLING: """\
SELECT CASE code WHEN 'ITA' THEN 'Italy' WHEN 'ESP' THEN 'Spain' ELSE code END
FROM (SELECT substr(Cyclist, instr(Cyclist, '(') + 1, 3) AS code FROM w WHERE Rank <= 10)
GROUP BY code ORDER BY COUNT(*) DESC, code DESC LIMIT 1""",
    AWARDS: """\
SELECT "Supporting Actor" FROM w WHERE "Supporting Actor" != 'NOT AWARDED'
GROUP BY "Supporting Actor" ORDER BY COUNT(*) DESC LIMIT 1""",
}
BOUND = {
    CYCLING: 'SELECT QA("map@what is the country?"; cyclist) FROM w WHERE rank <= 10 '
    'GROUP BY QA("map@what is the country?"; cyclist) '
    'ORDER BY COUNT(*) DESC, QA("map@what is the country?"; cyclist) LIMIT 1',
    AWARDS: "SELECT `supporting actor` FROM w WHERE QA(\"map@is it a person?\"; `supporting actor`) = 'yes' "
    "GROUP BY `supporting actor` ORDER BY COUNT(*) DESC LIMIT 1",
}
CODES = {"(ita)": "italy", "(esp)": "spain", "(rus)": "russia", "(fra)": "france"}
SHIRTS = Table(
    ["Shirt", "Made in", "Price"],
    [["Plain", "Toronto", "$12"], ["Stripes", "Lyon", "$30"], ["Dots", "Chicago", "$25"]],
    "Shirts of ours",
)


class Clerk:
    """A model that writes the programs it is given, in turn, and answers about cells from a dictionary."""

    def __init__(self, programs: Sequence[str], cells: Mapping[str, str] = COUNTRIES, said: str = "") -> None:
        self._programs, self._cells, self._said = list(programs), cells, said
        self.asked: Counter[str] = Counter()
        self.items: list[list[str]] = []

    def __call__(self, request: dict[str, Any]) -> str:
        text = request["messages"][-1]["content"]
        cue = text.rstrip().splitlines()[-1]
        self.asked[cue] += 1
        if cue == "Answers:":
            return self._answers(text)
        return self._said if cue == "Answer:" else self._programs.pop(0)

    def _answers(self, text: str) -> str:
        block = text[text.rindex("<values>") :].splitlines()[2:-2]
        self.items.append([line.partition(" | ")[2] for line in block])
        return "\n".join(f"{n} | {self._cells.get(v, 'russia')}" for n, v in enumerate(self.items[-1], 1))


def run(loopback: Start, model: Any, inventory: str, question: str, table: Table = RACE) -> State:
    loopback(model)
    executor = Executor(Inventory.load(inventory), LLM.connect("openai:local", retries=0))
    return executor.run({"question": question, "table": table})


def test_a_question_becomes_one_query(loopback: Start) -> None:
    clerk = Clerk(["```sql\nSELECT Cyclist FROM w WHERE team = 'tandem' ORDER BY Points DESC LIMIT 1;\n```"])
    state = run(loopback, clerk, "wikitq_text_to_sql", "Who is the best cyclist of Tandem?")
    assert state.answer == ("Iker Sola (ESP)",)
    assert clerk.asked == {"SQL:": 1}


@pytest.mark.parametrize(("query", "answer"), [("= 2", "yes"), ("= 3", "no")])
def test_a_statement_becomes_one_query(loopback: Start, query: str, answer: str) -> None:
    clerk = Clerk([f"SELECT COUNT(*) {query} FROM w WHERE Team = 'Tandem'"])
    state = run(loopback, clerk, "tabfact_text_to_sql", "two cyclists ride for tandem")
    assert state.answer == answer
    assert clerk.asked == {"SQL:": 1}


def test_binder_asks_for_countries_and_votes(loopback: Start) -> None:
    """The cyclists of Chain-of-Table's first figure: here a column of countries comes from the model."""
    programs = [
        MOST_AMONG_FOUR,
        MOST_AMONG_FOUR,
        "SELECT country FROM w WHERE rank <= 4",  # there is no such column
        'QA("ans@which country has most cyclists?"; SELECT cyclist FROM w WHERE rank <= 4)',
        "SELECT cyclist FROM w WHERE rank = 1",
    ]
    clerk = Clerk(programs, said="Italy.")
    state = run(loopback, clerk, "wikitq_binder", "Which country had the most cyclists in the top 4?")
    assert state.answer == ("italy",)
    assert clerk.asked == {"Program:": 5, "Answers:": 1, "Answer:": 1}
    assert len(state.calls) == 7, "of the 50 samples that the paper counts for Binder"
    failed = {ballot["program"]: ballot["failed"] for ballot in state.cache["ballots"] if "failed" in ballot}
    assert list(failed) == [programs[2]] and "no such column: country" in failed[programs[2]]


def test_binder_on_the_shirts_of_its_paper(loopback: Start) -> None:
    """The first figure of Binder's paper asks about shirts made in North America."""
    program = (
        "SELECT shirt FROM w WHERE QA(\"map@north america?\"; `made in`) = 'yes' ORDER BY price DESC LIMIT 1"
    )
    clerk = Clerk([program] * 5, {"toronto": "yes", "lyon": "no", "chicago": "yes"})
    state = run(loopback, clerk, "wikitq_binder", "Which is the last?", SHIRTS)
    assert state.answer == ("dots",)
    assert clerk.asked == {"Program:": 5, "Answers:": 1}


@pytest.mark.parametrize(
    ("question", "table_id", "answer", "different"),
    [
        (CYCLING, CYCLISTS, "Italy", 10),
        (AWARDS, IMAGE_AWARDS, "Morgan Freeman", 20),
    ],
)
def test_the_papers_examples(
    loopback: Start, shared_data: Path, question: str, table_id: str, answer: str, different: int
) -> None:
    """Both come to the paper's answer: in 1 call, and in 5 for programs and 1 for `different` cells."""
    table = shared_table(shared_data, table_id)
    clerk = Clerk([f"```sql\n{SQL_OF[question]}\n```"])
    state = run(loopback, clerk, "wikitq_text_to_sql", question, table)
    assert state.answer == (answer,)
    assert clerk.asked == {"SQL:": 1} and state.usage.calls == 1
    seen = [" ".join(cell.lower().split()) for row in table.rows for cell in row]
    cells = {cell: _said_of(cell) for cell in seen}
    clerk = Clerk([BOUND[question]] * 5, cells)
    state = run(loopback, clerk, "wikitq_binder", question, table)
    assert state.answer == (answer.lower(),), "Binder's tables are in lower case"
    assert clerk.asked == {"Program:": 5, "Answers:": 1} and state.usage.calls == 6
    assert [len(items) for items in clerk.items] == [different]


def _said_of(cell: str) -> str:
    """A cyclist's country, else whether a cell names a person."""
    return CODES.get(cell[-5:], "no" if cell == "not awarded" else "yes")


def test_a_statement_is_voted_on_and_a_yes_counts_three_times(loopback: Start) -> None:
    programs = ["SELECT COUNT(*) = 2 FROM w WHERE team = 'tandem'", *["SELECT 0"] * 2, "SELECT 7", "QA("]
    clerk = Clerk(programs)
    state = run(loopback, clerk, "tabfact_binder", "two cyclists ride for tandem")
    assert state.answer == "yes"
    assert clerk.asked == {"Program:": 5}
    failed = {ballot["program"]: ballot["failed"] for ballot in state.cache["ballots"] if "failed" in ballot}
    assert list(failed) == ["QA("] and "question in quotes" in failed["QA("]
