"""Arguments that stand for the output of an earlier step: "$weather.temp", '$weather["wind speed"]'.

"$$" is a dollar.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.core.state import State
from chameleon.errors import BadArguments, PlanError
from chameleon.table import Table
from chameleon.text import as_name, nearest

_PART = re.compile(r"""\.([\w-]+)|\[(?:(\d+)|"([^"]+)"|'([^']+)')\]""")
_REFERENCE = re.compile(rf"\$([^\W\d]\w*)((?:{_PART.pattern})*)")
_BEGINS = re.compile(r"\$([^\W\d]\w*)[.\[]")
_PLAIN = re.compile(r"[\w-]+")
_THE_VALUE = "Write the value itself"
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
        name = _step_called(found[1], earlier)
        return (
            cls(name, tuple(part[part.lastindex or 0] for part in _PART.finditer(found[2]))) if name else None
        )

    def __str__(self) -> str:
        parts = (f".{part}" if _PLAIN.fullmatch(part) else f'["{part}"]' for part in self.path)
        return f"${self.module}{''.join(parts)}"

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


def _step_called(name: str, earlier: Collection[str]) -> str:
    """Return the earlier step that is meant, as models write names; "" for none."""
    return name if name in earlier else next((each for each in earlier if as_name(each) == as_name(name)), "")


def _part_of(value: Any, part: str, place: Reference) -> Any:
    """Return what a mapping, a list or a table has under a key or number."""
    if isinstance(value, Table):
        value = {name: getattr(value, name) for name in _OF_A_TABLE}
    if isinstance(value, Mapping):
        if part in value:
            return value[part]
        raise BadArguments(f"{place} has no {part!r}", hint=nearest(part, [*value]))
    if isinstance(value, Sequence) and not isinstance(value, str):
        if part.isdecimal() and int(part) < len(value):
            return value[int(part)]
        raise BadArguments(f"{place} is a list of {len(value):,} and has no {part!r}; the first is {place}.0")
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


def check_references(
    value: Any, earlier: Collection[str], planned: Collection[str] = (), inputs: Collection[str] = ()
) -> None:
    """Raise `PlanError` for a text that begins as a reference to an earlier step, and is none.

    Also for one that refers to a step of the plan that does not come before, or to an input.
    """
    if isinstance(value, str):
        if Reference.parse(value, earlier) is not None:
            return
        what = ""
        if (later := Reference.parse(value, planned)) is not None:
            what, mend = f"refers to {later.module}, which does not come before", "Call it before"
        elif (found := _REFERENCE.fullmatch(value)) and found[1] in inputs:
            what, mend = 'names an input, and "$" stands for the output of an earlier step', _THE_VALUE
        elif (found := _BEGINS.match(value)) and _step_called(found[1], earlier):
            what = f"begins as a reference to {found[1]}, and is none"
            mend = f'Write "${found[1]}.KEY" or "${found[1]}[\'A KEY\']" alone'
        if what:
            hint = f'{mend}, or "$$…" for a text that begins with a dollar.'
            raise PlanError(f"{value[:60]!r} {what}", hint=hint)
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            check_references(each, earlier, planned, inputs)


def filled(value: Any, state: State) -> Any:
    """Return the value with the outputs of earlier steps in the place of references, and dollars for "$$"."""
    if isinstance(value, str):
        if not value.startswith("$"):
            return value
        if value.startswith("$$"):
            return value[1:]
        reference = Reference.parse(value, set(state.executed_names))
        return value if reference is None else reference.value(state)
    if isinstance(value, Mapping):
        return {key: filled(each, state) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [filled(each, state) for each in value]
    return value
