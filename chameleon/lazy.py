"""Values made on first use: public names of a package, attributes of an object."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from chameleon.text import snake_case

__all__ = ["cached_property", "lazy", "tools"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """Compute an attribute when it is first read; if two threads do, the last value stays.

        Python 3.11's version has one lock for all instances of a class: only one thread at a time can compute
        it, and a process forked meanwhile waits for it forever. From 3.12 on there is no lock.
        """

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


def lazy(package: str, **names: str) -> Callable[[str], Any]:
    """Return the package's `__getattr__`: `file="One Other"` lists the names in each of its files."""
    homes = {name: file for file, text in names.items() for name in text.split()}

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
