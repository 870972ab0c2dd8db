"""Inventories: every fault of a file is one clear line with its place, its key and the nearest valid name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import ChameleonError, Executor, Inventory
from chameleon.core.llm_module import asking_of
from chameleon.errors import InputError, InventoryError
from chameleon.table import Table
from tests.engine.files import TOOL, fault, write
from tests.inventory.faults import FAULTS


class TestFaults:
    @pytest.mark.parametrize(("text", "line", "told"), FAULTS)
    def test_are_told_in_one_line_with_place_and_key(
        self, text: str, line: int, told: str, tmp_path: Path
    ) -> None:
        path = write(tmp_path, text)
        message = fault(path)
        assert told in message
        if line:
            assert message.startswith(f"{path}:{line}: ")

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"\x89PNG\r\n\x1a\n\x00\x00", "the file is not UTF-8 text (byte 0)"),
            (b"name: \x00", "not valid YAML"),
            (b"name: mine\n#" + b"x" * 1_000_000, "an inventory has less than 1,000,000 bytes"),
            (b"[" * 5_000, "not valid YAML"),
            (b"a: " * 200, "not valid YAML"),
        ],
    )
    def test_of_files_that_are_no_inventory(self, content: bytes, told: str, tmp_path: Path) -> None:
        path = write(tmp_path, content)
        message = fault(path)
        assert told in message and str(path) in message

    @pytest.mark.parametrize(
        "step",
        [
            "[*{0}, *{0}, *{0}, *{0}, *{0}, *{0}]",
            "{{x: *{0}, y: *{0}, z: *{0}, w: *{0}}}",
            "{{<<: [*{0}, *{0}, *{0}, *{0}, *{0}]}}",
        ],
    )
    def test_of_anchors_that_multiply_are_found_at_once(self, step: str, tmp_path: Path) -> None:
        lines = ["a0: &a0 {k: v}"]
        lines += [f"a{number}: &a{number} {step.format(f'a{number - 1}')}" for number in range(1, 30)]
        begun = time.perf_counter()
        message = fault(write(tmp_path, "\n".join(lines)))
        assert "nested too deeply or too large" in message
        assert time.perf_counter() - begun < 5

    def test_of_a_name_that_is_no_inventory(self) -> None:
        for name in ("tabmpw", "../tabmwp", "", "x" * 5000, "name: mine\nplanner: {}", "a\0b"):
            with pytest.raises(InventoryError):
                Inventory.load(name)

    @given(st.text(max_size=60) | st.text("name:plr{}[]&*!-\n #'\"|>", max_size=60))
    def test_of_any_text_are_errors_of_ours(self, text: str) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "any.yaml"
            path.write_text(text, "utf-8", errors="replace")
            with pytest.raises(ChameleonError):
                Inventory.load(path)


class TestExtends:
    PARENT = """\
name: parent
about: The parent.
planner: {use: fixed, plan: [row_lookup, answer_generator]}
llm: {temperature: 0.5, max_tokens: 100}
budget: {calls: 9, steps: 5}
fallback: [answer_generator]
modules:
  row_lookup: {min_rows: 7, llm: {max_tokens: 50}}
  answer_generator: {}
"""

    def load(self, folder: Path, child: str) -> Inventory:
        write(folder, self.PARENT, "parent.yaml")
        return Inventory.load(write(folder, f"extends: parent\nname: child\n{child}"))

    def test_merges_mappings_and_replaces_the_rest(self, tmp_path: Path) -> None:
        child = self.load(
            tmp_path, "modules: {row_lookup: {min_cells: 3}}\nllm: {max_tokens: 10}\nfallback: []"
        )
        assert (child.name, child.about, child.fallback) == ("child", "The parent.", ())
        row_lookup: Any = child.modules["row_lookup"]
        assert (row_lookup.min_rows, row_lookup.min_cells) == (7, 3)
        assert asking_of(row_lookup).params == {"temperature": 0.5, "max_tokens": 50}
        assert list(child.modules) == ["row_lookup", "answer_generator"]

    def test_removes_what_is_null(self, tmp_path: Path) -> None:
        nulls = "modules: {row_lookup: null}\nabout: null\nbudget: {steps: null}"
        child = self.load(tmp_path, f"{nulls}\nplanner: {{plan: [answer_generator]}}")
        assert (list(child.modules), child.about) == (["answer_generator"], "")
        assert (child.budget.steps, child.budget.calls) == (None, 9)

    def test_removes_a_module_with_the_rules_and_the_repair_that_are_about_it(self, tmp_path: Path) -> None:
        removed = ("row_lookup", "program_generator", "program_verifier", "program_executor")
        nulls = "".join(f"\n  {name}: null" for name in removed)
        fallback = "fallback: [solution_generator, answer_generator]"
        path = write(tmp_path, f"extends: tabmwp\n{fallback}\nmodules:{nulls}", "fewer.yaml")
        inventory = Inventory.load(path)
        assert not set(removed) & set(inventory.modules)
        assert inventory.rules.once == ["column_lookup", "answer_generator"]
        assert (inventory.rules.needs, inventory.rules.next) == ({}, {})
        assert list(inventory.repair) == ["solution_generator"]
        assert Inventory.load("tabmwp").rules.once[0] == "row_lookup"

    def test_replaces_a_module_with_another_use(self, tmp_path: Path) -> None:
        child = self.load(tmp_path, "modules: {row_lookup: {use: table_reader}}")
        assert type(child.modules["row_lookup"]).__name__ == "TableReader"

    def test_tells_faults_of_the_parent_in_the_parent(self, tmp_path: Path) -> None:
        write(tmp_path, self.PARENT.replace("min_rows", "min_row"), "parent.yaml")
        message = fault(write(tmp_path, "extends: parent\nname: child"))
        assert message.startswith(f"{(tmp_path / 'parent.yaml').resolve()}:8: modules.row_lookup")

    def test_finds_the_parents_prompts_and_code(self, tmp_path: Path) -> None:
        parent = tmp_path / "parents"
        parent.mkdir()
        write(parent, TOOL, "tools.py")
        write(
            parent,
            "name: p\nplanner: {use: fixed, plan: [tool]}\nmodules: {tool: {use: 'tools:Tool'}}",
            "p.yaml",
        )
        child = Inventory.load(write(tmp_path, "extends: parents/p.yaml\nname: child"))
        assert Executor(child).run({"question": "?"}).answer == 1


class TestInputs:
    @pytest.fixture
    def inventory(self) -> Inventory:
        return Inventory.parse(
            {
                "name": "mine",
                "input": {"question": "str", "table": "Table", "size": "number?", "choices": "list?"},
                "planner": {"use": "fixed", "plan": ["answer_generator"]},
                "modules": {"answer_generator": {}},
            }
        )

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"table": None}, "the inventory mine needs a table"),
            ({"table": "a | b"}, "table is a str, and the inventory takes a Table"),
            ({"question": 5}, "question is an int"),
            ({"question": "  "}, "the question is empty"),
            ({"tabel": 1}, "takes no tabel. Did you mean 'table'?"),
            ({5: 1}, "takes no 5"),
            ({"size": "big"}, "size is a str"),
            ({"size": float("nan")}, "input.size is nan"),
            ({"choices": [object()]}, "input.choices[0] is an object"),
        ],
    )
    def test_that_do_not_fit_are_told(self, inventory: Inventory, change: dict[Any, Any], told: str) -> None:
        given_input = {"question": "How many?", "table": Table(["a"], [["1"]]), **change}
        with pytest.raises(InputError) as error:
            inventory.check_input(given_input)
        assert told in str(error.value)


def test_a_module_with_nothing_after_its_name_has_no_parameters(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "name: mine\nplanner: {use: fixed, plan: [answer_generator]}\nmodules:\n  answer_generator:\n",
    )
    assert list(Inventory.load(path).modules) == ["answer_generator"]


@pytest.mark.parametrize("form", ["[{0}, {1}, {1}]", "{{a: {0}, b: {1}, c: {1}}}"])
def test_laughs_inside_a_key_are_refused_at_once(tmp_path: Path, form: str) -> None:
    nested = "&k0 [x, x, x]"
    for level in range(1, 25):
        nested = f"&k{level} {form.format(nested, f'*k{level - 1}')}"
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\n? {nested}\n: 1\n")
    begun = time.process_time()
    with pytest.raises(InventoryError, match="a key is a name, not a list or a mapping") as told:
        Inventory.load(file)
    assert str(told.value).startswith(f"{file}:2: ") and time.process_time() - begun < 2
