"""`Module`: one tool. Subclass it and write `run`; nothing else is required."""

import copy
import inspect
import logging
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel

from chameleon.core.arguments import Arguments
from chameleon.core.events import Event, Nested
from chameleon.core.state import State
from chameleon.errors import OLD_NAMES, InventoryError, ModuleError
from chameleon.text import snake_case

Keys = str | tuple[str, ...]
Part = TypeVar("Part")
_log = logging.getLogger("chameleon")
_VALUE_TYPES = ("bool", "dict", "float", "int", "list", "str", "tuple")  # of an argument, not of the state
_OLD_NAMES = OLD_NAMES | {"in_turn": "traits.exclusive_group"}
_OLD_NAMES_OF_PLANNERS = {
    "brings": "extra_modules",
    "whole": "returns_full_plan",
    "handles_failure": "replans_after_failure",
    "goes_on_after": "continue_after_failure",
}
_KEY = re.compile(r"(input|cache)\.([A-Za-z_][A-Za-z0-9_]*|\*)|history")  # one key; "*" is any name


@dataclass(frozen=True)
class Traits:
    """Facts about a module that only the engine needs; your own modules rarely set any.

    Attributes:
        returns: the type of its output for the card, such as "{temp: number}"; a function's own by default.
        non_text: keys of its `writes` that hold no text for a model, such as coordinates: if the module
            fails, no prompt lists them as missing.
        takes_code: a language, such as "sql"; a model may then call it with a code block as its argument.
        exclusive_group: steps of modules with the same name here never run in parallel: a server's tools.
        server_name, server_schema: its name on its server, which plans may also use, and the server's
            description of it, as JSON, which is kept in the log of a run.
        arguments: the arguments a plan gives it; by default read from the signature of `run`.
        shows_own_keys: its prompt shows what the user's modules wrote under their own keys. The inventory
            adds those to `extra_reads`, which also has `reads:` of its entry; `known_keys` are all the
            others.
    """

    returns: str = ""
    non_text: Keys = ()
    takes_code: str = ""
    exclusive_group: str = ""
    server_name: str = ""
    server_schema: Mapping[str, Any] | None = None
    arguments: Arguments | Literal["of run"] | None = "of run"
    shows_own_keys: bool = False
    extra_reads: tuple[str, ...] = ()
    known_keys: frozenset[str] = frozenset()


class Module:
    """Reads the state and returns its output: a tool that the executor can run.

    The constructor's keyword parameters are the module's settings; annotate them so that the inventory can
    check them. One instance serves all threads: keep nothing on `self` after `setup`. All attributes are
    optional.

    Attributes:
        name: its name in plans; default: the class name in snake_case.
        description, when: the card that the planner reads; default: the docstring.
        reads, writes: keys such as "input.table", "cache.knowledge?" (may be missing) or "cache.a|cache.b"
            (either is enough), as a tuple or one string with commas. A module that declares `reads` sees
            nothing else, and may run in parallel with modules it does not depend on; one that does not sees
            everything and runs by itself. `writes` defaults to "cache.<name>", and to any key if the class
            overrides `update_input` or `update_cache`; a single key receives the output.
        uses: what else it needs, such as "gpu", "web" or "model", and environment variables by name.
        Args: a pydantic model of the arguments that a plan gives it, passed to `run` by name; default: the
            parameters of `run` after the state.
        requires_approval: whether a person must approve each of its steps.
        max_runs: how many times one run may use it; None for no limit.
        traits: settings for the engine only, see `Traits`.
    """

    name: str = ""
    description: str = ""
    when: str = ""
    reads: ClassVar[Keys | None] = None
    writes: ClassVar[Keys | None] = None
    uses: ClassVar[Keys] = ()
    Args: ClassVar[type[BaseModel] | None] = None
    requires_approval: bool = False
    max_runs: int | None = None
    traits: Traits = Traits()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)
        if not cls.__dict__.get("description") and cls.__doc__:
            cls.description = " ".join(cls.__doc__.split())
        check_keys(cls.reads, cls.writes, f"class {cls.__qualname__}")
        if inspect.isfunction(run := vars(cls).get("run")):
            _check_state(run, f"class {cls.__qualname__}")

    def __repr__(self) -> str:
        return f"<module {self.name}>"

    def setup(self) -> None:
        """Load models, clients and the like; called once, before the first `run`, by one thread."""

    def check(self) -> None:
        """Raise a `ChameleonError` if a key, a package or a server that it needs is missing.

        Called by `chameleon check`, before an evaluation, and otherwise before the first `run`. It must be
        cheap: load nothing and return nothing.
        """

    def runtime_info(self) -> Mapping[str, Any]:
        """Return how open settings are resolved on this machine, so that two runs can be compared.

        For `engine: auto`, for example, {"engine": "rapidocr", "rapidocr": "3.4.0", "device": "cpu"}: the
        engine, provider, host or device in use, and the versions of packages that the output depends on.
        Plain JSON, the same each time, and never a key or a password. `chameleon eval` writes it to
        `settings.json` once `check` has passed, and resumes a folder only if it is unchanged. As cheap as
        `check`: it loads no model and calls no server. Empty by default.
        """
        return {}

    def run(self, state: State, /, *args: Any, **named: Any) -> Any:
        """Return this module's output: JSON, a `Table` or a path. The plan's arguments come by name."""
        raise ModuleError(
            f"{type(self).__name__} has no run method", hint="Write `def run(self, state)` in the class."
        )

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return the input keys that the output changes, or all of them; by default the key in `writes`."""
        return self._placed("input", output)

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return the cache keys that the output changes, or all of them; by default the key in `writes`."""
        return self._placed("cache", output)

    def _placed(self, part: str, output: Any) -> Mapping[str, Any]:
        writes = (f"cache.{self.name}",) if self.writes is None else split_keys(self.writes)
        if len(writes) != 1:  # the step then fails and names the key that no hook returned
            return {self.name: output} if part == "cache" else {}
        place, _, key = writes[0].removesuffix("?").partition(".")
        return {key: output} if place == part else {}


def bound(module: Module, llm: Any) -> Module:
    """Return a module ready to run with this model or its own; unchanged if it uses no model."""
    with_llm: Callable[[Any], Module] | None = getattr(module, "with_llm", None)
    return module if with_llm is None else with_llm(llm)


def copy_with(part: Part, **attributes: Any) -> Part:
    """Return a copy of a module or planner with these attributes."""
    copied = copy.copy(part)
    for name, value in attributes.items():
        setattr(copied, name, value)
    return copied


def named(module: Module, name: str) -> Module:
    """Return this module under that name: a copy if it has another one."""
    return module if module.name == name else copy_with(module, name=name)


def _check_state(run: Callable[..., Any], owner: str) -> None:
    """Raise `InventoryError` if `run` does not take the state first."""
    own, *params = inspect.signature(run).parameters.values()
    if params and params[0].name == "state":
        return
    annotation = params[0].annotation if params else None
    kind = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    if re.split(r"\W", kind)[0] in _VALUE_TYPES or (not params and own.kind is not own.VAR_POSITIONAL):
        code, first = inspect.unwrap(run).__code__, f"`{params[0]}`" if params else "missing"
        raise InventoryError(
            f"the first parameter of `run` must be the state, but in {owner} it is {first}",
            where=f"{Path(code.co_filename).name}:{code.co_firstlineno}",
            hint=f"Write `def run({', '.join(map(str, (own, 'state', *params)))})`.",
        )


def refuse_old_names(part: Any) -> None:
    """Raise `InventoryError` for a module's or planner's old attribute name, which would be ignored."""
    for old, new in (_OLD_NAMES if isinstance(part, Module) else _OLD_NAMES_OF_PLANNERS).items():
        if hasattr(part, old):
            what = f"class {type(part).__qualname__} has the attribute {old!r}"
            raise InventoryError(what, hint=f"It is called {new!r} now.")


def check_keys(reads: Keys | None, writes: Keys | None, owner: str) -> None:
    """Raise `InventoryError` for a key that the state cannot have."""
    for attribute, keys in (("reads", reads), ("writes", writes)):
        for key in split_keys(keys or ()):
            if not all(_KEY.fullmatch(part) for part in key.removesuffix("?").split("|")):
                raise InventoryError(
                    f"{attribute} of the {owner} has the key {key!r}",
                    hint='Write keys as "input.table", "cache.knowledge?" or "cache.a|cache.b".',
                )


def split_keys(keys: Keys) -> tuple[str, ...]:
    """Return keys as a tuple, from a tuple or a string with commas."""
    parts = keys.split(",") if isinstance(keys, str) else keys
    return tuple(key.strip() for key in parts if key.strip())


class InnerRun(Module):
    """A module that runs a whole inventory; its events become part of the outer run's log.

    Attributes:
        inner: the `Inventory`.
        leaves: the cache keys that it writes besides its answer, which goes under its name.
    """

    inner: Any
    leaves: tuple[str, ...] = ()

    def with_llm(self, llm: Any) -> Self:
        """Return a copy ready to run with this model or its own. Raises as `LLM.connect` does."""
        raise NotImplementedError

    def run_inside(
        self, state: State, events: Sequence[Event], context: Any, /, **args: Any
    ) -> Generator[Nested, None, Any]:
        """Run the inventory; yield its events, and return its `Outcome` or, if it was stopped early, None.

        Args:
            events: the events of the inner run so far, which resumes after them.
            context: the `RunContext` of the outer run.
        """
        raise NotImplementedError


def needs_model(module: Module) -> bool:
    """Return whether a module, or the inventory it runs, calls a language model."""
    return module.inner.needs_model if isinstance(module, InnerRun) else "model" in split_keys(module.uses)
