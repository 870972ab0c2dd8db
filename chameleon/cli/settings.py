"""`chameleon.toml`: options of the command line that a person keeps in a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from chameleon.cli.folder_trust import agree, is_agreed, written
from chameleon.cli.options import declared_options, read_params
from chameleon.cli.out import echo
from chameleon.core.seal import config_dir
from chameleon.errors import InputError
from chameleon.text import is_address, nearest, redact

NAME = "chameleon.toml"
_SECRET = re.compile(r"api_?key|secret|password|credential|(^|_)(key|token)$", re.IGNORECASE)
_NAMED = ("inventory", "grid")  # harmless where they name what is shipped
_SCRIPT = re.compile(r"\s*scripted:\s*(.*\S)\s*", re.IGNORECASE | re.DOTALL)
_PARAMS = "params"  # a table, which stands for --param
VARIABLES = {
    "CHAMELEON_MODEL": "the model, unless --model names one",
    "CHAMELEON_STORE": "the response store: a file, or off",
    "CHAMELEON_DOCUMENTS": "the folder of documents that were read, or off",
    "CHAMELEON_WEB_CACHE": "the file of pages that were fetched, or off",
    "CHAMELEON_WEB_PRIVATE": "hosts of this network that may be asked",
    "CHAMELEON_USER_AGENT": "what web requests say they are",
    "CHAMELEON_RECEIVED": "the folder of pictures that servers send",
    "CHAMELEON_MAX_TABLE_MB": "the largest table that is read, in MB",
    "CHAMELEON_DEBUG": "where an error was raised is printed",
}
Commands = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Settings:
    """What a file sets for the commands.

    Attributes:
        values: what it sets, by command and option.
        harmless: the options among these that count without being agreed to.
        data: what the file says, as it is written.
        risky: what does not count without being agreed to, for all commands: the user is shown all of it.
        digest: of the file and of the inventories that it names; another one is asked about again.
        is_agreed: whether all of it counts: it is the user's own file, or the user has agreed to it.
    """

    path: Path | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    harmless: Mapping[str, Collection[str]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    risky: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    is_agreed: bool = True

    @classmethod
    def load(cls, commands: Commands) -> Settings:
        """Read the file in effect, if any. Raises `InputError` for a key that is unknown, wrong or secret."""
        path = _settings_file()
        try:
            return cls() if path is None else cls._read(path, commands)
        except (OSError, ValueError, RecursionError) as problem:
            raise InputError(f"the settings cannot be read: {problem}", where=str(path)) from problem

    def refused(self, command: str, names: Collection[str]) -> Collection[str]:
        """Return which options do not count, once the user was asked; say on stderr what the file sets."""
        assert self.path is not None
        refused = set(names) - set(self.harmless[command])
        if refused and (self.is_agreed or agree(self.path, self.digest, self.risky)):
            refused = set()
        said = {**self.data, **self.data.get(command, {})}
        keys = (_PARAMS if name == "param" else name for name in sorted(set(names) - refused))
        if sets := ", ".join(f"{key} = {written(said[key])}" for key in keys):
            echo(f"{NAME} sets {sets}", err=True, style="dim")
        return refused

    @classmethod
    def _read(cls, path: Path, commands: Commands) -> Settings:
        import tomllib

        where, content = str(path), path.read_bytes()
        data = tomllib.loads(content.decode("utf-8-sig"))
        _refuse_secrets(data, where)
        options = {name: _settable(command) for name, command in commands.items()}
        common = {
            key for each in options.values() for key, (_, about) in each.items() if about.metadata["common"]
        }
        _refuse_unknown(data, commands, options, common, where)
        values: dict[str, dict[str, Any]] = {name: {} for name in commands}
        harmless: dict[str, set[str]] = {name: set() for name in commands}
        risky: dict[str, Any] = {}
        digest = hashlib.sha256(content)
        for command, own in options.items():
            table = data.get(command, {})
            for name, (hint, about) in own.items():
                is_own = name in table
                # A table under the name of a command, such as [index], is for that command alone.
                if is_own or (name in data and name not in commands and about.metadata["common"]):
                    key = f"{command}.{name}" if is_own else name
                    value = table[name] if is_own else data[name]
                    option, given = _checked(key, value, hint, about.metadata["about"], path)
                    values[command][option] = given
                    if _is_harmless(name, value, about.metadata["in_file"]):
                        harmless[command].add(option)
                    elif key not in risky:
                        risky[key] = value
                        digest.update(_content_of(given))
        if os.environ.get("CHAMELEON_MODEL", "").strip():
            for each in values.values():
                each.pop("model", None)
        is_own = path.parent == config_dir() or is_agreed(path, digest.hexdigest())
        return cls(path, values, harmless, data, risky, digest.hexdigest(), is_own)


def _settings_file() -> Path | None:
    """Return the settings in effect: of this folder or one above it, else the user's own.

    Folders above are looked at up to the repository's or the home folder, where this one is in one of them.
    A file that belongs to another user is not read.
    """
    here = Path.cwd()
    folders = [here, *here.parents]
    ends = [number for number, each in enumerate(folders) if (each / ".git").exists() or each == _home()]
    for folder in folders[: ends[0] + 1 if ends else 1]:
        if _is_own(folder / NAME):
            return folder / NAME
    own = config_dir() / NAME
    return own if _is_own(own) else None


def _home() -> Path:
    with suppress(RuntimeError):  # there is no such user
        return Path.home()
    return Path("/")


def _is_harmless(name: str, value: Any, in_file: str) -> bool:
    """Return whether an option counts without being agreed to. A script's replies may call tools."""
    from chameleon.inventory.source import shipped_grids, shipped_inventories

    if name in _NAMED and value in (*shipped_inventories(), *shipped_grids()):
        return True
    return in_file == "any" and not _SCRIPT.match(str(value))


def _content_of(value: Any) -> bytes:
    """Return the content of the YAML file or the script that a value names, b"" for other values."""
    script = _SCRIPT.fullmatch(value) if isinstance(value, str) else None
    is_yaml = isinstance(value, str) and value.endswith((".yaml", ".yml"))
    try:
        return Path(script[1] if script else value).read_bytes() if script or is_yaml else b""
    except OSError:
        return b""


def _is_own(file: Path) -> bool:
    try:
        owner = file.stat().st_uid
    except OSError:
        return False
    return file.is_file() and (not hasattr(os, "getuid") or owner in (0, os.getuid()))


def _settable(command: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Return the options of a command that a file may set, by their keys, with their types."""
    found = {
        name: (hint, each)
        for name, (hint, each) in declared_options(command).items()
        if each.metadata and each.metadata["in_file"] != "never"
    }
    return {_PARAMS if name == "param" else name: each for name, each in found.items()}


def _refuse_unknown(
    data: Mapping[str, Any],
    commands: Commands,
    options: Mapping[str, Mapping[str, Any]],
    common: Collection[str],
    where: str,
) -> None:
    for key, value in data.items():
        if key in commands and isinstance(value, dict):
            for name in value.keys() - options[key].keys():
                known = nearest(name, options[key]) if options[key] else f"{key} takes no settings."
                raise InputError(f"unknown key '{key}.{name}'", where=where, hint=known)
        elif key in commands:
            hint = f"What a command takes stands in a table, [{key}]."
            raise InputError(f"{key} is no table", where=where, hint=hint)
        elif key not in common:
            hint = nearest(key, {*common, *(name for name in commands if options[name])})
            if any(key in declared_options(command) for command in commands.values()):
                hint = "It is for the command line alone."
            raise InputError(f"unknown key {key!r}", where=where, hint=hint)


def _refuse_secrets(data: Mapping[str, Any], where: str, above: str = "") -> None:
    for key, value in data.items():
        place = f"{above}{key}"
        texts = value if isinstance(value, list) else [value]
        is_secret = any(isinstance(each, str) and redact(each) != each for each in texts)
        if is_secret or _SECRET.search(key):
            raise InputError(
                f"{place} is a secret, and this file may hold none",
                where=where,
                hint="Set it in the environment, such as OPENAI_API_KEY.",
            )
        if isinstance(value, dict):
            _refuse_secrets(value, where, f"{place}.")


def _checked(key: str, value: Any, hint: Any, about: Mapping[str, Any], path: Path) -> tuple[str, Any]:
    """Return an option's name and value, as the command takes them. Raises `InputError` for another kind."""
    from pydantic import Field, TypeAdapter, ValidationError

    where = str(path)
    if key.rpartition(".")[2] == _PARAMS:
        if not isinstance(value, dict):
            raise InputError(f'{key} is no table, such as `params = {{reasoning = "none"}}`', where=where)
        given = [f"{name}={json.dumps(each)}" for name, each in value.items()]
        try:
            read_params(given)
        except typer.BadParameter as problem:
            raise InputError(f"{key}: {problem.message}", where=where) from None
        return "param", given
    bounds = Field(ge=about.get("min"), le=about.get("max"))
    try:
        text = json.dumps(value, default=str)
        found = TypeAdapter(Annotated[hint, bounds]).validate_json(text, strict=True)
    except ValidationError as problem:
        said = problem.errors()[0]["msg"].replace("Input should be", "it should be")
        raise InputError(f"{key} is {value!r}: {said}", where=where) from None
    is_file = about.get("metavar", "").startswith("FILE")
    return key.rpartition(".")[2], _beside(found, path.parent, is_file=is_file)


def _beside(value: Any, folder: Path, *, is_file: bool) -> Any:
    """Return a path, and the name of a YAML file, as seen from the folder of the settings."""
    if isinstance(value, list):
        return [_beside(each, folder, is_file=is_file) for each in value]
    if isinstance(value, Path):
        return folder / value.expanduser()
    if not isinstance(value, str):
        return value
    if script := _SCRIPT.fullmatch(value):
        return f"scripted:{folder / script[1]}"
    is_file = (is_file and value != "-" and not is_address(value)) or value.endswith((".yaml", ".yml"))
    return str(folder / Path(value).expanduser()) if is_file else value
