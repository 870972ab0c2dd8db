"""Read YAML files: with libyaml if PyYAML has it, and in Python for better error messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from chameleon.errors import ChameleonError

    _Loader = yaml.SafeLoader
else:
    _Loader = object

_MAX_LEVELS = 100
_ADVICE = {
    "found character '\\t' that cannot start any token": "Indent with spaces, not with tabs.",
    "that cannot start any token": "Quote a text that starts with this character.",
    "mapping values are not allowed here": "Quote the text if it has a colon; else indent it like those "
    "around it.",
    "expected <block end>": "Indent this line like those above it.",
    "could not find expected ':'": "Write `KEY: VALUE`, or indent a text that continues.",
    "expected ',' or ": "Close the bracket, and put commas between its items.",
    "while scanning a quoted scalar": "Close the quotes.",
}


class _Careful(_Loader):
    """Loads only plain values. Raises `yaml.YAMLError` for anything wrong with a text."""

    def __init__(self, text: str) -> None:
        super().__init__(text.encode("utf-8", "surrogatepass"))  # half a surrogate pair is a YAML error
        self._depth = 0

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Go down to a node, up to a limit, because endless depth would crash libyaml."""
        self._depth += 1
        if self._depth > _MAX_LEVELS:
            raise yaml.YAMLError("it is nested too deeply")

    def ascend_resolver(self) -> None:
        """Go up again."""
        self._depth -= 1

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node. Names the line if its tag (`!!timestamp`) does not fit."""
        try:
            return super().construct_object(node, deep)
        except (AttributeError, KeyError, ValueError, TypeError, IndexError):
            what = f"this is not a valid {node.tag.removeprefix('tag:yaml.org,2002:')}"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark) from None


class _InPython(_Careful, yaml.SafeLoader):
    pass


class _ByLibyaml(_Careful, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    pass


def read_yaml(text: str, look: Callable[[yaml.Node], None] = lambda _: None) -> Any:
    """Return the data of a YAML text; None for an empty one.

    `look` receives the root of its node tree, with line numbers. Raises `yaml.YAMLError` if it is invalid.
    """
    try:
        return _read(_ByLibyaml(text), look)
    except yaml.YAMLError:
        return _read(_InPython(text), look)  # libyaml does not report which character or alias is wrong


def advice_on(problem: yaml.YAMLError) -> str:
    """Return advice for a YAML error, or "" if only its own message helps."""
    message = str(problem)
    return next((advice for part, advice in _ADVICE.items() if part in message), "")


def _read(loader: _Careful, look: Callable[[yaml.Node], None]) -> Any:
    node = loader.get_single_node()
    if node is None:
        return None
    look(node)
    return loader.construct_document(node)


def file_text(path: Path, error: type[ChameleonError]) -> str:
    """Return the text of a file. Raises `error` if it cannot be read, or is not UTF-8."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise error(f"the file is not UTF-8 text (byte {problem.start})", where=str(path)) from problem
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", where=str(path)) from problem
