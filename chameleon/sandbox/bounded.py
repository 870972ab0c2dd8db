"""Call a function of ours in a process of its own, with bounds on memory and seconds: readers of files.

A file of a stranger may be made so that its reader never ends, or takes all memory. Here that ends a process
that nothing else rests on, and is told in one line. What is found comes back as JSON, part by part.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from chameleon import errors
from chameleon.errors import ChameleonError, InputError, MachineError, lack_of
from chameleon.text import known_secrets, one_line, redact


class Bounds(NamedTuple):
    """What one call may take: seconds until its next part, seconds in all, and bytes of memory.

    Seconds in which nobody waits for a part do not count. Memory is bounded where the system has RLIMIT_DATA,
    as Linux does.
    """

    part: float = 15.0
    total: float = 300.0
    memory: int = 1 << 30


BOUNDS = Bounds()
_START = 60.0  # seconds, which count for no call
_MEMORY, _OURS = "memory", "CHAMELEON_"
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from chameleon.sandbox.bounded import serve; serve(int(sys.argv[2]))"
)
_WATCH_SECONDS = 0.5
_HINT = "It may be damaged, or made to do harm: use a part of it, or save it anew from its source."


def called(
    function: Callable[..., Iterator[Any]],
    *arguments: Any,
    name: str,
    data: bytes | None = None,
    bounds: Bounds = BOUNDS,
) -> Iterator[Any]:
    """Yield what a function of a module yields, called in a process of its own.

    Its arguments and what it yields are JSON; `data` is its first argument, unless it is None. `name` is what
    errors call the file. Raises the `ChameleonError` that the function raises, and `InputError` when it takes
    more than `bounds` or fails in any other way.
    """
    request = {
        "module": function.__module__,
        "function": function.__name__,
        "arguments": arguments,
        "size": None if data is None else len(data),
        "settings": {name: value for name, value in _environment().items() if name.startswith(_OURS)},
    }
    worker, parts = _take(bounds.memory), 0
    while True:
        try:
            for part in worker.ask(request, data or b"", name, bounds):
                parts += 1
                yield part
        except _OutOfMemory:
            worker.end()
            if worker.calls == 1 or parts:
                raise _too_much(f"{bounds.memory >> 20:,} MB of memory", name) from None
            worker = _Worker(bounds.memory)  # files before this one may have left too little
        except ChameleonError:  # told by the process, which can go on, or of one that has ended
            _resting.append(worker)
            raise
        except BaseException:
            worker.end()
            raise
        else:
            _resting.append(worker)
            return


def _too_much(what: str, name: str) -> InputError:
    return InputError(f"reading it takes more than {what}", where=name, hint=_HINT)


class _OutOfMemory(Exception):
    """The process had no memory left."""


class _Worker:
    """A process that calls one function at a time."""

    def __init__(self, memory: int) -> None:
        self.calls, self.memory, self._owner = 0, memory, os.getpid()
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _BOOT, json.dumps(sys.path), str(memory)],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for its parent
            )
        except OSError as problem:
            what = f"no process can be started to read files: {problem.strerror}"
            raise lack_of(problem) or MachineError(what, hint="Close other programs.") from problem
        assert self._process.stdin and self._process.stdout
        self._asking, self._answering = self._process.stdin, self._process.stdout

    @property
    def is_ready(self) -> bool:
        """Whether it waits for a call of this process."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], data: bytes, name: str, bounds: Bounds) -> Iterator[Any]:
        if not self.calls:
            self._message(name, _START)
        self.calls += 1
        left, seconds = bounds.total, bounds.part
        with suppress(OSError):  # one that has died is told below
            _send(self._asking, request, data)
        while True:
            begun = time.monotonic()
            answer = self._message(name, min(seconds, left))
            left, seconds = left - (time.monotonic() - begun), answer.get("going_on") or bounds.part
            if "part" in answer:
                yield answer["part"]
            elif "going_on" in answer:
                continue
            elif "error" not in answer:
                return
            elif answer["error"] == _MEMORY:
                raise _OutOfMemory
            else:
                kind, what, where, hint = answer["error"]
                raise getattr(errors, kind, InputError)(what, where=where or name, hint=hint)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        for pipe in (self._asking, self._answering):
            with suppress(OSError):
                pipe.close()

    def _message(self, name: str, seconds: float) -> dict[str, Any]:
        """Return the next message. Raises `InputError` where none comes in time."""
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        timer = threading.Timer(max(seconds, 0), end)
        timer.daemon = True
        timer.start()
        try:
            found: dict[str, Any] | None = _receive(self._answering)
        finally:
            timer.cancel()
        if found is not None:
            return found
        ended = self._process.wait()
        if is_late.is_set():
            raise _too_much(f"{seconds:.0f} seconds", name)
        if ended in (-6, -9):  # it had no memory left, and gave up or was ended by the system
            raise _OutOfMemory
        raise InputError("its reader has crashed over it", where=name, hint=_HINT)


_resting: list[_Worker] = []
_lock = threading.Lock()


def _environment() -> dict[str, str]:
    """Return the environment without secrets."""
    secrets = set(known_secrets())
    return {key: value for key, value in os.environ.items() if value not in secrets}


def _take(memory: int) -> _Worker:
    """Return a process that rests, else a new one."""
    with _lock:
        for worker in [each for each in _resting if each.memory == memory]:
            _resting.remove(worker)
            if worker.is_ready:
                return worker
            worker.end()
    return _Worker(memory)


@atexit.register
def end_all() -> None:
    """End the processes that rest."""
    with _lock:
        while _resting:
            _resting.pop().end()


def _send(pipe: IO[bytes], message: Mapping[str, Any], data: bytes = b"") -> None:
    """Write a message as a line of JSON, and data after it."""
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """Return the next message; None where the other end has gone."""
    line = pipe.readline()
    return json.loads(line) if line.endswith(b"\n") else None


_answers: IO[bytes] | None = None  # in the process that is called


def going_on(seconds: float = 0.0) -> None:
    """Say that a part is still to come, as after each page: its seconds begin anew, or are so many."""
    if _answers is not None:
        _send(_answers, {"going_on": seconds})


def serve(memory: int) -> NoReturn:
    """Answer calls until nobody asks any more, with so many bytes more than this process has."""
    global _answers  # noqa: PLW0603
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _answers = answers
    for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY)):  # what a library prints is no answer
        os.dup2(os.open(os.devnull, mode), number)
    with suppress(ImportError, ValueError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])
        most = pages * os.sysconf("SC_PAGE_SIZE") + memory
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    _send(answers, {})
    while (request := _receive(calls)) is not None:
        data = [] if request["size"] is None else [calls.read(request["size"])]
        for name in [each for each in os.environ if each.startswith(_OURS)]:
            del os.environ[name]
        os.environ.update(request["settings"])
        _answer(answers, request, [*data, *request["arguments"]])
    sys.exit()


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent, however that ended: a file may take minutes to read.

    The death signal of prctl(2) would be sent when the thread that started this process ends.
    """
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _answer(answers: IO[bytes], request: Mapping[str, Any], arguments: list[Any]) -> None:
    try:
        for part in getattr(import_module(request["module"]), request["function"])(*arguments):
            _send(answers, {"part": part})
        last: dict[str, Any] = {}
    except ChameleonError as problem:
        last = {"error": [type(problem).__name__, problem.what, problem.where, problem.hint]}
    except MemoryError:
        last = {"error": _MEMORY}
    except Exception as problem:  # whatever a library raises of a damaged file
        lines = str(problem).strip().splitlines()
        told = lines[-1] if "Traceback" in str(problem) else " ".join(lines)
        said = one_line(redact(f"{type(problem).__name__}: {told}"), 200)
        why = lack_of(problem) or InputError(f"cannot be read ({said})", hint=_HINT)
        last = {"error": [type(why).__name__, why.what, "", why.hint]}
    _send(answers, last)
