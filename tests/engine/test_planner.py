"""Reading plans and asking planners: every way to write names, and nothing written is ever run."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Declined, Inventory, State, Step
from chameleon.core.plan_text import LONGEST_PLAN_TEXT, parse_plan
from chameleon.errors import InventoryError, MissingPackage, PlanError
from chameleon.planners.fixed import Fixed
from chameleon.planners.then import Then
from tests.conftest import PROFILE
from tests.engine.doubles import Does, Proposes, Takes, failing, run, why

NAMES = ["row_lookup", "column_lookup", "program_generator", "solution_generator", "answer_generator", "ocr2"]
plans = st.lists(st.sampled_from(NAMES), min_size=1, max_size=12)


def read(text: str, names: list[str] = NAMES) -> list[str]:
    return [step.module for step in parse_plan(text, names)]


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


SPELLINGS = {
    "as it is": str,
    "CamelCase": camel,
    "with spaces": lambda name: name.replace("_", " "),
    "Title Case": lambda name: name.replace("_", " ").title(),
    "with hyphens": lambda name: name.replace("_", "-"),
    "UPPER_CASE": str.upper,
    "in quotes": lambda name: f"`{name}`",
}
FORMS = {
    "a JSON list": json.dumps,
    "an indented JSON list": lambda names: json.dumps(names, indent=2),
    "a Python list": repr,
    "a list without quotes": lambda names: f"[{', '.join(names)}]",
    "a trailing comma": lambda names: f"[{', '.join(map(json.dumps, names))},]",
    "a list in a fence": lambda names: f"```json\n{json.dumps(names)}\n```",
    "an object": lambda names: json.dumps({"modules": names}),
    "a list of objects": lambda names: json.dumps([{"module": n, "why": "[as it is]"} for n in names]),
    "arrows": " -> ".join,
    "fat arrows": " => ".join,
    "drawn arrows": "→".join,
    "commas": ", ".join,
    "semicolons": "; ".join,
    "bars": " | ".join,
    "then": " then ".join,
    "commas and then": ", then ".join,
    "arrows in a fence": lambda names: f"```\n{' -> '.join(names)}\n```",
    "arrows after a word": lambda names: f"Plan: {' -> '.join(names)}.",
    "wrapped arrows": " ->\n".join,
    "wrapped arrows that lead": "\n-> ".join,
    "one a line": "\n".join,
    "one a line, far apart": "\n\n".join,
    "a numbered list": lambda names: "\n".join(f"{n}. {name}" for n, name in enumerate(names, 1)),
    "numbers with brackets": lambda names: "\n".join(f"{n}) {name}" for n, name in enumerate(names, 1)),
    "steps": lambda names: "\n".join(f"Step {n}: {name}" for n, name in enumerate(names, 1)),
    "bullets": lambda names: "\n".join(f"- {name}" for name in names),
    "stars in bold": lambda names: "\n".join(f"* **{name}**" for name in names),
    "remarks": lambda names: "\n".join(f"{n}. {name}: it helps here." for n, name in enumerate(names, 1)),
}


class TestReadsEveryForm:
    @pytest.mark.parametrize("form", FORMS)
    @settings(max_examples=8)
    @given(names=plans)
    def test_of_a_list(self, form: str, names: list[str]) -> None:
        assert read(FORMS[form](names)) == names

    @given(
        names=plans,
        spelling=st.sampled_from(sorted(SPELLINGS)),
        form=st.sampled_from(["a JSON list", "a Python list", "arrows", "a numbered list", "one a line"]),
    )
    def test_and_every_spelling_of_a_name(self, form: str, spelling: str, names: list[str]) -> None:
        assert read(FORMS[form]([SPELLINGS[spelling](name) for name in names])) == names

    def test_an_exact_name_wins_over_one_that_is_spelt_alike(self) -> None:
        names = ["RowLookup", "row_lookup", "Row-Lookup"]
        for name in names:
            assert read(json.dumps([name]), names) == [name]

    def test_of_ten_thousand_modules(self) -> None:
        names = [f"module_{number}" for number in range(10_000)]
        begun = time.perf_counter()
        assert read('["module_9999", "Module 17"]', names) == ["module_9999", "module_17"]
        with pytest.raises(PlanError, match="Did you mean 'module_"):
            read('["modul_77"]', names)
        assert time.perf_counter() - begun < 5


class TestRefuses:
    @pytest.mark.parametrize("text", ["", "[[[]]]", "no list here", "[1, 2, 3]", "{}", "```\n```", "->"])
    def test_text_without_a_list(self, text: str) -> None:
        with pytest.raises(PlanError, match="the reply holds no list of modules"):
            read(text)

    def test_what_is_far_too_long(self) -> None:
        with pytest.raises(PlanError, match="a plan has a line or two"):
            read("x" * (LONGEST_PLAN_TEXT + 1))

    def test_the_error_stays_short(self) -> None:
        with pytest.raises(PlanError) as error:
            read(json.dumps(["z" * 15_000]))
        assert len(str(error.value)) < 300


class TestIsSafe:
    @pytest.mark.parametrize(
        "text",
        [
            "[row_lookup, __import__('os').system('touch {mark}')]",
            "```python\nopen('{mark}', 'w')\n```",
            '["row_lookup", open("{mark}", "w")]',
        ],
    )
    def test_nothing_in_a_plan_is_run(self, text: str, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        with pytest.raises(PlanError):
            read(text.replace("{mark}", str(mark)))
        assert not mark.exists()

    @settings(max_examples=150)
    @given(
        st.text(max_size=300)
        | st.text("[]{}\"',:->→\n 1.)*`row_lookup", max_size=300)
        | st.text(st.characters(exclude_categories=()), max_size=100)
    )
    def test_any_text_is_a_plan_of_known_modules_or_an_error(self, text: str) -> None:
        try:
            steps = parse_plan(text, NAMES)
        except PlanError as error:
            assert str(error)
        else:
            assert steps and all(isinstance(step, Step) and step.module in NAMES for step in steps)

    @pytest.mark.parametrize(
        "frame", ["{}", "- x{}x", "1. row_lookup{}x", "[{}x", "ocr2 -> {}x", "Step 1{}", "Action: ocr2{}x"]
    )
    def test_no_text_takes_long(self, frame: str) -> None:
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


class TestPlanners:
    @pytest.mark.parametrize(
        "problem",
        [KeyError("k"), RecursionError("deep"), InventoryError("odd"), StopIteration()],
    )
    def test_may_raise_anything_and_the_run_ends_with_it(self, problem: Exception) -> None:
        state = run({"one": lambda state: 1}, Proposes(failing(problem)))
        assert state.ended is not None and state.ended.reason == "failed"
        assert "proposes" in why(state)

    def test_may_decline(self) -> None:
        state = run({"one": lambda state: 1}, Proposes(failing(Declined("not about tables"))))
        assert state.ended is not None and state.ended.reason == "declined"
        assert why(state) == "not about tables"

    @pytest.mark.parametrize("returned", [None, 5, "one", ["one"], [Step("one"), "one"], [None]])
    def test_must_return_steps(self, returned: Any) -> None:
        state = run({"one": lambda state: 1}, Proposes(lambda state: returned))
        assert "propose gave" in why(state) and "It must return steps" in why(state)

    def test_may_yield_their_steps(self) -> None:
        def once(state: State) -> Any:
            return iter(()) if state.plans else (Step(name) for name in ("one", "one"))

        assert run({"one": lambda state: 1}, Proposes(once)).executed_names == ("one", "one")

    def test_may_give_arguments_that_a_log_can_hold(self) -> None:
        def once(state: State) -> Any:
            return () if state.plans else [Step("one", {"what": ["a", "b"]})]

        one = Takes(lambda state: state.step and state.step.args and state.step.args["what"])
        assert run({"one": one}, Proposes(once)).answer == ("a", "b")
        bad = run({"one": one}, Proposes(lambda state: [Step("one", {"what": {"a"}})]))
        assert "the argument of one.what is a set" in why(bad)

    def test_may_give_no_arguments_to_a_module_that_takes_none(self) -> None:
        gives = Fixed([{"module": "one", "args": {"per": 2}}])
        told = "one takes no arguments, and is given per. Give its name alone."
        state = run({"one": lambda state: 1}, gives)
        assert why(state) == f"inventory mine: no valid plan: {told}" and not state.history
        (found,) = Inventory("mine", gives, {"one": Does(lambda state: 1)}).obstacles()
        assert told in str(found.error)

    def test_with_nothing_to_propose_fail(self) -> None:
        assert "proposed no step" in why(run({"one": lambda state: 1}, Proposes(lambda state: ())))

    def test_refused_twice_give_way_to_the_fallback_once(self) -> None:
        stubborn = Proposes(lambda state: [Step("nobody")])
        state = run({"one": lambda state: 1}, stubborn, fallback=("one",))
        assert state.executed_names == ("one",)
        assert "no valid plan: there is no module 'nobody'" in why(state)

    def test_that_cannot_read_a_plan_are_asked_once_more(self) -> None:
        def second(state: State) -> Any:
            if not state.plans:
                raise PlanError("no list")
            return [] if state.history else [Step("one")]

        assert run({"one": lambda state: "ok"}, Proposes(second)).answer == "ok"

    def test_asked_after_every_step_see_what_happened(self) -> None:
        def count(state: State) -> Any:
            return [Step("one")] if len(state.history) < 3 else []

        assert run({"one": lambda state: len(state.history)}, Proposes(count)).answer == 2


def test_the_check_of_an_inventory_checks_its_planners_too() -> None:
    class Unfit(Proposes):
        def check(self) -> None:
            raise MissingPackage("embeddings need a package", hint="pip install it")

    inventory = Inventory("mine", Then([Fixed(["only"]), Unfit(lambda state: ())]), {"only": Does(str)})
    with pytest.raises(InventoryError, match="the planner unfit cannot run here: embeddings need a package"):
        inventory.check()
