"""Binder: calls within programs, repairs, what programs ask and come to, and the vote; with its vectors."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import State, StepRejected, Table
from chameleon.errors import ModuleError
from chameleon.llm import Reply
from chameleon.modules.sql import guarded_query
from chameleon.modules.sql.binder import BinderGenerator, BinderVote
from chameleon.modules.sql.binder_calls import all_calls, column_in, value_of
from chameleon.modules.sql.binder_programs import Answerer, AnswerQuestion, MapQuestion, ProgramRun, Question
from chameleon.modules.sql.binder_repair import nearest_cell, repaired
from chameleon.modules.sql.binder_table import binder_table
from chameleon.modules.sql.database import Cell, SqlTable, SqlType
from chameleon.modules.sql.query import run_sql
from chameleon.sandbox import ExecResult, Guarantees, Limits, Sandbox
from chameleon.sandbox.result import Ending, judge
from chameleon.sandbox.sealed_process import why_unusable
from tests.benchmarks.shared_data import needs_data, rows
from tests.modules.conftest import vectors

_ROWS = ["1,998|Port Crocs (QLD)|3|10.4|-|May 4, 2024|A", "1999|South Cutters|/|8|x||B"]
_ROWS += ["2000|Port Crocs (QLD)|12|9.5|930 251|June 1, 2023|A"]
_HEADER = ["Year", "Runners Up", "Score", "Score", "", "Day", "Group"]
TABLE = Table(_HEADER, [row.split("|") for row in _ROWS], "Tarn (league) cup")


class Unsealed(Sandbox):
    """Runs the guarded query in this very process: for many recorded ones, which mean no harm."""

    tier = "unsealed"

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        # The heap limit of SQLite is one for the whole process, and cannot be raised again.
        request["limits"]["memory_bytes"] = 0
        return judge(Ending(guarded_query.run(request).encode()), self._limits, wall, self.tier)

    def guarantees(self) -> Guarantees:
        return Guarantees(self.tier, ())

    def _end(self) -> None:
        """Do nothing: there is no process to end."""


# Where no program gave an answer, the original answers its placeholder 0: here it is a failure.
DEPARTURE = "nsql-026"


@pytest.mark.parametrize("vector", vectors("binder", "kind", "vote"))
def test_votes_are_counted(vector: dict[str, Any]) -> None:
    options = vector["options"]
    # Where a program that finds nothing may win, it says 0.
    nothing = (0,) if options.get("allow_none_and_empty_answer") else None
    said = {"<error>": None, "[]": nothing, "[None]": nothing}
    ballots = [
        (said[str(answer)] if str(answer) in said else tuple(answer), logprob)
        for answer, logprob in zip(vector["answers"], vector["logprobs"], strict=True)
    ]
    vote = BinderVote("items", options["vote_method"], options.get("answer_biased_weight") or 1)
    if vector["id"] == DEPARTURE:
        with pytest.raises(ModuleError, match="no program gave an answer"):
            vote.winning_answer(ballots)
        return
    won = vote.winning_answer(ballots)
    assert list(won) == vector["winner"]
    voters = [[f"p{n}", logprob] for n, (answer, logprob) in enumerate(ballots) if answer == won]
    assert voters == vector["winner_programs"]


def test_programs_that_find_nothing_have_no_vote() -> None:
    ballots = [((None,), None), ((), None), ((None,), None), (("Tarn",), None), (None, None)]
    assert BinderVote().winning_answer(ballots) == ("Tarn",)


def test_calls_that_cannot_be_read_are_told() -> None:
    deep = 'QA("ans@a"; ' * 500 + "1" + ")" * 500
    for program in ('QA("what?"; a)', 'SELECT QA("map@a?"; b FROM w', "QA()", deep):
        with pytest.raises(StepRejected):
            BinderGenerator().interpret(program, State(input={"table": TABLE}))


def test_answers_are_read_by_number_and_a_single_one_is_the_first_line_that_says_something() -> None:
    reply = "Sure:\n1 | Yes.\n| 2 | port crocs | NO |\nrow 3: 1,5\n3 | again\n7 | out\n\n4 |"
    question = MapQuestion("?", ("a",), (("v",), ("w",), ("x",), ("y",)))
    assert question.read(Reply(reply)) == {("v",): "yes", ("w",): "no", ("x",): "1,5"}
    assert question.read(Reply("1 | yes\n2 | n", finish="length")) == {("v",): "yes"}
    single = AnswerQuestion("?", ())
    assert single.read(Reply("\nThe answer is: **Port Crocs**.\nFor it is so.")) == "port crocs"
    for bad in (Reply(" \n "), Reply("port", finish="length")):
        with pytest.raises(StepRejected):
            single.read(bad)


@pytest.mark.parametrize("vector", vectors("binder", "kind", "parse"))
def test_calls_are_found_inside_out_and_once(vector: dict[str, Any]) -> None:
    if vector["raises"]:
        with pytest.raises(StepRejected):
            all_calls(vector["program"])
        return
    calls = {call.text: call for call in all_calls(vector["program"])}
    assert list(dict.fromkeys([*calls, vector["program"].strip()])) == vector["steps"]
    told = [{"question": f"{call.kind}@{call.asked}", "params": list(call.params)} for call in calls.values()]
    assert told == vector["qa"]


@pytest.mark.parametrize("vector", vectors("binder", "kind", "role"))
def test_parameters_have_their_roles(vector: dict[str, Any]) -> None:
    is_column = column_in(vector["text"], vector["headers"]) is not None
    is_value = value_of(vector["text"]) is not NotImplemented
    assert vector["role"] == ("col" if is_column else "val" if is_value else "complete_sql")


@given(st.text(alphabet="QA(\"map@ans;)'`w x", max_size=40))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        calls = all_calls(text)
    except StepRejected:
        return
    for call in calls:
        assert call.text in text and all_calls(call.text)[-1].text == call.text


NORMAL = binder_table(TABLE)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("```sql\nSELECT year FROM w\n```", "SELECT year FROM w"),
        ("SELECT year\nFROM w;", "SELECT year FROM w"),
        ("SELECT year FROM Tarn (League) Cup", "SELECT year FROM w"),
        ("SELECT year FROM tarn_league_cup WHERE year = 1", "SELECT year FROM w WHERE year = 1"),
        ("SELECT Runners Up, year FROM w", "SELECT `Runners Up`, year FROM w"),
        ('SELECT "runners up" FROM w', 'SELECT "runners up" FROM w'),
        ("SELECT group FROM w GROUP BY group", "SELECT `group` FROM w GROUP BY `group`"),
        ("FROM w WHERE runners up = 'port crocs'", "FROM w WHERE `runners up` = 'port crocs (qld)'"),
        ("`runners up` IN ('South cutter', \"nobody\")", "`runners up` IN ('south cutters', 'nobody')"),
        ("SELECT 'South Cutters' FROM w", "SELECT 'South Cutters' FROM w"),
        ("FROM w WHERE `runners up` LIKE '%CROC%'", "FROM w WHERE `runners up` LIKE '%CROC%'"),
        ("SELECT year FROM w WHERE day = 'June 1, 2023'", "SELECT year FROM w WHERE day = '2023-06-01'"),
        ("day < '2023-06-01 00:00:00' AND year < 'June 1'", "day < '2023-06-01' AND year < 'June 1'"),
        ("SELECT a FROM w WHERE `group` = 'runners up'", "SELECT a FROM w WHERE `group` = `runners up`"),
        ("QA(\"map@is 'no'?\"; runners up) = 'no'", "QA(\"map@is 'no'?\"; `runners up`) = 'no'"),
        ("SELECT 'unclosed FROM w", "SELECT 'unclosed FROM w"),
    ],
)
def test_programs_are_repaired(written: str, meant: str) -> None:
    assert repaired(written, NORMAL, TABLE.caption) == meant
    assert repaired(meant, NORMAL, TABLE.caption) == meant, "what is right stays"


def test_the_nearest_cell_is_near_and_contradicts_no_figure() -> None:
    for value, cell in (("port crocs 7", "port crocs (qld)"), ("zebra", None)):
        assert nearest_cell(value, "runners up", NORMAL) == cell
    other = binder_table(Table(["a"], [["score of 12"], ["score of 13 (late)"]]))
    assert nearest_cell("score of 14", "a", other) is None
    assert nearest_cell("score of 13", "a", other) == "score of 13 (late)"


def test_a_table_is_normalized_as_published() -> None:
    kinds = "INTEGER INTEGER TEXT INTEGER REAL TEXT DATE TEXT"
    names = ["row_id", "year", "runners up", "score", "score_2", "filledcolumnname", "day", "group"]
    assert NORMAL.columns == dict(zip(names, kinds.split(), strict=True))
    assert list(NORMAL.rows) == [
        (0, 1998, "port crocs (qld)", 3, 10.4, "none", "2024-05-04", "a"),
        (1, 1999, "south cutters", None, 8.0, "x", None, "b"),
        (2, 2000, "port crocs (qld)", 12, 9.5, "930251", "2023-06-01", "a"),
    ]


needs_seal = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

TYPES: dict[str, SqlType] = {
    "object": "TEXT",
    "int64": "INTEGER",
    "float64": "REAL",
    "datetime64[ns]": "DATE",
}
# The recognizer of the original filled the day of its run into a bare time of day.
PROGRAMS = "wikitq/binder_replay.jsonl.gz"
OF_THAT_DAY = {"nu-3595", "nu-4251"}


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, Any]]:
    return {each["table_id"]: each for each in rows("wikitq/binder_tables.jsonl.gz")}


def as_recorded(table: dict[str, Any]) -> SqlTable:
    """The table as the original's recognizer left it."""
    kinds = [TYPES[kind] for kind in table["dtypes_out"]]
    cells = [tuple(map(cell, row, kinds)) for row in table["rows_out"]]
    return SqlTable(dict(zip(table["columns_out"], kinds, strict=True)), cells)


def cell(text: str, kind: SqlType) -> Cell:
    if kind == "INTEGER":
        return int(text)
    if kind == "REAL":
        return None if text == "nan" else float(text)
    return text


RUN_QUERY = partial(run_sql, executor=Unsealed(Limits()))


def outcome_of(program: str, table: SqlTable) -> Any:
    """An outcome as the original writes it down: 0 for errors, no rows and NULL."""
    try:
        cells = ProgramRun(table, RUN_QUERY, Answerer(lambda questions, again: [])).cells(program)
    except ModuleError:
        return 0
    return 0 if cells in ([], [None]) else cells


@needs_seal
@needs_data
def test_recorded_programs_give_the_recorded_answers(tables: dict[str, dict[str, Any]]) -> None:
    programs = rows(PROGRAMS)
    by_id = {id: as_recorded(table) for id, table in tables.items()}
    wrong = set()
    for each in programs:
        outcome = outcome_of(each["sql_postprocessed"], by_id[each["table_id"]])
        if outcome != each["recorded_pred"]:
            wrong.add(each["id"])
        executed = 0 if each["error"] or each["executed"] in ([], [None]) else each["executed"]
        assert outcome == executed, "all agree with the original executor"
    assert len(programs) == 477 and wrong == OF_THAT_DAY


@needs_seal
@needs_data
def test_our_own_normalizer_and_repairs_come_near(tables: dict[str, dict[str, Any]]) -> None:
    """From the raw table and the program as written; most of what differs was a slip of the original."""
    captions = {each["table_id"]: each["caption"] for each in rows("wikitq/tables.jsonl.gz")}
    same = 0
    for each in rows(PROGRAMS):
        table, caption = tables[each["table_id"]], captions.get(each["table_id"], "")
        made = binder_table(Table(table["header_in"], table["rows_in"], caption))
        same += outcome_of(repaired(each["sql"], made, caption), made) == each["recorded_pred"]
    assert same == 441


CELLS = {"port crocs (qld)": "yes", "south cutters": "no", "1998": "8", "2000": "0"}


class Model:
    """Answers from a dictionary, and notes what it is asked: each list is one round of calls."""

    def __init__(self, **answers: str) -> None:
        self.answers = CELLS | answers
        self.rounds: list[list[Question]] = []

    def __call__(self, questions: Sequence[Question], again: bool) -> list[Reply]:
        self.rounds.append(list(questions))
        return [Reply(self.answer(question)) for question in questions]

    def answer(self, question: Question) -> str:
        if isinstance(question, AnswerQuestion):
            return self.answers[question.asked]
        said = [self.answers.get(" | ".join(item), "") for item in question.items]
        return "\n".join(f"{number} | {answer}" for number, answer in enumerate(said, 1))


def run(program: str, model: Model | None = None) -> list[Cell]:
    return ProgramRun(NORMAL, run_sql, Answerer(model or Model())).cells(program)


@needs_seal
@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("SELECT year FROM w WHERE QA(\"map@a croc?\"; runners up) = 'yes'", [1998, 2000]),
        ('QA("map@a croc?"; `runners up`)', ["yes", "no", "yes"]),
        ('SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w', [8]),
        ("SELECT * FROM w WHERE year = 1999", [1999, "south cutters", None, 8.0, "x", None, "b"]),
        ("year", [1998, 1999, 2000]),
        ("`runners up`", ["port crocs (qld)", "south cutters", "port crocs (qld)"]),
        ("SELECT year FROM w WHERE 1 = 2", []),
        ("SELECT 9e999", ["inf"]),
        ("SELECT points FROM w", "no such column: points"),
        ("ATTACH 'x' AS y", "refused"),
        ('SELECT QA("map@a croc?"; `group`) FROM w', "answered 0 of 2 items"),
        ('SELECT QA("map@a croc?") FROM w', "asks about nothing"),
        ('SELECT QA("map@a croc?"; SELECT MAX(a) FROM b) FROM w', "no such table: b"),
    ],
)
def test_a_program_comes_to_its_cells_or_says_why_not(program: str, outcome: Any) -> None:
    with pytest.raises(ModuleError, match=outcome) if isinstance(outcome, str) else nullcontext():
        assert run(program) == outcome


@needs_seal
def test_a_value_is_asked_of_columns_results_and_values() -> None:
    params = "runners up; SELECT MAX(year) FROM w; 'the war'"
    model = Model(**{"when?": "1998"})
    assert run(f'SELECT year FROM w WHERE year > QA("ans@when?"; {params})', model) == [1999, 2000]
    (question,) = model.rounds[0]
    assert isinstance(question, AnswerQuestion)
    column, result, value = question.blocks
    assert column.splitlines()[:2] == ["runners up", "port crocs (qld)"]
    assert (result, value) == ("MAX(year)\n2000", "the war")


@needs_seal
def test_calls_within_calls_are_answered_first_and_an_answer_cannot_end_its_quotes() -> None:
    model = Model(**{"who?": "o'hara"})
    program = 'QA("ans@who?"; SELECT year FROM w WHERE QA("map@a croc?"; runners up) = \'no\')'
    assert run(program, model) == ["o'hara"]
    (first,), (second,) = model.rounds
    assert isinstance(first, MapQuestion) and isinstance(second, AnswerQuestion)
    assert second.blocks == ("year\n1999",)
    program = "SELECT year FROM w WHERE `group` = QA(\"ans@which?\"; 'x') OR year = 2000"
    assert run(program, Model(**{"which?": "x' OR 1 = 1 --"})) == [2000]


@needs_seal
def test_what_several_programs_ask_is_asked_once() -> None:
    model = Model(**{"1999": "9", "who?": "me"})
    answerer = Answerer(model)
    programs = {
        'SELECT SUM(QA("map@last digit?"; SELECT year FROM w WHERE score > 1)) FROM w': [8],
        'SELECT SUM(QA("map@last digit?"; year)) FROM w': [17],
        'SELECT MAX(QA("map@last digit?"; year)) + SUM(QA("map@last digit?"; year)) FROM w': [26],
        'QA("ans@who?"; runners up)': ["me"],
        'SELECT QA("ans@who?"; runners up)': ["me"],
    }
    for program, cells in programs.items():
        assert ProgramRun(NORMAL, run_sql, answerer).cells(program) == cells
    asked = [question for questions in model.rounds for question in questions]
    items = [question.items for question in asked if isinstance(question, MapQuestion)]
    assert items == [(("1998",), ("2000",)), (("1999",),)] and len(asked) == 3
