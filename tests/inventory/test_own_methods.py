"""What `check` says of the code of modules and planners: signatures, and reads that are not declared."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, Module
from chameleon.errors import InventoryError
from chameleon.inventory.own_methods import undeclared_reads, wrong_signatures
from chameleon.inventory.resolve import find_class, shipped
from chameleon.planner import Planner
from chameleon.planners.fixed import Fixed
from chameleon.steps import Access

CLASS = "from chameleon import Module\nfrom chameleon.planner import Planner\n\n\nclass Shop({base}):\n"
RUN = "    def run(self, state):\n        return 1\n"


def told(folder: Path, body: str, *, base: str = "Module") -> list[str]:
    """Return what is said of an inventory with the one module, or planner, of a file of one's own."""
    (folder / "tools.py").write_text(CLASS.format(base=base) + body, "utf-8")
    used: Any = {"planner": {"use": "fixed", "plan": ["shop"]}, "modules": {"shop": {"use": "tools:Shop"}}}
    if base == "Planner":
        used = {"planner": {"use": "tools:Shop"}, "modules": {"answer_generator": {}}}
    inventory = Inventory.parse(
        {"name": "mine", "input": {"question": "str", "table": "Table?"}, **used}, folder
    )
    return [str(each.error).replace(f"{folder}/", "") for each in inventory.obstacles()]


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            "    def run(self):\n        return 1\n",
            "run of the class Shop takes (), and is called with (state). ",
        ),
        (
            "    def run(self, *, state):\n        return 1\n",
            "run of the class Shop takes (*, state), and is called",
        ),
        (
            "    def run(self, state, a, /):\n        return a\n",
            "takes a by place, and a plan gives arguments by name",
        ),
        (
            "    def run(self, state, *a):\n        return a\n",
            "takes *a by place, and a plan gives arguments by name",
        ),
        (
            "    def update_cache(self, output):\n        return {}\n" + RUN,
            "update_cache of the class Shop takes (output), and is called with (cache, output). ",
        ),
    ],
)
def test_a_method_that_does_not_take_what_it_is_called_with(tmp_path: Path, body: str, error: str) -> None:
    (found,) = told(tmp_path, body)
    assert found.startswith("tools.py:6: ") and error in found


def test_the_line_to_write_is_told(tmp_path: Path) -> None:
    (run,) = told(tmp_path, "    def run(self):\n        return 1\n")
    assert run.endswith("Write `def run(self, state)`.")
    (propose,) = told(
        made(tmp_path / "b"), "    def propose(self, state):\n        return ()\n", base="Planner"
    )
    assert propose == (
        "tools.py:6: propose of the class Shop takes (state), and is called with (state, inventory). "
        "Write `def propose(self, state, inventory)`."
    )
    (nothing,) = told(made(tmp_path / "c"), "    pass\n", base="Planner")
    assert nothing.endswith(
        "the planner shop cannot run here: Shop has no propose method. "
        "Write `def propose(self, state, inventory)` in the class."
    )


@pytest.mark.parametrize(
    "body",
    [
        RUN,
        "    async def run(self, anything, amount: float = 1.0, to: str = 'F'):\n        return 1\n",
        "    def run(self, *whatever):\n        return 1\n",
        "    @staticmethod\n    def run(state):\n        return 1\n",
        "    run = lambda self, state: 1\n",
        "    def run(self, state, **more):\n        return 1\n",
        RUN + "\n    def slots(self, a, b):\n        return 1\n",
    ],
)
def test_what_can_be_called_is_fine(tmp_path: Path, body: str) -> None:
    assert told(tmp_path, body) == []


@pytest.mark.parametrize(
    "first", ["x: int", "x: 'int' = 3", "s: dict", "s: int | None", "x: Literal['a']", "rows: list[str]"]
)
def test_an_argument_in_the_place_of_the_state_is_refused_with_the_line(tmp_path: Path, first: str) -> None:
    body = f"    from typing import Literal\n\n    def run(self, {first}, to: str = 'F'):\n        return 1\n"
    with pytest.raises(InventoryError) as refused:
        told(tmp_path, body)
    assert refused.value.where == "tools.py:8"
    assert str(refused.value).startswith(
        "tools.py:8: the first parameter of `run` is the state, and in class Shop it is `"
    )
    assert "Write `def run(self, state, " in str(refused.value)
    assert str(refused.value).endswith(", to: str = 'F')`.")


@pytest.mark.parametrize(
    "first",
    ["s", "s: Any", "s: object", "s: State | None", "s: 'State'", "s: 'Later'", "s: Sees", "state: dict"],
)
def test_a_state_by_any_name_is_none(tmp_path: Path, first: str) -> None:
    body = (
        "    from typing import TYPE_CHECKING, Any, Protocol\n    from chameleon import State\n"
        "    if TYPE_CHECKING:\n        from elsewhere import Later\n    class Sees(Protocol): ...\n\n"
        f"    def run(self, {first}):\n        return 1\n"
    )
    assert told(tmp_path, body) == []


READING = """\
    {reads}

    def run(self, state):
        {code}
        return 1
"""


@pytest.mark.parametrize(
    ("reads", "code", "line"),
    [
        ('reads = "input.question"', 'state.input["table"]', 'reads = ("input.question", "input.table")'),
        ("reads = ()", 'x = state.input["table"].rows', 'reads = ("input.table",)'),
        ("reads = ()", "state.table.rows", 'reads = ("input.table",)'),
        ("reads = ()", 'state.input.get("table", None)', 'reads = ("input.table?",)'),
        ("reads = ()", '"table" in state.input and state.input["table"]', 'reads = ("input.table?",)'),
        ("reads = ()", 'state.cache["shop"] + state.input["table"]', 'reads = ("cache.shop", "input.table")'),
        ('reads = ("cache.a|cache.shop?",)', "state.history", 'reads = ("cache.a|cache.shop?", "history")'),
    ],
)
def test_a_read_that_is_not_declared_is_told_with_the_line(
    tmp_path: Path, reads: str, code: str, line: str
) -> None:
    found = [
        each for each in told(tmp_path, READING.format(reads=reads, code=code)) if "does not declare" in each
    ]
    assert len(found) == 1 and found[0].startswith("tools.py:9: the class Shop reads ")
    assert found[0].endswith(f"Write `{line}` in the class.")


def test_what_updates_read_has_to_be_declared_as_well(tmp_path: Path) -> None:
    body = (
        f"    reads = ()\n{RUN}"
        '    def update_cache(self, cache, output):\n        return {"shop": cache["city"]}\n'
    )
    (found,) = told(tmp_path, body)
    assert found.startswith("tools.py:10: the class Shop reads cache.city, ")


@pytest.mark.parametrize(
    ("reads", "code"),
    [
        ("reads = None", 'state.input["table"]'),
        ('reads = "input.*"', 'state.input["table"]'),
        ('reads = "input.table?"', "state.table"),
        ('reads = "cache.a|input.table, cache.shop?"', 'state.input["table"], state.cache.get("shop")'),
        ('reads = "history"', "state.history, state.program"),
        ("reads = ()", 'key = "table"; state.input.get(key)'),
        ("reads = ()", 'other = state; other.input["table"]'),
        ("reads = ()", 'state = state.step; state.input["table"]'),
        ("reads = ()", '[state.input["table"] for state in []]'),
        ("reads = ()", 'self.input = {}; self.input["table"]'),
        ("reads = ()", "state.step, state.input"),
    ],
)
def test_what_is_declared_or_is_something_else_is_no_false_alarm(
    tmp_path: Path, reads: str, code: str
) -> None:
    found = told(tmp_path, READING.format(reads=reads, code=code))
    assert not [each for each in found if "does not declare" in each]


def test_a_decorated_method_is_looked_at_where_it_is_written() -> None:
    def twice(method: Any) -> Any:
        @functools.wraps(method)
        def wrapper(*everything: Any) -> Any:
            return method(*everything)

        return wrapper

    class Shop(Module):
        reads = ()

        @twice
        def run(self, state: Any) -> Any:
            return state.input["table"]

    inventory = Inventory("mine", Fixed(["shop"]), {"shop": Shop()})
    (found,) = inventory.obstacles()
    assert "reads input.table" in found.error.what and found.error.where.startswith(
        "tests/inventory/test_own_meth"
    )


@pytest.mark.parametrize("name", [*shipped("modules")])
def test_every_shipped_module_declares_what_it_reads(name: str) -> None:
    module = find_class(name, "modules")()
    reads = Access.of(module).reads
    assert list(wrong_signatures(module)) == []
    assert reads is None or undeclared_reads(module, reads) is None


@pytest.mark.parametrize("name", [*shipped("planners")])
def test_every_shipped_planner_takes_what_it_is_called_with(name: str) -> None:
    planner = find_class(name, "planners")
    assert issubclass(planner, Planner)
    assert list(wrong_signatures(object.__new__(planner))) == []
