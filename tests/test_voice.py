"""Names and voice: few private helpers, public functions with users, docstrings that begin with verbs."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("chameleon", "modules", "planners", "benchmarks")
VERBS = frozenset((Path(__file__).parent / "verbs.txt").read_text(encoding="utf-8").split())
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        if not any(parent.is_symlink() for parent in path.parents):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def names_used(tree: ast.AST) -> Counter[str]:
    """Count how often each name is read, imported, reached as an attribute or written as a string."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found[name.rpartition(".")[2]] += 1
            case ast.Constant(value=str(text)) if text.isidentifier():
                found[text] += 1
    return found


def test_helpers_are_few_functions_are_used_and_docstrings_begin_with_a_verb() -> None:
    used, public = Counter[str](), list[tuple[str, str, int]]()
    functions, private, verbs = 0, 0, list[bool]()
    for path, tree in trees(*SHIPPED, "demos", "tests", "perf"):
        mine = names_used(tree)
        used.update(mine)
        if not path.startswith(SHIPPED):
            continue
        every = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        functions += len(every)
        said = filter(None, map(ast.get_docstring, every))
        verbs += [text.split()[0].strip(".,:;`").lower() in VERBS for text in said]
        for node in (node for node in tree.body if isinstance(node, FUNCTIONS)):
            private += node.name.startswith("_")
            if not node.name.startswith("_") and not node.decorator_list:
                public.append((f"{path}:{node.lineno} {node.name}", node.name, mine[node.name]))
    for template in (ROOT / "chameleon").rglob("*.j2"):
        used.update(re.findall(r"\w+", template.read_text(encoding="utf-8")))
    assert [place for place, name, here in public if used[name] <= here] == []
    assert private <= 0.21 * functions and sum(verbs) >= 0.6 * len(verbs)


# What never occurs in httpx, inspect_ai and the like.
NEVER = re.compile(
    r"\b(?:anew|as far as|in the place of|of (?:ours|theirs)|(?:that|what|which|it) stands|one[’']s own"
    r"|(?:is|are|was|were) told|came? to no|(?:goes|went) on (?:with|in)"
    r"|beside (?:the|its|it|them|a|other))\b",
    re.IGNORECASE,
)


def test_prose_has_no_construction_that_native_speakers_do_not_use() -> None:
    texts = [
        (f"{path}:{node.lineno}", node.value)
        for path, tree in trees(*SHIPPED)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "demos").rglob("*.ipynb")]
    files += (ROOT / "inventories").rglob("*.yaml")
    texts += [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in files]
    assert [(place, found[0]) for place, text in texts if (found := NEVER.search(text))] == []
