"""Dater's sub-questions, the numbers that SQL counts, and the part of the table."""

from typing import Any

import pytest

from chameleon import LLM, Module, State, StepRejected, Table
from chameleon.llm import ScriptedModel
from chameleon.modules.sql import dater
from chameleon.sandbox.sealed_process import why_unusable

_ROWS = "otters|sel|6:41 herons|ost|6:44 pikes|sel|6:45 terns|sel|7:03"
TABLE = Table(["Crew", "Country", "Time"], [row.split("|") for row in _ROWS.split()], "regatta")
ONE = "{how many crews are from sel?} crews are from sel."
TWO = "{How many crews are from ost?} crews are from ost."
SEL = "SELECT COUNT(*) FROM w WHERE Country = 'sel'"
OST = "SELECT COUNT(*) FROM w WHERE Country = 'ost'"
RIGHT = f"1: {SEL}\n2: {OST}"
CUT = {"text": "1: {how many", "finish": "length"}
needs_seal = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")


def asks(module: Any, replies: list[Any], **cache: Any) -> tuple[Any, ScriptedModel]:
    """What the module returns, and the model that it asked."""
    client = ScriptedModel(replies)
    module.samples = len(replies) or 1
    state = State(input={"question": "are more crews from sel than from ost?", "table": TABLE}, cache=cache)
    return module.with_llm(LLM.connect(client)).run(state), client


def test_the_generator_gives_the_lines_of_the_first_reply_that_was_not_cut_off() -> None:
    output, client = asks(dater.ClozeGenerator(), [f"{ONE}\n{TWO}\n"] * 3)
    assert output == [ONE, TWO]
    shown = client.requests[0][-1][1].rpartition("/*")[2]
    assert "pikes" in shown and "terns" not in shown and "not shown" not in shown
    assert asks(dater.ClozeGenerator(), [CUT, ONE])[0] == [ONE]
    with pytest.raises(StepRejected, match="cut off"):
        asks(dater.ClozeGenerator(), [CUT, CUT])


@pytest.mark.parametrize(
    "replies",
    [
        ["none", ONE, ONE],  # the first reply asks for no number
        [f"{ONE}\n{{who came first?}} came first."],  # one line asks for something else
        ["{how many are from sel and how many from ost?} are there."],
        ["how many crews are from sel?"],  # no gap
        ["{how many?} and {which} are there."],  # two gaps
        [ONE, "none", "none"],  # the others see nothing to count
    ],
)
def test_the_generator_gives_nothing_where_the_published_condition_does_not_hold(replies: list[str]) -> None:
    assert dater.cloze_of(replies) == []


@needs_seal
@pytest.mark.parametrize(
    ("replies", "cloze", "fills"),
    [
        ([RIGHT, "1: SELECT 9\n2: SELECT 7", RIGHT], [ONE, TWO], ["3", "1"]),
        ([RIGHT], [ONE, ONE], ["3", "1"]),  # equal sub-questions are kept apart
        ([CUT, f"1: {SEL}"], [ONE], ["3"]),
        ([f"1: SELECT Crew FROM w\n2: {SEL}"], [ONE, TWO], [None, "3"]),
        ([f"1: SELECT Crew, Time FROM w LIMIT 1\n2: {SEL}"], [ONE, TWO], [None, "3"]),
        (["1: SELECT NULL\n2: SELECT COUNT(*) FROM nowhere"], [ONE, TWO], [None, None]),
        ([], [], []),
    ],
)
def test_gaps_have_the_value_of_most(replies: list[Any], cloze: list[str], fills: list[Any]) -> None:
    output, client = asks(dater.ClozeFiller(), replies, cloze=cloze)
    assert output == {"evidence": dater.filled(cloze, fills), "fills": fills}
    assert bool(client.requests) == bool(cloze)


def test_queries_are_known_by_their_numbers() -> None:
    assert dater.queries_in(f"```sql\n2) {OST}\n1. {SEL}\n```", 2) == [SEL, OST]
    assert dater.queries_in(f"1: {SEL}\n1: {OST}", 1) == [SEL]
    assert dater.queries_in("```sql\nSELECT COUNT(*)\nFROM w\n```", 1) == ["SELECT COUNT(*) FROM w"]
    assert dater.queries_in("SELECT COUNT(*) FROM w", 2) == ["", ""]


def test_votes_for_nothing_count_a_third_and_failures_count() -> None:
    for values, won in (("223", "2"), ("23", "2"), ("004", "4"), ("00004", "0"), ("--5", None), ("5-", "5")):
        assert dater.winner([None if value == "-" else value for value in values]) == won


def test_numbers_that_are_all_0_or_all_1_are_not_believed() -> None:
    assert dater.filled([ONE, TWO], ["0", "1"]) == ["0 crews are from sel.", "1 crews are from ost."]
    assert dater.filled([ONE, TWO], [None, "2"]) == ["2 crews are from ost."]
    assert dater.filled([ONE, TWO], ["0", "0"]) == dater.filled([ONE, TWO], ["1", "1"]) == []
    assert dater.filled([ONE, TWO], [None, "1"]) == []


STATE = State(input={"question": "which crews are from sel?", "table": TABLE})


def noted(module: Any, *replies: str) -> dict[str, Any]:
    """What a choice writes to the cache; the table must stay."""
    module.samples = len(replies)
    output = module.with_llm(LLM.connect(ScriptedModel(list(replies)))).run(STATE)
    assert module.update_input(STATE.input, output) == {}
    return dict(module.update_cache(STATE.cache, output))


@pytest.mark.parametrize(
    ("columns", "rows", "kept", "refused"),
    [
        ("f_col([Time, Crew])", "f_row([row 1, 3])", TABLE.take_columns([0, 2]).take_rows([0, 2]), []),
        ("f_col([Crew])", "f_row([*])", TABLE.take_columns([0]), []),
        ("f_col([Depth])", "f_row([row 2])", TABLE.take_rows([1]), [0]),
        ("none", "none", TABLE, [0, 1]),
    ],
)
def test_the_table_is_cut_to_both_choices(columns: str, rows: str, kept: Table, refused: list[int]) -> None:
    votes = [f"f_row([row {number}])" for number in (1, 3, 3, 2, 1)]
    assert noted(dater.RowChoice(top=2), *votes)["row_choice"]["args"]["rows"] == (1, 3)
    cache = noted(dater.ColumnChoice(), columns) | noted(dater.RowChoice(), rows)
    part: Module = dater.TablePart()
    output = part.run(State(input=STATE.input, cache=cache))
    assert part.update_input(STATE.input, output)["table"] == kept
    chain = part.update_cache(cache, output)["chain"]
    assert [place for place, link in enumerate(chain) if "refused" in link] == refused
