"""Calls of QA() within programs: Binder's vectors of calls and roles, and any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import StepRejected
from chameleon.modules.sql.binder_calls import all_calls, column_in, value_of
from tests.modules.sql.given import vectors


@pytest.mark.parametrize("vector", vectors("parse"))
def test_calls_are_found_inside_out_and_once(vector: dict[str, Any]) -> None:
    if vector["raises"]:
        with pytest.raises(StepRejected):
            all_calls(vector["program"])
        return
    calls = {call.text: call for call in all_calls(vector["program"])}
    assert list(dict.fromkeys([*calls, vector["program"].strip()])) == vector["steps"]
    told = [{"question": f"{call.kind}@{call.asked}", "params": list(call.params)} for call in calls.values()]
    assert told == vector["qa"]


@pytest.mark.parametrize("vector", vectors("role"))
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


def test_calls_nested_too_deep_are_rejected() -> None:
    with pytest.raises(StepRejected, match="nested"):
        all_calls('QA("ans@a"; ' * 500 + "1" + ")" * 500)
