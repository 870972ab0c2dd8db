"""FinQA programs run over a report, and where their numbers stand."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State
from chameleon.errors import ModuleError
from chameleon.modules.reports.report_programs import FinqaExecutor
from chameleon.values import freeze
from tests.modules.reports.pages import PASSAGES, page


def run(program: str, given: Any) -> Any:
    return FinqaExecutor().run(State(input=freeze(given), cache=freeze({"finqa_program": program})))


def test_each_step_has_its_value() -> None:
    output = run("subtract(1250, 900), divide(#0, 900)", page("?"))
    assert output["value"] == 0.38889 and output["steps"] == [
        {"step": "subtract( 1250 900 )", "value": 350.0},
        {"step": "divide( #0 900 )", "value": 0.38889},
    ]


@pytest.mark.parametrize("program", ["divide(1, 0)", "", "table_sum(ferry fares, none)"])
def test_what_cannot_be_run(program: str) -> None:
    with pytest.raises(ModuleError, match="gave no answer"):
        run(program, {})


def test_what_an_answer_rests_on() -> None:
    assert run("divide(45, 1250), add(#0, 900)", page("?"))["sources"] == [
        {"table": "the table", "rows": [1], "columns": ["2011", "2010"], "of": 5},
        {"passage": 5, "text": PASSAGES[4]["text"]},
    ]
    output = run("table_average(ferry fares, none)", page("?"))
    (source,) = output["sources"]
    assert source["rows"] == [2] and source["columns"] == ["2011", "2010", "2009"]
    assert output["value"] == pytest.approx(291.66667)
