"""The tables of a release, which lie in a folder, a file each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Row


class TableFolder(Mapping[str, Row]):
    """Tables by id, where an id is the path of the file in the folder; each is read once, when asked for.

    An id may begin with the folder's own name: "csv/204-csv/590.csv" in the folder `csv`; `ending` is what
    the file has and the id has not. Ids are data: one that leads out of the folder is no table.
    """

    def __init__(self, folder: Path, read: Callable[[Path], Row], *, ending: str = "") -> None:
        self.folder, self._read, self._ending = folder, read, ending
        self._tables: dict[str, Row] = {}

    def __getitem__(self, id: str) -> Row:
        if id not in self._tables:
            file = self._file(id)
            if file is None:
                raise KeyError(id)
            try:
                self._tables[id] = self._read(file)
            except OSError as problem:
                raise InputError(f"cannot be read: {problem.strerror}", where=str(file)) from problem
            except UnicodeDecodeError as problem:
                raise InputError("this is no UTF-8 text", where=str(file)) from problem
        return self._tables[id]

    def __iter__(self) -> Iterator[str]:
        files = sorted(self.folder.rglob(f"*{self._ending or '.csv'}"))
        return (file.relative_to(self.folder).as_posix().removesuffix(self._ending) for file in files)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True

    def _file(self, id: str) -> Path | None:
        path = PurePosixPath(id + self._ending)
        if path.is_absolute() or ".." in path.parts or "\0" in id:
            return None
        places = [self.folder / path]
        if path.parts[:1] == (self.folder.name,):
            places.append(self.folder / PurePosixPath(*path.parts[1:]))
        return next((place for place in places if place.is_file()), None)
