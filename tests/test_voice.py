"""Names and voice: few private helpers, no public function without a user, docstrings that begin with a verb.

`python -m tests.test_voice [ROOM]` prints the shares by room, and what is left to mend in ROOM.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("chameleon", "modules", "planners", "benchmarks")
REPLACED_NEXT = ("chameleon/retrieval", "chameleon/documents")
"""Rooms that are only moved for now: each is counted when it is written anew."""
VERBS = frozenset((Path(__file__).parent / "verbs.txt").read_text(encoding="utf-8").split())


@dataclass
class Room:
    functions: int = 0
    private: int = 0
    docstrings: int = 0
    verbs: int = 0
    unspoken: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def files() -> list[Path]:
    found = (path for folder in SHIPPED for path in sorted((ROOT / folder).rglob("*.py")))
    kept = (path for path in found if not any(parent.is_symlink() for parent in path.parents))
    return [path for path in kept if not path.relative_to(ROOT).as_posix().startswith(REPLACED_NEXT)]


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if len(parts) > 2 and parts[0] in ("chameleon", "modules") else parts[0]


def rooms() -> dict[str, Room]:
    """Return what was counted, by room."""
    shipped, used = set(files()), Counter[str]()
    counted: dict[str, Room] = defaultdict(Room)
    public: list[Public] = []
    for folder in (*SHIPPED, "demos", "tests", "perf"):
        for path in (ROOT / folder).rglob("*.py"):
            if any(parent.is_symlink() for parent in path.parents):
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            mine = _names_used(tree)
            used.update(mine)
            if path in shipped:
                public += _count(counted[room_of(path)], path, tree, mine)
    for template in (ROOT / "chameleon").rglob("*.j2"):
        used.update(re.findall(r"\w+", template.read_text(encoding="utf-8")))
    for path, line, name, here in public:
        if used[name] <= here:
            counted[room_of(path)].unused.append(f"{path.relative_to(ROOT)}:{line} {name}")
    return counted


Public = tuple[Path, int, str, int]
"""A public function that stands alone: its file and line, its name, and how often its file names it."""


def _count(room: Room, path: Path, tree: ast.Module, mine: Counter[str]) -> Iterator[Public]:
    """Count a file's functions, and yield those that others are to use."""
    here = f"{path.relative_to(ROOT)}"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            room.functions += 1
            said = ast.get_docstring(node)
            if said:
                room.docstrings += 1
                if said.split()[0].strip(".,:;`").lower() in VERBS:
                    room.verbs += 1
                else:
                    room.unspoken.append(f"{here}:{node.lineno} {node.name}: {said.splitlines()[0]}")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                room.private += 1
                room.helpers.append(f"{here}:{node.lineno} {node.name} (used {mine[node.name]}×)")
            elif not node.decorator_list:
                yield path, node.lineno, node.name, mine[node.name]


def _names_used(tree: ast.AST) -> Counter[str]:
    """Count how often each name is read, imported, reached as an attribute or written as a string."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found[name.rpartition(".")[2]] += 1
            case ast.Constant(value=str(text)) if text.isidentifier():
                found[text] += 1
    return found


def _total(counted: dict[str, Room]) -> Room:
    total = Room()
    for room in counted.values():
        for name, value in vars(room).items():
            setattr(total, name, getattr(total, name) + value)
    return total


def test_helpers_are_few_functions_are_used_and_docstrings_begin_with_a_verb() -> None:
    all_rooms = _total(rooms())
    assert all_rooms.private <= 0.2 * all_rooms.functions
    assert all_rooms.verbs >= 0.6 * all_rooms.docstrings
    assert not all_rooms.unused


def main(chosen: str = "") -> None:
    counted = rooms()
    print(f"{'room':26}{'functions':>10}{'private':>9}{'verbs':>7}{'unused':>8}")
    for name, room in sorted({**counted, "all": _total(counted)}.items()):
        print(
            f"{name:26}{room.functions:>10}{room.private / max(room.functions, 1):>9.0%}"
            f"{room.verbs / max(room.docstrings, 1):>7.0%}{len(room.unused):>8}"
        )
    if chosen:
        print(*counted[chosen].unspoken, "", *counted[chosen].helpers, "", *counted[chosen].unused, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
