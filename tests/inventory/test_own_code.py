"""Code and prompts of one's own: beside an inventory, in the current folder, or in a distribution."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import InventoryError, MissingPackage, PromptError
from tests.e2e.commands import environment, spawn
from tests.engine.files import GOOD, TOOL, fault, pieces, write
from tests.inventory.installed import weather_tools

__all__ = ["weather_tools"]

QUESTION = {"question": "?"}
IN_TOOLS = "tools:Tool"


def load(folder: Path, use: str, files: Mapping[str, str]) -> Inventory:
    for name, code in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder, code, name)
    text = f"name: mine\nplanner: {{use: fixed, plan: [tool]}}\nmodules:\n  tool: {{use: '{use}'}}"
    return Inventory.load(write(folder, text))


@pytest.mark.parametrize(
    ("use", "code", "other"),
    [
        ("tools:Tool", TOOL, "sib.py"),
        ("tools.py:Tool", TOOL, "sib.py"),
        ("json:Tool", TOOL, "sib.py"),
        ("tools:Tool", "from .sib import Tool", "sib.py"),
        ("my_pkg.tools:Tool", "from .other import Tool", "my_pkg/other.py"),
        ("my_pkg:Tool", "from .other import Tool", "my_pkg/other.py"),
        ("my_pkg.deep.tools:Tool", "from ..other import Tool", "my_pkg/other.py"),
        ("my.files/tools.py:Tool", "from .sib import Tool", "my.files/sib.py"),
    ],
)
def test_code_beside_the_inventory_is_found(use: str, code: str, other: str, tmp_path: Path) -> None:
    file = use.partition(":")[0]
    file = file if file.endswith(".py") else f"{file.replace('.', '/')}.py"
    files = {"my_pkg/__init__.py" if file == "my_pkg.py" else file: code, other: TOOL}
    before = list(sys.path)
    assert Executor(load(tmp_path, use, files)).run(QUESTION).answer == 1 and sys.path == before


INSTALLERS = ["setuptools._distutils.spawn:spawn", "pip._internal.utils.subprocess:call_subprocess"]


@pytest.mark.parametrize("use", ["os:system", "subprocess:Popen", "builtins:exec", "json:loads", *INSTALLERS])
def test_the_standard_library_and_installers_have_no_tools(use: str, tmp_path: Path) -> None:
    pytest.importorskip(use.partition(":")[0])
    with pytest.raises(InventoryError, match="part of Python's standard library or its installers, not"):
        load(tmp_path, use, {})


def test_files_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for number in (1, 2):
        code = TOOL.replace("return 1", f"from .sib import N; return N + {number}")
        inventory = load(tmp_path / str(number), IN_TOOLS, {"tools.py": code, "sib.py": f"N = {number}0"})
        assert Executor(inventory).run(QUESTION).answer == 11 * number


@pytest.mark.parametrize("piece", pieces(__file__, "own_code.txt"))
def test_code_that_does_not_fit_is_told(piece: str, tmp_path: Path) -> None:
    told, use, code = piece.split("\n", 2)
    code = code.replace("@TOOL", TOOL)
    files = {"tools.py": code, "sib.py": "X = 1", "my.tools.py": TOOL, "parts/one.py": ""}
    with pytest.raises(InventoryError) as error:
        load(tmp_path, use, files)
    message = str(error.value)
    assert told in message and message.startswith(f"{tmp_path / 'mine.yaml'}:4: modules.tool: ")
    assert "pip" not in message and "chameleon_user" not in message


def test_code_that_needs_a_package_is_told_with_pip_and_planners_propose(tmp_path: Path) -> None:
    told = "needs the package 'surely_not_installed'. pip install surely_not_installed"
    with pytest.raises(MissingPackage, match=told):
        load(tmp_path, IN_TOOLS, {"tools.py": "import surely_not_installed.parts"})
    write(tmp_path, "class Idle:\n    pass", "plans.py")
    path = write(tmp_path, "name: mine\nplanner: {use: 'plans:Idle'}\nmodules: {}")
    assert "Idle is not a planner" in fault(path)


TYPED = """
import dataclasses, datetime, pathlib
from chameleon import Module

Point = dataclasses.make_dataclass("Point", [("x", int), ("y", int)])

class Tool(Module):
    def __init__(self, given: ANNOTATION):
        self.given = given
    def run(self, state):
        return repr(self.given)
"""
TYPES = [
    *(("float", "3", "3.0"), ("tuple[str, ...]", "[a, b]", "('a', 'b')")),
    *(("pathlib.Path", "a/b.csv", repr(Path("a/b.csv"))), ("Point", "{x: 1, y: 2}", "Point(x=1, y=2)")),
    ("datetime.date", "2024-05-06", "datetime.date(2024, 5, 6)"),
]


@pytest.mark.parametrize(("annotation", "value", "shown"), TYPES)
def test_parameters_take_the_annotated_type(annotation: str, value: str, shown: str, tmp_path: Path) -> None:
    files = {"tools.py": TYPED.replace("ANNOTATION", annotation)}
    inventory = load(tmp_path, f"{IN_TOOLS}', given: {value}, when: '", files)
    assert Executor(inventory).run(QUESTION).answer.endswith(shown)


def parsed(use: str, folder: Path | None = None) -> Inventory:
    planner = {"use": "fixed", "plan": ["tool"]}
    return Inventory.parse({"name": "mine", "planner": planner, "modules": {"tool": {"use": use}}}, folder)


def test_code_in_the_current_folder_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("beside", "empty"):
        (tmp_path / name).mkdir()
    write(tmp_path / "beside", TOOL.replace("return 1", "return 2"), "tools_here.py")
    for name in ("tools_here.py", "json.py"):
        write(tmp_path, TOOL, name)
    monkeypatch.chdir(tmp_path)
    for use in ("tools_here:Tool", "tools_here.py:Tool"):
        assert Executor(parsed(use)).run(QUESTION).answer == 1, "an inventory in no folder finds it"
    assert Executor(parsed("tools_here:Tool", tmp_path / "beside")).run(QUESTION).answer == 2
    with pytest.raises(InventoryError, match="json defines no 'Tool'"):
        parsed("json:Tool")
    with pytest.raises(InventoryError, match="no module 'tools_here'"):
        parsed("tools_here:Tool", tmp_path / "empty")


def with_prompt(folder: Path, prompt: str | bytes) -> Inventory:
    (folder / "own").mkdir(exist_ok=True)
    write(folder / "own", prompt, "look.md")
    return Inventory.load(write(folder, f"{GOOD}\n  row_lookup: {{prompt: own/look}}"))


def test_a_prompt_beside_the_inventory_is_found(tmp_path: Path) -> None:
    inventory = with_prompt(tmp_path, "---\nslots: [question]\n---\n# user\nHello {{ question }}")
    inventory.check()
    row_lookup: Any = inventory.modules["row_lookup"]
    assert row_lookup._template.render({"question": "you"}) == [("user", "Hello you")]


def test_a_broken_prompt_is_told_by_check(tmp_path: Path) -> None:
    for prompt, told in {
        "# user\nok\n{% if %}": "line 2 of its section # user",
        "no section": "Start with a line `# system` or `# user`",
        "---\nslots: question\n---\n# user\nx": "slots is not a list of texts",
        "---\n[: }\n---\n# user\nx": "the front matter is not YAML",
        b"# user\n\xff": "the file is not UTF-8 text (byte 7)",
    }.items():
        with pytest.raises(PromptError) as error:
            with_prompt(tmp_path, prompt).check()
        assert told in str(error.value) and "look.md" in str(error.value)


NUMBERS = """
from chameleon import tool

BOTH = [tool(lambda x: x + 1, name="one"), tool(lambda x: x + 2, name="two")]
"""


def toolkit(folder: Path, entry: str) -> Inventory:
    write(folder, NUMBERS, "numbers_of_mine.py")
    modules = f"modules: {{mine: {{use: 'numbers_of_mine:BOTH', {entry}}}}}"
    return Inventory.load(write(folder, f"name: t\nplanner: one_shot\n{modules}\n", "t.yaml"))


def test_a_list_brings_its_tools_by_their_names(tmp_path: Path) -> None:
    assert list(toolkit(tmp_path, "on_error: skip").modules) == ["one", "two"]
    entry = "prefix: my_, tools: [two], max_runs: {two: 2}, requires_approval: true, on_error: skip"
    made = toolkit(tmp_path, entry)
    ((name, tool),) = made.modules.items()
    assert (name, tool.name, tool.max_runs, tool.requires_approval) == ("my_two", "my_two", 2, True)
    assert made.on_error == {name: "skip"}
    assert {tool.max_runs for tool in toolkit(tmp_path, "max_runs: 3").modules.values()} == {3}


def test_what_does_not_fit_a_list_is_told_with_its_place(tmp_path: Path) -> None:
    for entry, told in {
        "tools: [tow]": "there is no tool 'tow'. Did you mean 'two'?",
        "max_runs: {tow: 1}": "there is no tool 'tow'",
        "description: Both": "an entry of several tools takes no 'description'",
        "prefx: a_": "has no parameter 'prefx'. Did you mean 'prefix'?",
    }.items():
        with pytest.raises(InventoryError) as caught:
            toolkit(tmp_path, entry)
        assert told in str(caught.value) and "t.yaml:3: modules.mine" in str(caught.value)


TRIP = "name: trip\nplanner: {use: always, module: weather}\nmodules: {weather: {place: Bern}}\n"


def test_an_inventory_names_what_a_distribution_brings(weather_tools: Path, tmp_path: Path) -> None:
    inventory = Inventory.load(write(tmp_path, TRIP))
    assert inventory.check() is None
    assert Executor(inventory).run(QUESTION).answer == "sun in Bern"


@pytest.mark.slow
def test_a_process_of_its_own_finds_what_a_distribution_brings(weather_tools: Path, tmp_path: Path) -> None:
    trip, there = str(write(tmp_path, TRIP)), environment(str(weather_tools.parent))
    done = spawn("ask", "How is it?", "--inventory", trip, env=there)
    assert done.code == 0 and "sun in Bern" in done.out
    checked = spawn("check", trip, env=there)
    assert checked.code == 0 and "this one imports or starts always, weather." in checked.out
