"""Inputs from other programs: a JSON schema from an inventory's `input:`, and values read from JSON."""

import base64
import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.inventory import Inventory
from chameleon.table import Table
from chameleon.table.readers import read_table
from chameleon.text import harmless, nearest, one_line

MAX_BYTES = 24 << 20
"""The size of a file that a caller sends as content."""
_TEXTS = {"question": "The question, in words.", "unit": "The unit that a number is meant in."}
_JSON: Mapping[str, Any] = {
    "str": {"type": "string"},
    "list": {"type": "array"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "any": {},
}
_PATH_KEYS = ("index", "statutes")  # texts that name a file or folder
_CONTENT = {
    "type": "object",
    "properties": {
        "mimeType": {"type": "string", "description": 'Such as "image/png".'},
        "data": {"type": "string", "description": "The bytes of the file in base64."},
    },
    "required": ["mimeType", "data"],
    "additionalProperties": False,
}
_TABLE = "A table with its header: JSON, or text of two lines or more as CSV, TSV, Markdown or HTML."


class Inputs:
    """Builds the input of an inventory from JSON written by another program.

    Args:
        inventory: the inventory to run; one without `input:` takes a question.
        folders: where files may be read; paths elsewhere and hidden files are refused.
        fixed_inputs: inputs that stay the same for all calls and are hidden from callers.
    """

    def __init__(
        self,
        inventory: Inventory,
        folders: Sequence[str | Path] = (),
        fixed_inputs: Mapping[str, Any] | None = None,
    ) -> None:
        self.inventory, self.given = inventory, dict(fixed_inputs or {})
        self.folders = tuple(Path(each).expanduser().resolve() for each in folders)
        self._named = ", ".join("its working folder" if str(each) == "." else str(each) for each in folders)
        self.takes = inventory.input_types or {"question": "str"}
        self._check_known(self.given)
        self.takes = {key: kind for key, kind in self.takes.items() if key not in self.given}

    def _check_known(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in self.takes:
                name = one_line(harmless(str(key)), 60)
                what = f"the inventory {self.inventory.name} does not take {name}"
                raise InputError(what, hint=nearest(name, self.takes))

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a caller's arguments: an object that allows no others."""
        kinds = {key: kind.removesuffix("?") for key, kind in self.takes.items()}
        return {
            "type": "object",
            "properties": {key: self._schema_of(key, kind) for key, kind in kinds.items()},
            "required": [key for key, kind in self.takes.items() if not kind.endswith("?")],
            "additionalProperties": False,
        }

    def _schema_of(self, key: str, kind: str) -> dict[str, Any]:
        path = f"the path of a file below {self._named}" if self.folders else ""
        if kind == "Table":
            return {"type": "string", "description": f"{_TABLE}{f' Or {path}, on one line.' if path else ''}"}
        if kind == "path":
            note = f"The content of a file{f', or {path}' if path else ', such as a picture'}."
            return {"description": note, **({"anyOf": [_CONTENT, {"type": "string"}]} if path else _CONTENT)}
        if key == "tables":
            note = f"Further tables, each: {_TABLE}{f' Or {path}.' if path else ''}"
            return {"type": "array", "items": {"type": "string"}, "description": note}
        if key in _PATH_KEYS:
            note = f"{path[:1].upper()}{path[1:]}, or of a folder." if path else "This server reads no files."
            return {**_JSON[kind], "description": note}
        return {**_JSON[kind], **({"description": _TEXTS[key]} if key in _TEXTS else {})}

    def read(self, arguments: Mapping[str, Any], scratch: Path) -> dict[str, Any]:
        """Return the input of a run, with files in `scratch`. Raises `InputError` for a wrong argument."""
        self._check_known(arguments)
        inputs = dict(self.given)
        for key, value in arguments.items():
            if value is not None:
                inputs[key] = self._read(key, self.takes[key].removesuffix("?"), value, scratch)
        if not self.inventory.input_types and "question" not in inputs:
            what = f"the inventory {self.inventory.name} needs a question"
            raise InputError(what, hint="Add 'question' to the input.", code="missing-input:question")
        self.inventory.check_input(inputs)
        return inputs

    def _read(self, key: str, kind: str, value: Any, scratch: Path) -> Any:
        if kind == "Table" and isinstance(value, str):
            return self._table(key, value)
        if key == "tables" and isinstance(value, list | tuple):
            return [self._table(key, str(each)) for each in value]
        if kind == "path" and isinstance(value, Mapping):
            return self._saved_file(key, value, scratch)
        if isinstance(value, str) and (kind == "path" or key in _PATH_KEYS):
            path = self._path(key, value, must_be_file=kind == "path")
            return path if kind == "path" else str(path)
        return value

    def _table(self, key: str, text: str) -> Any:
        bare = text.strip()
        if "\n" in bare or (bare[:1], bare[-1:]) in (("[", "]"), ("{", "}")):
            return read_table(text.encode("utf-8", "replace"), name=key)
        if not self.folders:
            what = f"{key} is a single line, not a table"
            raise InputError(what, hint="Send the table as CSV text with a header. Files are not read here.")
        path = self._path(key, text)
        table = read_table(path, name=path.name)
        return table if table.caption.strip() else table.with_caption(path.stem)

    def _path(self, key: str, text: str, *, must_be_file: bool = True) -> Path:
        """Return the path in one of the folders, with links followed; paths elsewhere are not accessed."""
        name = one_line(harmless(text), 120)
        if not self.folders:
            raise InputError(f"{key} is a path, but files are not read here", hint="Send the content.")
        for folder in self.folders:
            try:
                path = (folder / text).resolve()
                below = path.relative_to(folder)
                is_there = path.is_file() or (path.is_dir() and not must_be_file)
            except (OSError, ValueError, RuntimeError):  # elsewhere, a null byte, too long, circular links
                continue
            if is_there and not any(part.startswith(".") for part in below.parts):
                return path
        hint = f"Use a path below {self._named}; hidden files are not read."
        raise InputError(f"{key} is {name!r}, but no such file can be read", hint=hint)

    def _saved_file(self, key: str, content: Mapping[str, Any], scratch: Path) -> Path:
        """Write the content of a file, and return its path."""
        kind, data = content.get("mimeType"), content.get("data")
        if not isinstance(kind, str) or not isinstance(data, str):
            what = f"{key} is missing {'mimeType' if not isinstance(kind, str) else 'data'}"
            raise InputError(what, hint='Send {"mimeType": "image/png", "data": "…"}, the bytes in base64.')
        if len(data) > MAX_BYTES * 4 // 3 + 4:  # base64 has four characters for three bytes
            raise InputError(f"{key} has more than the limit of {MAX_BYTES:,} bytes")
        try:
            decoded = base64.b64decode(data, validate=True)
        except ValueError:
            raise InputError(f"the data of {key} is not base64") from None
        file = scratch / f"{key}{mimetypes.guess_extension(kind.partition(';')[0].strip()) or ''}"
        file.write_bytes(decoded)
        if kind.startswith("image/"):
            from chameleon.pictures.opening import check_picture

            try:
                check_picture(file)
            except InputError as problem:
                raise InputError(f"{key} {problem.what}", hint=problem.hint) from problem
        return file


def outcome_of(state: State) -> dict[str, Any]:
    """Return the outcome of a run as plain JSON, with the sources of an answer."""
    reason = state.ended.reason if state.ended else "waiting"
    outcome = {"answer": _as_json(state.answer), "ended": reason, "usage": state.usage.to_json()}
    if reason == "answered" and state.reading:
        outcome["reading"] = state.reading
    if reason == "answered" and "sources" in state.cache:
        outcome["sources"] = _as_json(state.cache["sources"])
    return outcome


def _as_json(value: Any) -> Any:
    """Return a value of a run as plain JSON, a table as its header and rows."""
    if isinstance(value, Table):
        return {"columns": list(value.header), "rows": [list(row) for row in value.rows]}
    if isinstance(value, Mapping):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_as_json(each) for each in value]
    return str(value) if isinstance(value, Path) else value
