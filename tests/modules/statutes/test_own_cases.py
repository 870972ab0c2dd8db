"""Cases written for this test, in the manner of SARA: what is answered is right, to the dollar.

The answers in `own_cases.jsonl` were worked out by hand from the statutes; `why` tells how.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import State
from chameleon.errors import Declined
from chameleon.modules.statutes.rule_statute_answerer import RuleStatuteAnswerer
from tests.benchmarks.shared_data import DATA, needs_data

CASES = [
    json.loads(line) for line in Path(__file__).with_name("own_cases.jsonl").read_text("utf-8").splitlines()
]
DECLINED = {"tax_11", "tax_22", "new_05", "new_09"}
"""Where "she" or "her" may be either of two people, and where no form reads a sentence."""
OPEN = "open"
"""The answer where the facts leave it open. Cases with `declined` have an answer or none, and get none."""


@needs_data
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_is_answered_right_or_declined(case: dict[str, Any]) -> None:
    module = RuleStatuteAnswerer(str(DATA / "sara/statutes.json"))
    state = State(input={"question": case["question"], "text": case["text"]})
    if case["id"] in DECLINED or case.get("declined") or case["answer"] == OPEN:
        with pytest.raises(Declined):
            module.run(state)
    else:
        assert module.run(state) == case["answer"]
