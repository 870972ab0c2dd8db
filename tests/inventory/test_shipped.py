"""What is shipped fits together: inventories load, are as printed and run, modules keep their contract."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from chameleon import LLM, Executor, Inventory, LLMModule, Module, State, Table
from chameleon.core.access import Access
from chameleon.core.llm_module import AsksModel, asking_of
from chameleon.core.module import InnerRun, needs_model, split_keys
from chameleon.core.planner import every_planner
from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory import shipped_inventories
from chameleon.inventory.resolve import find_class, shipped
from chameleon.llm.scripted import ScriptedModel
from chameleon.modules.tablerag.llm_filter import without_pandas
from chameleon.text import estimated_tokens
from chameleon.values import freeze
from tests.every_inventory import ENVIRONMENT, asking_inventories, inputs_for, pieces_asked, reply

INPUT = {
    "question": "How much is a pear?",
    "table": Table(["fruit", "price"], [["pear", "$3"], ["fig", "$1"]], "Prices"),
    "choices": ["$1", "$3"],
    "unit": "$",
    "text": "A pear costs more than a fig.",
    "image": "pear.png",
}
TEXTS = ("knowledge", "table_description", "solution", "detected_text", "image_caption", "query")
CACHE = dict.fromkeys(TEXTS, "A pear costs $3.") | {"program": "ans = 3", "program_result": 3, "verified": {}}
STATE = State(input=freeze(INPUT), cache=freeze({**CACHE, "cloze": ["A pear is {How much is a pear?}."]}))
MODULES = sorted(shipped("modules"))
KEYS = ("BING_SEARCH_KEY", "BRAVE_API_KEY", "OPENAI_API_KEY", "TAVILY_API_KEY")
SECRET = "sk-a-key-that-nobody-may-see"


@pytest.mark.parametrize("name", MODULES)
class TestEveryModule:
    def test_is_one_class_with_a_card_and_declares_what_it_reads_writes_and_takes(self, name: str) -> None:
        cls = find_class(name, "modules")
        assert issubclass(cls, Module) and cls.name == name
        assert 20 <= len(cls.description) <= 200 and cls.description.endswith(".")
        assert cls.reads and (cls.writes or issubclass(cls, InnerRun))
        variables = {name for name in split_keys(cls.uses) if name.isupper()}
        assert set(split_keys(cls.uses)) - variables <= {"gpu", "web", "model", "sandbox"}
        assert all(key.startswith(("input.", "cache.")) for key in Access.of(cls()).writes)
        for parameter in inspect.signature(cls).parameters.values():
            assert parameter.annotation is not parameter.empty
            assert parameter.default is not parameter.empty

    def test_tells_what_it_comes_to_on_this_machine(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in KEYS:
            monkeypatch.setenv(variable, SECRET)
        module = find_class(name, "modules")()
        try:
            module.check()
        except ChameleonError as missing:
            pytest.skip(str(missing))
        told = json.dumps(module.runtime_info(), allow_nan=False)
        assert json.loads(told) == module.runtime_info() and SECRET not in told


@pytest.mark.parametrize("name", shipped_inventories())
def test_every_inventory_loads_checks_and_has_prompts_that_render(name: str) -> None:
    inventory = Inventory.load(name)
    try:
        inventory.check()
    except InventoryError as problem:  # an extra that is not installed, or no search that is configured
        assert re.search(r"cannot run here.*(pip install|docs/web_search\.md)", str(problem), re.S)
    assert (inventory.name, inventory.about[-1]) == (name, ".")
    for module in inventory.modules.values():
        if isinstance(module, LLMModule):
            assert module._template.render(module.slots(Access.of(module).view(STATE)))


DOCS = Path(__file__).parents[2] / "docs"
PRINTED = yaml.safe_load(Path(__file__).with_name("as_printed.yaml").read_text("utf-8"))
HEAD = "| inventory | key | ours | printed | why |\n|---|---|---|---|---|\n"
BEHAVIOR = "| what | ours | printed | test |\n|---|---|---|---|\n"
VIEW = {"table_style": "style", "max_rows": "max_rows", "max_cell": "max_cell"}
HELD = re.compile(r"\| [^|]+ \| ([^|]+) \| ([^|]+) \| `(tests/[\w/]+\.py)::(test_\w+)` \|")
ROW = re.compile(r"\| `(\w+)` \| `([\w.]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|")


def setting(name: str, key: str) -> Any:
    """Return what a key comes to in the inventory as loaded: "modules.select_row.samples"."""
    found: Any = Inventory.load(name)
    for part in key.split("."):
        if part == "llm_params":
            found = asking_of(found).params
        elif part in VIEW and isinstance(found, AsksModel):
            found = getattr(found.table_view, VIEW[part])
        else:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize("page", ["chameleon", "tables", "statutes", "tablerag"])
def test_departures_are_as_the_page_says(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    settings, behavior = (
        text.partition("## Where this differs")[2].partition(head)[2].partition("\n\n")[0].splitlines()
        for head in (HEAD, BEHAVIOR)
    )
    assert settings and behavior
    for line in settings:
        name, key, ours, printed = ROW.fullmatch(line).groups()  # type: ignore[union-attr]
        assert str(setting(name, key)) == ours != printed, line
    for line in behavior:
        ours, printed, file, test = HELD.fullmatch(line).groups()  # type: ignore[union-attr]
        assert ours != printed and f"def {test}(" in (DOCS.parent / file).read_text("utf-8"), line


@pytest.mark.parametrize("group", PRINTED, ids=lambda group: group["of"][0])
def test_settings_are_as_printed(group: dict[str, Any]) -> None:
    for name in group["of"]:
        settings = {key: value for key, value in group.items() if key != "of"}
        assert {key: setting(name, key) for key in settings} == settings, name


needs_pandas = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")

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


@needs_pandas
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


@needs_pandas
def test_every_module_that_asks_a_model_is_asked(run: Run) -> None:
    asked = set()
    for inventory in map(Inventory.load, INVENTORIES):
        asked |= {type(inventory.modules.get(piece)) for piece in pieces_asked(run(inventory.name))}
    modules = {name: find_class(name, "modules") for name in shipped("modules")}
    assert {name for name, cls in modules.items() if needs_model(cls()) and cls not in asked} == UNREACHED
