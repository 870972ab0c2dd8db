"""One file holds each message and hint of errors, so that changes are seen; `--update-golden` writes it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "messages.txt"
NAMES = {"what", "hint", "why"}  # of variables and arguments that hold one
PROSE = re.compile(r"[\w'\"`“$]+( [^\\|=;<]+){3,}", re.DOTALL)  # of a constant, or returned: a sentence
PRINTS = {
    "say",
    "echo",
    "warning",
    "error",
    "StepRejected",
    "Declined",
    "Unfit",
}  # functions that are given one


def written(node: ast.expr) -> Iterator[str]:
    """Yield the texts of an expression, with the names of what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
        yield "".join(parts)
    elif isinstance(node, ast.IfExp):
        yield from (*written(node.body), *written(node.orelse))


def messages(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", ""))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from (text for each in node.exc.args[:1] for text in written(each))
        elif isinstance(node, ast.keyword) and node.arg in NAMES:
            yield from written(node.value)
        elif isinstance(node, ast.Call) and name in PRINTS:
            yield from (text for each in node.args[:1] for text in written(each))
        elif isinstance(node, ast.Assign):
            names = {getattr(each, "id", "") for each in node.targets}
            texts = written(node.value) if names & NAMES or all(map(str.isupper, names)) else ()
            yield from (text for text in texts if names & NAMES or PROSE.fullmatch(text))
        elif isinstance(node, ast.Return) and node.value is not None:
            yield from filter(PROSE.fullmatch, written(node.value))


def test_messages_are_those_of_the_file(request: pytest.FixtureRequest) -> None:
    lines = []
    for folder in ("chameleon", "modules", "planners", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                found = dict.fromkeys(messages(ast.parse(path.read_text("utf-8"))))
                lines += [f"\n{path.relative_to(ROOT).as_posix()}"] * bool(found)
                lines += [f"  {' '.join(text.split())}" for text in found]
    now = "\n".join(lines).lstrip() + "\n"
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(now, "utf-8")
    assert GOLDEN.read_text("utf-8") == now, "run: pytest tests/test_messages.py --update-golden"
