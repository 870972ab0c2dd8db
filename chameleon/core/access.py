"""What one module may read, change and take as arguments, according to its declarations."""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NoReturn

from chameleon import values
from chameleon.core.arguments import Arguments
from chameleon.core.conversation import HISTORY
from chameleon.core.events import Step
from chameleon.core.module import InnerRun, Module, copy_with, needs_model, split_keys
from chameleon.core.state import MissingKeys, State
from chameleon.errors import NoSuchKey
from chameleon.text import nearest

_NOTHING: Mapping[str, Any] = values.ReadOnly()


class _Seen(values.ReadOnly):
    """The part of the input or the cache (`kind`) that a module may read; `given` is the run's whole input.

    A module that does not declare a key must not notice whether another module has written it yet.
    """

    __slots__ = ("given", "kind", "reads")
    given: Mapping[str, Any]
    kind: str
    reads: frozenset[str]

    def __missing__(self, key: object) -> NoReturn:
        name = f"{self.kind}.{key}"
        hint = nearest(str(key), self) if self else ""
        if _is_in(name, self.reads):
            raise NoSuchKey(f"there is no {name}", hint=hint)
        what = f"it reads {name}, which it does not declare"
        raise NoSuchKey(what, hint=f'Add "{name}" to its `reads`. {hint}'.strip())

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self or key in self.given else default  # fails if undeclared


@dataclass(frozen=True, slots=True)
class Access:
    """What one module may read, change and take from a plan, and whether it asks a model."""

    reads: frozenset[str] | None
    required: tuple[tuple[str, ...], ...]
    writes: frozenset[str]
    non_text: frozenset[str] = frozenset()
    exclusive_group: str = ""
    arguments: Arguments | None = None
    needs_model: bool = False

    @classmethod
    def of(cls, module: Module) -> "Access":
        """Return the access that a module declares."""
        asks, arguments, traits = needs_model(module), arguments_of(module), module.traits
        reads = None if module.reads is None else split_keys(module.reads)
        if traits.extra_reads:
            reads = (*(reads or ()), *traits.extra_reads)
        if reads is not None and asks:
            reads = (*reads, f"input.{HISTORY}?")  # a model sees the conversation
        needed = (key for key in reads or () if not key.endswith("?") and "*" not in key and key != "history")
        return cls(
            None if reads is None else frozenset(part for key in reads for part in _alternatives(key)),
            tuple(_alternatives(key) for key in needed),
            frozenset(part for key in _written_keys(module) for part in _alternatives(key)),
            frozenset(split_keys(traits.non_text)),
            traits.exclusive_group,
            arguments and replace(arguments, module=module.name),
            asks,
        )

    def view(
        self, state: State, step: Step | None = None, others: Mapping[str, "Access"] = MappingProxyType({})
    ) -> State:
        """Return the state without the keys the module did not declare; "history" also shows the plans.

        This keeps steps that run in parallel from seeing more than they would one after the other.

        Args:
            step: the step the module is about to run.
            others: all modules by name. `State.missing` lists the failed ones whose output this module
                would have read.
        """
        missing = tuple(self._unavailable(state, others)) if state.failures else ()
        if self.reads is None:
            return state.with_fields(step=step, missing=missing)
        base = state if "history" in self.reads else State()  # "history" also shows earlier steps
        initial = state.started.input if state.started is not None else _NOTHING
        parts = {}
        for kind, items, whole_of in (("input", state.input, initial), ("cache", state.cache, _NOTHING)):
            parts[kind] = part = _Seen({k: v for k, v in items.items() if _is_in(f"{kind}.{k}", self.reads)})
            part.kind, part.reads, part.given = kind, self.reads, whole_of
        return base.with_fields(input=parts["input"], cache=parts["cache"], step=step, missing=missing)

    def _unavailable(self, state: State, others: Mapping[str, "Access"]) -> Iterator[MissingKeys]:
        """Yield the keys missing because their module failed, unless that module will run again."""
        pending = {step.module for step in state.pending}
        for name, failure in state.failures.items():
            if name not in others or name in pending:
                continue
            unwritten = sorted(others[name].writes - others[name].non_text - state.keys)
            # A module that may write any key ("cache.*") is named itself: its keys are unknown.
            if keys := [key.partition(".")[2] for key in unwritten if self._may_read(key)]:
                yield MissingKeys(tuple(name if key == "*" else key for key in keys), failure.reason)

    def missing(self, present: Iterable[str]) -> tuple[str, ...]:
        """Return the required keys that are missing, alternatives joined by "|"."""
        have = frozenset(present)
        return tuple("|".join(keys) for keys in self.required if not any(_is_in(key, have) for key in keys))

    def is_read_by(self, other: "Access") -> bool:
        """Return whether another module declares to read what it writes."""
        return other.reads is not None and not self.writes.isdisjoint(other.reads)

    def depends_on(self, writes: Iterable[str]) -> bool:
        """Return whether it may read one of these keys and so must wait for the steps that write them."""
        return self.reads is None or "history" in self.reads or any(map(self._may_read, writes))

    def may_write(self, key: str) -> bool:
        """Return whether it declares to write the key."""
        return _is_in(key, self.writes)

    def _may_read(self, key: str) -> bool:
        """Return whether the module may read the key; "cache.*" matches every key of the cache."""
        if self.reads is None or _is_in(key, self.reads):
            return True
        kind, _, name = key.partition(".")
        return name == "*" and any(other.startswith(f"{kind}.") for other in self.reads)


def _alternatives(key: str) -> tuple[str, ...]:
    return tuple(key.removesuffix("?").split("|"))


def _is_in(key: str, keys: frozenset[str]) -> bool:
    return key in keys or f"{key.partition('.')[0]}.*" in keys


def _written_keys(module: Module) -> tuple[str, ...]:
    """Return the keys that a module may write: see `Module.writes`."""
    if module.writes is not None:
        return split_keys(module.writes)
    kind = type(module)
    any_input = ("input.*",) if kind.update_input is not Module.update_input else ()
    if isinstance(module, InnerRun):
        return (f"cache.{module.name}", *(f"cache.{key}" for key in module.leaves))
    own_cache = kind.update_cache is not Module.update_cache
    return (*any_input, "cache.*" if own_cache else f"cache.{module.name}")


def arguments_of(module: Module) -> Arguments | None:
    """Return the arguments a plan gives to a module, or None if it takes only the state.

    Raises `InventoryError` for a signature that no schema can describe.
    """
    declared = module.traits.arguments
    kind: Any = type(module)
    return _arguments_of_run(kind) if isinstance(declared, str) else declared


@lru_cache(maxsize=4_096)
def _arguments_of_run(cls: Any) -> Arguments | None:
    """Return the arguments the class declares or its `run` takes; most classes take only the state."""
    if cls.run is Module.run or issubclass(cls, InnerRun):
        return None
    parameters = inspect.signature(cls.run).parameters
    of_state = list(parameters)[:2]  # self and the state
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    further = [each for each in list(parameters.values())[2:] if each.kind in by_name]
    if cls.Args is None and not further:
        return None
    return Arguments.of(cls.name, cls.run, cls.Args, skip=of_state)


def reading(module: Module, keys: Iterable[str], known: Iterable[str] = ()) -> Module:
    """Return a copy of a module that reads further keys; `known`: see `Traits.shows_own_keys`."""
    traits = module.traits
    extra = (*dict.fromkeys((*traits.extra_reads, *keys)),)
    return copy_with(
        module, traits=replace(traits, extra_reads=extra, known_keys=traits.known_keys.union(known))
    )


def reading_own(modules: Mapping[str, Module], brought: Collection[str]) -> dict[str, Module]:
    """Return the modules; any that shows all findings also reads the keys that the user's modules write.

    `brought` names the modules that planners bring along, which do not count as the user's.
    """
    own = dict[str, Module]()
    for name, each in modules.items():
        is_shipped = type(each).__module__.startswith("chameleon.")
        runs_a_tool = each.writes is None and not isinstance(each, InnerRun)  # one of the user's
        if name not in brought and (runs_a_tool or not is_shipped):
            own[name] = each
    shipped = [each for name, each in modules.items() if name not in own]
    read = [key for each in shipped if not each.traits.shows_own_keys for key in split_keys(each.reads or ())]
    keys = [*read, *(key for each in shipped for key in _written_keys(each))]
    known = {part for key in keys for part in key.removesuffix("?").split("|")}
    of_text = (set(_written_keys(each)).difference(split_keys(each.traits.non_text)) for each in own.values())
    cache_keys = {key for keys in of_text for key in keys if key.startswith("cache.")}
    added = [f"{key}?" for key in sorted(cache_keys - known)]
    return {
        name: reading(each, added, known) if added and each.traits.shows_own_keys else each
        for name, each in modules.items()
    }
