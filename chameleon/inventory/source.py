"""Reading files of inventories and grids: YAML with line numbers, and `extends`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from chameleon.errors import InventoryError
from chameleon.text import nearest

_LARGEST = 1_000_000
_DEEPEST, _MOST_KEYS = 32, 50_000
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it is called, the folder where those lie that are shipped, and how one begins."""

    noun: str
    folder: str
    begins: str

    @property
    def shipped(self) -> list[str]:
        """The names of those that Chameleon ships."""
        names = (file.name for file in self.home.iterdir())
        return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))

    @property
    def a(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def home(self) -> Traversable:
        found: Traversable = resources.files("chameleon.inventories")
        return found.joinpath(self.folder) if self.folder else found


INVENTORY = Kind("inventory", "", "Begin with `name:` and `modules:`.")
GRID = Kind("grid", "grids", "Begin with `name:`, `inventory:` and `arms:`.")


@dataclass(frozen=True)
class Source:
    """The data of a file with the place that every key came from.

    `places` maps a key path to "file:line"; `folders` is where prompts and code of the user's own are
    looked for, nearest first (none for an inventory that Chameleon ships). `removed` are the modules that
    one inventory takes out of another (`row_lookup: null`), with the place where it does.
    """

    data: dict[str, Any]
    folders: tuple[Path, ...]
    file: str
    places: Mapping[KeyPath, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)

    def place(self, path: Sequence[str | int]) -> str:
        """Where a key stands: "file:line", or the nearest key above it."""
        for length in range(len(path), -1, -1):
            if (place := self.places.get(tuple(path[:length]))) is not None:
                return place
        return self.file

    def path_to(self, value: Any, key: str) -> KeyPath:
        """The path of the first such value at or below a key; the key where there is none."""
        below: list[KeyPath] = [(key,)] if key in self.data else []
        for path in below:
            found: Any = self.data
            for part in path:
                found = found[part]
            if found == value:
                return path
            if isinstance(found, Mapping):
                below.extend((*path, inner) for inner in found)
            elif isinstance(found, list):
                below.extend((*path, index) for index in range(len(found)))
        return (key,)

    def below(self, *path: str) -> Source:
        """The mapping below a key as a source of its own, which knows where in the file it stands."""
        found: Any = self.data
        for part in path:
            found = found[part]
        deep = len(path)
        places = {key[deep:]: place for key, place in self.places.items() if key[:deep] == path}
        return Source(dict(found or {}), self.folders, self.file, places)


def with_params(source: Source, params: Mapping[str, Any]) -> Source:
    """The source with these parameters for all calls, in place of those that any part of it sets."""

    def changed(found: Any) -> Any:
        if isinstance(found, list):
            return [changed(each) for each in found]
        if not isinstance(found, dict):
            return found
        below = {key: changed(value) for key, value in found.items()}
        if isinstance(own := below.get("llm"), dict):
            below["llm"] = {key: value for key, value in own.items() if key not in params}
        return below

    data = changed(source.data)
    data["llm"] = {**(data.get("llm") or {}), **params}
    return replace(source, data=data)


def shipped_inventories() -> list[str]:
    """The names of the inventories that Chameleon ships."""
    return INVENTORY.shipped


def shipped_grids() -> list[str]:
    """The names of the grids that Chameleon ships."""
    return GRID.shipped


def read_file(name: str, folder: Path | None = None, kind: Kind = INVENTORY) -> Source:
    """Read one file, shipped or a path (looked up in `folder` first), without what it extends.

    Raises `InventoryError` with file and line for what is missing or not YAML.
    """
    return _parsed(*_find(name, folder, kind), kind)


def read_source(name: str, folder: Path | None = None, chain: tuple[str, ...] = ()) -> Source:
    """Read the inventory `name`, shipped or a path (looked up in `folder` first), with all that it extends.

    Raises `InventoryError` with file and line for what is missing, not YAML, or extends itself.
    """
    file, text = _find(name, folder, INVENTORY)
    identity = str(file)
    if identity in chain:
        circle = " → ".join(Path(step).stem for step in (*chain[chain.index(identity) :], identity))
        raise InventoryError(f"extends goes round in a circle: {circle}", where=chain[-1])
    own = _parsed(file, text, INVENTORY)
    parent_name = own.data.get("extends")
    if parent_name is None:
        return own
    if not isinstance(parent_name, str):
        raise InventoryError("extends names one inventory", where=own.place(("extends",)))
    home = own.folders[0] if own.folders else None
    return extended(own, read_source(parent_name, home, (*chain, identity)))


def source_of(data: Mapping[str, Any], folder: Path | None = None) -> Source:
    """A source made from a mapping in memory; `folder` is where its own prompts and code lie."""
    own = Source(dict(data), (folder,) if folder else (), "inventory")
    parent = own.data.get("extends")
    return own if parent is None else extended(own, read_source(str(parent), folder))


def _find(name: str, folder: Path | None, kind: Kind) -> tuple[Path | Traversable, str]:
    looks_like_path = name.endswith((".yaml", ".yml")) or "/" in name or "\\" in name
    candidates = [Path(name)] if folder is None else [folder / name, folder / f"{name}.yaml", Path(name)]
    for path in candidates:
        if _is_file(path):
            return path, _read(path, name, kind)
    if looks_like_path:
        raise InventoryError(f"no such {kind.noun} file", where=name)
    if name not in kind.shipped:
        raise InventoryError(f"there is no {kind.noun} {name!r}", hint=nearest(name, kind.shipped))
    shipped = kind.home.joinpath(f"{name}.yaml")
    return shipped, shipped.read_text("utf-8")


def _parsed(file: Path | Traversable, text: str, kind: Kind) -> Source:
    home = file.parent.resolve() if isinstance(file, Path) else None
    shown = str(file) if home else "/".join(filter(None, ("inventories", kind.folder, file.name)))
    return _parse(text, home, shown, kind)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for the system, or a folder that is closed to us
        return False


def _read(path: Path, name: str, kind: Kind) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise InventoryError(f"{kind.a} has less than {_LARGEST:,} bytes", where=name)
        return path.read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise InventoryError(f"the file is not UTF-8 text (byte {problem.start})", where=name) from problem
    except OSError as problem:
        raise InventoryError(f"cannot be read: {problem.strerror}", where=name) from problem


def _parse(text: str, folder: Path | None, file: str, kind: Kind) -> Source:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        places: dict[KeyPath, str] = {}
        if node is not None:
            _locate(node, (), file, places)
        data = _Loader(text).get_single_data()
    except yaml.MarkedYAMLError as problem:
        line = f":{problem.problem_mark.line + 1}" if problem.problem_mark else ""
        raise InventoryError(f"not valid YAML: {problem.problem}", where=f"{file}{line}") from problem
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        what = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise InventoryError(f"not valid YAML: {what}", where=file) from problem
    if not isinstance(data, dict):
        raise InventoryError(f"{kind.a} is a mapping", where=file, hint=kind.begins)
    return Source(data, (folder,) if folder else (), file, places)


class _Loader(yaml.SafeLoader):
    """Tells where a value stands that its tag (`!!timestamp`, `!!bool`) does not fit."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (AttributeError, KeyError, ValueError, TypeError, IndexError):
            tag = node.tag.removeprefix("tag:yaml.org,2002:")
            raise yaml.constructor.ConstructorError(
                None, None, f"this is no {tag}", node.start_mark
            ) from None


def _locate(node: yaml.Node, path: KeyPath, file: str, places: dict[KeyPath, str]) -> None:
    """Note the line of every key; refuse a key that stands twice, which YAML would let pass in silence."""
    if len(path) > _DEEPEST or len(places) > _MOST_KEYS:  # aliases can nest without end, or multiply
        raise InventoryError("nested too deeply or too large", where=f"{file}:{node.start_mark.line + 1}")
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):  # written out, one of aliases in aliases has no end
                raise InventoryError("a key is a name, not a list or a mapping", where=f"{file}:{line}")
            name = str(key.value)
            if name in seen:
                raise InventoryError(f"the key {name!r} stands twice", where=f"{file}:{line}")
            seen.add(name)
            places[(*path, name)] = f"{file}:{line}"
            _locate(value, (*path, name), file, places)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            places[(*path, index)] = f"{file}:{item.start_mark.line + 1}"
            _locate(item, (*path, index), file, places)


def extended(own: Source, parent: Source) -> Source:
    """The parent's data under this one's: mappings merge, anything else is replaced, null removes a key.

    In a budget null stays, since there it means no limit. A module that is removed leaves those of the
    parent's rules that are about it alone.
    """
    modules, below = own.data.get("modules"), parent.data.get("modules")
    removed = {}
    if isinstance(modules, Mapping) and isinstance(below, Mapping):
        gone = [name for name, entry in modules.items() if entry is None and name in below]
        removed = {str(name): own.place(("modules", name)) for name in gone}
    data = _merge(_without(parent.data, removed), own.data)
    data.pop("extends", None)
    places = {**parent.places, **own.places}
    return Source(data, own.folders + parent.folders, own.file, places, {**parent.removed, **removed})


def _without(data: Mapping[str, Any], removed: Collection[str]) -> Mapping[str, Any]:
    """An inventory's data without the rules and the repair that are about these modules and no other."""
    if not removed:
        return data
    kept = dict(data)
    rules = dict(kept["rules"]) if isinstance(kept.get("rules"), Mapping) else {}
    if isinstance(rules.get("once"), list):
        rules["once"] = [name for name in rules["once"] if name not in removed]
    for key in ("needs", "next"):
        rules |= {key: _less(rules[key], removed)} if key in rules else {}
    if rules:
        kept["rules"] = rules
    if "repair" in kept:
        kept["repair"] = _less(kept["repair"], removed)
    return kept


def _less(mapping: Any, removed: Collection[str]) -> Any:
    if not isinstance(mapping, Mapping):
        return mapping
    return {name: value for name, value in mapping.items() if name not in removed}


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if value is None:
            merged.pop(key, None)
        elif key == "budget" and isinstance(value, Mapping) and isinstance(below.get(key), Mapping):
            merged[key] = {**below[key], **value}
        elif isinstance(value, Mapping) and isinstance(below.get(key), Mapping):
            merged[key] = value if value.get("use") is not None else _merge(below[key], value)
        else:
            merged[key] = value
    return merged
