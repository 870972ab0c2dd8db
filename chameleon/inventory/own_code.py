"""A user's own files: imported as parts of a package of their own, so that `sys.path` stays as it is."""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from chameleon.errors import ChameleonError, InventoryError, MissingPackage

_PRIVATE = "chameleon_user_"


def import_own(path: str, folders: Sequence[Path]) -> ModuleType | None:
    """Import the file that "tools", "tools.py" or "package.tools" names in the first folder that has it.

    Returns None where no folder has it. A folder counts as a package without a name: its files import each
    other with `from .other import …`. Raises whatever the file raises.
    """
    for folder in folders:
        if path.endswith(".py"):
            candidates = [folder / path]
        elif all(parts := path.split(".")):
            whole = folder.joinpath(*parts)
            candidates = [whole / "__init__.py", whole.with_name(f"{parts[-1]}.py")]
        else:
            candidates = []
        for file in candidates:
            if file.is_file():
                importlib.invalidate_caches()  # the file may be younger than the last look into its folder
                return importlib.import_module(_full_name(file.resolve(), folder.resolve()))
    return None


def _full_name(file: Path, folder: Path) -> str:
    """Return the name to import a file by; its folder becomes a package that no installed one hides.

    A file that lies elsewhere, or below a folder whose name is no name of a package, has its own folder.
    """
    root = folder if file.is_relative_to(folder) else file.parent
    if any("." in part for part in file.parent.relative_to(root).parts):
        root = file.parent
    *parents, stem = file.relative_to(root).with_suffix("").parts
    if "." in stem:
        raise InventoryError(f"{file.name} cannot be imported", hint="Give it a name without dots.")
    package = f"{_PRIVATE}{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    if package not in sys.modules:
        spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(root)]
        sys.modules.setdefault(package, importlib.util.module_from_spec(spec))
    inner = [*parents] if stem == "__init__" and parents else [*parents, stem]
    return ".".join((package, *inner))


def broken(reference: str, problem: BaseException) -> ChameleonError:
    """Return an error that says in one line why a file or package cannot be imported."""
    if isinstance(problem, ChameleonError):
        return problem
    if isinstance(problem, SystemExit):
        hint = 'Keep what it does as a program under `if __name__ == "__main__":`.'
        return InventoryError(f"{reference!r} ends Python when it is imported (sys.exit)", hint=hint)
    name = problem.name if isinstance(problem, ModuleNotFoundError) and problem.name else ""
    if not name or name.startswith(_PRIVATE):
        message = re.sub(rf"{_PRIVATE}[0-9a-f]{{12}}", "", str(problem))  # how a folder is registered
        return InventoryError(f"{reference!r} fails when imported: {type(problem).__name__}: {message}")
    package = name.partition(".")[0]
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__)]
    importer = Path(next(file for file in reversed(frames) if not file.startswith("<")))
    if (importer.parent / f"{package}.py").exists() or (importer.parent / package).exists():
        what = f"{reference!r}: {importer.name} imports {name!r}, which is not installed, but is next to it"
        return InventoryError(what, hint=f"Import it as a part of the same package: from .{name} import …")
    return MissingPackage(f"{reference!r} needs the package {package!r}", hint=f"pip install {package}")
