"""`chameleon.toml`: command-line options that a user keeps in a file, and which of them apply.

A folder may come from a stranger, so only the harmless options in its file apply. Options that name code,
files or addresses need the command line, or the user's file in the configuration directory.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from typer.models import OptionInfo, ParameterInfo

from chameleon.cli.options import SETTINGS, Command, declared, is_once, read_params
from chameleon.cli.terminal import echo
from chameleon.errors import InputError, placed
from chameleon.signing import config_dir
from chameleon.text import harmless, is_address, nearest, redact

_RUN_OPTIONS = ("model", "params", "store", "at_least", "unit", "limit", "workers", "max_cost")
HARMLESS = frozenset([*_RUN_OPTIONS, "quiet", "verbose", "trace", "stream", "json", "problems"])
"""Options that apply in the file of any folder, as does a shipped inventory."""
NEVER = frozenset(["yes", "no", "otlp", "content", "questions"])
"""Options for the command line only, like arguments."""
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
_OWN_KEYS = {"compare": ("inventory", "index")}  # options that a command takes only from its own table
_PARAMS = "params"  # a table that replaces --param
_SECRET = re.compile(r"api_?key|secret|password|credential|(^|_)(key|token)$", re.IGNORECASE)


@dataclass(frozen=True)
class Settings:
    """The options that a file sets for the commands.

    Attributes:
        values: the values of options, by command.
        lines: the key of each option, such as "ask.log", and its line in the file, by command and option.
        data: the content of the file.
        ignored: the keys that do not apply because the file is not the user's, by command.
    """

    path: Path | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lines: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    ignored: Mapping[str, list[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, commands: Mapping[str, Command]) -> Self:
        """Read a settings file. Raises `InputError` for unknown keys, wrong values and secrets."""
        try:
            with placed(str(path)):
                return cls._read(path, commands)
        except (OSError, ValueError, RecursionError) as problem:
            raise InputError(f"the settings cannot be read: {problem}", where=str(path)) from problem

    @classmethod
    def _read(cls, path: Path, commands: Mapping[str, Command]) -> Self:
        import tomllib

        from chameleon.inventory.source import shipped_inventories

        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))  # may begin with a byte order mark
        _refuse_secrets(data)
        options: dict[str, dict[str, tuple[Any, ParameterInfo]]] = {name: {} for name in commands}
        for command, own in options.items():  # a file may set arguments only for `chat`
            for name, (hint, info) in declared(commands[command]).items():
                if name not in NEVER and (isinstance(info, OptionInfo) or command == "chat"):
                    own[_PARAMS if name == "param" else name] = hint, info
        values: dict[str, dict[str, Any]] = {name: {} for name in commands}
        lines: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in commands}
        ignored: dict[str, list[str]] = {}
        for table, name, value in _entries(data, commands):  # a command's own table comes last
            key = f"{table}.{name}" if table else name
            takers = [table] if table else [each for each in commands if name not in _OWN_KEYS.get(each, ())]
            takers = [each for each in takers if name in options[each]]
            if not takers:
                names = options[table] if table else {*chain(*options.values()), *commands}
                hint = nearest(name, names) if names else f"{table} takes no settings."
                if not table and any(name in declared(each) for each in commands.values()):
                    hint = "It can be set on the command line only."
                raise InputError(f"unknown key {key!r}", hint=hint)
            hint, info = options[takers[0]][name]
            entry = _checked(key, value, hint, info, path.parent)
            option = "param" if name == _PARAMS else name
            is_shipped = name == "inventory" and value in shipped_inventories()
            counts = path.parent == config_dir() or is_shipped or name in HARMLESS
            for each in takers:
                if not counts:
                    ignored.setdefault(each, []).append(key)
                    continue
                hint = options[each][name][0]
                is_list = is_once(option, hint, info) or (hint == list[str] | None and isinstance(entry, str))
                values[each][option] = [entry] if is_list else entry  # typer expects a list
                lines[each][option] = key, f"{name} = {written(value)}"
        if os.environ.get("CHAMELEON_MODEL", "").strip():
            for own in values.values():
                own.pop("model", None)
        return cls(path, values, lines, data, ignored)

    def apply(self, context: typer.Context, values: dict[str, Any]) -> Collection[str]:
        """Return the options that the file sets for a command, and print them on stderr."""
        if ignored := self.ignored.get(context.info_name or ""):
            where = f"the command line and {config_dir() / SETTINGS}"
            echo(f"{SETTINGS} cannot set {', '.join(ignored)}: only {where} can", err=True, style="dim")
        sources = {name: context.get_parameter_source(name) for name in values}
        names = {name for name, source in sources.items() if source and source.name == "DEFAULT_MAP"}
        if not names or self.path is None:
            return ()
        lines = self.lines.get(context.info_name or "", {})
        if sets := ", ".join(lines[name][1] for name in sorted(names)):
            echo(f"{SETTINGS} sets {sets}", err=True, style="dim")
        for less, more in (("quiet", "verbose"), ("quiet", "trace"), ("verbose", "quiet")):
            if less in names and values.get(more) and more not in names:
                values[less] = False  # the command line takes precedence
        return names


def written(value: Any) -> str:
    """Write a value as in a settings file, on one line."""
    return harmless(json.dumps(value, ensure_ascii=False, default=str))


def _entries(data: Mapping[str, Any], commands: Collection[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield table, name and value of each setting, first the ones for all commands, with table ""."""
    yield from (("", name, value) for name, value in data.items() if name not in commands)
    for table in filter(commands.__contains__, data):
        if not isinstance(data[table], dict):
            hint = f"Put the options of a command in a table, [{table}]."
            raise InputError(f"{table} is not a table", hint=hint)
        yield from ((table, name, value) for name, value in data[table].items())


def _refuse_secrets(data: Mapping[str, Any], above: str = "") -> None:
    for key, value in data.items():
        texts = value if isinstance(value, list) else [value]
        is_secret = any(isinstance(each, str) and redact(each) != each for each in texts)
        if is_secret or _SECRET.search(key):
            hint = "Set it in the environment, such as OPENAI_API_KEY."
            raise InputError(f"{above}{key} is a secret, and this file must not hold secrets", hint=hint)
        if isinstance(value, dict):
            _refuse_secrets(value, f"{above}{key}.")


def _checked(key: str, value: Any, hint: Any, info: ParameterInfo, folder: Path) -> Any:
    """Convert the value of an option for the command. Raises `InputError` for a wrong type."""
    if key.rpartition(".")[2] == _PARAMS:
        if not isinstance(value, dict):
            raise InputError(f'{key} is not a table, such as `params = {{reasoning = "none"}}`')
        params = [f"{name}={json.dumps(each)}" for name, each in value.items()]
        try:
            read_params(params)
        except typer.BadParameter as problem:
            raise InputError(f"{key}: {problem.message}") from None
        return params
    texts = value if isinstance(value, list) else [value]
    if any(str(each).strip().lower().startswith("scripted:") for each in texts):  # its replies can call tools
        raise InputError(f"{key} names a script of replies", hint="It can be set on the command line only.")
    from pydantic import Field, TypeAdapter, ValidationError

    kind = Annotated[hint, Field(ge=info.min, le=info.max)]
    try:
        setting = TypeAdapter(kind).validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as problem:
        what = problem.errors()[0]["msg"].replace("Input should be", "it should be")
        raise InputError(f"{key} is {value!r}: {what}") from None
    return _from_folder(setting, folder, is_file=(info.metavar or "").startswith("FILE"))


def _from_folder(value: Any, folder: Path, *, is_file: bool) -> Any:
    """Resolve a path or the name of a YAML file from the folder of the settings."""
    if isinstance(value, list):
        return [_from_folder(each, folder, is_file=is_file) for each in value]
    if isinstance(value, Path):
        return folder / value.expanduser()
    if not isinstance(value, str):
        return value
    is_file = (is_file and value != "-" and not is_address(value)) or value.endswith((".yaml", ".yml"))
    return str(folder / Path(value).expanduser()) if is_file else value
