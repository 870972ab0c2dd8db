"""The demonstrations for TabMWP, tables in general and ScienceQA are right and of one form."""

from __future__ import annotations

import re
from typing import Any

import pytest

from chameleon.modules.program.programs import program_in, run_code
from tests.prompts.demonstrations import problem_demonstrations

# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[Any]] = {
    "tabmwp/program_generator": ["linear", "Mill Pond", "no", "45 minutes", 13.55, 7, -18, "1/3"],
    "tabmwp/solution_generator": [
        *("no", "9", "rigging course", "26", "shortage", "32", "Bakery Conti", "1/3"),
        *("yes", "22", "55 minutes", "5", "nonlinear", "13.50", "summer", "6"),
    ],
    "tables/program_generator": [
        *("no", "Mill Pond", "45 minutes", 8.05, 15, "1/3", 7, 439.15, "Atelier Roos", 2)
    ],
    "tables/solution_generator": ["14", "102", "$335", "unknown"],
    "scienceqa/solution_generator": ["C", "B"],
    "scienceqa/cot": ["B", "A"],
}


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
@pytest.mark.parametrize("pandas", [True, False])
def test_programs_run_and_set_the_right_answer(name: str, pandas: bool) -> None:
    for demo, answer in zip(problem_demonstrations(name, pandas=pandas), ANSWERS[name], strict=True):
        program = program_in(demo.reply)
        assert demo.reply == f"```python\n{program}\n```" and re.search(r"^ans = ", str(program), re.M)
        result = run_code(program, [demo.table] if demo.table else [], 30)
        if result.error_type != "ModuleNotFoundError":  # pandas need not be here
            assert result.value == pytest.approx(answer) and (not demo.choices or answer in demo.choices)
