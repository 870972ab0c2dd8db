"""What `check` says of prompts: modules that a planner does not show, slots that nothing fills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory

SHOWS = "{% for module in modules %}\n- {{ module.name }}: {{ module.description }}\n{% endfor %}"
TOOLS = """\
from chameleon import LLMModule, Module


class Weather(Module):
    def run(self, state):
        return "sun"


class Ask(LLMModule):
    prompt = "ask"


class Reader(LLMModule):
    prompt = "ask"
    reads = "input.question"


class Adds(LLMModule):
    prompt = "ask"

    def slots(self, state):
        return super().slots(state) | {"city": "Rome"}


class Says(Adds):
    own_slots = frozenset(["city"])


class AddsMore(Says):
    def messages(self, state):
        return self.template.render(self.slots(state) | {"river": "Tiber"})
"""


def told(folder: Path, prompt: str, *, ask: str = "Ask", slots: str = "question", **more: Any) -> list[str]:
    """Return what is said of an inventory whose module `ask` has this prompt, and that has `more` keys."""
    (folder / "ask.md").write_text(f"---\nslots: [{slots}]\n---\n# user\n{prompt}\n", "utf-8")
    (folder / "tools.py").write_text(TOOLS, "utf-8")
    modules = {"weather": {"use": "tools:Weather"}, "ask": {"use": f"tools:{ask}"}}
    planner = {"use": "fixed", "plan": ["weather", "ask"]}
    inventory = Inventory.parse({"name": "mine", "planner": planner, "modules": modules, **more}, folder)
    return [str(each.error).replace(f"{folder}/", "") for each in inventory.obstacles()]


def planned(folder: Path, text: str, slots: str = "question, modules", **planner: Any) -> list[str]:
    """Return what is said of an inventory whose planner has this prompt; `planner`: its settings."""
    (folder / "plan.md").write_text(f"---\nslots: [{slots}]\n---\n# user\n{text}\n", "utf-8")
    used = planner if "use" in planner else {"use": "one_shot", "prompt": "plan", **planner}
    return told(folder, "{{ question }}", planner=used)


@pytest.mark.parametrize("slots", ["question", "question, modules"])
def test_a_planner_that_shows_no_modules_is_told_the_three_lines_to_add(tmp_path: Path, slots: str) -> None:
    (found,) = planned(tmp_path, "{{ question }}", slots)
    assert found == (
        "inventory: the prompt plan.md shows no modules: the model is never told what tools there are. "
        "Put modules among its slots, and three lines where the modules are to stand: "
        f"{' '.join(SHOWS.split())}"
    )
    assert planned(tmp_path, f"{{{{ question }}}}\n{SHOWS}") == []


def test_modules_that_are_written_out_in_the_prompt_are_shown(tmp_path: Path) -> None:
    assert planned(tmp_path, "Use weather, then f_ask(). {{ question }}", "question") == []
    assert planned(tmp_path, "Use weather, then task. {{ question }}", "question") != []
    assert planned(tmp_path, "Use weather. {{ question }}", "question", hidden=["ask"]) == []


def test_a_planner_of_operations_shows_them_or_their_names(tmp_path: Path) -> None:
    follows = {"start": ["weather"], "weather": ["end"]}
    asked = {"use": "dynamic", "follows": follows, "then": ["ask"], "prompt": "plan"}
    (found,) = planned(tmp_path, "{{ question }}", "question", **asked)
    assert "{% for candidate in candidates %}" in found
    assert planned(tmp_path, "{{ names }} {{ question }}", "question, names", **asked) == []
    assert planned(tmp_path, "f_weather {{ question }}", "question", **asked) == []


def test_a_planner_inside_another_is_looked_at(tmp_path: Path) -> None:
    inner = {"use": "one_shot", "prompt": "plan"}
    (found,) = planned(tmp_path, "{{ question }}", "question", use="replanning", planner=inner)
    assert "the prompt plan.md shows no modules" in found


def test_a_slot_that_nothing_fills_is_told_with_the_nearest_that_there_is(tmp_path: Path) -> None:
    (found,) = told(tmp_path, "{{ question }} {{ wether }}", slots="question, wether")
    assert found == (
        "inventory: the prompt ask.md has the slot 'wether', and neither the input nor a module fills it. "
        "Did you mean 'weather'?"
    )
    (used,) = told(tmp_path, "{{ question }} {{ tabel }}", input={"question": "str", "table": "Table?"})
    assert "has the slot 'tabel'" in used and used.endswith("Did you mean 'table'?")
    (planner,) = planned(tmp_path, f"{SHOWS} {{{{ river }}}}", "modules, river")
    assert "the prompt plan.md has the slot 'river'" in planner


def test_a_line_of_the_inventory_is_told(tmp_path: Path) -> None:
    told(tmp_path, "{{ river }}", slots="river")
    lines = ["name: mine", "planner: {use: fixed, plan: [ask]}", "modules:", "  ask:", "    use: tools:Ask"]
    (tmp_path / "mine.yaml").write_text("\n".join([*lines, "    prompt: ask"]), "utf-8")
    (found,) = Inventory.load(tmp_path / "mine.yaml").obstacles()
    assert found.error.where == f"{tmp_path / 'mine.yaml'}:6" and found.part == "modules.ask" and found.stops


@pytest.mark.parametrize(
    ("slots", "prompt"),
    [
        ("question, weather", "{{ question }} {{ weather }}"),  # of the input and of the cache
        ("question, river?", "{{ question }} {{ river }}"),
        ("question", "{{ question }} {{ title }} {{ context }} {{ unavailable }} {{ range(3) }}"),
        ("question", "{{ river is defined }} {{ river | default('Tiber') }}"),
        (
            "question",
            "{% set river = 'Tiber' %}{{ river }}{% for city in [question] %}{{ city }}{% endfor %}",
        ),
    ],
)
def test_a_slot_that_is_filled_or_may_be_empty_is_fine(tmp_path: Path, slots: str, prompt: str) -> None:
    assert told(tmp_path, prompt, slots=slots) == []


def test_what_may_be_written_or_given_under_any_name_fills_any_slot(tmp_path: Path) -> None:
    (tmp_path / "open.py").write_text(TOOLS + '\n\nclass Any(Weather):\n    writes = "cache.*"\n', "utf-8")
    modules = {"weather": {"use": "open:Any"}, "ask": {"use": "tools:Ask"}}
    assert told(tmp_path, "{{ river }}", slots="river", modules=modules) == []


@pytest.mark.parametrize(
    ("ask", "is_told"), [("Adds", False), ("Says", True), ("AddsMore", False), ("Ask", True)]
)
def test_an_asker_that_fills_slots_in_its_own_way_is_believed(
    tmp_path: Path, ask: str, is_told: bool
) -> None:
    assert bool(told(tmp_path, "{{ river }}", slots="river", ask=ask)) is is_told
    assert bool(told(tmp_path, "{{ city }}", slots="city", ask=ask)) is (ask == "Ask")


def test_a_slot_of_a_key_that_the_module_does_not_read(tmp_path: Path) -> None:
    (found,) = told(tmp_path, "{{ question }} {{ weather }}", slots="question, weather", ask="Reader")
    assert found == (
        "inventory: the prompt ask.md has the slot 'weather', "
        "and ask does not declare to read cache.weather. "
        'Write `reads = ("input.question", "cache.weather")` in its class.'
    )


def test_slots_that_the_module_does_not_read_are_told_together(tmp_path: Path) -> None:
    modules = {name: {"use": "tools:Weather"} for name in ("city", "river")} | {
        "ask": {"use": "tools:Reader"}
    }
    plan = {"use": "fixed", "plan": [*modules]}
    (found,) = told(tmp_path, "{{ city }} {{ river }}", slots="city, river", modules=modules, planner=plan)
    assert found == (
        "inventory: the prompt ask.md has the slots 'city' and 'river', and ask does not declare to read "
        "cache.city and cache.river. "
        'Write `reads = ("input.question", "cache.city", "cache.river")` in its class.'
    )
    modules["ask"] = {"use": "solution_generator", "prompt": "ask"}
    (shipped,) = told(tmp_path, "{{ city }} {{ river }}", slots="city, river", modules=modules, planner=plan)
    assert shipped.endswith(
        "Subclass it: `class Mine(SolutionGenerator)` with "
        '`reads = SolutionGenerator.reads + ", cache.city, cache.river"`, and name that class (`use:`).'
    )
    modules["ask"] = {"use": "row_lookup", "prompt": "ask"}
    prompt, slots = "{{ city }} {{ river }}", "city, river"
    given = {"question": "str", "table": "Table"}
    (shipped,) = told(tmp_path, prompt, slots=slots, modules=modules, planner=plan, input=given)
    assert "`reads = (*RowLookup.reads, 'cache.city', 'cache.river')`" in shipped


def test_a_prompt_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    (found,) = told(tmp_path, "{{ river ", slots="river")
    assert found.startswith("ask.md: line 1 of its section # user: ")
