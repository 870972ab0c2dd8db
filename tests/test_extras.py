"""Every room imports what the core or one of its extras installs, and every extra's packages have a user."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from tests.test_floors import files, imports, imports_of, run_nodes

ROOT = Path(__file__).parents[1]
GIVEN = yaml.safe_load(Path(__file__).with_name("extras.yaml").read_text("utf-8"))
ROOMS, NAMES, LOADED_LATE = GIVEN["rooms"], GIVEN["names"], {f"chameleon.{name}" for name in GIVEN["late"]}
NOT_IMPORTED = {  # by our own code
    "emoji",  # Recognizers-Text needs it, in a version that it can use
    "psycopg",  # loaded by SQLAlchemy, by the address
    *("pytest", "wikipedia"),  # of the project's card: docs/install.md says where they are used
    *(f"langchain-{provider}" for provider in ("openai", "anthropic", "google-genai", "ollama")),
}
NOT_SHIPPED = ("test", "docs", "dev")  # extras for the checkout, which no room imports
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?")


@cache
def extras(*, own: bool = False) -> dict[str, frozenset[str]]:
    """Return the packages of each extra, "" the core; `own`: without those of other extras that it names."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = {"": project["dependencies"], **project["optional-dependencies"]}

    def packages(extra: str) -> Iterator[str]:
        for match in filter(None, map(_REQUIREMENT.match, listed[extra])):
            if match[1] != project["name"]:
                yield match[1].lower()
            elif not own:
                for other in match[2].split(","):
                    yield from packages(other)

    return {extra: frozenset(packages(extra)) for extra in listed if extra not in NOT_SHIPPED}


def packages_of(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the packages that these import, of those that are neither ours nor Python's."""
    found: set[str] = set()
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        tops = {each.partition(".")[0] for each in names} - sys.stdlib_module_names - {"chameleon"}
        found.update(NAMES.get(top, top.replace("_", "-")) for top in tops)
    return found


@cache
def imported() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in files():
        found.setdefault(room_of(name), set()).update(imported_by(name))
    return found


@cache
def imported_by(name: str) -> set[str]:
    return packages_of(run_nodes(ast.parse(files()[name].read_text("utf-8"))))


def room_of(name: str) -> str:
    parts = name.removeprefix("chameleon.").split(".")
    if parts[0] == "modules":
        return "/".join(parts[:2])
    return parts[0] if parts[0] in ("planners", "benchmarks") else f"chameleon/{parts[0]}"


def used_in(room: str) -> set[str]:
    own = [name for name in files() if room_of(name) == room]
    return set[str]().union(*map(imported_by, {*own, *chain(*(imports()[name] for name in own))}))


def test_a_room_imports_what_its_extras_install_and_an_extra_lists_what_its_rooms_use() -> None:
    for room, packages in imported().items():
        allowed = extras()[""].union(*(extras()[extra] for extra in ROOMS.get(room, ())))
        assert packages <= allowed, (room, packages - allowed)
    for extra, packages in extras(own=True).items():
        rooms = [room for room, named in ROOMS.items() if extra in named]
        used = set[str]().union(*(used_in(room) for room in rooms or imported()))
        assert packages - NOT_IMPORTED <= used, (extra, packages - used)


def test_what_is_installed_is_imported_and_what_is_loaded_at_once_needs_the_core_alone() -> None:
    used = set[str]().union(*imported().values())
    installed = frozenset[str]().union(*extras().values())
    assert installed - used == NOT_IMPORTED
    for room, named in ROOMS.items():
        for extra in named:
            assert extras()[extra] & imported()[room], f"{room} imports nothing of {extra}"
    late: set[str] = set()
    for name, file in files().items():
        nodes = list(run_nodes(ast.parse(file.read_text("utf-8")), functions=False))
        assert not imports_of(nodes) & LOADED_LATE or name in LOADED_LATE, name
        late |= {name} if packages_of(nodes) - extras()[""] else set()
    assert late == LOADED_LATE


def test_every_extra_that_is_named_exists_and_has_the_package_that_is_required() -> None:
    nodes = chain(*(ast.walk(ast.parse(file.read_text("utf-8"))) for file in files().values()))
    calls = [each for each in nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    asked = [call.args for call in calls if call.func.id == "require"]  # type: ignore[attr-defined]
    assert len(asked) > 10
    for package, _, extra in asked:
        assert ast.literal_eval(package).lower() in extras()[ast.literal_eval(extra)], ast.unparse(package)
    for file in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *files().values()):
        for named in re.findall(r"(?:chameleon-compose|'\.)\[([\w,-]+)\]", file.read_text("utf-8")):
            assert set(named.split(",")) <= {*extras(), *NOT_SHIPPED}, (file, named)
