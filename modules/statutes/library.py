"""Statutes to look things up in: sections by their labels, from files, folders or texts."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from chameleon.errors import InputError
from chameleon.modules.statutes.parser import parse
from chameleon.modules.statutes.tree import Node, Statute
from chameleon.text import harmless

_LARGEST = 20_000_000
_ENDINGS = ("", ".txt", ".md", ".text")
_NUMBERED = re.compile(r"(?:section|sec|s|§)?[ _.-]*([0-9]+[A-Za-z]{0,3}(?:[.-][0-9]+)*)", re.IGNORECASE)

_TOLD = 3

_log = logging.getLogger("chameleon")


@lru_cache(maxsize=256)
def _parsed(text: str, name: str = "", source: str = "") -> Statute:
    """The tree of a text. What does not fit is logged as a warning, once while the tree is remembered."""
    statute = parse(text, name, source)
    if count := len(statute.troubles):
        told = "; ".join(map(str, statute.troubles[:_TOLD]))
        more = f"; and {count - _TOLD:,} more" if count > _TOLD else ""
        lines = "1 line" if count == 1 else f"{count:,} lines"
        where = harmless(source) or _label_of(statute)
        _log.warning("%s: %s may be read wrongly: %s%s", where, lines, told, more)
    return statute


class Statutes:
    """Sections by their labels ("152"), in the order of the texts, and the texts with their troubles."""

    def __init__(self, statutes: list[Statute]) -> None:
        """Of sections with the same label the first counts."""
        self.statutes = statutes
        self.sections: dict[str, Node] = {}
        self.source: dict[str, str] = {}
        for statute in statutes:
            for section in statute.sections:
                if section.label not in self.sections:
                    self.sections[section.label] = section
                    self.source[section.label] = statute.source

    @classmethod
    def of(cls, given: Any) -> Statutes:
        """Statutes from a mapping of names to texts, the path of a file or folder, or a text itself.

        A file is a text, or JSON with such a mapping; of a folder the text files count. A text without a line
        such as "§152. …" is the section that its name says. Raises `InputError` for anything else.
        """
        if isinstance(given, Mapping):
            return cls([_parsed(_text(text, name), name) for name, text in given.items()])
        if isinstance(given, PurePath):
            return cls(list(_read(Path(given).expanduser())))
        if isinstance(given, str) and (text := given.strip()):
            path = Path(text).expanduser()
            is_path = "\n" not in text and (" " not in text or _exists(path))
            return cls(list(_read(path)) if is_path else [_parsed(_text(given, "text"))])
        raise InputError(
            "there are no statutes to look in",
            hint="Give a text, a mapping of names to texts, or the path of a file or folder as `statutes`.",
        )

    @property
    def troubles(self) -> list[str]:
        """The lines that may be read wrongly, each with its section's or file's name."""
        return [
            f"{statute.source or _label_of(statute)}: {trouble}"
            for statute in self.statutes
            for trouble in statute.troubles
        ]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _read(path: Path) -> Iterator[Statute]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and file.suffix.lower() in _ENDINGS)
        files = [file for file in files if not file.name.startswith(".")]
        if not files:
            raise InputError("the folder holds no statutes", where=str(path), hint="Put text files there.")
        for file in files:
            yield _parsed(_text_of(file), _section_name(file.stem), str(file))
    elif path.suffix.lower() == ".json":
        try:
            texts = json.loads(_text_of(path))
        except ValueError as problem:
            raise InputError(f"this is not JSON: {problem}", where=str(path)) from problem
        if not isinstance(texts, dict):
            raise InputError("the JSON holds no mapping of names to texts", where=str(path))
        for name, text in texts.items():
            yield _parsed(_text(text, name), name, str(path))
    else:
        yield _parsed(_text_of(path), _section_name(path.stem), str(path))


def _text_of(file: Path) -> str:
    try:
        if not file.is_file():
            raise InputError("there is no such file", where=str(file))
        if file.stat().st_size > _LARGEST:
            raise InputError(f"the file has more than {_LARGEST:,} bytes", where=str(file))
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError("the file is not UTF-8 text", where=str(file)) from problem
    except (OSError, ValueError) as problem:
        raise InputError(f"the file cannot be read: {problem}", where=str(file)) from problem


def _text(text: Any, name: str) -> str:
    if not isinstance(text, str):
        raise InputError(f"the statute {name!r} is no text but a {type(text).__name__}")
    return text.removeprefix("\ufeff")


def _section_name(stem: str) -> str:
    """The section that a file's name says: "section152" is "152"; the name itself where it says none."""
    found = _NUMBERED.fullmatch(stem.strip())
    return found[1] if found else stem


def _label_of(statute: Statute) -> str:
    return f"section {harmless(statute.sections[0].label)}" if statute.sections else "statute"
