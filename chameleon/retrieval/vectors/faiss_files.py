"""Indexes of FAISS in files, opened memory-mapped."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chameleon.retrieval.index.files import Damaged
from chameleon.retrieval.vectors.rows import Vectors


def has_faiss() -> bool:
    """Whether the package is installed."""
    return find_spec("faiss") is not None


def write_faiss(index: Any, path: Path) -> None:
    """Write an index of FAISS. Raises OSError where the disk does not take it."""
    import faiss

    try:
        faiss.write_index(index, str(path))
    except RuntimeError as problem:
        raise OSError(f"the vectors cannot be written: {_last_line(problem)}") from problem


def read_faiss(path: Path, vectors: Vectors) -> Any:
    """An index of the living vectors. Raises `Damaged` for a file that holds anything else."""
    import faiss

    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as problem:
        raise Damaged(f"the vectors cannot be read: {_last_line(problem)}", where=str(path)) from problem
    if index.ntotal != len(vectors.living) or index.d != vectors.size:
        raise Damaged("the file is not one of these vectors", where=str(path))
    return index


def _last_line(problem: Exception) -> str:
    return str(problem).strip().splitlines()[-1][:200]
