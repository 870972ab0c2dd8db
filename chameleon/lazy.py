"""Public names of a package, loaded when they are first used: importing the package alone stays cheap."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy(package: str, **names: str) -> Callable[[str], Any]:
    """Return the package's `__getattr__`: `file="One Other"` says which names each of its files has."""
    homes = {name: file for file, listed in names.items() for name in listed.split()}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
