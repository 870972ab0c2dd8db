"""Case studies of the papers over scripted replies: plan or chain as printed, and the printed answer."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chameleon import LLM, Executor, Inventory, Module
from chameleon.llm import ScriptedModel
from tests.e2e.problems import table
from tests.e2e.rule_model import ByCue

CASES = yaml.safe_load(Path(__file__).with_name("case_studies.yaml").read_text("utf-8"))
KEYS = {"image_captioner": "image_caption", "text_detector": "detected_text"}


def seeing(name: str, text: str) -> type[Module]:
    """Return a module that gives this text in the place of a captioner, a detector or a search."""
    key = KEYS.get(name, f"{name}_response")
    given = {"writes": f"cache.{key}", "run": lambda self, state: text, "__doc__": "Sees."}
    return type("Seen", (Module,), given)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_gives_the_printed_answer(case: dict[str, Any]) -> None:
    modules = {name: seeing(name, text) for name, text in case.get("seen", {}).items()}
    inventory = Inventory.parse({"name": "case", "extends": case["inventory"], "modules": modules})
    plans = {"Modules:": json.dumps(case.get("plan")), "Function Chain:": case.get("chain", "")}
    by_cue = ByCue({**plans, **case["replies"]})
    model = ScriptedModel(lambda messages: by_cue({"messages": [{"content": messages[-1][1]}]}))
    read = {"question": str, "choices": list, "table": table}
    given = {key: kind(case[key]) for key, kind in read.items() if key in case}
    state = Executor(inventory, LLM.connect(model)).run(given)
    assert (list(state.answer) if isinstance(state.answer, tuple) else state.answer) == case["answer"]
    assert not any(record.error for record in state.history) and by_cue.asked.keys() >= {*case["replies"]}
    assert list(state.plan) == case.get("plan", list(state.plan))
    assert "last" not in case or state.table == table(case["last"])
