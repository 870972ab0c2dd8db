"""Parse the text of a program and edit it in place."""

import ast
import re

_LOADS = re.compile(r"\bread_(?:csv|excel|html|table|json|clipboard)\(")


def parsed(program: str) -> ast.Module:
    """Parse a Python program; the tree is empty if it cannot be parsed."""
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def changed(program: str, *changes: tuple[int, int, int, str]) -> str:
    """Replace parts of a program. A change is a line, its first and last column, and the new text."""
    lines = program.encode("utf-8", "surrogatepass").split(b"\n")  # `ast` counts bytes
    for number, begin, end, text in sorted(changes, reverse=True):
        line = lines[number - 1]
        lines[number - 1] = line[:begin] + text.encode() + line[end:]
    return b"\n".join(lines).decode("utf-8", "surrogatepass")


def without_loading(program: str) -> str:
    """Remove the statements that load `df` from a file or page: `df` is there already, and no file is."""
    lines = program.split("\n")
    for each in reversed(parsed(program).body):
        is_frame = isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "df"
        if is_frame and _LOADS.search(ast.unparse(each)):
            del lines[each.lineno - 1 : each.end_lineno]
    return "\n".join(lines)
