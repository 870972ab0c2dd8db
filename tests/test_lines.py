"""Files of lines: appended whole by one process at a time, replaced whole, an unfinished line cut."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import ChameleonError, LogError
from chameleon.log import LineFile
from tests.e2e.commands import environment


def whole(file: LineFile) -> list[bytes]:
    return [line for _, line in file.whole_lines() if line.endswith(b"\n")]


contents = st.binary(max_size=6).map(lambda line: line.replace(b"\n", b""))


@given(st.lists(contents.map(lambda line: line + b"\n")), contents)
def test_lines_come_back_and_an_unfinished_one_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(b"".join(lines) + rest)
    file = LineFile(path)
    places = list(file.whole_lines())
    assert [line for _, line in places] == [*lines, *([rest] if rest else [])]
    assert all(path.read_bytes()[start:].startswith(line) for start, line in places if line.endswith(b"\n"))
    assert path.read_bytes() == b"".join(lines)
    start = file.append(b"new\n")
    assert path.read_bytes()[start:] == b"new\n" and whole(file) == [*lines, b"new\n"]
    file.close()


def test_many_threads_append_whole_lines(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "file")

    def write(name: int) -> None:
        for number in range(50):
            file.append(f"{name} {number} {'x' * 5000}\n".encode())

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [tuple(line.split()[:2]) for line in whole(file)]
    assert sorted(found) == sorted((str(a).encode(), str(b).encode()) for a in range(8) for b in range(50))
    file.close()


def test_lines_are_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = LineFile(path)
    file.append(b"old\n")
    file.rewrite([b"a\n", b"b\n"])
    file.append(b"c\n")
    assert path.read_bytes() == b"a\nb\nc\n" and [each.name for each in tmp_path.iterdir()] == ["file"]
    with pytest.raises(LogError, match="another run is writing to it"):
        LineFile(path)
    file.close()
    LineFile(path).close()


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "file", Path("/dev/null")):
        with pytest.raises(ChameleonError, match="cannot open the log: "):
            LineFile(place)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """A file that may not grow stands for a disk that is full."""
    code = """
import resource, signal, sys
from chameleon.errors import LogError
from chameleon.log import LineFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = LineFile(sys.argv[1], "event log", "Or elsewhere.")
try:
    while True:
        file.append(b"x" * 299 + b"\\n")
except LogError as error:
    print(error)
"""
    pytest.importorskip("resource")
    path = tmp_path / "file"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=environment(), check=True
    )
    assert (
        done.stdout == f"{path}: the event log cannot be written: File too large. Make room. Or elsewhere.\n"
    )
    assert path.read_bytes() == (b"x" * 299 + b"\n") * 3
