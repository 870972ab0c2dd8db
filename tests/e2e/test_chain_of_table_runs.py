"""Chain-of-Table and its rivals end to end over real HTTP: worked examples, and how many calls they take."""

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.sandbox.sealed_process import why_unusable
from tests.e2e.problems import RACE, table
from tests.e2e.rule_model import ByCue, Given
from tests.loopback import Start

sealed = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")


def run(loopback: Start, model: ByCue, inventory: str, question: str, over: Table = RACE) -> State:
    server = loopback(model)
    executor = Executor(Inventory.load(inventory), LLM.connect("openai:local", retries=0))
    state = executor.run({"question": question, "table": over})
    assert state.usage.calls == len(server.requests)
    return state


class Example(NamedTuple):
    """A question, what the model plans and replies by cue, and what comes of it.

    `over` names a table of the data; without it the race is asked about.
    """

    inventory: str
    question: str
    plan: str
    replies: dict[str, str]
    chain: str
    last: Table
    answer: Any
    calls: tuple[int, ...]
    over: str = ""


ROWS, COLUMNS, ANSWER = "explain :", "similar words link to columns :", "The answer is:"
ADDED = 'We extract the value from column "Cyclist". The datatype is string.\nTherefore, the answer is: '
EXAMPLES = {
    "cyclists of ours": Example(
        "wikitq",
        "Which country had the fewest cyclists among the first five?",
        "f_add_column(Country) -> f_select_row(row 1, row 2, row 3, row 4) -> f_select_column(Country) -> "
        "f_group_by(Country) -> f_sort_by(Count) -> <END>",
        {
            "f_add_column(": f"{ADDED}f_add_column(Country). The value: ITA | ESP | RUS | ITA | ESP | ITA",
            ROWS: "The answer is : f_row([row 1, row 2, row 3, row 4, row 5])",
            COLUMNS: "The answer is : f_col([Country])",
            "f_group(": "Therefore, the answer is: f_group(Country).",
            "f_sort(": "The datatype is Numerical.\nTherefore, the answer is: f_sort(Count), the order is "
            '"small to large".',
            ANSWER: "The answer is: RUS",
        },
        "f_add_column(Country) -> f_select_row(row 1, row 2, row 3, row 4, row 5) -> "
        "f_select_column(Country) -> f_group_by(Country) -> f_sort_by(Count, small to large)",
        table("Country | Count\nRUS | 1\nESP | 2\nITA | 2"),
        ("RUS",),
        # A plan before each operation (after the last, none is left), eight samples for both selections.
        (5, 1, 8, 8, 1, 1, 1),
    ),
    "the paper's image awards": Example(
        "wikitq",
        "which actor has the most naacp image awards?",
        "f_select_column(Supporting Actor) -> f_group_by(Supporting Actor) -> <END>",
        {
            COLUMNS: "The answer is : f_col([year, supporting actor])",
            "f_group(": "Therefore, the answer is: f_group(Supporting Actor).",
            ANSWER: "The answer is: Morgan Freeman",
        },
        "f_select_column(Year, Supporting Actor) -> f_group_by(Supporting Actor)",
        table("Supporting Actor | Count\nNOT AWARDED | 19\nMorgan Freeman | 4\nDenzel Washington | 3"),
        ("Morgan Freeman",),
        (3, 8, 1, 1),
        "wikitq/tables csv/201-csv/4.csv",
    ),
    "the statement of the released code": Example(
        "tabfact",
        "the wildcats kept the opposing team scoreless in four games",
        "f_select_row(row 2, row 4, row 5, row 9) -> f_select_column(opponent, opponents) -> <END>",
        {
            ROWS: "The answer is : f_row([row 2, row 4, row 5, row 9])",
            COLUMNS: "The answer is : f_col([opponent, opponents])",
            ANSWER: "YES",
        },
        "f_select_row(row 2, row 4, row 5, row 9) -> f_select_column(opponent, opponents)",
        table("opponent | opponents\ncincinnati | 0\n9 georgia | 0\n10 vanderbilt | 0\nevansville | 0"),
        "yes",
        (3, 8, 8, 1),
        "tabfact/corpus 1-24560733-1.html.csv",
    ),
}


def shared_table(data: Path, name: str) -> Table:
    """The table "FILE ID" of TabFact or WikiTableQuestions."""
    file, _, table_id = name.partition(" ")
    with gzip.open(data / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = next(row for row in map(json.loads, lines) if row["table_id"] == table_id)
    return Table(row["header"], row["rows"], row["caption"])


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_worked_example(example: Example, loopback: Start, request: pytest.FixtureRequest) -> None:
    over = shared_table(request.getfixturevalue("shared_data"), example.over) if example.over else RACE
    replies = {"Function Chain:": example.plan, **example.replies}
    model = ByCue(replies)
    state = run(loopback, model, example.inventory, example.question, over)
    calls = [link["call"] for link in state.cache["chain"] if "refused" not in link]
    assert " -> ".join(calls) == example.chain
    last = state.input["table"]
    assert last.header == example.last.header and last.rows[: len(example.last.rows)] == example.last.rows
    assert last.caption == over.caption and state.answer == example.answer
    assert model.asked == Counter(dict(zip(replies, example.calls, strict=True)))


QUESTION = "Which country had more cyclists in the race, Italy or Spain?"
STATEMENT = "italy had more cyclists in the race than spain"
OF = "{{how many cyclists are from {0}?}} cyclists are from {0}."
CLOZE = f"{OF.format('Italy')}\n{OF.format('Spain')}"
SELECT = "SELECT COUNT(*) FROM w WHERE Cyclist LIKE"
QUERIES = f"1: {SELECT} '%(ITA)%'\n2: {SELECT} '%(ESP)%'"
# Rows by vote: of 20 samples 12 name the Italians, 6 the Spaniards and 2 the Russian.
VOTES = ["f_row([row 1, row 4, row 6])"] * 6 + ["f_row([row 2, row 5])"] * 3 + ["f_row([row 3])"]


@sealed
@pytest.mark.parametrize(
    ("inventory", "question", "reply", "answer", "calls"),
    [
        ("wikitq_dater", QUESTION, "Italy", ("Italy",), 100),
        ("tabfact_dater", STATEMENT, "YES", "yes", 100),
        ("fetaqa_dater", QUESTION, "Italy had more.", "Italy had more.", 81),
    ],
)
def test_dater_counts_by_sql(
    loopback: Start, inventory: str, question: str, reply: str, answer: Any, calls: int
) -> None:
    votes = [f"The answer is : {rows}" for rows in VOTES]
    replies: dict[str, Given] = {"Sub-questions:": CLOZE, "SQL:": QUERIES, ROWS: votes, ANSWER: reply}
    rival = ByCue({**replies, COLUMNS: "The answer is : f_col([Rank, Cyclist])"})
    state = run(loopback, rival, inventory, question)
    assert state.answer == answer and state.usage.calls == calls
    names = "cloze_generator cloze_filler column_choice row_choice table_part table_query"
    assert list(state.executed_names) == names.split()
    assert state.cache["evidence"] == "3 cyclists are from Italy. 2 cyclists are from Spain."
    assert state.table == RACE.take_columns([0, 1]).take_rows([0, 1, 3, 4, 5]), "the two best of three"
    case = rival.last[ANSWER].rpartition("/*")[2]
    assert f"{question}\nIn the table: 3 cyclists are from Italy. 2 cyclists are from Spain." in case
    for cue in (COLUMNS, ROWS):
        assert "Team" in rival.last[cue].rpartition("/*")[2], "both choices are made on the whole table"
    assert "Orlov" not in case and "Orlov" in rival.last["SQL:"].rpartition("CREATE TABLE")[2]


COUNTRIES = {"ugo ferri (ita)": "italy", "iker sola (esp)": "spain", "dario bo (ita)": "italy"}
ITS = 'QA("map@what is the country?"; cyclist)'
MOST_AMONG_FOUR = f"SELECT {ITS} FROM w WHERE rank <= 4 GROUP BY {ITS} ORDER BY COUNT(*) DESC LIMIT 1"
PROGRAMS = [
    MOST_AMONG_FOUR,
    MOST_AMONG_FOUR,
    "SELECT country FROM w WHERE rank <= 4",  # there is no such column
    'QA("ans@which country has most cyclists?"; SELECT cyclist FROM w WHERE rank <= 4)',
    "SELECT cyclist FROM w WHERE rank = 1",
]


def clerk(programs: Sequence[str], cells: Mapping[str, str] = COUNTRIES) -> ByCue:
    def answers(text: str) -> str:
        asked = [line.partition(" | ")[2] for line in text[text.rindex("<values>") :].splitlines()[2:-2]]
        return "\n".join(f"{n} | {cells.get(each, 'russia')}" for n, each in enumerate(asked, 1))

    return ByCue({"SQL:": programs, "Program:": programs, "Answers:": answers, "Answer:": "Italy."})


BEST = "```sql\nSELECT Cyclist FROM w WHERE team = 'tandem' ORDER BY Points DESC LIMIT 1;\n```"
COUNT = "SELECT COUNT(*) = 2 FROM w WHERE Team = 'Tandem'"


@sealed
@pytest.mark.parametrize(
    ("inventory", "query", "answer"),
    [("wikitq_text_to_sql", BEST, ("Iker Sola (ESP)",)), ("tabfact_text_to_sql", COUNT, "yes")],
)
def test_a_question_becomes_one_query(loopback: Start, inventory: str, query: str, answer: Any) -> None:
    model = clerk([query])
    state = run(loopback, model, inventory, "Who is the best cyclist of Tandem?")
    assert state.answer == answer and model.asked == {"SQL:": 1}


@sealed
def test_binder_asks_for_countries_and_votes(loopback: Start) -> None:
    """The cyclists of Chain-of-Table's first figure: here a column of countries comes from the model."""
    model = clerk(PROGRAMS)
    state = run(loopback, model, "wikitq_binder", "Which country had the most cyclists in the top 4?")
    assert state.answer == ("italy",)
    assert model.asked == {"Program:": 5, "Answers:": 1, "Answer:": 1}
    assert len(state.calls) == 7, "of the 50 samples that the paper counts for Binder"
    failed = {ballot["program"]: ballot["failed"] for ballot in state.cache["ballots"] if "failed" in ballot}
    assert list(failed) == [PROGRAMS[2]] and "no such column: country" in failed[PROGRAMS[2]]
