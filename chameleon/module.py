"""`Module`: one tool. Subclass it and write `run`: that is all."""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

from chameleon.errors import InventoryError, ModuleError
from chameleon.state import Lack, State, Step
from chameleon.text import snake_case
from chameleon.values import ReadOnly

Keys = str | tuple[str, ...]
_KEY = re.compile(r"(input|cache)\.([A-Za-z_][A-Za-z0-9_]*|\*)|history")


class Module:
    """A tool that the executor can run: it reads the state and returns its output.

    Class attributes, all optional:

    - `name`: how plans call it; default: the class name in snake_case.
    - `description`: the card that the planner reads; default: the docstring.
    - `reads`, `writes`: keys such as "input.table", "cache.knowledge?" (may be missing) or
      "cache.a|cache.b" (one of them is enough), as a tuple or one string with commas. A module that
      declares `reads` sees nothing else, and may run beside neighbours that it does not depend on;
      one that does not sees everything and runs alone. `writes` defaults to "cache.<name>"; where it is one
      key, the output goes there.
    - `wordless`: those of `writes` that hold no text for a model, such as coordinates: when the module
      fails, no prompt names them as missing.
    - `uses`: what else it needs, such as "gpu", "web" or "model".

    Parameters are the constructor's keyword parameters; annotate them, and the inventory checks them.
    One instance serves all threads: keep nothing on `self` after `setup`.
    """

    name: str = ""
    description: ClassVar[str] = ""
    reads: ClassVar[Keys | None] = None
    writes: ClassVar[Keys | None] = None
    wordless: ClassVar[Keys] = ()
    uses: ClassVar[Keys] = ()
    when: str = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)
        if not cls.__dict__.get("description") and cls.__doc__:
            cls.description = " ".join(cls.__doc__.split())
        for attribute in ("reads", "writes"):
            for key in split_keys(getattr(cls, attribute) or ()):
                if not all(_KEY.fullmatch(part) for part in key.removesuffix("?").split("|")):
                    raise InventoryError(
                        f"{attribute} has the key {key!r}",
                        where=f"class {cls.__qualname__}",
                        hint='Write keys as "input.table", "cache.knowledge?" or "cache.a|cache.b".',
                    )

    def setup(self) -> None:
        """Load what is needed once (models, clients); called before the first `run`, under a lock."""

    def check(self) -> None:
        """Raise a `ChameleonError` when a key, a package or a server that it needs is missing.

        Called by `chameleon check`, before an evaluation, and else before the first `run`. It returns
        nothing, and is to be cheap: it loads nothing.
        """

    def resolved(self) -> Mapping[str, Any]:
        """What settings that were left open come to on this machine, for whoever compares two runs.

        Such as {"engine": "rapidocr", "rapidocr": "3.4.0", "device": "cpu"} for `engine: auto`: the engine,
        provider, host or device that is taken, and the versions of the packages that the output depends on.
        Plain JSON, the same each time, and never a key or a password. `chameleon eval` keeps it in
        `settings.json` once `check` has passed, and goes on in a folder only where it is the same. As cheap
        as `check`: it loads no model and asks no server. By default nothing.
        """
        return {}

    def run(self, state: State) -> Any:
        """Return this module's output: JSON, a `Table` or a path."""
        raise ModuleError(
            f"{type(self).__name__} has no run method", hint="Write `def run(self, state)` in the class."
        )

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """The input keys that the output changes; by default the one that `writes` names."""
        return self._placed("input", output)

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """The cache keys that the output changes; by default the one that `writes` names."""
        return self._placed("cache", output)

    def _placed(self, part: str, output: Any) -> Mapping[str, Any]:
        writes = (f"cache.{self.name}",) if self.writes is None else split_keys(self.writes)
        if len(writes) != 1:  # a key is missing in the hooks, and the step fails by name
            return {self.name: output} if part == "cache" else {}
        place, _, key = writes[0].removesuffix("?").partition(".")
        return {key: output} if place == part else {}

    def named(self, name: str) -> Self:
        """This module under that name: a copy if it has another one."""
        if self.name == name:
            return self
        copied = copy.copy(self)
        copied.__dict__.pop("_lock", None)  # the copy is set up on its own
        copied.name = name
        return copied

    def ready(self) -> None:
        """Run `check` and `setup` if they have not run yet, once for all threads."""
        if self.__dict__.get("_is_ready"):
            return
        with _setup_lock(self):
            if not self.__dict__.get("_is_ready"):
                self.check()
                self.setup()
                self.__dict__["_is_ready"] = True

    def bound(self, llm: Any) -> Module:
        """This module, ready to be used with a model; modules that need none are their own."""
        return self

    @property
    def needs_model(self) -> bool:
        """Whether it calls a language model."""
        return False


_LOCKS = threading.Lock()


def _setup_lock(module: Module) -> threading.Lock:
    with _LOCKS:
        lock: threading.Lock = module.__dict__.setdefault("_lock", threading.Lock())
        return lock


def split_keys(keys: Keys) -> tuple[str, ...]:
    """Keys as a tuple, whether they were written as one or as a string with commas."""
    listed = keys.split(",") if isinstance(keys, str) else keys
    return tuple(key.strip() for key in listed if key.strip())


@dataclass(frozen=True, slots=True)
class Access:
    """What one module may see and change, from its declarations."""

    reads: frozenset[str] | None
    required: tuple[tuple[str, ...], ...]
    writes: frozenset[str]
    wordless: frozenset[str] = frozenset()

    @classmethod
    def of(cls, module: Module) -> Access:
        reads = None if module.reads is None else split_keys(module.reads)
        writes = (f"cache.{module.name}",) if module.writes is None else split_keys(module.writes)
        return cls(
            None if reads is None else frozenset(part for key in reads for part in _alternatives(key)),
            tuple(_alternatives(key) for key in reads or () if _is_required(key)),
            frozenset(part for key in writes for part in _alternatives(key)),
            frozenset(split_keys(module.wordless)),
        )

    def view(
        self, state: State, step: Step | None = None, others: Mapping[str, Access] = MappingProxyType({})
    ) -> State:
        """The state without what the module did not declare to read; "history" opens plans as well.

        What is hidden cannot differ between steps that run side by side and one after the other. `step` is
        the one that the module is to run. Of `others`, the modules by name, those that failed are told
        (`State.lacking`) as far as it would have read what they write.
        """
        lacking = tuple(self._lacking(state, others)) if state.failures else ()
        if self.reads is None:
            return state.with_changes(step=step, lacking=lacking)
        whole = state if "history" in self.reads else State()
        return whole.with_changes(
            input=_only(state.input, "input", self.reads),
            cache=_only(state.cache, "cache", self.reads),
            step=step,
            lacking=lacking,
        )

    def _lacking(self, state: State, others: Mapping[str, Access]) -> Iterator[Lack]:
        """What is not there to be read since its module failed, unless that is about to be tried again."""
        pending = {step.module for step in state.pending}
        for name, failure in state.failures.items():
            if name not in others or name in pending:
                continue
            missing = sorted(others[name].writes - others[name].wordless - state.keys)
            read = [key for key in missing if self.reads is None or _is_read(key, self.reads)]
            if read:
                yield Lack(tuple(_called(key, name) for key in read), failure.reason)

    def missing(self, present: Iterable[str]) -> tuple[str, ...]:
        """The required keys that are not present, alternatives joined by "|"."""
        have = set(present)
        return tuple("|".join(keys) for keys in self.required if not any(_is_in(key, have) for key in keys))

    def depends_on(self, writes: Iterable[str]) -> bool:
        """Whether it may read one of these keys: if so it must wait for whoever writes them."""
        if self.reads is None or "history" in self.reads:
            return True
        return any(_is_read(key, self.reads) for key in writes)

    def may_write(self, key: str) -> bool:
        return _is_in(key, self.writes)


def _alternatives(key: str) -> tuple[str, ...]:
    return tuple(key.removesuffix("?").split("|"))


def _is_required(key: str) -> bool:
    return not key.endswith("?") and "*" not in key and key != "history"


def _is_in(key: str, keys: Collection[str]) -> bool:
    return key in keys or f"{key.partition('.')[0]}.*" in keys


def _only(mapping: Mapping[str, Any], kind: str, keys: frozenset[str]) -> Mapping[str, Any]:
    if f"{kind}.*" in keys:
        return mapping
    return ReadOnly({key: value for key, value in mapping.items() if f"{kind}.{key}" in keys})


def _is_read(key: str, reads: Iterable[str]) -> bool:
    return any(_meet(key, other) for other in reads)


def _called(key: str, module: str) -> str:
    """What a prompt calls a key: its name, or that of the module where it may be any."""
    name = key.partition(".")[2]
    return module if name == "*" else name


def _meet(key: str, other: str) -> bool:
    """Whether two keys may be the same one, "cache.*" standing for every key of the cache."""
    either = key.endswith(".*") or other.endswith(".*")
    return key == other or (either and key.partition(".")[0] == other.partition(".")[0])
