"""Look up sections of statutes by label, in files, folders or texts."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Self

from chameleon.errors import InputError
from chameleon.modules.statutes.parser import parse
from chameleon.modules.statutes.tree import Node, Statute
from chameleon.text import harmless

_MAX_FILE_BYTES = 20_000_000  # bytes of a file
_MAX_LEN = 250  # characters of a path with blanks
_SUFFIXES = ("", ".txt", ".md", ".text")
_NUMBERED = re.compile(r"(?:section|sec|s|§)?[ _.-]*([0-9]+[A-Za-z]{0,3}(?:[.-][0-9]+)*)", re.IGNORECASE)
_MAX_TROUBLES = 3
_LAYOUT = (
    'Sections begin with lines such as "§12. Fees" or "Section 12. Fees", and their parts with '
    'labels such as (a), (1), (A): "Article 1" with "1." and "2." is not understood.'
)

_log = logging.getLogger("chameleon")


class Statutes:
    """Sections by label ("152"), in the order of the texts; the first of two equal labels wins."""

    def __init__(self, statutes: list[Statute]) -> None:
        self.statutes = statutes
        self.sections: dict[str, Node] = {}
        self.source: dict[str, str] = {}
        for statute in statutes:
            for section in statute.root.children:
                self.source.setdefault(section.label, statute.source)
                self.sections.setdefault(section.label, section)

    @classmethod
    def of(cls, source: Any) -> Self:
        """Return the statutes in a mapping from names to texts, in a file or folder, or in a text itself.

        A file holds text, or the mapping as JSON; a folder is read for its text files. If a text has no line
        such as "§152. …", its name is taken as the section. Raises `InputError` for anything else.
        """
        if isinstance(source, Mapping):
            return cls(list(cls._of_mapping(source)))
        if isinstance(source, PurePath):
            return cls(list(cls._read(Path(source).expanduser())))
        if isinstance(source, str) and (text := source.strip()):
            is_path = "\n" not in text and (" " not in text or (len(text) < _MAX_LEN and Path(text).exists()))
            return cls(list(cls._read(Path(text).expanduser())) if is_path else [_parsed(source)])
        hint = "Give a text, a mapping of names to texts, or the path of a file or folder as `statutes`."
        raise InputError("no statutes are given", hint=hint)

    def check(self) -> None:
        """Raise `InputError` for statutes without text, or without sections and labels."""
        if not any(line.content for each in self.statutes for line in each.root.lines):
            hint = "Give the statutes as `statutes`, or as the text."
            raise InputError("there is no text in the statutes", hint=hint)
        if not any(section.label or section.children for section in self.sections.values()):
            hint = f"{_LAYOUT} Statutes are given as `statutes`, or as the text."
            raise InputError("the text has no sections and no labels such as (a)", hint=hint)

    def place(self, node: Node) -> dict[str, Any]:
        """Return the first and last line of a provision, and its file, if any."""
        numbers = [line.number for line in node.lines]
        lines = {"lines": [numbers[0], numbers[-1]]} if numbers else {}
        file = self.source[node.section.label]
        return ({"file": file} if file else {}) | lines

    @property
    def troubles(self) -> list[str]:
        """Return the lines that may have been misread, each with the name of its file or section."""
        return [f"{each.name}: {trouble}" for each in self.statutes for trouble in each.troubles]

    @staticmethod
    def _read(path: Path) -> Iterator[Statute]:
        """Yield the statutes of a file, or of the text files of a folder. Raises `InputError`."""
        files = [path]
        if path.is_dir():
            files = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
            files = [file for file in files if file.is_file() and file.suffix.lower() in _SUFFIXES]
        for file in files:
            try:
                if file.stat().st_size > _MAX_FILE_BYTES:
                    raise InputError(f"the file has more than {_MAX_FILE_BYTES:,} bytes", where=str(file))
                text = file.read_text("utf-8-sig")
            except (OSError, ValueError) as problem:
                what = f"the file cannot be read as UTF-8 text: {problem}"
                raise InputError(what, where=str(file)) from problem
            if file.suffix.lower() != ".json":
                numbered = _NUMBERED.fullmatch(file.stem.strip())
                yield _parsed(text, numbered[1] if numbered else file.stem, str(file))
                continue
            try:
                texts = json.loads(text)
            except ValueError as problem:
                raise InputError(f"this is not JSON: {problem}", where=str(file)) from problem
            if not isinstance(texts, dict):
                raise InputError("the JSON is not a mapping of names to texts", where=str(file))
            yield from Statutes._of_mapping(texts, str(file))

    @staticmethod
    def _of_mapping(texts: Mapping[str, Any], source: str = "") -> Iterator[Statute]:
        for name, text in texts.items():
            if not isinstance(text, str):
                raise InputError(f"the statute {name!r} is a {type(text).__name__}, not a text", where=source)
            yield _parsed(text, name, source)


@lru_cache(maxsize=256)
def _parsed(text: str, name: str = "", source: str = "") -> Statute:
    """Return the tree of a text; log the lines that may have been misread, once while the tree is cached."""
    statute = parse(text.removeprefix("\ufeff"), name, source)
    if count := len(statute.troubles):
        sample = "; ".join(statute.troubles[:_MAX_TROUBLES])
        more = f"; and {count - _MAX_TROUBLES:,} more" if count > _MAX_TROUBLES else ""
        where = harmless(statute.name)
        _log.warning("%s: lines that may be read wrongly (%s): %s%s", where, count, sample, more)
    return statute
