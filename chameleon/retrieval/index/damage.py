"""What to do about an index that is damaged: away with it, so that it can be built anew in its place."""

from __future__ import annotations

from pathlib import Path

from chameleon.errors import InputError
from chameleon.retrieval.index.files import Damaged, locked, remove
from chameleon.retrieval.index.index import Index
from chameleon.retrieval.index.manifest import (
    BUILDING,
    FINISHED,
    LOCK,
    MANIFEST,
    SEGMENTS,
    Manifest,
    check_ours,
)

_TOLD_BY_PART = {"lexical": "auto", "bm25": "bm25", "okapi": "okapi"}


def check_whole(path: Path) -> None:
    """Raise `Damaged` for an index that its parts cannot be opened of; what holds none passes."""
    finished = [FINISHED.fullmatch(entry.name) for entry in path.iterdir()] if path.is_dir() else []
    if not (path / MANIFEST).exists():
        if any(finished) and _is_ours(path) and not (path / BUILDING).exists():
            raise Damaged("a file of the index is missing", where=str(path / MANIFEST))
        return
    index = Index.open(path)
    for part in index.settings:
        index.searcher(part)


def clear(path: Path, problem: Damaged, retriever: str | None) -> str:
    """Remove what is left of a damaged index, and return the retriever that it was built for.

    What is known of the files stays. Raises `InputError` for a folder that holds anything else than an index,
    and where nothing tells the retriever.
    """
    check_ours(path)
    if not _is_ours(path):
        raise InputError(
            "the folder holds something else: manifest.json",
            where=str(path),
            hint="Name a folder of its own for the index.",
        )
    known = retriever or _built_for(path)
    if not known:
        raise InputError(
            problem.what,
            where=problem.where,
            hint="Name the retriever that the index was built for, and it is built again.",
        )
    with locked(path):
        for name in (MANIFEST, BUILDING, SEGMENTS):
            remove(path / name)
        for entry in path.iterdir():
            if FINISHED.fullmatch(entry.name):
                remove(entry)
    return known


def _is_ours(path: Path) -> bool:
    """Whether an index was built here: a manifest.json alone may be anybody's."""
    return (path / SEGMENTS).is_dir() and (path / LOCK).is_file()


def _built_for(path: Path) -> str:
    """What the manifest says, or else what the one part tells; "" where neither does."""
    try:
        manifest = Manifest.read(path / MANIFEST)
    except Damaged:
        parts = {part.name for part in (path / SEGMENTS).glob("*/*") if part.is_dir()}
    else:
        if manifest.retriever:
            return manifest.retriever
        parts = set(manifest.parts)
    return _TOLD_BY_PART.get(next(iter(parts)), "") if len(parts) == 1 else ""
