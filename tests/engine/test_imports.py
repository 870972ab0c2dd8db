"""Who imports whom, how light imports are, which names are public, and what a missing package is told."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon.errors import MissingPackage, require
from tests.test_floors import public_names

ROOT = Path(chameleon.__file__).resolve().parent.parent
PARTS = ("modules", "planners", "benchmarks")
HEAVY = (
    "langchain", "langchain_core", "langchain_openai", "openai", "torch", "transformers", "easyocr", "PIL",
    "pandas", "numpy", "sympy", "openpyxl", "pydantic", "yaml", "jinja2", "typer", "pydantic_monty",
    "sqlite3",
)  # fmt: skip
MODEL_AND_DATA = {*HEAVY[:12]}

pytestmark = pytest.mark.skipif(not (ROOT / "modules").is_dir(), reason="the parts are in the package here")


@cache
def used_in(file: Path) -> tuple[set[str], set[str]]:
    """Full names of all that a file imports, inside functions too, and the names that it calls."""
    imported, called = set(), set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            imported |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
    return imported, called


@pytest.mark.parametrize("file", ["core/events", "core/state", "run/decide", "values"])
def test_what_happens_next_is_pure(file: str) -> None:
    """No clock, file, thread or model: a driver of any kind can stand above it."""
    impure = {"time", "datetime", "random", "os", "io", "threading", "asyncio", "logging"}
    above = {"core.log", "core.llm_module", "llm", "run.executor", "run.steps", "web"}
    imported, called = used_in(ROOT / "chameleon" / f"{file}.py")
    assert not imported & {*impure, *(f"chameleon.{name}" for name in above)}
    assert not called & {"open", "print", "input"}


def loaded(code: str, folder: Path) -> set[str]:
    """Return what a fresh interpreter in that folder has loaded after the code."""
    shown = "lambda: print(*sys.modules, sep='\\n')"
    script = f"import atexit, sys; atexit.register({shown}); sys.path.insert(0, {str(ROOT)!r})\n{code}"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return {*done.stdout.splitlines()}


LOADS = "for name in ('tabmwp', 'tables_offline'): __import__('chameleon').Inventory.load(name).check()"
FAILS = """from chameleon import Inventory, errors
try: Inventory.load('scienceqa').check()
except errors.InventoryError: pass"""


FROM = "from chameleon import Executor, Module, Table, ask"
LIGHT = dict.fromkeys((FROM, LOADS, FAILS), MODEL_AND_DATA)
LIGHT["import chameleon"] = {*HEAVY, "chameleon.core.state"}


@pytest.mark.slow
@pytest.mark.parametrize("code", LIGHT)
def test_importing_is_light(code: str, tmp_path: Path) -> None:
    assert not LIGHT[code] & loaded(code, tmp_path)


MODEL_LAYER = {f"chameleon.llm.{file}" for file in ("client", "connection", "message", "pipeline", "store")}
READ_ALONE = {"chameleon.inventory.inventory", "chameleon.inventory.schema", "chameleon.core.module"}
UNUSED = {"asyncio", "ssl", "http.client", "rich", "chameleon.sandbox.tiers"}
NOT_LISTED = {*MODEL_LAYER, *READ_ALONE, *UNUSED, "sqlite3", "chameleon.table", "chameleon.core.state"}


ASKED = ["ask", "How many people does Rome have?", "--table", "t.csv"]
COMMANDS = [
    (ASKED, {*MODEL_LAYER, *UNUSED}),
    (["list", "inventories"], NOT_LISTED),
    (["--version"], {*NOT_LISTED, "pydantic.main", "yaml"}),
    (["--help"], {*NOT_LISTED, "yaml"} - {"rich"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "unused"), COMMANDS)
def test_a_command_loads_what_it_needs(arguments: list[str], unused: set[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city,people\nParis,2\nRome,3\n")
    names = loaded(f"sys.argv[1:] = {arguments}\nfrom chameleon.cli import main\nmain()", tmp_path)
    assert "chameleon.cli.app" in names and not unused & names


def test_the_public_names_are_few_and_each_is_there() -> None:
    names = public_names()
    assert len(names) <= 22 and len(set(names)) == len(names)
    for name in names:
        public = getattr(chameleon, name)
        assert public.__name__ == name and public.__doc__, f"{name} has no docstring"
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        chameleon.Nothing  # noqa: B018
    with pytest.raises(ImportError, match="NoTool"):
        from chameleon.modules.lookup import NoTool  # noqa: F401


def test_nothing_is_evaluated_or_executed_outside_the_sandbox() -> None:
    for part in ("chameleon", "modules", "planners"):
        for file in (ROOT / part).rglob("*.py"):
            used = used_in(file)[1] & {"eval", "exec", "compile", "__import__"}
            assert not used or "sandbox" in file.parts, file


def failure(module: str, *, imports: bool = False) -> str:
    with pytest.raises(MissingPackage, match=r"^here: tides need the package the-package, which ") as caught:
        require("the-package", "tides need", "web", module=module, where="here", imports=imports)
    assert str(caught.value).endswith('. pip install "chameleon-compose[web]"')
    return str(caught.value)


@pytest.mark.parametrize("body", ["import no_tide", "raise ImportError('tide')", "raise OSError('tide')"])
def test_a_package_that_is_missing_or_broken_is_told(body: str, tmp_path: Path, monkeypatch: Any) -> None:
    for module in ("no_package", "no_package.part", "no_package.part.of_it", "json.no_part"):
        assert "which is not installed" in failure(module)
    require("json", "tides need", "web", module="json.decoder", imports=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"broken_{len(body)}"
    (tmp_path / f"{name}.py").write_text(body)
    require("the-package", "tides need", "web", module=name)
    told = failure(name, imports=True)
    assert "which cannot be loaded (" in told and "tide" in told.partition("loaded (")[2]
