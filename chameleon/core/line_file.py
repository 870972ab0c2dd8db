"""Files of whole lines: appended from several threads, by one process at a time."""

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


def private(path: str, flags: int) -> int:
    """Open a file as `open` has it (its `opener`); one that is made is for its owner alone."""
    return os.open(path, flags, 0o600)


class LineFile:
    """Append whole lines from several threads, one process at a time.

    Every line is handed to the operating system at once, so that a killed process loses none. Raises
    `LogError` when another run has the file open, `InputError` for what is no regular file. `what` names the
    file in errors; `hint` says what to do when it cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], what: str = "log", hint: str = "") -> None:
        self.path, self.what, self.hint = Path(path), what, hint
        self._lock = threading.RLock()
        self._file = self._opened()

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every whole line with the place where it starts; what follows the last of them is cut off.

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
            self.cut(end)
        except OSError as problem:
            raise self._unusable("read", problem) from problem

    def append(self, line: bytes) -> int:
        """Write one line, and return the place where it starts.

        Raises `LogError` when the disk takes no more; the file then ends with the line before. Raises it too
        when the file was deleted: what is written then is kept nowhere.
        """
        with self._lock:
            file = self._file.fileno()
            found = os.fstat(file)
            if found.st_nlink == 0:
                raise self._unwritten("the file was deleted")
            start = found.st_size
            try:
                while (written := os.write(file, line)) < len(line):
                    line = line[written:]
            except OSError as problem:
                self.cut(start)
                raise self._unwritten(problem.strerror, f"Make room. {self.hint}".strip()) from problem
            return start

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        with self._lock:
            return os.fstat(self._file.fileno()).st_size

    @property
    def is_in_place(self) -> bool:
        """Return whether the file still lies where it was opened."""
        try:
            with self._lock:
                return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except OSError:
            return False

    def cut(self, start: int) -> None:
        """Drop the line that starts there, and all after it."""
        with self._lock:
            self._file.truncate(start)

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Put these lines in the place of all that is there; a crash leaves the old lines or the new ones."""
        beside = self.path.with_name(f"{self.path.name}.new")
        with self._lock:
            try:
                with open(beside, "wb", opener=private) as file:
                    file.writelines(lines)
                beside.replace(self.path)
            except OSError as problem:
                raise self._unwritten(problem.strerror) from problem
            self._file.close()
            self._file = self._opened()

    def close(self) -> None:
        """Let other processes open the file."""
        self._file.close()

    def _opened(self) -> FileIO:
        """Open the file to read and to append; keep other processes out of it, where the system can."""
        try:
            if self.path.exists() and not self.path.is_file():  # a device or a pipe may never end
                what = f"cannot open the {self.what}: it is not a regular file"
                raise InputError(what, where=str(self.path))
            file = FileIO(self.path, "a+b", opener=private)
        except OSError as problem:
            raise self._unusable("open", problem) from problem
        try:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            file.close()
            hint = f"Wait for it, or close it there. {self.hint}".strip()
            raise LogError("another run is writing to it", where=str(self.path), hint=hint) from problem
        except OSError as problem:
            if problem.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # some network drives
                file.close()
                raise self._unusable("lock", problem) from problem
        return file

    def _unwritten(self, why: str | None, hint: str = "") -> LogError:
        return LogError(f"the {self.what} cannot be written: {why}", where=str(self.path), hint=hint)

    def _unusable(self, done: str, problem: OSError) -> InputError:
        return InputError(f"cannot {done} the {self.what}: {problem.strerror}", where=str(self.path))
