"""`table_query` reads answers of three forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import LLM, State, StepRejected, Table
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.table_query import Form, TableQuery, answer_in
from tests.loopback import LoopbackServer, Reply

TABLE = Table(["Bridge", "Length"], [["Quay", "120"], ["Weir", "80"]], "Bridges")
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
        ("verdict", "Yes.", "yes"),
        ("verdict", "  **No** ", "no"),
        ("verdict", "TRUE because it is so", "yes"),
        ("verdict", "2 is not 3. The answer is: NO", "no"),
        ("verdict", "The statement is false.", "no"),
        ("verdict", "Yes, all of them finished.", "yes"),
        ("text", "The Quay Bridge is\n  120 m long. ", "The Quay Bridge is 120 m long."),
        ("text", "It has 120 m. The answer is: Quay is 120 m long.", "Quay is 120 m long."),
        ("text", "They ask which way the answer is given.", "They ask which way the answer is given."),
    ],
)
def test_an_answer_is_read_by_its_form(form: Form, reply: str, answer: str | list[str]) -> None:
    assert answer_in(reply, form) == answer


@given(st.lists(ITEM, min_size=1, max_size=4))
def test_items_come_back_as_they_were_written(items: list[str]) -> None:
    assert answer_in(f"The answer is: {' | '.join(items)}", "items") == items


@given(st.text(), st.sampled_from(["items", "verdict", "text"]))
def test_every_reply_is_an_answer_or_rejected(reply: str, form: Form) -> None:
    try:
        answer = answer_in(f"The answer is: {reply}", form)
    except StepRejected:
        return
    assert answer in ("yes", "no") if form == "verdict" else answer
    assert isinstance(answer, list) == (form == "items") and all(answer)


def test_what_is_no_answer_of_its_form_is_rejected() -> None:
    bad: dict[Form, list[str]] = {"items": ["", "  \n ", " | | ", "The answer is: ."]}
    bad |= {"verdict": ["", "maybe", "No crew finished", "true or false", "not true"]}
    for form, reply in ((form, reply) for form, replies in bad.items() for reply in replies):
        with pytest.raises(StepRejected):
            answer_in(reply, form)
    with pytest.raises(StepRejected):
        answer_in("The answer is: ", "text")


STATE = State(input={"question": "Which?", "table": TABLE})


def voted(llm: LLM, samples: int) -> object:
    module = TableQuery()
    module.samples = samples
    return module.with_llm(llm).run(STATE)


def test_the_answer_is_what_most_samples_say() -> None:
    replies = ["Weir", "Quay", "Quay | Weir", "The answer is: Quay", "|"]
    assert voted(LLM.connect(ScriptedModel(replies)), 5) == ["Quay"]


def test_samples_count_by_their_probability_where_it_is_known() -> None:
    replies = [*[Reply("Weir", logprobs=(-2.0,))] * 2, Reply("Quay", logprobs=(-0.1,))]
    with LoopbackServer(replies) as server:
        llm = LLM.connect("openai:local", base_url=server.url, api_key="k", logprobs=True)
        assert voted(llm, 3) == ["Quay"]


def test_the_prompt_shows_operations_that_changed_the_table_and_a_passage_if_there_is_one() -> None:
    refused = {"call": "f_sort_by()", "refused": "why"}
    chain = [{"call": "f_select_row(row 1)"}, refused, {"call": "f_group_by(Bridge)"}]
    given = State(input={**STATE.input, "text": "Built."}, cache={"chain": chain})
    assert TableQuery().slots(given)["calls"] == ["f_select_row(row 1)", "f_group_by(Bridge)"]
    shown, bare = (TableQuery().messages(each)[-1][1] for each in (given, STATE))
    assert "grouped by f_group_by(Bridge)" in shown and "<passage>\nBuilt.\n</passage>" in shown
    assert "<passage>" not in bare and "grouped by" not in bare
