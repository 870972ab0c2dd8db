"""Reading plans and asking planners: every way to write names, and nothing written is ever run."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Declined, State, Step
from chameleon.core.plan_text import LONGEST_PLAN_TEXT, parse_plan
from chameleon.errors import InventoryError, MissingPackage, PlanError
from chameleon.planners.fixed import Fixed
from chameleon.planners.then import Then
from tests.conftest import PROFILE
from tests.engine.doubles import Proposes, Takes, failing, inventory_of, run, why

NAMES = ["row_lookup", "column_lookup", "program_generator", "solution_generator", "answer_generator", "ocr2"]
FRAMES = ["{}", "- x{}x", "1. row_lookup{}x", "[{}x", "ocr2 -> {}x", "Step 1{}", "Action: ocr2{}x"]
plans = st.lists(st.sampled_from(NAMES), min_size=1, max_size=12)
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    "`{}`".format,
    lambda name: name.replace("_", " "),
    lambda name: name.replace("_", " ").title(),
    lambda name: name.replace("_", " ").title().replace(" ", ""),
    lambda name: name.replace("_", "-"),
]
JOINS = [" -> ", " => ", "→", ", ", "; ", " | ", " then ", ", then ", " ->\n", "\n-> ", "\n", "\n\n"]
LINES = ["{n}. {name}", "{n}) {name}", "Step {n}: {name}", "- {name}", "* **{name}**", "{n}. {name}: so."]
FORMS: dict[str, Callable[[list[str]], str]] = {
    **{join: join.join for join in JOINS},
    **{line: lambda names, line=line: numbered(names, line) for line in LINES},  # type: ignore[misc]
    "a JSON list": json.dumps,
    "an indented JSON list": lambda names: json.dumps(names, indent=2),
    "a Python list": repr,
    "a list without quotes": lambda names: f"[{', '.join(names)}]",
    "a trailing comma": lambda names: f"[{', '.join(map(json.dumps, names))},]",
    "a list in a fence": lambda names: f"```json\n{json.dumps(names)}\n```",
    "an object": lambda names: json.dumps({"modules": names}),
    "a list of objects": lambda names: json.dumps([{"module": n, "why": "[as it is]"} for n in names]),
    "arrows in a fence": lambda names: f"```\n{' -> '.join(names)}\n```",
    "arrows after a word": lambda names: f"Plan: {' -> '.join(names)}.",
}
SPELT = ("a JSON list", "a Python list", " -> ", "{n}. {name}", "\n")


def numbered(names: list[str], line: str) -> str:
    return "\n".join(line.format(n=n, name=name) for n, name in enumerate(names, 1))


def read(text: str, names: list[str] = NAMES) -> list[str]:
    return [step.module for step in parse_plan(text, names)]


class TestReads:
    @pytest.mark.parametrize("form", FORMS)
    @settings(max_examples=10)
    @given(names=plans, spelling=st.sampled_from(SPELLINGS))
    def test_every_form_of_a_list_and_spelling_of_a_name(self, form: str, spelling: Any, names: Any) -> None:
        assert read(FORMS[form](names)) == names
        assert form not in SPELT or read(FORMS[form]([spelling(name) for name in names])) == names

    @pytest.mark.parametrize("name", ["RowLookup", "row_lookup", "Row-Lookup"])
    def test_an_exact_name_before_one_that_is_spelt_alike(self, name: str) -> None:
        assert read(json.dumps([name]), ["RowLookup", "row_lookup", "Row-Lookup"]) == [name]

    def test_plans_of_ten_thousand_modules(self) -> None:
        names = [f"module_{number}" for number in range(10_000)]
        begun = time.perf_counter()
        assert read('["module_9999", "Module 17"]', names) == ["module_9999", "module_17"]
        with pytest.raises(PlanError, match="Did you mean 'module_"):
            read('["modul_77"]', names)
        assert time.perf_counter() - begun < 5

    @pytest.mark.parametrize("text", ["x" * (LONGEST_PLAN_TEXT + 1), json.dumps(["z" * 15_000])])
    def test_nothing_far_too_long_and_says_so_in_short(self, text: str) -> None:
        with pytest.raises(PlanError, match=r"^[\s\S]{1,299}$"):
            read(text)

    @pytest.mark.parametrize("text", ["[row_lookup, {}]", "```python\n{}\n```", '["row_lookup", {}]'])
    def test_a_plan_without_running_anything_in_it(self, text: str, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        for call in (f"__import__('os').system('touch {mark}')", f"open('{mark}', 'w')"):
            with pytest.raises(PlanError):
                read(text.replace("{}", call))
        assert not mark.exists()

    @settings(max_examples=150)
    @given(
        st.text(max_size=300)
        | st.text("[]{}\"',:->→\n 1.)*`row_lookup", max_size=300)
        | st.text(st.characters(exclude_categories=()), max_size=100)
    )
    def test_any_text_as_a_plan_of_known_modules_or_an_error(self, text: str) -> None:
        with suppress(PlanError):
            steps = parse_plan(text, NAMES)
            assert steps and all(isinstance(step, Step) and step.module in NAMES for step in steps)

    @pytest.mark.parametrize("frame", FRAMES)
    def test_no_text_for_long(self, frame: str) -> None:
        units = [
            " ", "\n", "[", "]", "[]", '["', '"', "`", "-", "->", "- ", "1.", "step ", "step 1", "aB", "a,",
            ", ,", ": ", "and then", "* ", "—", "[a,", "[a]", "[a b", '{"a":', "|", "row_lookup",
            "row_lookup,", "row_lookup\n", "\ud800", "\x00", "ocr2(", 'ocr2 {"a":', "(", "_a", "ocr2 (",
        ]  # fmt: skip
        for unit in units if PROFILE == "thorough" else units[len(frame) % 3 :: 3]:
            text = frame.replace("{}", unit * ((LONGEST_PLAN_TEXT - 20) // len(unit)))
            begun = time.process_time()
            with suppress(PlanError):
                parse_plan(text, NAMES, {"ocr2": ["file"]})
            assert time.process_time() - begun < 2, unit


def proposing(propose: Callable[[State], Any], **options: Any) -> State:
    return run({"one": lambda state: len(state.history)}, Proposes(propose), **options)


class TestPlanners:
    @pytest.mark.parametrize("problem", [KeyError("k"), RecursionError("deep"), InventoryError("odd")])
    def test_may_raise_anything_and_decline(self, problem: Exception) -> None:
        state = proposing(failing(problem))
        assert state.status == "failed" and "proposes" in why(state)
        state = proposing(failing(Declined("not about tables")))
        assert state.status == "declined" and why(state) == "not about tables"

    @pytest.mark.parametrize("returned", [None, 5, "one", ["one"], [Step("one"), "one"], [None]])
    def test_must_return_steps(self, returned: Any) -> None:
        told = why(proposing(lambda state: returned))
        assert "propose returned" in told and "It must return steps" in told

    @pytest.mark.parametrize(("given", "taken"), [(["a", "b"], ("a", "b")), ({"a"}, None)])
    def test_may_give_arguments_that_a_log_can_hold(self, given: Any, taken: Any) -> None:
        one = Takes(lambda state: state.step and state.step.args and state.step.args["what"])
        planner = Proposes(lambda state: () if state.plans else [Step("one", {"what": given})])
        state = run({"one": one}, planner)
        assert state.answer == taken and ("the argument of one.what is a set" in state.why) is (taken is None)

    def test_may_give_no_arguments_to_a_module_that_takes_none(self) -> None:
        modules, gives = {"one": lambda state: 1}, Fixed([{"module": "one", "args": {"per": 2}}])
        (found,) = inventory_of(modules, gives).obstacles()
        state = run(modules, gives)
        assert not state.history
        assert all("one takes no arguments" in told for told in (why(state), str(found.error)))

    def test_may_yield_steps_are_asked_after_each_and_fail_with_none(self) -> None:
        state = proposing(lambda state: iter(()) if state.plans else (Step(name) for name in ("one", "one")))
        assert state.executed_names == ("one", "one")
        assert "proposed no step" in why(proposing(lambda state: ()))
        assert proposing(lambda state: [Step("one")] if len(state.history) < 3 else []).answer == 2

    def test_are_checked_with_their_inventory(self) -> None:
        class Unfit(Proposes):
            def check(self) -> None:
                raise MissingPackage("embeddings need a package", hint="pip install it")

        inventory = inventory_of({"only": str}, Then([Fixed(["only"]), Unfit(lambda state: ())]))
        with pytest.raises(InventoryError, match="the planner unfit cannot run here: embeddings need"):
            inventory.check()
