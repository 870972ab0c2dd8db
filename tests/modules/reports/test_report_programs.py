"""FinQA programs run over a report, and where their numbers stand."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, Table
from chameleon.errors import ModuleError
from chameleon.modules.reports.report_programs import FinqaExecutor
from chameleon.values import freeze
from tests.modules.reports.pages import PASSAGES, TABLE, page


class TestTheExecutor:
    def run(self, program: str, table: Table | None = TABLE) -> Any:
        given = {"table": table} if table else {}
        return FinqaExecutor().run(State(input=freeze(given), cache=freeze({"finqa_program": program})))

    def test_each_step_has_its_value(self) -> None:
        output = self.run("subtract(1250, 900), divide(#0, 900)")
        assert output["value"] == 0.38889 and output["steps"] == [
            {"step": "subtract( 1250 900 )", "value": 350.0},
            {"step": "divide( #0 900 )", "value": 0.38889},
        ]

    def test_over_a_row(self) -> None:
        assert self.run("table_sum(ferry fares, none)")["value"] == 875

    @pytest.mark.parametrize("program", ["divide(1, 0)", "", "table_sum(ferry fares, none)"])
    def test_what_cannot_be_run(self, program: str) -> None:
        with pytest.raises(ModuleError, match="gave no answer"):
            self.run(program, None)


class TestSources:
    def test_what_an_answer_rests_on(self) -> None:
        told = self.sources("divide(45, 1250), add(#0, 900)")
        assert told == [
            {"table": "the table", "rows": [1], "columns": ["2011", "2010"], "of": 5},
            {"passage": 5, "text": PASSAGES[4]["text"]},
        ]

    def test_a_row_that_a_program_names(self) -> None:
        (told,) = self.sources("table_average(ferry fares, none)")
        assert told["rows"] == [2] and told["columns"] == ["2011", "2010", "2009"]

    def sources(self, program: str) -> Any:
        state = State(input=freeze(page("how much?")), cache=freeze({"finqa_program": program}))
        return FinqaExecutor().run(state)["sources"]
