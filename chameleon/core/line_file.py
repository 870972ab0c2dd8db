"""Files of whole lines, appended to by several threads of one process at a time."""

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
    """Open a file, as an `opener` for `open`; a new file is readable only by its owner."""
    return os.open(path, flags, 0o600)


class LineFile:
    """Append whole lines from several threads, one process at a time.

    Every line is handed to the operating system at once, so a killed process loses none. Raises `LogError`
    if another run has the file open, `InputError` if it is not a regular file.

    Args:
        what: names the file in errors.
        hint: what to do when it cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], what: str = "log", hint: str = "") -> None:
        self.path, self.what, self.hint = Path(path), what, hint
        self._lock = threading.RLock()  # reentrant: `append` holds it when it calls `cut`
        self._file = self._open()

    def whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every whole line with the offset where it starts, then cut off an unfinished last line.

        The unfinished line is yielded too, without a line feed, before it is cut off: raise an exception to
        keep it.
        """
        end = 0
        try:
            with self.path.open("rb") as lines:
                for line in lines:
                    yield end, line
                    if line.endswith(b"\n"):
                        end += len(line)  # bytes, so that `end` is an offset in the file
            self.cut(end)
        except OSError as problem:
            raise self._file_error("read", problem) from problem

    def append(self, line: bytes) -> int:
        """Write one line and return the offset where it starts.

        Raises `LogError` if the disk is full, and the file then ends with the previous line. Raises it too
        if the file was deleted, because anything written after that is lost.
        """
        with self._lock:
            file = self._file.fileno()
            info = os.fstat(file)
            if info.st_nlink == 0:  # no path leads to the open file any more
                raise self._write_error("the file was deleted")
            start = info.st_size
            try:
                while (count := os.write(file, line)) < len(line):  # it may write only a part
                    line = line[count:]
            except OSError as problem:
                self.cut(start)
                raise self._write_error(problem.strerror, f"Make room. {self.hint}".strip()) from problem
            return start

    @property
    def size(self) -> int:
        """Return the size of the file in bytes."""
        with self._lock:
            return os.fstat(self._file.fileno()).st_size

    @property
    def is_in_place(self) -> bool:
        """Return whether the path still names the file that is open."""
        try:
            with self._lock:
                return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except OSError:
            return False

    def cut(self, start: int) -> None:
        """Drop the line that starts at this offset and everything after it."""
        with self._lock:
            self._file.truncate(start)

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace the contents with these lines; a crash leaves either the old lines or the new ones."""
        new = self.path.with_name(f"{self.path.name}.new")
        with self._lock:
            try:
                with open(new, "wb", opener=private) as file:
                    file.writelines(lines)
                new.replace(self.path)  # atomic
            except OSError as problem:
                raise self._write_error(problem.strerror) from problem
            self._file.close()
            self._file = self._open()

    def close(self) -> None:
        """Let other processes open the file."""
        self._file.close()

    def _open(self) -> FileIO:
        """Open the file to read and append, locking out other processes where the system supports it."""
        try:
            if self.path.exists() and not self.path.is_file():  # a device or a pipe may never end
                what = f"cannot open the {self.what}: it is not a regular file"
                raise InputError(what, where=str(self.path))
            file = FileIO(self.path, "a+b", opener=private)
        except OSError as problem:
            raise self._file_error("open", problem) from problem
        try:
            if sys.platform != "win32":
                # The system releases the lock when the file is closed, even if this process is killed.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            file.close()
            hint = f"Wait for it, or close it there. {self.hint}".strip()
            raise LogError("another run is writing to it", where=str(self.path), hint=hint) from problem
        except OSError as problem:
            if problem.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # some network drives
                file.close()
                raise self._file_error("lock", problem) from problem
        return file

    def _write_error(self, why: str | None, hint: str = "") -> LogError:
        return LogError(f"the {self.what} cannot be written: {why}", where=str(self.path), hint=hint)

    def _file_error(self, verb: str, problem: OSError) -> InputError:
        return InputError(f"cannot {verb} the {self.what}: {problem.strerror}", where=str(self.path))
