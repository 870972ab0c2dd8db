"""Inventories: every fault of a file is one clear line with its place, its key and the nearest valid name."""

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
from tests.engine.files import FIXED, GOOD, TOOL, fault, pieces, write

# Each with the line that is told, or 0, and with what is said of it.
FAULTS = pieces(__file__, "faults.txt")
NO_INVENTORIES = [
    (b"\x89PNG\r\n\x1a\n\x00\x00", "the file is not UTF-8 text (byte 0)"),
    (b"name: mine\n#" + b"x" * 1_000_000, "an inventory must have less than 1,000,000 bytes"),
    *((text, "not valid YAML") for text in (b"name: \x00", b"[" * 5_000, b"a: " * 200)),
]


class TestFaults:
    @pytest.mark.parametrize("each", FAULTS, ids=lambda each: each.partition("\n")[0])
    def test_are_told_with_place_and_key(self, each: str, tmp_path: Path) -> None:
        head, _, text = each.replace("@FIXED", FIXED).replace("@GOOD", GOOD).partition("\n")
        path, (line, _, told) = write(tmp_path, text), head.partition(" ")
        message = fault(path)
        assert told in message and message.startswith(f"{path}:{line}: " if line != "0" else "")

    @pytest.mark.parametrize(("content", "told"), NO_INVENTORIES)
    def test_of_files_that_are_no_inventory(self, content: bytes, told: str, tmp_path: Path) -> None:
        message = fault(write(tmp_path, content))
        assert told in message and str(tmp_path / "mine.yaml") in message

    @pytest.mark.parametrize("step", ["[*{0}, *{0}]", "{{x: *{0}, y: *{0}}}", "{{<<: [*{0}, *{0}, *{0}]}}"])
    def test_of_anchors_that_multiply_are_found_at_once(self, step: str, tmp_path: Path) -> None:
        lines = ["a0: &a0 {k: v}"]
        lines += [f"a{number}: &a{number} {step.format(f'a{number - 1}')}" for number in range(1, 40)]
        begun = time.perf_counter()
        assert "nested too deeply or too large" in fault(write(tmp_path, "\n".join(lines)))
        assert time.perf_counter() - begun < 5

    @pytest.mark.parametrize("form", ["[{0}, {1}, {1}]", "{{a: {0}, b: {1}, c: {1}}}"])
    def test_of_laughs_inside_a_key_are_found_at_once(self, tmp_path: Path, form: str) -> None:
        nested = "&k0 [x, x, x]"
        for level in range(1, 25):
            nested = f"&k{level} {form.format(nested, f'*k{level - 1}')}"
        file = write(tmp_path, f"name: mine\n? {nested}\n: 1\n")
        begun = time.process_time()
        assert fault(file).startswith(f"{file}:2: a key must be a name, not a list or a mapping")
        assert time.process_time() - begun < 2

    @pytest.mark.parametrize("name", ["tabmpw", "../tabmwp", "", "x" * 5000, "name: a\nplanner: {}", "a\0b"])
    def test_of_a_name_that_is_no_inventory(self, name: str) -> None:
        with pytest.raises(InventoryError):
            Inventory.load(name)

    @given(st.text(max_size=60) | st.text("name:plr{}[]&*!-\n #'\"|>", max_size=60))
    def test_of_any_text_are_errors_of_ours(self, tmp_path_factory: Any, text: str) -> None:
        path = tmp_path_factory.mktemp("any") / "any.yaml"
        path.write_text(text, "utf-8", errors="replace")
        with pytest.raises(ChameleonError):
            Inventory.load(path)


PARENT = Path(__file__).with_name("parent.yaml").read_text("utf-8")


class TestExtends:
    def load(self, folder: Path, child: str) -> Inventory:
        write(folder, PARENT, "parent.yaml")
        return Inventory.load(write(folder, f"extends: parent\nname: child\n{child}"))

    def test_merges_mappings_and_replaces_the_rest(self, tmp_path: Path) -> None:
        changes = "modules: {row_lookup: {min_cells: 3}}\nllm: {max_tokens: 10}\nfallback: []"
        child = self.load(tmp_path, changes)
        assert (child.name, child.about, child.fallback) == ("child", "The parent.", ())
        row_lookup: Any = child.modules["row_lookup"]
        assert (row_lookup.min_rows, row_lookup.min_cells) == (7, 3)
        assert asking_of(row_lookup).params == {"temperature": 0.5, "max_tokens": 50}
        assert list(child.modules) == ["row_lookup", "answer_generator"]

    def test_removes_what_is_null_and_replaces_a_module_with_another_use(self, tmp_path: Path) -> None:
        nulls = "modules: {row_lookup: null}\nabout: null\nbudget: {steps: null}"
        child = self.load(tmp_path, f"{nulls}\nplanner: {{plan: [answer_generator]}}")
        assert (list(child.modules), child.about) == (["answer_generator"], "")
        assert (child.budget.steps, child.budget.calls) == (None, 9)
        child = self.load(tmp_path, "modules: {row_lookup: {use: table_reader}}")
        assert type(child.modules["row_lookup"]).__name__ == "TableReader"

    def test_removes_a_module_with_the_rules_and_the_repair_that_are_about_it(self, tmp_path: Path) -> None:
        removed = ("row_lookup", "program_generator", "program_verifier", "program_executor")
        nulls = "".join(f"\n  {name}: null" for name in removed)
        fallback = "fallback: [solution_generator, answer_generator]"
        inventory = Inventory.load(write(tmp_path, f"extends: tabmwp\n{fallback}\nmodules:{nulls}"))
        assert not {*removed} & {*inventory.modules} and list(inventory.repair) == ["solution_generator"]
        rules = inventory.rules
        assert (rules.once, rules.needs, rules.next) == (["column_lookup", "answer_generator"], {}, {})
        assert Inventory.load("tabmwp").rules.once[0] == "row_lookup"

    def test_tells_faults_of_the_parent_in_the_parent_and_finds_its_code(self, tmp_path: Path) -> None:
        path = write(tmp_path, PARENT.replace("min_rows", "min_row"), "parent.yaml").resolve()
        message = fault(write(tmp_path, "extends: parent\nname: child"))
        assert message.startswith(f"{path}:8: modules.row_lookup")
        (parents := tmp_path / "parents").mkdir()
        write(parents, TOOL, "tools.py")
        planner, modules = "planner: {use: fixed, plan: [tool]}", "modules: {tool: {use: 'tools:Tool'}}"
        write(parents, f"name: p\n{planner}\n{modules}", "p.yaml")
        child = Inventory.load(write(tmp_path, "extends: parents/p.yaml\nname: child"))
        assert Executor(child).run({"question": "?"}).answer == 1

    def test_describes_modules_by_its_own_words(self) -> None:
        own = {"solution_generator": {"description": "Solves it in words.", "when": "Use it last."}}
        both = Inventory.parse({"name": "m", "extends": "tables", "modules": own}), Inventory.load("tables")
        cards, shipped = ({card.name: card for card in inventory.cards} for inventory in both)
        described = cards["solution_generator"]
        assert (described.description, described.when) == ("Solves it in words.", "Use it last.")
        assert cards["program_generator"] == shipped["program_generator"]
        assert shipped["solution_generator"].description not in ("", "Solves it in words.")


UNFIT: list[tuple[dict[Any, Any], str]] = [
    ({"table": None}, "the inventory mine needs a table"),
    ({"table": "a | b"}, "table is a str, but the inventory takes a Table"),
    *(({"question": 5}, "question is an int"), ({"question": "  "}, "the question is empty")),
    *(({"tabel": 1}, "does not take tabel. Did you mean 'table'?"), ({5: 1}, "does not take 5")),
    *(({"size": "big"}, "size is a str"), ({"size": float("nan")}, "input.size is nan")),
    ({"choices": [object()]}, "input.choices[0] is an object"),
]


@pytest.mark.parametrize(("change", "told"), UNFIT)
def test_inputs_that_do_not_fit_are_told(change: dict[Any, Any], told: str) -> None:
    takes = {"question": "str", "table": "Table", "size": "number?", "choices": "list?"}
    planner, modules = {"use": "fixed", "plan": ["answer_generator"]}, {"answer_generator": None}
    inventory = Inventory.parse({"name": "mine", "input": takes, "planner": planner, "modules": modules})
    with pytest.raises(InputError) as error:
        inventory.check_input({"question": "How many?", "table": Table(["a"], [["1"]]), **change})
    assert told in str(error.value)
