"""What is chosen of a table, added to it or answered: replies are read in full or rejected."""

import re
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import LLM, Inventory, State, StepRejected, Table
from chameleon.errors import InventoryError
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.add_column import AddColumn
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.table_query import Form, TableQuery, answer_in
from tests.llm.asking import Start
from tests.loopback import Reply
from tests.modules.table_ops.doubles import TABLE, Messages, case_in, rows_in, run
from tests.modules.text_rows import grouped, lines_of

JOINS = [", ", ",", "; ", " and ", ", and ", " & ", " - ", " to ", " ... ", ", …, ", "\n", " or ", " "]
NO_VOTES = """
f_row([row 1, ..., row 10]) | f_row(row 1, row 2, row 3…) | f_row([row 1, row -2]) | f_row([row 1 row 2])
f_row([row 5 to row 3]) | f_row([row 1, row 3 to 5 to 7]) | f_row([row 1, *]) | f_row([row 1, ro
f_row([row 1, row 12345678901]) | f_row([row 1]) and f_row([row 2]) | f_row([row 1]), and row 3
First f_row([row 1]), no: f_row([row 2, row 3]) | f_row([row 0, row 1]) | f_row([row 1,000])
f_col([Rank, Teem]) | f_col([Rank, ...]) | f_col([Rank, Team, | f_col([Rank or Team]) | f_col([])
f_col([Rank]) and f_col([Team])
"""


# The rows or columns that are meant, and how a reply may name them.
CHOICES = """
1 3 4 5 | [row 1, row 3 to row 5]
1 3 4 5 9 | [row 1, row 3-5, row 9]
1 2 3 | [rows 1, 2, 3]
1 2 | [1 and 2] | row 1 & row 2 | ["row 1", "row 2"] | [row 2, row 1]
2 3 4 | [rows 2–4]
1 2 3 9 | [row 1 through row 3; row 9]
11 12 | [row 11 to row 999999999]
1 | [row 1]) The answer is: f_row([Row 1]
Rank; Team | [Rank, and Team] | [rank and team] | Team & Rank | ["Rank"; "Team"]
Rank; Won, lost | [Won, lost, and Rank]
Won, lost | [won,lost]
Rank; Drawn and lost | [Drawn and lost and Rank]
Rank; Count (all) | [Count (all), Rank]
"""


@pytest.mark.parametrize(("inside", "meant"), grouped(CHOICES))
def test_a_choice_is_read_in_all_forms_that_models_write(inside: str, meant: str) -> None:
    if meant[0].isdigit():
        rows = [int(number) for number in meant.split()]
        assert SelectRow().read_args(f"The answer is : f_row({inside}).", TABLE) == {"rows": rows}
    else:
        assert SelectColumn().read_args(f"f_col({inside})", TABLE) == {"columns": meant.split("; ")}


@pytest.mark.parametrize("reply", [reply for replies in lines_of(NO_VOTES) for reply in replies])
def test_a_choice_that_cannot_be_read_in_full_is_no_vote(reply: str) -> None:
    with pytest.raises(StepRejected):
        (SelectColumn() if "f_col" in reply else SelectRow()).read_args(reply, TABLE)


WORDS = st.sampled_from(["row ", "rows ", "", "Row"])


@given(st.lists(st.tuples(st.sampled_from(JOINS), WORDS, st.integers(1, 12)), min_size=1))
def test_what_is_accepted_has_all_rows_that_the_text_names(parts: list[tuple[str, str, int]]) -> None:
    text = "".join(f"{join if place else ''}{word}{n}" for place, (join, word, n) in enumerate(parts))
    try:
        rows = SelectRow().read_args(f"f_row([{text}])", TABLE)["rows"]
    except StepRejected:
        return
    ranges = re.findall(r"(\d+)(?: - | to )\D*(\d+)", text)
    within = chain.from_iterable(range(int(first), int(last) + 1) for first, last in ranges)
    assert set(rows) == {number for *_, number in parts} | set(within)


def numbered(rows: int) -> Table:
    return Table(["name", "points"], [[f"n{row}", str(row)] for row in range(1, rows + 1)], "results")


def odd_hundreds(messages: Messages) -> str:
    """Names the rows 100, 300, … of those shown; none where there is none."""
    return f"f_row([{', '.join(f'row {row}' for row in rows_in(messages) if row % 200 == 100)}])"


def test_rows_are_chosen_in_blocks_with_the_numbers_of_the_whole_table() -> None:
    output, client = run(SelectRow(), numbered(350), odd_hundreds, samples=8)
    assert output["args"] == {"rows": (100, 300)}
    shown = [list(rows_in(request)) for request in client.requests]
    assert sorted(shown) == [list(range(s, min(s + 100, 351))) for s in (1, 101, 201, 301)]
    second = sorted(case_in(request) for request in client.requests)[1]
    assert "row 101 : n101 | 101" in second and "Rows 101 to 200 of 350 are shown." in second
    operation = Inventory.load("wikitq").modules["select_row"]
    output, client = run(operation, numbered(500), odd_hundreds)  # type: ignore[arg-type]
    assert output["args"] == {"rows": (100, 300, 500)} and len(client.requests) <= 8


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("f_row([*])", "f_row([])", tuple(range(1, 101))),
        ("f_row([*])", "f_row([*])", "*"),
        ("f_row([row 7, row 117])", "f_row([row 118, row 5, 999])", (7, 118)),
        ("f_row([])", "f_row([])", None),
        *(("f_row([row 3])", second, None) for second in ["f_row([row 3])", "f_row()", "I cannot tell."]),
    ],
)
def test_only_rows_that_were_shown_count(first: str, second: str, kept: object) -> None:
    output, _ = run(SelectRow(), numbered(120), lambda messages: first if 1 in rows_in(messages) else second)
    assert output.get("args", {}).get("rows") == kept and ("refused" in output) == (kept is None)


def test_a_table_that_no_blocks_show_is_left_alone() -> None:
    for rows, calls, settings, shown in (
        (1000, 8, {}, "only 500 of 1,000"),
        (100, 3, {"max_rows": 10}, "only 30 of 100"),
        (30, 8, {"max_table_tokens": 1}, "only 0 of 30"),
    ):
        output, client = run(SelectRow(most_calls=calls), numbered(rows), [], **settings)
        assert output["refused"].startswith(shown) and not client.requests


def test_a_comma_within_thousands_is_no_vote() -> None:
    assert SelectRow().read_args("f_row([row 1, 234])", numbered(1_300)) == {"rows": [1, 234]}
    with pytest.raises(StepRejected, match="thousands"):
        SelectRow().read_args("f_row([row 1,234])", numbered(1_300))


def test_a_style_that_no_prompt_shows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("---\nslots: [table]\n---\n# user\n{{ table }}\n")
    file, own = tmp_path / "mine.yaml", "select_column: {table_style: html, prompt: ./own}"
    for setting in ("select_column: {table_style: html}", "select_row: {table_style: json}", own):
        file.write_text(f"extends: wikitq\nname: mine\nmodules:\n  {setting}\n")
        with nullcontext() if setting == own else pytest.raises(InventoryError, match="table_style"):
            Inventory.load(file).check()
    without = SelectRow()
    without.prompt = ""
    with pytest.raises(InventoryError, match="no prompt"):
        without.messages(State(input={"question": "?", "table": TABLE}))


# Each row has some 2,500 characters, with what is asked for at its end.
LONG = Table(["text"], [[f"{'lorem ipsum ' * 208}(C{row})"] for row in range(50)], "texts")


def codes(messages: Messages) -> str:
    shown = " | ".join(re.findall(r"\((C\d+)\)", case_in(messages)))
    return f'We extract the value from column "text". f_add_column(Code). The value: {shown}'


def test_every_long_row_is_shown_once_within_the_limits_and_gets_its_value() -> None:
    output, client = run(AddColumn(), LONG, codes, max_table_tokens=6000)
    assert output["args"]["values"] == tuple(f"C{row}" for row in range(50))
    shown = [code for request in client.requests for code in re.findall(r"\((C\d+)\)", case_in(request))]
    assert sorted(shown) == sorted(output["args"]["values"]) and 1 < len(client.requests) <= 10
    assert all(sum(map(len, rows_in(request).values())) < 6000 * 6 for request in client.requests)
    _, client = run(AddColumn(), LONG, codes, max_rows=7, max_cell=9)
    rows = [rows_in(request).values() for request in client.requests]
    assert all(len(each) <= 7 and all(len(row) <= 9 for row in each) for each in rows)


@pytest.mark.parametrize(
    ("made", "tokens", "shown"),
    [(AddColumn(max_table_rows=50), 6000, r"\d+"), (AddColumn(), 1000, r"\d+"), (AddColumn(), 100, "0")],
)
def test_rows_that_would_take_too_many_calls_are_refused(made: AddColumn, tokens: int, shown: str) -> None:
    output, client = run(made, LONG, [], max_table_tokens=tokens)
    assert re.fullmatch(rf"only {shown} of 50 rows could be shown", output["refused"]) and not client.requests


BRIDGES = Table(["Bridge", "Length"], [["Quay", "120"], ["Weir", "80"]], "Bridges")
_LETTERS = st.characters(exclude_characters="|*.:", exclude_categories=["C", "Z"])
ITEM = st.text(_LETTERS, min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("form", "reply", "answer"),
    [
        ("items", "The answer is: Quay | Weir.", ["Quay", "Weir"]),
        ("items", "Quay is longer.\nThe answer is: **Quay**", ["Quay"]),
        ("items", "- Quay\n- Weir\n\nBoth are bridges.", ["Quay", "Weir"]),
        ("items", "1. Quay\n2. Weir", ["Quay", "Weir"]),
        ("items", "The answer is: 6:30 P.M.", ["6:30 P.M."]),
        ("items", "Weir Bridge Co.", ["Weir Bridge Co."]),
        ("items", "Quay\n\n/*\ncol : a\n*/\nQuestion: And now?\nThe answer is: Weir", ["Quay"]),
        *(("verdict", reply, "yes") for reply in ("Yes.", "TRUE because it is so", "Yes, all finished.")),
        *(("verdict", reply, "no") for reply in ("  **No** ", "2 is not 3. The answer is: NO")),
        ("verdict", "The statement is false.", "no"),
        ("text", "The Quay Bridge is\n  120 m long. ", "The Quay Bridge is 120 m long."),
        ("text", "It has 120 m. The answer is: Quay is 120 m long.", "Quay is 120 m long."),
        ("text", "They ask which way the answer is given.", "They ask which way the answer is given."),
        *(("items", reply, None) for reply in ("", "  \n ", " | | ", "The answer is: .", "The answer is: ")),
        *(("verdict", said, None) for said in ("", "maybe", "No crew finished", "true or false", "not true")),
    ],
)
def test_an_answer_is_read_by_its_form_or_rejected(form: Form, reply: str, answer: Any) -> None:
    with pytest.raises(StepRejected) if answer is None else nullcontext():
        assert answer_in(reply, form) == answer


@given(st.lists(ITEM, min_size=1, max_size=4))
def test_items_come_back_as_they_were_written(items: list[str]) -> None:
    assert answer_in(f"The answer is: {' | '.join(items)}", "items") == items


@given(st.text(), st.sampled_from(["items", "verdict", "text"]))
def test_every_reply_is_an_answer_or_rejected(reply: str, form: Form) -> None:
    with suppress(StepRejected):
        answer = answer_in(f"The answer is: {reply}", form)
        assert answer in ("yes", "no") if form == "verdict" else answer
        assert isinstance(answer, list) == (form == "items") and all(answer)


STATE = State(input={"question": "Which?", "table": BRIDGES})


def test_the_answer_is_what_most_samples_say_or_the_surest(loopback: Start) -> None:
    def voted(llm: LLM, samples: int) -> object:
        module = TableQuery()
        module.samples = samples
        return module.with_llm(llm).run(STATE)

    replies = ["Weir", "Quay", "Quay | Weir", "The answer is: Quay", "|"]
    assert voted(LLM.connect(ScriptedModel(replies)), 5) == ["Quay"]
    loopback([*[Reply("Weir", logprobs=(-2.0,))] * 2, Reply("Quay", logprobs=(-0.1,))])
    assert voted(LLM.connect("openai:local", api_key="k", logprobs=True), 3) == ["Quay"]


def test_the_prompt_shows_operations_that_changed_the_table_and_a_passage_if_there_is_one() -> None:
    chain = [{"call": "f_select_row(row 1)"}, {"call": "f_sort_by()", "refused": "why"}]
    given = State(input={**STATE.input, "text": "Built."}, cache={"chain": chain})
    assert TableQuery().slots(given)["calls"] == ["f_select_row(row 1)"]
    assert "<passage>\nBuilt.\n</passage>" in TableQuery().messages(given)[-1][1]
