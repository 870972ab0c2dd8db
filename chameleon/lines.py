"""A file of lines that survives a crash: appended whole, and a line that was not finished is cut off."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

from chameleon.errors import InputError, LogError

if sys.platform != "win32":
    import fcntl


class LineFile:
    """Append whole lines from several threads, one process at a time.

    Every line is handed to the operating system at once, so that a killed process loses none. Raises
    `LogError` when another run has the file open, `InputError` for what is no regular file. `what` names the
    file in errors; `hint` says what to do when it cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], what: str = "log", hint: str = "") -> None:
        self.path, self.what, self.hint = Path(path), what, hint
        self._lock = threading.Lock()
        self._file = self._opened()
        try:
            self._claim()
            self._end = self._file.seek(0, os.SEEK_END)
        except BaseException:
            self._file.close()
            raise

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Every whole line with the place where it starts; what follows the last of them is cut off.

        An unfinished line is yielded too, without a line feed at its end, before it is cut off: raise to
        keep it.
        """
        end = 0
        try:
            with self.path.open("rb") as lines:
                for line in lines:
                    yield end, line
                    if line.endswith(b"\n"):
                        end += len(line)
            self._cut(end)
        except OSError as problem:
            raise InputError(
                f"cannot read the {self.what}: {problem.strerror}", where=str(self.path)
            ) from problem

    def append(self, line: bytes) -> int:
        """Write one line, and return the place where it starts.

        Raises `LogError` when the disk takes no more; the file then ends with the line before. Raises it too
        when the file was deleted: what is written then is kept nowhere.
        """
        with self._lock:
            if self._is_deleted():
                raise LogError(
                    f"the {self.what} cannot be written: the file was deleted", where=str(self.path)
                )
            start = self._end
            try:
                while line:
                    written = self._file.write(line)
                    self._end += written
                    line = line[written:]
            except OSError as problem:
                self._cut(start)
                raise LogError(
                    f"the {self.what} cannot be written: {problem.strerror}",
                    where=str(self.path),
                    hint=f"Make room. {self.hint}".strip(),
                ) from problem
            return start

    @property
    def is_deleted(self) -> bool:
        """Whether the file was deleted since it was opened."""
        with self._lock:
            return self._is_deleted()

    def _is_deleted(self) -> bool:
        return os.fstat(self._file.fileno()).st_nlink == 0

    @property
    def is_in_place(self) -> bool:
        """Whether the file still lies where it was opened."""
        try:
            with self._lock:
                return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except OSError:
            return False

    def cut(self, start: int) -> None:
        """Drop the line that starts there, and all after it."""
        with self._lock:
            self._cut(start)

    def _cut(self, start: int) -> None:
        self._file.truncate(start)
        self._end = start

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Put these lines in the place of all that is there; a crash leaves the old lines or the new ones."""
        beside = self.path.with_name(f"{self.path.name}.new")
        with self._lock:
            try:
                with beside.open("wb") as file:
                    file.writelines(lines)
                beside.replace(self.path)
            except OSError as problem:
                raise LogError(
                    f"the {self.what} cannot be written: {problem.strerror}", where=str(self.path)
                ) from problem
            self._file.close()
            self._file = self._opened()
            self._claim()
            self._end = self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        self._file.close()

    def _opened(self) -> FileIO:
        try:
            if self.path.exists() and not self.path.is_file():  # a device or a pipe may never come to an end
                raise InputError(
                    f"cannot open the {self.what}: it is not a regular file", where=str(self.path)
                )
            return self.path.open("a+b", buffering=0)
        except OSError as problem:
            raise InputError(
                f"cannot open the {self.what}: {problem.strerror}", where=str(self.path)
            ) from problem

    def _claim(self) -> None:
        """Keep other processes from writing to the file until it is closed, where the system can do that."""
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise LogError(
                "another run is writing to it",
                where=str(self.path),
                hint=f"Wait for it. {self.hint}".strip(),
            ) from problem
        except OSError as problem:
            if problem.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # some network drives
                raise
