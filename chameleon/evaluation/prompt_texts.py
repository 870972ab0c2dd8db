"""Prompts of a run directory: what many share is written once, and events name it by its digest."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chameleon.errors import LogError
from chameleon.log import LineFile, json_line, read_line
from chameleon.text import shared_start

PROMPTS = "prompts.jsonl"
_NAME, _REST = "prompt", "rest"
_LEAST = 256  # characters that are worth a name; texts that begin with the same ones are a family
_MOST_TEXTS, _MOST_FAMILIES = 1_000, 256


class PromptTexts:
    """Write the beginnings that prompts share into a file, each before the first event that names it.

    Prompts of one module and role are a family where they begin alike. The first is written whole with its
    event. With the second it shows what they share, up to the start of a line: that is written into the file,
    and again only where a later prompt shares less of it. Safe to use from many threads.
    """

    def __init__(self, path: Path, hint: str = "") -> None:
        self._lock = threading.Lock()
        self._families: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()  # text and digest
        self.file = LineFile(path, "prompts", hint)
        try:
            rows = _read(path, (line for _, line in self.file.whole_lines()))
            self.texts = {digest: text for digest, _, text in rows}
            self._families |= {(of, text[:_LEAST]): (text, digest) for digest, of, text in rows}
        except BaseException:
            self.close()
            raise

    def shorten(self, event: dict[str, Any]) -> None:
        """Put the digest of a text and the rest in the place of each long prompt of an event, as JSON."""
        for call in event.get("calls", ()):
            for message in call["messages"]:
                role, text = message
                if len(text) >= _LEAST:
                    with self._lock:
                        message[1] = self._shortened(f"{event.get('module', event['event'])}: {role}", text)

    def _shortened(self, of: str, text: str) -> str | dict[str, str]:
        family = of, text[:_LEAST]
        before, digest = self._families.pop(family, ("", ""))
        shared = before if text.startswith(before) else _shared(before, text)
        if len(shared) >= _LEAST:
            if (shared != before or not digest) and (written := self._written(of, shared)):
                before, digest = shared, written
        elif not digest:
            before = text
        self._families[family] = before, digest
        if len(self._families) > _MOST_FAMILIES:
            self._families.popitem(last=False)
        if digest and text.startswith(before):
            return {_NAME: digest, _REST: text[len(before) :]}
        return text

    def _written(self, of: str, text: str) -> str:
        """Return the digest of a text that the file has now; "" where it is to have no more of them."""
        digest = _digest_of(text)
        if digest not in self.texts:
            if len(self.texts) >= _MOST_TEXTS:
                return ""
            self.file.append(json_line({"digest": digest, "of": of, "text": text}))
            self.texts[digest] = text
        return digest

    def close(self) -> None:
        self.file.close()


def read_prompts(path: Path) -> Mapping[str, str]:
    """Return the texts of a file by digest; none where there is no file."""
    if not path.exists():
        return {}
    with path.open("rb") as lines:
        return {digest: text for digest, _, text in _read(path, lines)}


class MissingPrompt(Exception):
    """An event names a text that is not among the prompts."""


def with_prompts(event: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return an event, as JSON, with its prompts whole again. Raises `MissingPrompt`."""
    for call in event.get("calls", ()):
        for message in call["messages"]:
            if isinstance(named := message[1], dict):
                if (text := texts.get(named[_NAME])) is None:
                    raise MissingPrompt(named[_NAME])
                message[1] = text + named[_REST]
    return event


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _shared(a: str, b: str) -> str:
    """Return what two texts begin with alike, up to the start of a line, or to the end of the second."""
    end = shared_start(a, b)
    return b if end == len(b) else b[: b.rfind("\n", 0, end) + 1]


def _read(path: Path, lines: Iterable[bytes]) -> list[tuple[str, str, str]]:
    """Return the digest of each text, which prompts it is of, and the text."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.endswith(b"\n"):
            try:
                row = read_line(line)
                digest, of, text = row["digest"], row["of"], row["text"]
                if _digest_of(text) != digest:
                    raise ValueError("its digest is that of another text")
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                what = f"line {number} is no prompt ({problem}): the file is damaged"
                raise LogError(what, where=str(path)) from problem
            found.append((digest, of, text))
    return found
