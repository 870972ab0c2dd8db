"""Arguments that stand for the output of an earlier step: "$weather.temp"; "$$" is a dollar."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.errors import BadArguments
from chameleon.state import State
from chameleon.table import Table
from chameleon.text import as_name, nearest

_REFERENCE = re.compile(r"\$([^\W\d]\w*)((?:\.[\w-]+|\[\d+\])*)")
_PART = re.compile(r"[\w-]+")
_OF_A_TABLE = ("header", "rows", "caption")


@dataclass(frozen=True, slots=True)
class Reference:
    """The output of an earlier step, or what stands in it at a path of keys and of numbers from 0."""

    module: str
    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, earlier: Collection[str]) -> Reference | None:
        """Return what a whole text refers to; None for text that names no earlier step, and is itself."""
        if (found := _REFERENCE.fullmatch(text)) is None:
            return None
        name = found[1]
        if name not in earlier:  # as models write names
            name = next((each for each in earlier if as_name(each) == as_name(name)), "")
        return cls(name, tuple(_PART.findall(found[2]))) if name else None

    def __str__(self) -> str:
        return ".".join(("$" + self.module, *self.path))

    def value(self, state: State) -> Any:
        """Return the latest value that it has. Raises `BadArguments` where there is none."""
        ran = [record for record in state.executed if record.step.module == self.module]
        if not ran or ran[-1].error is not None:
            raise BadArguments(f"there is no {self}: {self.module} failed")
        value = ran[-1].output
        for done, part in enumerate(self.path):
            place = Reference(self.module, self.path[:done])
            value = _part_of(value, part, place)
        return value


def _part_of(value: Any, part: str, place: Reference) -> Any:
    """Return what a mapping, a list or a table has under a key or number."""
    if isinstance(value, Mapping):
        if part in value:
            return value[part]
        raise BadArguments(f"{place} has no {part!r}", hint=nearest(part, [*value]))
    if isinstance(value, Sequence) and not isinstance(value, str):
        if part.isdecimal() and int(part) < len(value):
            return value[int(part)]
        raise BadArguments(f"{place} is a list of {len(value):,} and has no {part!r}; the first is {place}.0")
    if isinstance(value, Table):
        if part in _OF_A_TABLE:
            return getattr(value, part)
        raise BadArguments(f"{place} is a table and has no {part!r}", hint=nearest(part, _OF_A_TABLE))
    raise BadArguments(f"{place} is no mapping, list or table, and nothing in it is called {part!r}")


def references(value: Any, earlier: Collection[str]) -> Iterator[Reference]:
    """Yield the references within a value."""
    if isinstance(value, str):
        if value.startswith("$") and (found := Reference.parse(value, earlier)) is not None:
            yield found
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from references(each, earlier)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from references(each, earlier)


def filled(value: Any, state: State) -> Any:
    """Return the value with the outputs of earlier steps in the place of references, and dollars for "$$"."""
    if isinstance(value, str):
        if not value.startswith("$"):
            return value
        if value.startswith("$$"):
            return value[1:]
        reference = Reference.parse(value, set(state.program))
        return value if reference is None else reference.value(state)
    if isinstance(value, Mapping):
        return {key: filled(each, state) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [filled(each, state) for each in value]
    return value
