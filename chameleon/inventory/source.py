"""Read inventory and experiment files: YAML with line numbers, and `extends`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import yaml

from chameleon.errors import OLD_NAMES, InventoryError, placed, with_new_names
from chameleon.text import nearest, with_article
from chameleon.yaml_text import advice_on, file_text, read_yaml

_MAX_BYTES = 1_000_000
_MAX_DEPTH, _MAX_KEYS = 32, 50_000
RULES_OF_ONE_MODULE = ("once", "needs", "next", "drops")
MAX_NESTED = 200  # inventories that one may run as modules, including nested ones
KeyPath = tuple[str | int, ...]


@dataclass
class Nesting:
    """The number of inventories that one runs as modules: a few small files could name millions."""

    count: int = 0


@dataclass(frozen=True)
class Source:
    """The data of a file, with the place that every key came from.

    Attributes:
        places: "file:line" of each key path.
        folders: where to look for the user's prompts and code, nearest first.
        params: call parameters that override every `llm` in the file.
        above: the files of the inventories that run this one as a module.
        given: modules passed as objects in a mapping in memory: classes, functions.
        recorded: the settings of a resumed run, with the tools that servers listed.
        nesting: shared with the inventories that this one runs.
    """

    data: dict[str, Any]
    folders: tuple[Path, ...]
    file: str
    places: Mapping[KeyPath, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    above: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    nesting: Nesting = field(default_factory=Nesting, compare=False, repr=False)

    def place(self, path: Sequence[str | int]) -> str:
        """Return the place of a key, "file:line", or of the nearest key above it."""
        for length in range(len(path), -1, -1):
            if (place := self.places.get(tuple(path[:length]))) is not None:
                return place
        return self.file

    def nested(self, name: str) -> "Source":
        """Read an inventory that this one runs. Raises `InventoryError` for a cycle or too many."""
        self.nesting.count += 1
        if self.nesting.count > MAX_NESTED:
            hint = "Run fewer inventories as modules, or merge some of them."
            raise InventoryError(f"more than {MAX_NESTED} inventories in one", where=self.file, hint=hint)
        source = read_source(name, self.folders[0] if self.folders else None)
        above = (*self.above, self.file)
        _check_circle(source.file, above, "inventories run one another")
        return replace(source, above=above, nesting=self.nesting)

    def below(self, *path: str) -> "Source":
        """Return the mapping below a key as its own source, with its places in the file."""
        data: Any = self.data
        for part in path:
            data = data[part]
        deep = len(path)
        places = {key[deep:]: place for key, place in self.places.items() if key[:deep] == path}
        return Source(dict(data or {}), self.folders, self.file, places)


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its name, its folders below `inventories/`, and a hint on how it starts."""

    noun: str
    folders: tuple[str, ...]
    begins: str

    @property
    def shipped(self) -> dict[str, Path]:
        """Return the files that Chameleon ships, by name."""
        root = Path(__file__).parents[1] / "inventories"
        files = {file.stem: file for folder in self.folders for file in (root / folder).glob("*.yaml")}
        return dict(sorted(files.items()))

    def find(self, name: str, folder: Path | None = None) -> Path:
        """Return the file for a name or a path.

        It looks in `folder` first, then among the shipped files.
        """
        candidates = [Path(name)] if folder is None else [folder / name, folder / f"{name}.yaml", Path(name)]
        for path in candidates:
            with suppress(OSError):  # a name that is too long, or a folder without permission
                if path.is_file():
                    return path
        if name.endswith((".yaml", ".yml")) or "/" in name or "\\" in name:
            raise InventoryError(f"no such {self.noun} file: {name}")
        shipped = self.shipped
        if name in shipped:
            return shipped[name]
        is_here = any(path.stem == name for path in Path().glob("*.yaml"))
        hint = f"Did you mean {name}.yaml?" if is_here else nearest(name, shipped)
        raise InventoryError(f"there is no {self.noun} {name!r}", hint=hint)

    def read(self, file: Path) -> Source:
        """Read one file, without what it extends. Raises `InventoryError` if it is not a YAML mapping."""
        a_file, where = with_article(self.noun), str(file)
        if file.stat().st_size > _MAX_BYTES:
            raise InventoryError(f"{a_file} must have less than {_MAX_BYTES:,} bytes", where=where)
        data, places = _parse(file_text(file, InventoryError), where)
        if not isinstance(data, dict):
            raise InventoryError(f"{a_file} must be a mapping", where=where, hint=self.begins)
        if self is INVENTORY:
            data = under_new_names(data, places, where)
        return Source(data, (file.parent.resolve(),), where, places)


INVENTORY = FileKind("inventory", ("", "benchmarks"), "Start with `name:` and `modules:`.")
GRID = FileKind("experiment", ("experiments",), "Start with `name:`, `inventory:` and `arms:`.")


def shipped_inventories() -> list[str]:
    """List the names of the inventories that Chameleon ships."""
    return [*INVENTORY.shipped]


def shipped_grids() -> list[str]:
    """List the names of the experiments that Chameleon ships."""
    return [*GRID.shipped]


def read_source(name: str, folder: Path | None = None, chain: tuple[str, ...] = ()) -> Source:
    """Read the inventory `name`, shipped or a path (looked up in `folder` first), and those it extends.

    Args:
        chain: the files that led here by `extends`, outermost first.

    Raises:
        InventoryError: with file and line, if it is missing, not YAML, or extends itself.
    """
    file = INVENTORY.find(name, folder)
    _check_circle(str(file), chain, "inventories extend one another")
    source = INVENTORY.read(file)
    if (parent := source.data.get("extends")) is not None:
        where = source.place(("extends",))
        if not isinstance(parent, str):
            raise InventoryError("extends must name one inventory", where=where)
        with placed(where):
            source = extended(source, read_source(parent, source.folders[0], (*chain, str(file))))
    return source


def _check_circle(file: str, above: tuple[str, ...], what: str) -> None:
    """Raise `InventoryError` if a file is among the files that led to it."""
    if file in above:
        circle = " → ".join(Path(each).stem for each in (*above[above.index(file) :], file))
        raise InventoryError(f"{what} in a circle: {circle}", where=above[-1])


def source_of(data: Mapping[str, Any], folder: Path | None = None) -> Source:
    """Make a source from a mapping in memory; `folder` holds its own prompts and code."""
    entries, objects = data.get("modules"), dict[str, Any]()
    if isinstance(entries, Mapping):
        entries = dict(entries)
        for name, entry in entries.items():
            value = entry.get("use") if isinstance(entry, Mapping) else entry
            if callable(value) or hasattr(value, "run"):
                objects[name], kind = value, value if isinstance(value, type | FunctionType) else type(value)
                further = entry if isinstance(entry, Mapping) else {}
                entries[name] = {**further, "use": f"{kind.__module__}:{kind.__qualname__}"}
        data = {**data, "modules": entries}
    data = under_new_names(dict(data), {}, "inventory")
    source = Source(data, (folder,) if folder else (), "inventory", given=objects)
    parent = source.data.get("extends")
    return source if parent is None else extended(source, read_source(str(parent), folder))


def under_new_names(data: dict[str, Any], places: dict[KeyPath, str], file: str) -> dict[str, Any]:
    """Rename old keys at modules and in `repair`, with a warning for each."""
    renamed = dict(data)
    for part, names in (("modules", OLD_NAMES), ("repair", {"tell": "show_error"})):
        entries = data.get(part)
        if isinstance(entries, dict):
            items = with_new_names(entries, places.get((part,), file), names) if part == "repair" else entries
            renamed[part] = {
                name: with_new_names(entry, places.get((part, name), file), names)
                if isinstance(entry, dict)
                else entry
                for name, entry in items.items()
            }
            for path in [path for path in places if path[:1] == (part,) and path[2:3] and path[2] in names]:
                places[(*path[:2], names[str(path[2])], *path[3:])] = places[path]
    return renamed


def _parse(text: str, file: str) -> tuple[Any, dict[KeyPath, str]]:
    """Return the data of a YAML text, and the place of every key. Raises `InventoryError` with the line."""
    places: dict[KeyPath, str] = {}
    try:
        return read_yaml(text, lambda node: _locate(node, (), file, places)), places
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or str(problem).splitlines()[0]
        where = f"{file}:{mark.line + 1}" if mark else file
        raise InventoryError(f"not valid YAML: {what}", where=where, hint=advice_on(problem)) from problem


def _locate(node: yaml.Node, path: KeyPath, file: str, places: dict[KeyPath, str]) -> None:
    """Record the line of every key; reject duplicate keys, which YAML accepts silently."""
    if len(path) > _MAX_DEPTH or len(places) > _MAX_KEYS:  # aliases can nest endlessly or multiply
        raise InventoryError("nested too deeply or too large", where=f"{file}:{node.start_mark.line + 1}")
    if isinstance(node, yaml.MappingNode):
        names: set[str] = set()  # local, because text that libyaml refuses is read again
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):  # its text may be endless if it has nested aliases
                raise InventoryError("a key must be a name, not a list or a mapping", where=f"{file}:{line}")
            name = str(key.value)
            if name in names:
                raise InventoryError(f"the key {name!r} occurs twice", where=f"{file}:{line}")
            names.add(name)
            places[(*path, name)] = f"{file}:{line}"
            _locate(value, (*path, name), file, places)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            places[(*path, index)] = f"{file}:{item.start_mark.line + 1}"
            _locate(item, (*path, index), file, places)


def extended(own: Source, parent: Source) -> Source:
    """Put the parent's data under this one's: mappings merge, all else is replaced, null removes a key.

    In a budget null is kept, because there it means no limit. Removing a module also removes it from the
    parent's rules and repairs for single modules; the place of its null is kept.
    """
    modules, below = own.data.get("modules"), dict(parent.data)
    removed = [name for name, entry in modules.items() if entry is None] if isinstance(modules, dict) else []
    if isinstance(rules := below.get("rules"), dict):
        about_one = {key: without(rules[key], removed) for key in RULES_OF_ONE_MODULE if key in rules}
        below["rules"] = rules | about_one
    below["repair"] = without(below.get("repair", {}), removed)
    data = _merge(below, own.data)
    data.pop("extends", None)
    places = {**parent.places, **own.places}
    return Source(data, own.folders + parent.folders, own.file, places, given=own.given)


def without(value: Any, names: Sequence[str]) -> Any:
    """Return lists and mappings of names without these names, and anything else unchanged."""
    if isinstance(value, Mapping):
        rest = {name: each for name, each in value.items() if name not in names and each not in names}
        return {name: without(each, names) if isinstance(each, list) else each for name, each in rest.items()}
    return [each for each in value if each not in names] if isinstance(value, list | tuple) else value


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if value is None:
            merged.pop(key, None)
        elif not isinstance(value, Mapping) or not isinstance(below.get(key), Mapping):
            merged[key] = value
        elif key == "budget":
            merged[key] = {**below[key], **value}
        else:
            # With a `use` it may be another class: the parent's parameters are for the old one.
            merged[key] = value if value.get("use") is not None else _merge(below[key], value)
    return merged
