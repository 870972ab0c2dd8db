"""`Module`: one tool. Subclass it and write `run`: that is all."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from chameleon.core.state import Event, State
from chameleon.errors import InventoryError, ModuleError
from chameleon.text import snake_case

if TYPE_CHECKING:
    from pydantic import BaseModel

    from chameleon.core.arguments import Arguments

Keys = str | tuple[str, ...]
_NO_STATE = ("bool", "dict", "float", "int", "list", "str", "tuple")
_KEY = re.compile(r"(input|cache)\.([A-Za-z_][A-Za-z0-9_]*|\*)|history")


class Module:
    """Reads the state and returns its output: a tool that the executor can run.

    Class attributes, all optional:

    - `name`: how plans call it; default: the class name in snake_case.
    - `description`: the card that the planner reads; default: the docstring.
    - `reads`, `writes`: keys such as "input.table", "cache.knowledge?" (may be missing) or
      "cache.a|cache.b" (one of them is enough), as a tuple or one string with commas. A module that
      declares `reads` sees nothing else, and may run beside neighbours that it does not depend on;
      one that does not sees everything and runs alone. `writes` defaults to "cache.<name>", and to any key
      where `update_input` or `update_cache` is its own; where it is one key, the output goes there.
    - `tells_own`: whether its prompt tells what modules of one's own put under keys of their own: the
      inventory adds those to `also_reads`, which has what `reads:` of its entry names as well, and tells by
      `known_keys` which are not of one's own.
    - `non_text`: those of `writes` that hold no text for a model, such as coordinates: when the module
      fails, no prompt names them as missing.
    - `uses`: what else it needs, such as "gpu", "web" or "model", and environment variables by their names;
      on Ray it gets a GPU, and the variables go along.
    - `asks`: "approval" where a person is to allow each of its steps.
    - `alias`: its name on the server that it is of, which plans may write as well.
    - `at_most`: how often a run may run it.
    - `takes_code`: a language, such as "sql"; a model may then call it by a block of code, its one argument.
    - `in_turn`: a name; steps of modules that share it never run side by side, such as those of one server.
    - `Args`: a pydantic model of the arguments that a plan gives it, which `run` takes by name; default: the
      parameters of `run` besides the state.
    - `gives`: the type of its output for the card, such as "{temp: number}"; of a function its own.
    - `listed`: what a server says of it, as JSON, which the log of a run keeps.
    - `inner`: the inventory that it runs, where it runs one (`inventory:` in YAML).

    Parameters are the constructor's keyword parameters; annotate them, and the inventory checks them.
    One instance serves all threads: keep nothing on `self` after `setup`.
    """

    name: str = ""
    description: str = ""
    reads: ClassVar[Keys | None] = None
    writes: ClassVar[Keys | None] = None
    tells_own: ClassVar[bool] = False
    also_reads: tuple[str, ...] = ()
    known_keys: frozenset[str] = frozenset()
    non_text: ClassVar[Keys] = ()
    uses: ClassVar[Keys] = ()
    Args: ClassVar[type[BaseModel] | None] = None
    when: str = ""
    gives: str = ""
    asks: str = ""
    alias: str = ""
    at_most: int | None = None
    takes_code: str = ""
    in_turn: str = ""
    listed: Mapping[str, Any] | None = None
    inner: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)
        if not cls.__dict__.get("description") and cls.__doc__:
            cls.description = " ".join(cls.__doc__.split())
        check_keys(cls.reads, cls.writes, f"class {cls.__qualname__}")
        if inspect.isfunction(run := vars(cls).get("run")):
            _check_state(run, f"class {cls.__qualname__}")
        for hook, part in (("update_input", "input"), ("update_cache", "cache")):
            made = vars(cls).get(hook)
            if inspect.isfunction(made) and len(inspect.signature(made).parameters) != 3:
                what = f"the hook {hook} of class {cls.__qualname__} takes {part} and output"
                raise InventoryError(what, hint=f"Write `def {hook}(self, {part}, output)`.")

    def setup(self) -> None:
        """Load what is needed once (models, clients); called before the first `run`, by one thread."""

    def check(self) -> None:
        """Raise a `ChameleonError` when a key, a package or a server that it needs is missing.

        Called by `chameleon check`, before an evaluation, and else before the first `run`. It returns
        nothing, and is to be cheap: it loads nothing.
        """

    def runtime_info(self) -> Mapping[str, Any]:
        """Return what settings left open come to on this machine, for whoever compares two runs.

        Such as {"engine": "rapidocr", "rapidocr": "3.4.0", "device": "cpu"} for `engine: auto`: the engine,
        provider, host or device that is taken, and the versions of the packages that the output depends on.
        Plain JSON, the same each time, and never a key or a password. `chameleon eval` keeps it in
        `settings.json` once `check` has passed, and goes on in a folder only where it is the same. As cheap
        as `check`: it loads no model and asks no server. By default nothing.
        """
        return {}

    @property
    def arguments(self) -> Arguments | None:
        """Return what a plan gives it besides the state; None where it takes the state alone.

        Raises `InventoryError` for a signature that no schema can tell.
        """
        return _arguments_of(type(self))  # type: ignore[arg-type]

    def run(self, state: State, /, *args: Any, **named: Any) -> Any:
        """Return this module's output: JSON, a `Table` or a path. The plan's arguments come by name."""
        raise ModuleError(
            f"{type(self).__name__} has no run method", hint="Write `def run(self, state)` in the class."
        )

    def run_inside(
        self, state: State, inside: Any, /, *args: Any, **named: Any
    ) -> Generator[Event, None, Any]:
        """Run the inventory that `inner` is: yield its events, and return what it came to.

        None where it was stopped before its end. A module that has no `inner` is asked to `run`.
        """
        raise ModuleError(f"{type(self).__name__} has no run_inside method")

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return the input keys that the output changes, or all of them; by default the one of `writes`."""
        return self._placed("input", output)

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return the cache keys that the output changes, or all of them; by default the one of `writes`."""
        return self._placed("cache", output)

    def _placed(self, part: str, output: Any) -> Mapping[str, Any]:
        writes = (f"cache.{self.name}",) if self.writes is None else split_keys(self.writes)
        if len(writes) != 1:  # a key is missing in the hooks, and the step fails by name
            return {self.name: output} if part == "cache" else {}
        place, _, key = writes[0].removesuffix("?").partition(".")
        return {key: output} if place == part else {}

    @property
    def written_keys(self) -> tuple[str, ...]:
        """Return the keys that it may write: see `writes`."""
        if self.writes is not None:
            return split_keys(self.writes)
        kind = type(self)
        any_input = ("input.*",) if kind.update_input is not Module.update_input else ()
        own_cache = kind.update_cache is not Module.update_cache
        return (*any_input, "cache.*" if own_cache else f"cache.{self.name}")

    @property
    def is_of_ones_own(self) -> bool:
        """Tell whether it is not shipped, or gives what it has under its own name: a tool, an inventory."""
        return not type(self).__module__.startswith("chameleon.") or self.writes is None

    def reading(self, keys: Iterable[str], known: Iterable[str] = ()) -> Self:
        """Return this module with further keys that it reads; `known`: see `tells_own`."""
        copied = copy.copy(self)
        copied.known_keys = self.known_keys.union(known)
        copied.also_reads = (*dict.fromkeys((*self.also_reads, *keys)),)
        return copied

    def with_name(self, name: str) -> Self:
        """Return this module under that name: a copy if it has another one."""
        if self.name == name:
            return self
        copied = copy.copy(self)
        copied.name = name
        return copied

    def with_llm(self, llm: Any) -> Module:
        """Return the module, ready to be used with a model; one that asks none is its own."""
        return self

    @property
    def needs_model(self) -> bool:
        """Return whether it calls a language model."""
        return False


def _check_state(run: Callable[..., Any], owner: str) -> None:
    """Raise `InventoryError` if `run` takes no state: nothing, or first a number, a text or the like."""
    own, *taken = inspect.signature(run).parameters.values()
    if taken and taken[0].name == "state":
        return
    annotation = taken[0].annotation if taken else None
    kind = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    if re.split(r"\W", kind)[0] in _NO_STATE or (not taken and own.kind is not own.VAR_POSITIONAL):
        code, told = inspect.unwrap(run).__code__, f"`{taken[0]}`" if taken else "missing"
        raise InventoryError(
            f"the first parameter of `run` is the state, and in {owner} it is {told}",
            where=f"{Path(code.co_filename).name}:{code.co_firstlineno}",
            hint=f"Write `def run({', '.join(map(str, (own, 'state', *taken)))})`.",
        )


@lru_cache(maxsize=4_096)
def _arguments_of(cls: type[Any]) -> Arguments | None:
    """Return what the class says that it takes, or the signature of its `run`; most take the state alone."""
    if cls.run is Module.run:
        return None
    taken = inspect.signature(cls.run).parameters
    of_state = list(taken)[:2]  # self and the state
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    further = [each for each in list(taken.values())[2:] if each.kind in by_name]
    if cls.Args is None and not further:
        return None
    from chameleon.core.arguments import Arguments

    return Arguments.of(cls.name, cls.run, cls.Args, skip=of_state)


def check_keys(reads: Keys | None, writes: Keys | None, owner: str) -> None:
    """Raise `InventoryError` for a key that is none of the state."""
    for attribute, keys in (("reads", reads), ("writes", writes)):
        for key in split_keys(keys or ()):
            if not all(_KEY.fullmatch(part) for part in key.removesuffix("?").split("|")):
                raise InventoryError(
                    f"{attribute} of the {owner} has the key {key!r}",
                    hint='Write keys as "input.table", "cache.knowledge?" or "cache.a|cache.b".',
                )


def split_keys(keys: Keys) -> tuple[str, ...]:
    """Return keys as a tuple, whether they were written as one or as a string with commas."""
    listed = keys.split(",") if isinstance(keys, str) else keys
    return tuple(key.strip() for key in listed if key.strip())
