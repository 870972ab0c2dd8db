"""No import leads up a floor or round in a circle: those in functions, and for type checkers, count too."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import chameleon

ROOT = Path(__file__).parents[1]
GROUND = "bridge errors figures lazy quoting signing sqlite_store text usage values yaml_text"
FLOORS = (  # from the ground; a room is a folder of `chameleon/`, or a file of it
    GROUND.split(),
    ["sandbox", "web"],
    ["pictures", "table"],
    ["documents", "llm", "retrieval"],
    ["core"],
    ["inventory"],
    ["planners", "run"],
    ["evaluation", "interop", "modules"],
    ["__main__", "benchmarks", "cli"],
)
PARTS = ("modules", "planners", "benchmarks")
MAX_CHAIN = 17  # files that import one another in a row


@cache
def files() -> Mapping[str, Path]:
    """Return every shipped file by the dotted name that it is imported by."""
    found = {}
    for part in ("chameleon", *PARTS):
        for file in (ROOT / part).rglob("*.py"):
            names = file.relative_to(ROOT).with_suffix("").parts
            names = names if part == "chameleon" else ("chameleon", *names)
            if part != "chameleon" or names[1] not in PARTS:
                found[".".join(names).removesuffix(".__init__")] = file
    return found


@cache
def imports(*, at_run_time: bool = True) -> Mapping[str, frozenset[str]]:
    """Return, for every file, the files that it imports: as it runs, or for type checkers as well."""
    trees = {name: ast.parse(file.read_text("utf-8")) for name, file in files().items()}
    nodes = {name: run_nodes(tree) if at_run_time else ast.walk(tree) for name, tree in trees.items()}
    found = {name: imports_of(each) - {name, "chameleon"} for name, each in nodes.items()}
    return {**found, "chameleon": frozenset()}  # it loads its public names when they are first used


def public_names() -> list[str]:
    return [name for name in dir(chameleon) if not name.startswith("_")]


def imports_of(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(_imported(nodes))


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    homes = {public: getattr(chameleon, public).__module__ for public in public_names()}
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files())
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in files():
                    yield whole
                elif node.module == "chameleon" and alias.name in homes:
                    yield homes[alias.name]
                elif node.module in files():
                    yield node.module


def run_nodes(node: ast.AST, *, functions: bool = True) -> Iterator[ast.AST]:
    """Return a node with all in it that runs, not for type checkers; without `functions` as it loads."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        is_typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not is_typing and (functions or not is_function):
            yield from run_nodes(child, functions=functions)


def _room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_no_import_leads_up_a_floor_round_in_a_circle_or_far() -> None:
    level = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    assert {_room(name) for name in files()} - {""} == set(level)
    pairs = ((name, other) for name, others in imports(at_run_time=False).items() for other in others)
    assert [pair for pair in pairs if level[_room(pair[1])] > level[_room(pair[0])]] == []
    order = TopologicalSorter(imports(at_run_time=False)).static_order()  # raises CycleError, with the circle
    chains: dict[str, list[str]] = {}
    for name in order:
        chains[name] = [name, *max((chains[other] for other in imports()[name]), key=len, default=[])]
    longest = max(chains.values(), key=len)
    assert len(longest) <= MAX_CHAIN, " → ".join(longest)
