"""No import leads up a floor, and none round in a circle: imports inside functions counted too."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import chameleon

ROOT = Path(__file__).parents[1]
FLOORS = (  # from the ground; a room is a folder or a file of `chameleon/`
    (
        "errors",
        "bridge",
        "cached",
        "figures",
        "markup",
        "quoting",
        "seal",
        "text",
        "values",
        "usage",
    ),
    ("sqlite_store", "yaml_text", "lazy"),
    ("table", "conversation", "web", "sandbox", "pictures"),
    ("llm",),
    (
        "state",
        "masking",
        "module",
        "prompt",
        "llm_module",
        "steps",
        "arguments",
        "earlier",
        "function_module",
    ),
    ("toolkit",),
    ("plan_text", "planner", "inventory"),
    ("executor", "decide", "log", "approval", "conversation_log"),
    ("retrieval", "documents"),
    ("evaluation", "interop"),
    ("cli",),
)
PARTS = ("modules", "planners", "benchmarks")


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
def imports() -> Mapping[str, frozenset[str]]:
    """Return, for every file, the files that it imports."""
    trees = {name: ast.parse(file.read_text("utf-8")) for name, file in files().items()}
    return {name: imports_of(run_nodes(tree)) - {name} for name, tree in trees.items()}


def imports_of(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the files of ours that these import."""
    return frozenset(_imported(nodes))


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    homes = {public: getattr(chameleon, public).__module__ for public in chameleon.__all__}
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
    """Return a node with all that is in it and runs: not what stands there for type checkers alone.

    Without `functions` what runs as the file is loaded.
    """
    yield node
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        is_typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not is_typing and (functions or not is_function):
            yield from run_nodes(child, functions=functions)


def _room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_every_room_stands_on_a_floor_and_none_imports_from_above() -> None:
    level = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    rooms = {_room(name) for name in files()} - {"", "__main__", *PARTS}
    assert rooms == set(level)
    up = [
        f"{name} -> {other}"
        for name, others in imports().items()
        for other in others
        if _room(name) in level and _room(other) in level and level[_room(other)] > level[_room(name)]
    ]
    assert up == []


def test_no_file_imports_itself_round_a_circle() -> None:
    found = circles(imports())
    assert not found, sorted(map(sorted, found))


def circles(graph: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
    """Return the sets of files that import each other, directly or through others (Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            place = stack.index(name)
            if len(stack) - place > 1:
                found.append(frozenset(stack[place:]))
            del stack[place:]

    for name in graph:
        if name not in number:
            visit(name)
    return found
