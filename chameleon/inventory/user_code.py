"""Code that is not shipped with Chameleon: a user's own files, and other distributions.

A user's files are imported into a private package, which leaves `sys.path` unchanged.
"""

import hashlib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from chameleon.errors import ChameleonError, InventoryError, MissingPackage

Family = Literal["modules", "planners", "benchmarks"]
_PREFIX = "chameleon_user_"


def import_own(path: str, folders: Sequence[Path]) -> ModuleType | None:
    """Import the file that "tools", "tools.py" or "package.tools" names in the first folder that has it.

    Returns None if no folder has it. The folder becomes a private package that no installed one can hide; its
    files import each other with `from .other import …`. Raises whatever the file raises.
    """
    for folder in folders:
        root, name = folder.resolve(), path
        if path.endswith(".py"):
            file = (folder / path).resolve()
            if not file.is_file():
                continue
            root, name = file.parent, file.stem
            if "." in name:
                raise InventoryError(f"{file.name} cannot be imported", hint="Rename it without dots.")
        package = f"{_PREFIX}{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
        if package not in sys.modules:
            spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = [str(root)]
            sys.modules.setdefault(package, importlib.util.module_from_spec(spec))  # threads may race
        place = root.joinpath(*name.split("."))
        if place.with_name(f"{place.name}.py").is_file() or (place / "__init__.py").is_file():
            importlib.invalidate_caches()  # the file may be newer than the cached listing of its folder
            return importlib.import_module(f"{package}.{name}")
    return None


def broken(reference: str, problem: BaseException) -> ChameleonError:
    """Return an error that says in one line why a file or package cannot be imported."""
    if isinstance(problem, ChameleonError):
        return problem
    if isinstance(problem, SystemExit):
        hint = 'Put the program part under `if __name__ == "__main__":`.'
        return InventoryError(f"{reference!r} ends Python when it is imported (sys.exit)", hint=hint)
    name = problem.name if isinstance(problem, ModuleNotFoundError) and problem.name else ""
    if not name or name.startswith(_PREFIX):
        message = re.sub(rf"{_PREFIX}[0-9a-f]{{12}}", "", str(problem))  # the private name of a folder
        return InventoryError(f"{reference!r} fails when imported: {type(problem).__name__}: {message}")
    package = name.partition(".")[0]
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__)]
    importer = Path(next(file for file in reversed(frames) if not file.startswith("<")))
    if (importer.parent / f"{package}.py").exists() or (importer.parent / package).exists():
        what = f"{reference!r}: {importer.name} imports {name!r}, which is not installed but is next to it"
        return InventoryError(what, hint=f"Import it from the same package: from .{name} import …")
    return MissingPackage(f"{reference!r} needs the package {package!r}", hint=f"pip install {package}")


def installed(group: str, name: str | None = None) -> list[EntryPoint]:
    """Return the entry points of "chameleon.GROUP", all or only of one name, sorted by name.

    Other distributions declare them: `weather = "weather_tools:Weather"` below
    `[project.entry-points."chameleon.modules"]`.
    """
    from importlib.metadata import entry_points

    entries = entry_points(group=f"chameleon.{group}")
    return sorted((each for each in entries if name in (None, each.name)), key=lambda each: each.name)


def load_entry(entry: EntryPoint) -> Any:
    """Import the object of an entry point. Raises a `ChameleonError` that says why it cannot be imported."""
    try:
        return entry.load()
    except (Exception, SystemExit) as problem:  # it runs third-party code
        raise broken(entry.value, problem) from problem


def distribution_of(entry: EntryPoint) -> str:
    """Return the name and version of the distribution that declares an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "unknown"
