"""An evaluation in parts, each run by a machine of its own, and the one directory that comes of them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, LogError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.prompt_texts import PROMPTS, read_prompts
from chameleon.evaluation.run_dir import (
    CHECKED,
    EVENTS,
    PROBLEMS,
    RESULTS,
    SETTINGS,
    placed_lines,
    read_events,
    read_results,
    read_settings,
    write_whole,
)
from chameleon.evaluation.settings import settings_diff
from chameleon.log import LineFile, json_line

PART = "part"
_WRITTEN = re.compile(r"\s*(\d+)\s*/\s*(\d+)\s*", re.ASCII)
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """One of `of` parts of the problems, by number from 1: which ids it has depends on nothing else.

    The questions of a conversation are in one part.
    """

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Part:
        """Read "3/16". Raises `InputError` for what is none."""
        found = _WRITTEN.fullmatch(text)
        number, of = (int(found[1][:9]), int(found[2][:9])) if found else (0, 0)
        if not 1 <= number <= of <= _MOST:
            raise InputError(f"{text!r} is no part", hint="Write 3/16 for the third of sixteen.")
        return cls(number, of)

    def has(self, problem: Problem) -> bool:
        """Tell whether a problem is one of this part."""
        name = hashlib.sha256((problem.sequence or problem.id).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(name[:8]) % self.of == self.number - 1

    def to_json(self) -> dict[str, int]:
        """Return what the settings of its directory keep."""
        return {"number": self.number, "of": self.of}

    def __str__(self) -> str:
        return f"part {self.number} of {self.of}"


@dataclass
class Merged:
    """What came of merging: how many results there are of how many problems, and which parts lack some."""

    results: int = 0
    problems: int = 0
    unfinished: list[str] = field(default_factory=list)


def merge(parts: Sequence[Path], out: Path) -> Merged:
    """Put the directories of all parts of an evaluation into one, as one run would have written it.

    A part that is not finished is taken as it is: the same evaluation goes on in `out`. Nothing is left
    there by a merge that fails. Raises `InputError` for a directory that is no part, for a part that is
    missing or given twice, and where `out` is not empty; `LogError` for a part of other settings, one that
    is being written to, and one that is damaged.
    """
    found = _numbered(parts)
    settings = _common(found)
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise InputError("there is something already", where=str(out), hint="Name a new folder.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        try:
            merged = _write([path for path, _ in found.values()], settings, beside)
            if out.exists():
                out.rmdir()
            beside.rename(out)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", where=str(out)) from problem
    return merged


def _numbered(parts: Sequence[Path]) -> dict[int, tuple[Path, Mapping[str, Any]]]:
    """Return the folders of parts with their settings, by number. Raises `InputError` for what is no part."""
    found: dict[int, tuple[Path, Mapping[str, Any]]] = {}
    for path in parts:
        if not (path / SETTINGS).is_file():
            raise InputError("there is no evaluation", where=str(path), hint="Name the folder of a part.")
        settings = read_settings(path / SETTINGS)
        try:
            part = Part(**settings.get(PART) or {})
        except TypeError:
            hint = "Name the folders of parts alone."
            raise InputError("it is a whole evaluation, and no part", where=str(path), hint=hint) from None
        if part.number in found:
            twice = f"it is {part}, and so is {found[part.number][0]}"
            raise InputError(twice, where=str(path), hint="Leave one of them out.")
        found[part.number] = path, settings
    return dict(sorted(found.items()))


def _common(found: Mapping[int, tuple[Path, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the settings that one run would have. Raises where parts differ in them, or some are missing."""
    if not found:
        raise InputError("there is no part to merge")
    (first, settings), *others = found.values()
    of = settings[PART]["of"]
    looked = {CHECKED: settings.get(CHECKED)}
    for path, other in others:
        if {CHECKED: other.get(CHECKED)} != looked:
            limit, its = ((each or {}).get("limit") for each in (looked[CHECKED], other.get(CHECKED)))
            what = f"the part was made with the limit {its}, and {first} with {limit}"
            raise LogError(what, where=str(path), hint="Run it with the same limit.")
        same = {**other, PART: {**other[PART], "number": settings[PART]["number"]}}
        if differs := settings_diff(settings, same):
            hint = f"It is compared with {first}. Merge parts of one evaluation."
            raise LogError(f"the part was made with other settings: {differs}", where=str(path), hint=hint)
    if missing := [str(number) for number in range(1, of + 1) if number not in found]:
        named = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        what = f"of {of} parts {len(missing)} {'is' if len(missing) == 1 else 'are'} missing: {named}"
        raise InputError(what, hint="Run them, or name their folders too.")
    counts = [each.get(PROBLEMS) for _, each in found.values()]
    begun = min(str(each.get("started", "")) for _, each in found.values())
    whole = {key: value for key, value in settings.items() if key != PART}
    return {**whole, "started": begun, PROBLEMS: None if None in counts else sum(counts)}


def _write(parts: Sequence[Path], settings: Mapping[str, Any], into: Path) -> Merged:
    """Write the files of the whole, and count."""
    merged, seen, prompts = Merged(problems=settings[PROBLEMS] or 0), set[str](), set[bytes]()
    with ExitStack() as closing:
        events, results, texts = (
            closing.enter_context((into / name).open("wb")) for name in (EVENTS, RESULTS, PROMPTS)
        )
        for path in parts:
            if not (path / EVENTS).is_file():
                raise LogError(f"the part has no {EVENTS}", where=str(path), hint="Run it again.")
            log = LineFile(path / EVENTS, "event log", "Merge when that part has ended.")
            closing.callback(log.close)  # nobody goes on with a part while it is merged
            read_events(
                placed_lines(path / EVENTS), lambda id: False, path / EVENTS, {}
            )  # which finds damage
            events.writelines(_whole_lines(path / EVENTS))
            read_prompts(path / PROMPTS)
            for line in _whole_lines(path / PROMPTS):
                if line not in prompts:
                    texts.write(line)
                    prompts.add(line)
            before = merged.results
            for result in read_results(_whole_lines(path / RESULTS), path / RESULTS, seen):
                results.write(json_line(result.to_json()))
                merged.results += 1
            if merged.results - before != read_settings(path / SETTINGS).get(PROBLEMS):
                merged.unfinished.append(str(path))
    for name in (EVENTS, RESULTS, PROMPTS):
        (into / name).chmod(0o600)
    write_whole(into / SETTINGS, json.dumps(settings, indent=2) + "\n")
    return merged


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a file; none where there is no file."""
    if path.exists():
        with path.open("rb") as lines:
            yield from (line for line in lines if line.endswith(b"\n"))
