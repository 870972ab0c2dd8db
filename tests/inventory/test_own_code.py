"""Code and prompts of one's own beside an inventory, in a folder outside the project."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import InventoryError, MissingPackage, PromptError
from tests.engine.files import TOOL, fault, write
from tests.inventory.faults import GOOD


def load(folder: Path, use: str, files: Mapping[str, str]) -> Inventory:
    for name, code in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder, code, name)
    text = f"name: mine\nplanner: {{use: fixed, plan: [tool]}}\nmodules:\n  tool: {{use: '{use}'}}"
    return Inventory.load(write(folder, text))


QUESTION = {"question": "?"}


@pytest.mark.parametrize(
    ("use", "files"),
    [
        ("tools:Tool", {"tools.py": TOOL}),
        ("tools.py:Tool", {"tools.py": TOOL}),
        ("json:Tool", {"json.py": TOOL}),
        ("tools:Tool", {"tools.py": "from .sib import Tool", "sib.py": TOOL}),
        ("my_pkg.tools:Tool", {"my_pkg/tools.py": "from .other import Tool", "my_pkg/other.py": TOOL}),
        ("my_pkg:Tool", {"my_pkg/__init__.py": "from .other import Tool", "my_pkg/other.py": TOOL}),
        (
            "my_pkg.deep.tools:Tool",
            {"my_pkg/deep/tools.py": "from ..other import Tool", "my_pkg/other.py": TOOL},
        ),
        ("my.files/tools.py:Tool", {"my.files/tools.py": "from .sib import Tool", "my.files/sib.py": TOOL}),
    ],
)
def test_code_beside_the_inventory_is_found(use: str, files: Mapping[str, str], tmp_path: Path) -> None:
    before = list(sys.path)
    assert Executor(load(tmp_path, use, files)).run(QUESTION).answer == 1
    assert sys.path == before


INSTALLERS = ["setuptools._distutils.spawn:spawn", "pip._internal.utils.subprocess:call_subprocess"]


@pytest.mark.parametrize("use", ["os:system", "subprocess:Popen", "builtins:exec", "json:loads", *INSTALLERS])
def test_the_standard_library_and_installers_have_no_tools(use: str, tmp_path: Path) -> None:
    pytest.importorskip(use.partition(":")[0])
    with pytest.raises(InventoryError, match="a part of Python's standard library or its installers, and no"):
        load(tmp_path, use, {})


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("weather", "no module 'weather'. One of a file next to the inventory is \"FILE:weather\"."),
        (
            "row_lokup",
            "Did you mean 'row_lookup'? One of a file next to the inventory is \"FILE:row_lokup\".",
        ),
        ("wea ther", "no module 'wea ther'. There are: "),
    ],
)
def test_a_tool_without_its_file_is_told_how_to_name_it(use: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as missing:
        load(tmp_path, use, {"tools.py": TOOL})
    assert told in str(missing.value) and f"{tmp_path}/mine.yaml:4: " in str(missing.value)


def test_files_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for number in (1, 2):
        code = TOOL.replace("return 1", f"from .sib import N; return N + {number}")
        files = {"tools.py": code, "sib.py": f"N = {number}0"}
        (folder := tmp_path / str(number)).mkdir()
        assert Executor(load(folder, "tools:Tool", files)).run(QUESTION).answer == 11 * number


AS_A_PART = "Import it as a part of the same package: from"


@pytest.mark.parametrize(
    ("use", "code", "told"),
    [
        ("tools:Tol", TOOL, "tools defines no 'Tol'. Did you mean 'Tool'?"),
        ("tools:os", "import os", "'tools:os' is a module, not a class"),
        ("tools:Tool", "class Tool:\n    pass", "Tool is not a subclass of Module"),
        ("tools:Tool", "class Tool(", "'tools:Tool' fails when imported: SyntaxError"),
        ("tools:Tool", "1 / 0", "'tools:Tool' fails when imported: ZeroDivisionError: division by zero"),
        ("tools:Tool", "import sys; sys.exit(0)", "'tools:Tool' ends Python when it is imported"),
        ("tools:Tool", f"{TOOL}    def __init__(self): exit(0)", "cannot be made: SystemExit: 0"),
        ("toolz:Tool", TOOL, "no module 'toolz' (nor is there a file toolz.py next to the inventory)"),
        ("tools:Tool", TOOL + "    reads = 'cash.a'", "reads of the class Tool has the key 'cash.a'"),
        ("tools:Tool", f"{TOOL}    def __init__(self, x: 'Non' = 1): pass", "name 'Non' is not defined"),
        ("tools:Tool", "from sib import X", f"not installed, but is next to it. {AS_A_PART} .sib import …"),
        ("tools:Tool", "import parts.one", f"not installed, but is next to it. {AS_A_PART} .parts import …"),
        (
            "tools:Tool",
            "from .bis import X",
            "fails when imported: ModuleNotFoundError: No module named '.bis'",
        ),
        ("tools:Tool", "from .sib import Y", "ImportError: cannot import name 'Y' from '.sib'"),
        ("my.tools.py:Tool", "", "my.tools.py cannot be imported. Give it a name without"),
    ],
)
def test_code_that_does_not_fit_is_told(use: str, code: str, told: str, tmp_path: Path) -> None:
    files = {"tools.py": code, "sib.py": "X = 1", "my.tools.py": TOOL, "parts/one.py": ""}
    with pytest.raises(InventoryError) as error:
        load(tmp_path, use, files)
    assert told in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'mine.yaml'}:4: modules.tool: ")
    assert "pip" not in str(error.value) and "chameleon_user" not in str(error.value)


def test_code_that_needs_a_package_is_told_with_the_pip_line(tmp_path: Path) -> None:
    told = "needs the package 'surely_not_installed'. pip install surely_not_installed"
    with pytest.raises(MissingPackage, match=told):
        load(tmp_path, "tools:Tool", {"tools.py": "import surely_not_installed.parts"})


def test_planners_must_propose(tmp_path: Path) -> None:
    write(tmp_path, "class Idle:\n    pass", "plans.py")
    path = write(tmp_path, "name: mine\nplanner: {use: 'plans:Idle'}\nmodules: {}")
    assert "Idle is no planner" in fault(path)


TYPED = """
import dataclasses, datetime, enum, pathlib
from chameleon import Module

class Kind(enum.Enum):
    FAST = "fast"

@dataclasses.dataclass
class Point:
    x: int
    y: int

class Tool(Module):
    '''A tool.'''
    def __init__(self, given: ANNOTATION):
        self.given = given
    def run(self, state):
        return repr(self.given)
"""


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        ("float", "3", "3.0"),
        ("tuple[str, ...]", "[a, b]", "('a', 'b')"),
        ("pathlib.Path", "a/b.csv", repr(Path("a/b.csv"))),
        ("Kind", "fast", "<Kind.FAST: 'fast'>"),
        ("Point", "{x: 1, y: 2}", "Point(x=1, y=2)"),
        ("datetime.date", "2024-05-06", "datetime.date(2024, 5, 6)"),
    ],
)
def test_parameters_take_the_annotated_type(
    annotation: str, value: str, expected: str, tmp_path: Path
) -> None:
    files = {"tools.py": TYPED.replace("ANNOTATION", annotation)}
    inventory = load(tmp_path, f"tools:Tool', given: {value}, when: '", files)
    assert Executor(inventory).run(QUESTION).answer.endswith(expected)


class TestCodeInTheCurrentFolder:
    def data(self, use: str) -> dict[str, Any]:
        planner = {"use": "fixed", "plan": ["tool"]}
        return {"name": "mine", "planner": planner, "modules": {"tool": {"use": use}}}

    def test_is_found_for_an_inventory_that_lies_in_no_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, TOOL, "tools_here.py")
        monkeypatch.chdir(tmp_path)
        for use in ("tools_here:Tool", "tools_here.py:Tool"):
            assert Executor(Inventory.parse(self.data(use))).run(QUESTION).answer == 1

    def test_never_hides_a_package_or_what_lies_beside_the_inventory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (beside := tmp_path / "beside").mkdir()
        write(beside, TOOL.replace("return 1", "return 2"), "tools_here.py")
        write(tmp_path, TOOL, "tools_here.py")
        write(tmp_path, TOOL, "json.py")
        monkeypatch.chdir(tmp_path)
        inventory = Inventory.parse(self.data("tools_here:Tool"), beside)
        assert Executor(inventory).run(QUESTION).answer == 2
        with pytest.raises(InventoryError, match="json defines no 'Tool'"):
            Inventory.parse(self.data("json:Tool"))
        with pytest.raises(InventoryError, match="no module 'tools_here'"):
            (empty := tmp_path / "empty").mkdir()
            Inventory.parse(self.data("tools_here:Tool"), empty)


class TestPromptsBesideTheInventory:
    def load(self, folder: Path, prompt: str | bytes) -> Inventory:
        (folder / "own").mkdir(exist_ok=True)
        write(folder / "own", prompt, "look.md")
        return Inventory.load(write(folder, f"{GOOD}  row_lookup: {{prompt: own/look}}"))

    def test_are_found(self, tmp_path: Path) -> None:
        inventory = self.load(tmp_path, "---\nslots: [question]\n---\n# user\nHello {{ question }}")
        inventory.check()
        row_lookup: Any = inventory.modules["row_lookup"]
        assert row_lookup._template.render({"question": "you"}) == [("user", "Hello you")]

    @pytest.mark.parametrize(
        ("prompt", "told"),
        [
            ("# user\nok\n{% if %}", "line 2 of its section # user"),
            ("no section", "Begin with a line `# system` or `# user`"),
            ("---\nslots: question\n---\n# user\nx", "slots is not a list of texts"),
            ("---\n[: }\n---\n# user\nx", "the front matter is not YAML"),
            (b"# user\n\xff", "the file is not UTF-8 text (byte 7)"),
        ],
    )
    def test_that_are_broken_are_told_by_check(self, prompt: str | bytes, told: str, tmp_path: Path) -> None:
        inventory = self.load(tmp_path, prompt)
        with pytest.raises(PromptError) as error:
            inventory.check()
        assert told in str(error.value) and "look.md" in str(error.value)
