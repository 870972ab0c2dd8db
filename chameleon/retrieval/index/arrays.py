"""Arrays in files: numpy's own format, opened memory-mapped, written piece by piece where they are large."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError
from chameleon.retrieval.index.files import broken, failed

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def save(path: Path, array: NDArray[Any]) -> None:
    """Write one array. Raises `InputError` where the disk does not take it."""
    with ArrayWriter(path, array.dtype) as file:
        file.append(array)


def load(path: Path) -> NDArray[Any]:
    """An array that `save` wrote, memory-mapped and read-only. Raises `InputError` for anything else."""
    import numpy

    try:
        with path.open("rb") as file:
            numpy.lib.format.read_magic(file)
            shape, _, dtype = numpy.lib.format.read_array_header_1_0(file)
            if dtype.hasobject:
                raise broken(path)
            if 0 in shape:  # there is nothing to map
                return numpy.empty(shape, dtype)
            mapped: NDArray[Any] = numpy.memmap(file, dtype, "r", file.tell(), shape)
    except (ValueError, EOFError) as problem:
        raise broken(path) from problem
    except OSError as problem:
        raise failed("read", path, problem) from problem
    return numpy.asarray(mapped)  # the same memory, without the cost of the class


class ArrayWriter:
    """Writes an array of one dimension whose length shows at the end. Raises `InputError` for a full disk."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        import numpy

        self.path, self.dtype, self.count = path, numpy.dtype(dtype), 0
        try:
            self._file = path.open("wb")
        except OSError as problem:
            raise failed("written", path, problem) from problem
        self._header()
        self._begin = self._file.tell()

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._file.seek(0)
                self._header()
                if self._file.tell() != self._begin:
                    raise InputError("an array has grown too long for its header", where=str(self.path))
            self._file.close()
        except OSError as problem:
            raise failed("written", self.path, problem) from problem

    def append(self, values: NDArray[Any]) -> None:
        import numpy

        piece = numpy.ascontiguousarray(values, self.dtype)
        try:
            self._file.write(piece.data)
        except OSError as problem:
            raise failed("written", self.path, problem) from problem
        self.count += len(piece)

    def _header(self) -> None:
        # numpy leaves room in a header for a length of any number of digits.
        import numpy

        described = numpy.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": described, "fortran_order": False, "shape": (self.count,)}
        numpy.lib.format.write_array_header_1_0(self._file, header)
