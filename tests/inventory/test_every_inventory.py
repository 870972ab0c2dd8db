"""Every shipped inventory that asks a model runs to an answer, and every module that asks one is asked."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.inventory.resolve import find_class, shipped
from chameleon.llm.scripted import ScriptedModel
from chameleon.modules.tablerag.llm_filter import without_pandas
from chameleon.planner import every_planner
from chameleon.text import estimated_tokens
from tests.every_inventory import ENVIRONMENT, asking_inventories, inputs_for, pieces_asked, reply

pytestmark = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")

Run = Callable[[str], State]

INVENTORIES = asking_inventories()
SECONDS = 20  # for one run: most take a tenth of a second, the first to read a picture loads an engine
UNREACHED: set[str] = set() if find_spec("PIL") else {"multimodal_captioner"}


@pytest.fixture(scope="module")
def ended() -> dict[str, State]:
    """The runs so far, by inventory."""
    return {}


@pytest.fixture
def run(ended: dict[str, State], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a shipped inventory once with a scripted model, and give its final state."""
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)

    def once(name: str) -> State:
        if name not in ended:
            executor = Executor(Inventory.load(name), LLM.connect(ScriptedModel(reply)))
            ended[name] = executor.run(inputs_for(name, tmp_path))
        return ended[name]

    return once


@pytest.mark.parametrize("name", INVENTORIES)
class TestEveryInventory:
    def test_ends_answered(self, run: Run, name: str) -> None:
        state = run(name)
        assert state.ended is not None and state.ended.reason == "answered", state.ended
        assert state.answer and state.seconds < SECONDS

    def test_has_calls_that_are_whole(self, run: Run, name: str) -> None:
        """No reply is cut off, nor would be by a model that keeps to `max_tokens`."""
        state = run(name)
        assert state.calls
        for call in state.calls:
            assert call.finish == "stop" and not call.error
            assert estimated_tokens(call.text) <= call.params["max_tokens"], call.text

    def test_takes_every_reply(self, run: Run, name: str) -> None:
        """No plan, step or operation is refused, none falls back, and none is asked again."""
        state = run(name)
        assert {plan.kind for plan in state.plans} == {"proposed"}
        assert not [plan.refused for plan in state.plans if plan.refused]
        assert not [record.error for record in state.history if record.calls and record.error]
        assert not [link for link in state.cache.get("chain", ()) if "refused" in link]
        assert not [ballot for ballot in state.cache.get("ballots", ()) if "failed" in ballot]

    def test_asks_with_its_planner_where_that_asks(self, run: Run, name: str) -> None:
        planners = every_planner(Inventory.load(name).planner)
        asking = {planner.name for planner in planners if getattr(planner, "template", None)}
        assert asking <= pieces_asked(run(name))


def test_every_module_that_asks_a_model_is_asked(run: Run) -> None:
    modules = {name: find_class(name, "modules") for name in shipped("modules")}
    asked = set()
    for name in INVENTORIES:
        named = Inventory.load(name).modules
        asked |= {type(named[piece]) for piece in pieces_asked(run(name)) & set(named)}
    asking = {name for name, cls in modules.items() if cls().needs_model}
    assert {name for name in asking if modules[name] not in asked} == UNREACHED


def test_a_prompt_that_nobody_sends_has_no_reply() -> None:
    with pytest.raises(LookupError, match="no reply to a prompt that begins 'Good morning"):
        reply([("user", "Good morning")])


def test_an_inventory_that_is_not_shipped_has_no_input(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no input for the inventory mine"):
        inputs_for("mine", tmp_path)
