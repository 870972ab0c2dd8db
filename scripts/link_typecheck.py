"""Lay out the package for type checkers, which do not run import hooks: links in `.typecheck/chameleon`."""

from pathlib import Path

root = Path(__file__).resolve().parent.parent
target = root / ".typecheck" / "chameleon"
target.mkdir(parents=True, exist_ok=True)
parts = [path for path in (root / "chameleon").iterdir() if path.name != "__pycache__"]
for part in [
    *parts,
    *(root / name for name in ("modules", "planners", "prompts", "inventories", "benchmarks")),
]:
    link = target / part.name
    link.unlink(missing_ok=True)
    link.symlink_to(part)
