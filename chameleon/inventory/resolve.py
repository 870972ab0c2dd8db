"""Find the module or planner class behind a name in an inventory, and build it."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from chameleon.errors import ChameleonError, InventoryError
from chameleon.inventory.user_code import Family, broken, import_own, installed, load_entry
from chameleon.text import did_you_mean, nearest, snake_case, type_in_words

if TYPE_CHECKING:
    from chameleon.core.module import Module

_NAMED_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_INSTALLERS = ("_distutils_hack", "distutils", "pip", "pkg_resources", "setuptools")
_NON_TOOLS = sys.stdlib_module_names | set(_INSTALLERS)  # packages whose functions are not tools
_LANGCHAIN_TOOL = "langchain_core.tools.base.BaseTool"
INVENTORY_MODULE = "inventory_module"
_ADAPTER = "chameleon.modules.compose.langchain_tool:LangChainTool"  # not named in inventories


def find_class(name: str, family: Family, folders: Sequence[Path] = ()) -> Any:
    """Return the class of that name; for modules also a function or an instance.

    Args:
        name: "package.module:Class" (a file in `folders`, or importable), or else the name of a class shipped
            with Chameleon (one per file), or else of an entry point of the group "chameleon.modules" (or
            planners, benchmarks).
        folders: where the user's files are, nearest first.

    Raises:
        InventoryError: with the nearest name, if there is none of that name.
    """
    if ":" in name:
        home, _, class_name = name.rpartition(":")
        namespace = _import(home, folders, name)
        if not hasattr(namespace, class_name):
            classes = [key for key, value in vars(namespace).items() if _may_be(value, family)]
            raise InventoryError(f"{home} defines no {class_name!r}", hint=nearest(class_name, classes))
        return _checked(getattr(namespace, class_name), name, family)
    if (path := shipped(family).get(name)) is not None:
        module = importlib.import_module(path)
        for cls in filter(inspect.isclass, vars(module).values()):  # also those that the file imports
            if cls.__module__ == path and name in (snake_case(cls.__name__), getattr(cls, "name", "")):
                return cls
        raise InventoryError(f"{path} defines no class named {name!r}")
    for entry in installed(family, name):
        return _checked(load_entry(entry), name, family)
    raise _unknown(name, family, folders)


def adapter_of(tool: Any) -> Any:
    """Return the module that runs LangChain tools if this is one, or a class of them; else None."""
    kinds = tool.__mro__ if inspect.isclass(tool) else type(tool).__mro__
    is_langchain = any(f"{kind.__module__}.{kind.__qualname__}" == _LANGCHAIN_TOOL for kind in kinds)
    return find_class(_ADAPTER, "modules") if is_langchain else None


def module_of(tool: Any) -> Module:
    """Return a module, as `as_module` does, or one that runs a LangChain tool."""
    from chameleon.core.tool import as_module

    adapter = None if inspect.isclass(tool) else adapter_of(tool)
    module: Module = (adapter or as_module)(tool)
    return module


def is_own(name: str, family: Family) -> bool:
    """Return, importing nothing, whether a name is not shipped. Raises `InventoryError` if it is unknown."""
    if ":" in name or name in shipped(family):
        return ":" in name
    if not installed(family, name):
        raise _unknown(name, family)
    return True


def _unknown(name: str, family: Family, folders: Sequence[Path] = ()) -> InventoryError:
    names = [*shipped(family), *(entry.name for entry in installed(family))]
    home, _, part = name.rpartition(".")
    if part in ("yaml", "yml") and family == "modules":
        hint = f"To run an inventory as a module, write {{inventory: {name}}}."
    elif home and part.isidentifier():
        hint = f"Did you mean '{home}:{part}'?"
    elif name.isidentifier() and folders:
        hint = f'{did_you_mean(name, names)} For a file next to the inventory, write "FILE:{name}".'.lstrip()
    else:
        hint = nearest(name, names)
    return InventoryError(f"there is no {family[:-1]} {name!r}", hint=hint)


@lru_cache(maxsize=3)
def shipped(family: Family) -> Mapping[str, str]:
    """Map the shipped names to the Python modules that define them.

    These are the files in the family's folder, or the names in `TOOLS` of the folder or of one of its
    `FOLDERS`: each in a file of that name, or in the file that a mapping names.
    """
    package = importlib.import_module(f"chameleon.{family}")
    files = (file.name for file in pkgutil.iter_modules(package.__path__) if not file.ispkg)
    paths = {name: f"{package.__name__}.{name}" for name in getattr(package, "TOOLS", files)}
    for folder in getattr(package, "FOLDERS", ()):
        path = f"{package.__name__}.{folder}"
        tools = importlib.import_module(path).TOOLS
        files_of = tools if isinstance(tools, Mapping) else dict(zip(tools, tools, strict=True))
        paths |= {name: f"{path}.{file}" for name, file in files_of.items()}
    return paths


def _import(path: str, folders: Sequence[Path], reference: str) -> ModuleType:
    """Import a file next to the inventory, else a package, else (without folders) a file in this folder."""
    cwd = [Path.cwd()]
    try:
        module = import_own(path, folders or (cwd if path.endswith(".py") else []))
        try:
            return module or importlib.import_module(path)
        except ModuleNotFoundError as problem:
            if problem.name is None or not f"{path}.".startswith(f"{problem.name}."):
                raise  # the file is there, but not what it imports
            if not folders and (module := import_own(path, cwd)) is not None:
                return module
            file = f"{path.removesuffix('.py').split('.')[-1]}.py"
            nowhere = f"no module {path!r} (nor is there a file {file} next to the inventory)"
            raise InventoryError(f"{reference!r} cannot be imported: {nowhere}") from problem
    except (Exception, SystemExit) as problem:
        raise broken(reference, problem) from problem


def _checked(value: Any, reference: str, family: Family) -> Any:
    is_code = inspect.isroutine(value) or inspect.isclass(value)
    if is_code and str(value.__module__).partition(".")[0] in _NON_TOOLS:
        what = f"{reference!r} is part of Python's standard library or its installers, not a tool"
        raise InventoryError(what, hint="Write your own function that calls it.")
    if not _may_be(value, family):
        what = "class or function" if family == "modules" else "class"
        raise InventoryError(f"{reference!r} is {type_in_words(value)}, not a {what}")
    return value


def _may_be(value: Any, family: Family) -> bool:
    """Return whether an object may belong to a family; modules may also be instances or a list."""
    is_module = callable(value) or hasattr(value, "run") or isinstance(value, list | tuple)
    return inspect.isclass(value) or (family == "modules" and is_module)


def build(
    cls: type[Any], parameters: Mapping[str, Any], locate: Callable[..., str], other_keys: Iterable[str] = ()
) -> Any:
    """Make an instance, checking parameters against the constructor's annotations.

    Args:
        locate: returns the place of a parameter by name, and without a name that of the whole, for errors.
        other_keys: keys that may be next to the parameters in a file, as hints for an unknown one.

    Raises:
        InventoryError: for a parameter that is unknown (with the nearest), missing, or of a wrong type.
    """
    from pydantic import ValidationError

    declared = inspect.signature(cls).parameters.values()
    names = [each.name for each in declared if each.kind is not each.VAR_KEYWORD]
    hints = hints_of(cls, locate())
    checked = {}
    for name, value in parameters.items():
        if name not in names and len(names) == len(declared):
            hint = nearest(name, [*names, *other_keys])
            raise InventoryError(f"{cls.__name__} has no parameter {name!r}", where=locate(name), hint=hint)
        try:
            checked[name] = _validated(hints.get(name, Any), value)
        except ValidationError as problem:
            reason = problem.errors()[0]["msg"]
            raise InventoryError(f"{name} is {str(value)[:80]!r}: {reason}", where=locate(name)) from problem
    for each in declared:
        if each.default is each.empty and each.name not in checked and each.kind in _NAMED_KINDS:
            raise InventoryError(f"{cls.__name__} is missing the parameter {each.name!r}", where=locate())
    try:
        return cls(**checked)
    except ChameleonError as problem:
        raise problem.at(locate(*problem.path)) from problem
    except (Exception, SystemExit) as problem:  # a user's constructor may raise anything
        reason = str(problem) if isinstance(problem, TypeError) else f"{type(problem).__name__}: {problem}"
        raise InventoryError(f"{cls.__name__} cannot be created: {reason}", where=locate()) from problem


def hints_of(cls: type[Any], where: str) -> Mapping[str, Any]:
    """Return the types of a constructor's parameters. Raises `InventoryError` placed at `where`."""
    try:
        return get_type_hints(cls.__init__, include_extras=True)  # keeps bounds such as PositiveInt
    except Exception as problem:  # annotations are code: names imported only for type checkers are missing
        what = f"the annotations of {cls.__name__} cannot be read: {problem}"
        raise InventoryError(what, where=where) from problem


def _validated(annotation: Any, value: Any) -> Any:
    """Validate the value strictly, except that a list may become a tuple, and a text a path."""
    from pydantic import PydanticUserError, TypeAdapter

    if annotation is Any:
        return value
    try:
        adapter = TypeAdapter(annotation, config={"arbitrary_types_allowed": True})
    except PydanticUserError:  # a model or dataclass has its own configuration
        adapter = TypeAdapter(annotation)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):  # not JSON: a date, or a planner instance
        return adapter.validate_python(value, strict=True)
    return adapter.validate_json(text, strict=True)  # for JSON, strict mode allows the two exceptions
