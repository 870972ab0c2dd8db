"""`Toolkit`: one inventory entry that provides several modules, such as the tools of a server."""

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from chameleon.core.module import Module
from chameleon.errors import InventoryError
from chameleon.text import nearest


class Toolkit:
    """Provides several modules under their own names. Subclass it and write `modules`.

    Keyword parameters of its constructor are keys of its entry: `modules: {files: {use: …, prefix: fs_}}`.
    """

    def modules(self) -> Mapping[str, Module]:
        """Return the modules by name. Raises a `ChameleonError` if they are not available."""
        raise InventoryError(f"{type(self).__name__} has no modules method")


class ModuleList(Toolkit):
    """The modules of a list, or some of them.

    Args:
        tools: the names of the modules to provide; None: all.
        prefix: put before every name.
        max_runs: how often one run may use each of them, or some of them by name.
    """

    def __init__(
        self, given: Any, *, tools: list[str] | None = None, prefix: str = "", max_runs: Any = None
    ) -> None:
        self.given: tuple[Module, ...] = tuple(given)
        self.tools, self.prefix, self.max_runs = tools, prefix, max_runs

    def modules(self) -> Mapping[str, Module]:
        by_name = {module.name: module for module in self.given}
        limit = self.max_runs  # of each, or by name
        limits = limit if isinstance(limit, Mapping) else dict.fromkeys(by_name, limit)
        modules = {name: copy.copy(by_name[name]) for name in chosen(by_name, self.tools)}
        for name in chosen(by_name, limits):
            if name in modules:
                modules[name].max_runs = limits[name] or modules[name].max_runs
        return {f"{self.prefix}{name}": module for name, module in modules.items()}


def chosen(available: Collection[str], requested: Iterable[str] | None) -> list[str]:
    """Return the requested names, by default all. Raises `InventoryError` for an unknown one."""
    names = list(available if requested is None else requested)
    for name in names:
        if name not in available:
            raise InventoryError(f"there is no tool {name!r}", hint=nearest(name, [*available]))
    return names
