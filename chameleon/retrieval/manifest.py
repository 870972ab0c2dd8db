"""What an index says of itself: `manifest.json`, and `building` while a build is not finished."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.engine import AGAIN, Damaged

FORMAT = "chameleon-index-4"
MANIFEST, BUILDING, WORDS = "manifest.json", "building", "words"
LEDGER = "files.json"  # what `chameleon.documents` keeps of the files that the documents came from
VECTORS = "vectors"
_OURS = re.compile(
    r"(manifest|files)\.json(\.new)?|building|words|words/([0-9a-f]{32}\.|meta\.json|\.(managed|tantivy|tmp)).*"
    r"|vectors|vectors/(faiss|stored)\..*"
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of an index: the retriever it was built for, its embeddings and store, and a checksum.

    `embeddings` is empty for an index of words alone. `place` is what a vector store knows this index by.
    `check` is the checksum of the file by which the engine knows its others.
    """

    retriever: Mapping[str, Any] = field(default_factory=dict)
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    store: Any = None
    place: str = ""
    check: int = 0

    @property
    def vectors_of(self) -> tuple[Any, Any]:
        """What the vectors depend on."""
        return self.embeddings, self.store

    def write(self, folder: Path) -> None:
        """Put it in the place of the old one. Raises `InputError`."""
        said = {"format": FORMAT, **asdict(self)}
        replace_json(folder / MANIFEST, said | {"sum": _sum(said)})

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return that of the index in a folder. Raises `InputError` where there is none, or it is damaged."""
        path = folder / MANIFEST
        try:
            data = json.loads(path.read_bytes())
            found, told = data.pop("sum", None), data.pop("format", "")
            if told == FORMAT and found == _sum({"format": told, **data}):
                return cls(**data)
        except (FileNotFoundError, NotADirectoryError):
            raise _absent(folder) from None
        except OSError as problem:
            raise InputError(f"cannot be read: {problem.strerror}", where=str(path)) from problem
        except (ValueError, TypeError, AttributeError) as problem:
            raise Damaged("the file is damaged", where=str(path)) from problem
        if told == FORMAT:
            raise Damaged("the file is damaged", where=str(path))
        what = f"the index has another format than {FORMAT}, which this version of Chameleon reads"
        raise (Damaged if _is_older(told) else InputError)(what, where=str(path), hint=AGAIN)


def _is_older(told: Any) -> bool:
    """Tell whether a format is one that was written before, so that `chameleon index` may write it anew."""
    found = re.fullmatch(r"chameleon-index-(\d)", str(told))
    return found is not None and told < FORMAT


def _absent(folder: Path) -> InputError:
    if (folder / WORDS).is_dir():
        return InputError(
            "the index is not finished", where=str(folder), hint="Run the command that builds it again."
        )
    what = "the folder holds no index" if folder.is_dir() else "there is no such index"
    return InputError(what, where=str(folder), hint="`chameleon index` builds one.")


def _sum(said: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def is_index(path: Path) -> bool:
    """Tell whether a folder holds an index."""
    return (path / MANIFEST).is_file()


def check_ours(folder: Path) -> None:
    """Raise `InputError` if something else than an index lies in the folder."""
    if folder.is_file():
        raise InputError("an index is a folder, and this is a file", where=str(folder))
    for entry in sorted(folder.glob("*")) + sorted(folder.glob("[wv]*/*")):
        name = entry.relative_to(folder).as_posix()
        if not _OURS.fullmatch(name):
            raise InputError(
                f"the folder holds something else: {name}",
                where=str(folder),
                hint="Name a folder of its own for the index.",
            )


def failed(done: str, path: Path, problem: OSError) -> InputError:
    """Return the error for what the system refuses: `done` is "read" or "written"."""
    if isinstance(problem, FileNotFoundError):
        return Damaged("a file of the index is missing", where=str(path), hint=AGAIN)
    return InputError(f"a file of the index cannot be {done}: {problem.strerror or problem}", where=str(path))


def replace_json(path: Path, data: Any) -> None:
    """Put a JSON file in the place of the old one: a crash leaves the old or the new. Raises `InputError`."""
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(json.dumps(data, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as problem:
        raise failed("written", path, problem) from problem
