"""Every shipped inventory that asks a model runs to an answer, and every module that asks one is asked."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.core.module import needs_model
from chameleon.core.planner import every_planner
from chameleon.inventory.resolve import find_class, shipped
from chameleon.llm.scripted import ScriptedModel
from chameleon.modules.tablerag.llm_filter import without_pandas
from chameleon.text import estimated_tokens
from tests.every_inventory import ENVIRONMENT, asking_inventories, inputs_for, pieces_asked, reply

pytestmark = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")

Run = Callable[[str], State]
INVENTORIES = asking_inventories()
SECONDS = 20  # for one run: most take a tenth of a second, the first to read a picture loads an engine
ENDED: dict[str, State] = {}  # the runs so far, by inventory
UNREACHED: set[str] = set() if find_spec("PIL") else {"multimodal_captioner"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run an inventory once with a scripted model, and return its final state."""
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)

    def once(name: str) -> State:
        if name not in ENDED:
            llm = LLM.connect(ScriptedModel(reply))
            ENDED[name] = Executor(name, llm).run(inputs_for(name, tmp_path))
        return ENDED[name]

    return once


@pytest.mark.parametrize("name", INVENTORIES)
def test_every_inventory_runs_to_an_answer(run: Run, name: str) -> None:
    state = run(name)
    assert state.status == "answered", state.ended
    assert state.answer and state.calls and state.seconds < SECONDS
    for call in state.calls:  # no reply is cut off, nor would be by a model that keeps to `max_tokens`
        assert call.finish == "stop" and not call.error
        assert estimated_tokens(call.text) <= call.params["max_tokens"], call.text
    # No plan, step or operation is refused, none falls back, and none is asked again.
    assert {plan.kind for plan in state.plans} == {"proposed"}
    assert not [plan.refused for plan in state.plans if plan.refused]
    assert not [record.error for record in state.history if record.calls and record.error]
    assert not [link for link in state.cache.get("chain", ()) if "refused" in link]
    assert not [ballot for ballot in state.cache.get("ballots", ()) if "failed" in ballot]
    planners = every_planner(Inventory.load(name).planner)
    assert {each.name for each in planners if getattr(each, "template", None)} <= pieces_asked(state)


def test_every_module_that_asks_a_model_is_asked(run: Run) -> None:
    asked = set()
    for inventory in map(Inventory.load, INVENTORIES):
        asked |= {type(inventory.modules.get(piece)) for piece in pieces_asked(run(inventory.name))}
    modules = {name: find_class(name, "modules") for name in shipped("modules")}
    assert {name for name, cls in modules.items() if needs_model(cls()) and cls not in asked} == UNREACHED
