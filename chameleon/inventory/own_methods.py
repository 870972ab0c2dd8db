"""What is wrong with the code of a module or planner: its signatures, and what it reads undeclared."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chameleon.errors import InventoryError
from chameleon.module import Module, split_keys
from chameleon.planner import Planner

_ENGINE = ("chameleon.module", "chameleon.llm_module", "chameleon.planner")
_ARGUMENTS: Mapping[str, tuple[str, ...]] = {  # what the engine calls each method with
    "run": ("state",),
    "setup": (),
    "update_input": ("input", "output"),
    "update_cache": ("cache", "output"),
    "slots": ("state",),
    "messages": ("state",),
    "schema": ("state",),
    "ask": ("state",),
    "parse": ("text",),
    "interpret": ("text", "state"),
    "keeps_last": ("state",),
    "propose": ("state", "inventory"),
}
_PAST = ("history", "plans", "plan", "executed", "program", "failures", "skipped")  # opened by "history"
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def wrong_signatures(part: Module | Planner) -> Iterator[InventoryError]:
    """Yield an error for each method of a module or planner that does not take what it is called with."""
    for name, arguments in _ARGUMENTS.items():
        if not any(name in vars(base) for base in type(part).__mro__ if base.__module__ in _ENGINE):
            continue
        if name == "run" and type(part).run is Module.run:  # type: ignore[union-attr]
            continue  # it has none, or runs an inventory
        method = getattr(part, name)
        try:
            taken = inspect.signature(method)
        except (TypeError, ValueError):  # written in C
            continue
        named, where = f"{name} of the class {type(part).__name__}", place_of(method)
        try:
            (taken.bind_partial if name == "run" else taken.bind)(*arguments)
        except TypeError:
            what = f"{named} takes {taken}, and is called with ({', '.join(arguments)})"
            hint = f"Write `def {name}({', '.join(('self', *arguments))})`."
            yield InventoryError(what, hint=hint, where=where)
            continue
        for each in [*taken.parameters.values()][1:] if name == "run" else ():
            if each.kind in _BY_PLACE:
                what = f"{named} takes {each} by place, and a plan gives arguments by name"
                hint = "Write them after `state`, as in `def run(self, state, amount: float)`."
                yield InventoryError(what, hint=hint, where=where)


def undeclared_reads(module: Module, declared: Collection[str]) -> InventoryError | None:
    """Return what a module reads and does not declare, with the line to write; None where it declares all.

    Only constant keys of the argument itself are looked at: `state.input["table"]`, `state.table`,
    `state.cache.get("sql")`, `"image" in state.input`, and `input["table"]` in `update_input`.
    """
    missing: dict[str, str] = {}
    places: list[str] = []
    for name, arguments in _ARGUMENTS.items():
        for position, argument in enumerate(arguments):
            if argument in ("state", "input", "cache"):
                for key, place in _Reads.of(getattr(module, name, None), position, argument):
                    bare = key.removesuffix("?")
                    if not is_declared(bare, declared):
                        missing.setdefault(bare, key)
                        places.append(place)
    if not missing:
        return None
    return InventoryError(
        f"the class {type(module).__name__} reads {' and '.join(missing)}, which it does not declare",
        hint=f"Write `{line_of((*split_keys(module.reads or ()), *missing.values()))}` in the class.",
        where=places[0],
    )


def is_declared(key: str, declared: Collection[str]) -> bool:
    """Return whether keys that a module declares cover one: "cache.*" covers all of the cache."""
    return key in declared or f"{key.partition('.')[0]}.*" in declared


def line_of(reads: Sequence[str]) -> str:
    """Return the line of a class that declares these keys."""
    keys = ", ".join(f'"{key}"' for key in reads)
    return f"reads = ({keys},)" if len(reads) == 1 else f"reads = ({keys})"


def place_of(method: Callable[..., Any]) -> str:
    """Return the file and line of a method, "" where it has none."""
    code = getattr(inspect.unwrap(method), "__code__", None)
    return _place(code.co_filename, code.co_firstlineno) if code is not None else ""


def _place(file: str, line: int) -> str:
    """Return a place as errors tell it: the file from the working folder on, where it lies below that."""
    path = Path(file)
    return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{line}"


class _Reads(ast.NodeVisitor):
    """Collects the keys that a function reads of a parameter: a state, or the mapping `kind` of one."""

    def __init__(self, parameter: str, kind: str) -> None:
        self.parameter, self.kind = parameter, kind
        self.lines: dict[str, int] = {}
        self.optional: set[str] = set()
        self._bound = 0

    @classmethod
    def of(cls, method: Any, position: int, argument: str) -> list[tuple[str, str]]:
        """Return the keys that a method reads of an argument, with "?" where it does without, and where."""
        try:
            parameter = list(inspect.signature(method).parameters)[position]
            source = inspect.unwrap(method)
            lines, start = inspect.getsourcelines(source)
            file = inspect.getsourcefile(source) or ""
            tree = ast.parse(textwrap.dedent("".join(lines)))
        except (TypeError, ValueError, IndexError, OSError, SyntaxError):
            return []  # there is no such method, or no source of it
        found = cls(parameter, "" if argument == "state" else argument)
        found.visit(tree)
        if found._bound != 1:  # the name stands for something else as well
            return []
        marked = {key: f"{key}?" if key in found.optional else key for key in found.lines}
        return [(marked[key], _place(file, start + line - 1)) for key, line in found.lines.items()]

    def visit_arg(self, node: ast.arg) -> None:
        self._bound += node.arg == self.parameter

    def visit_Name(self, node: ast.Name) -> None:
        self._bound += node.id == self.parameter and not isinstance(node.ctx, ast.Load)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._note(node.value, node.slice)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            self._note(node.func.value, node.args[0], is_optional=True)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self._note(node.comparators[0], node.left, is_optional=True)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not self.kind and self._is_parameter(node.value):
            if node.attr == "table":
                self.lines.setdefault("input.table", node.lineno)
            elif node.attr in _PAST:
                self.lines.setdefault("history", node.lineno)
        self.generic_visit(node)

    def _is_parameter(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.parameter

    def _note(self, held: ast.expr, key: ast.expr, *, is_optional: bool = False) -> None:
        kind = ""
        if self.kind and self._is_parameter(held):
            kind = self.kind
        elif not self.kind and isinstance(held, ast.Attribute) and self._is_parameter(held.value):
            kind = held.attr if held.attr in ("input", "cache") else ""
        if kind and isinstance(key, ast.Constant) and isinstance(key.value, str):
            self.lines.setdefault(f"{kind}.{key.value}", key.lineno)
            if is_optional:
                self.optional.add(f"{kind}.{key.value}")
