"""`chameleon.toml`: options of the command line that a person keeps in a file, and which of them count.

A folder is a stranger's until its user agrees to its file: what is harmless counts at once; what names code,
files or addresses is asked about at a terminal, once for a file as it is, as direnv does. The answer is kept
in the user's configuration directory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import ArgumentInfo, ParameterInfo

from chameleon.cli.options import SETTINGS, Command, declared, read_params, single
from chameleon.cli.terminal import asked, echo, is_attended
from chameleon.errors import InputError
from chameleon.seal import config_dir
from chameleon.text import harmless, is_address, nearest, redact

_OF_RUNS = ("model", "params", "store", "at_least", "unit", "limit", "workers", "max_cost")
HARMLESS = frozenset([*_OF_RUNS, "quiet", "verbose", "trace", "stream", "json", "problems"])
"""What counts without being agreed to; so does an inventory that is shipped."""
NEVER = frozenset(["yes", "no", "otlp", "content", "questions"])
"""What is for the command line alone, as arguments are."""
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
_AGREED = "agreed.json"  # digests of settings files, by their paths
_ALONE = {"compare": ("inventory", "index")}  # what a command takes from its own table alone
_PARAMS = "params"  # a table, in place of --param
_SCRIPT = re.compile(r"\s*scripted:\s*(.*\S)\s*", re.IGNORECASE | re.DOTALL)
_SECRET = re.compile(r"api_?key|secret|password|credential|(^|_)(key|token)$", re.IGNORECASE)
Commands = Mapping[str, Command]


@dataclass(frozen=True)
class Settings:
    """What a file sets for the commands.

    Attributes:
        values: what it sets, by command and option.
        data: what the file says, as it is written.
        risky: what does not count without being agreed to, for all commands: the user is shown all of it.
        digest: of the file and of the inventories that it names; another one is asked about again.
        is_agreed: whether all of it counts: it is the user's own file, or the user has agreed to it.
    """

    path: Path | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    risky: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    is_agreed: bool = True

    @classmethod
    def load(cls, path: Path, commands: Commands) -> Settings:
        """Read a settings file. Raises `InputError` for a key that is unknown, wrong or secret."""
        try:
            return cls._read(path, commands)
        except (OSError, ValueError, RecursionError) as problem:
            raise InputError(f"the settings cannot be read: {problem}", where=str(path)) from problem

    def apply(self, context: typer.Context, values: dict[str, Any]) -> Collection[str]:
        """Return the options that the file sets for a command, and say so on stderr.

        What the user does not agree to is put back to its default in `values`.
        """
        sources = {name: context.get_parameter_source(name) for name in values}
        names = {name for name, source in sources.items() if source and source.name == "DEFAULT_MAP"}
        command = context.info_name or ""
        if not names or self.path is None:
            return ()
        own = self.data.get(command, {})
        keys = {name: _PARAMS if name == "param" else name for name in names}
        refused = {
            name for name, key in keys.items() if (f"{command}.{key}" if key in own else key) in self.risky
        }
        if refused and (self.is_agreed or agree(self.path, self.digest, self.risky)):
            refused = set()
        for each in context.command.params:
            if each.name in refused and each.required:
                what = f"it must be given: {self.path.name} is not used"
                raise typer.BadParameter(what, param_hint=f"--{each.name}")
            if each.name in refused:
                values[each.name] = each.default
        names -= refused
        data = {**self.data, **own}
        if sets := ", ".join(f"{keys[name]} = {written(data[keys[name]])}" for name in sorted(names)):
            echo(f"{SETTINGS} sets {sets}", err=True, style="dim")
        for less, more in (("quiet", "verbose"), ("quiet", "trace"), ("verbose", "quiet")):
            if less in names and values.get(more) and more not in names:
                values[less] = False  # the command line counts
        return names

    @classmethod
    def _read(cls, path: Path, commands: Commands) -> Settings:
        import tomllib

        where, content = str(path), path.read_bytes()
        data = tomllib.loads(content.decode("utf-8-sig"))
        data = {"compare" if key == "grid" else key: value for key, value in data.items()}
        _refuse_secrets(data, where)
        options = {name: _settable(command) for name, command in commands.items()}
        _refuse_unknown(data, commands, options, where)
        values: dict[str, dict[str, Any]] = {name: {} for name in commands}
        risky: dict[str, Any] = {}
        digest = hashlib.sha256(content)
        for command, own in options.items():
            table, lists = data.get(command, {}), single(declared(commands[command]))
            for name, (hint, info) in own.items():
                is_own = name in table
                # A table under the name of a command, such as [index], is for that command alone.
                if is_own or (name in data and name not in commands and name not in _ALONE.get(command, ())):
                    key = f"{command}.{name}" if is_own else name
                    value = table[name] if is_own else data[name]
                    given = _checked(key, value, hint, info, path)
                    option = "param" if name == _PARAMS else name
                    values[command][option] = [given] if option in lists else given
                    if not _is_harmless(name, value) and key not in risky:
                        risky[key] = value
                        digest.update(_content_of(given))
        if os.environ.get("CHAMELEON_MODEL", "").strip():
            for each in values.values():
                each.pop("model", None)
        is_own = path.parent == config_dir() or _agreed().get(where) == digest.hexdigest()
        return cls(path, values, data, risky, digest.hexdigest(), is_own)


def agree(file: Path, digest: str, settings: Mapping[str, Any]) -> bool:
    """Ask whether settings of a file may count, and keep a yes; without a terminal they do not count."""
    listed = "".join(f"\n  {key} = {written(value)}" for key, value in settings.items())
    echo(f"{harmless(str(file))} has settings that can run code, or read and write files:{listed}", err=True)
    if not is_attended():
        hint = "Agree to them once at a terminal, or give them on the command line."
        echo(f"These settings are not used. {hint}", err=True)
        return False
    echo("`chameleon check FILE --no-import` shows what an inventory would run.", err=True)
    question = "Did you write or review this file? Use these settings from now on? [y]es, [n]o: "
    if asked(question).strip() not in ("y", "yes"):
        echo("These settings are not used.", err=True)
        return False
    folder = config_dir()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = folder / f"{_AGREED}.new"
    new.write_text(json.dumps({**_agreed(), str(file): digest}, indent=1), "utf-8")
    new.replace(folder / _AGREED)
    return True


def written(value: Any) -> str:
    """Write a value of a settings file as it may be written there, on one line."""
    return harmless(json.dumps(value, ensure_ascii=False, default=str))


def _agreed() -> Mapping[str, str]:
    with suppress(OSError, ValueError, RecursionError):
        data = json.loads((config_dir() / _AGREED).read_text("utf-8"))
        if isinstance(data, dict):
            return data
    return {}


def _is_harmless(name: str, value: Any) -> bool:
    """Return whether an option counts without being agreed to. A script's replies may call tools."""
    from chameleon.inventory.source import shipped_inventories

    is_shipped = name == "inventory" and value in shipped_inventories()
    return is_shipped or (name in HARMLESS and not _SCRIPT.match(str(value)))


def _content_of(value: Any) -> bytes:
    """Return the content of the YAML file or the script that a value names, b"" for other values."""
    script = _SCRIPT.fullmatch(value) if isinstance(value, str) else None
    is_yaml = isinstance(value, str) and value.endswith((".yaml", ".yml"))
    try:
        return Path(script[1] if script else value).read_bytes() if script or is_yaml else b""
    except OSError:
        return b""


def _settable(command: Command) -> dict[str, tuple[Any, ParameterInfo]]:
    """Return the options of a command that a file may set, by their keys; of arguments `chat`'s alone."""
    return {
        _PARAMS if name == "param" else name: (hint, info)
        for name, (hint, info) in declared(command).items()
        if name not in NEVER and (not isinstance(info, ArgumentInfo) or command.__name__ == "chat")
    }


def _refuse_unknown(
    data: Mapping[str, Any], commands: Commands, options: Mapping[str, Collection[str]], where: str
) -> None:
    common = {name for each in options.values() for name in each}
    for key, value in data.items():
        if key in commands and isinstance(value, dict):
            for name in value.keys() - set(options[key]):
                known = nearest(name, options[key]) if options[key] else f"{key} takes no settings."
                raise InputError(f"unknown key '{key}.{name}'", where=where, hint=known)
        elif key in commands:
            hint = f"Write what a command takes in a table, [{key}]."
            raise InputError(f"{key} is no table", where=where, hint=hint)
        elif key not in common:
            hint = nearest(key, {*common, *(name for name in commands if options[name])})
            if any(key in declared(command) for command in commands.values()):
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


def _checked(key: str, value: Any, hint: Any, info: ParameterInfo, path: Path) -> Any:
    """Return the value of an option as the command takes it. Raises `InputError` for another kind."""
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
        return given
    bounds = Field(ge=info.min, le=info.max)
    try:
        text = json.dumps(value, default=str)
        found = TypeAdapter(Annotated[hint, bounds]).validate_json(text, strict=True)
    except ValidationError as problem:
        said = problem.errors()[0]["msg"].replace("Input should be", "it should be")
        raise InputError(f"{key} is {value!r}: {said}", where=where) from None
    is_file = (info.metavar or "").startswith("FILE")
    return _from_folder(found, path.parent, is_file=is_file)


def _from_folder(value: Any, folder: Path, *, is_file: bool) -> Any:
    """Return a path, and the name of a YAML file, as seen from the folder of the settings."""
    if isinstance(value, list):
        return [_from_folder(each, folder, is_file=is_file) for each in value]
    if isinstance(value, Path):
        return folder / value.expanduser()
    if not isinstance(value, str):
        return value
    if script := _SCRIPT.fullmatch(value):
        return f"scripted:{folder / script[1]}"
    is_file = (is_file and value != "-" and not is_address(value)) or value.endswith((".yaml", ".yml"))
    return str(folder / Path(value).expanduser()) if is_file else value
