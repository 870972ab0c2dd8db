"""Indexes that are open: each is opened once and shared by all threads, until it is built anew."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.retriever import Retriever

_MOST = 8
_Key = tuple[str, tuple[int, int, int]]

_lock = threading.Lock()
_indexes: OrderedDict[_Key, Index] = OrderedDict()
_retrievers: dict[tuple[_Key, str], Retriever] = {}


def opened(path: str, retriever: str = "auto") -> tuple[Index, Retriever]:
    """The index in this folder, and a retriever over it. Raises `InputError` for a folder without an index.

    One that was built anew since is opened anew; of more than eight the one not used for longest is let go.
    """
    from chameleon.retrieval import names
    from chameleon.retrieval.index import Index

    key = _key(path)
    with _lock:
        index = _indexes.get(key) or Index.open(path)
        _indexes[key] = index
        _indexes.move_to_end(key)
        if (key, retriever) not in _retrievers:
            _retrievers[key, retriever] = names.retriever(index, retriever)
        for old in [each for each in _indexes if each[0] == key[0] and each != key]:
            _forget(old)
        while len(_indexes) > _MOST:
            _forget(next(iter(_indexes)))
        return index, _retrievers[key, retriever]


def _forget(key: _Key) -> None:
    _indexes.pop(key, None)
    for each in [each for each in _retrievers if each[0] == key]:
        del _retrievers[each]


def _key(path: str) -> _Key:
    """The folder, and which build lies in it."""
    from chameleon.retrieval.index.manifest import MANIFEST

    folder = Path(path).expanduser()
    try:
        told = (folder / MANIFEST).stat()
    except OSError:
        if folder.is_dir():
            raise InputError("the folder holds no index", where=path) from None
        raise InputError("there is no such index", where=path) from None
    return str(folder.resolve()), (told.st_ino, told.st_mtime_ns, told.st_size)
