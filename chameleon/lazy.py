"""What is made when it is first used: public names of a package, attributes of an object."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from chameleon.text import snake_case

__all__ = ["cached_property", "lazy", "tools"]


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


def tools(package: str, files: Mapping[str, str] | Sequence[str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a family of modules: `RowLookup` is the tool `row_lookup` of `files`."""

    def load(name: str) -> Any:
        tool = snake_case(name)
        if tool not in files or tool == name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        file = files[tool] if isinstance(files, Mapping) else tool
        return getattr(import_module(f"{package}.{file}"), name)

    return load
