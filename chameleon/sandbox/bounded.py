"""Call one of our functions in its own process, with limits on memory and time: readers of files.

A stranger's file may be made so that its reader never ends or takes all memory. That then ends only a process
that nothing else depends on, and becomes a one-line error. Results come back as JSON, part by part.
"""

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
    """Limits of one call: seconds until its next part, seconds in total, and bytes of memory.

    Seconds in which nobody waits for a part do not count. Memory is limited on systems with RLIMIT_DATA, such
    as Linux.
    """

    part: float = 15.0
    total: float = 300.0
    memory: int = 1 << 30


BOUNDS = Bounds()
_START_SECONDS = 60.0  # seconds to start, not counted for any call
_MEMORY, _PREFIX = "memory", "CHAMELEON_"
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from chameleon.sandbox.bounded import serve; serve(int(sys.argv[2]))"
)
_WATCH_SECONDS = 0.5
_HINT = "It may be damaged or malicious: use part of it, or save it again from its source."


def called(
    function: Callable[..., Iterator[Any]],
    *arguments: Any,
    name: str,
    data: bytes | None = None,
    bounds: Bounds = BOUNDS,
) -> Iterator[Any]:
    """Yield the results of a module's function, called in its own process.

    Args:
        function: called by its name and module; its arguments and results are JSON.
        name: the file's name in errors.
        data: the function's first argument, unless it is None.

    Raises:
        ChameleonError: as the function raises it.
        InputError: if it exceeds `bounds`, or fails in any other way.
    """
    request = {
        "module": function.__module__,
        "function": function.__name__,
        "arguments": arguments,
        "size": None if data is None else len(data),
        "settings": {name: value for name, value in _environment().items() if name.startswith(_PREFIX)},
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
            worker = _Worker(bounds.memory)  # earlier files may have left too little
        except ChameleonError:  # the process reported it and can continue, or it has ended
            _idle.append(worker)
            raise
        except BaseException:
            worker.end()
            raise
        else:
            _idle.append(worker)
            return


def _too_much(what: str, name: str) -> InputError:
    return InputError(f"reading it takes more than {what}", where=name, hint=_HINT)


class _OutOfMemory(Exception):
    """The process ran out of memory."""


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
                start_new_session=True,  # Ctrl-C must reach only its parent
            )
        except OSError as problem:
            what = f"cannot start a process to read files: {problem.strerror}"
            raise lack_of(problem) or MachineError(what, hint="Close other programs.") from problem
        assert self._process.stdin and self._process.stdout
        self._asking, self._answering = self._process.stdin, self._process.stdout

    @property
    def is_ready(self) -> bool:
        """Return whether it waits for a call from this process."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], data: bytes, name: str, bounds: Bounds) -> Iterator[Any]:
        if not self.calls:
            self._message(name, _START_SECONDS)
        self.calls += 1
        left, seconds = bounds.total, bounds.part
        with suppress(OSError):  # a dead process is reported below
            _send(self._asking, request, data)
        while True:
            start = time.monotonic()
            answer = self._message(name, min(seconds, left))
            left, seconds = left - (time.monotonic() - start), answer.get("going_on") or bounds.part
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
        """Kill the process."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        for pipe in (self._asking, self._answering):
            with suppress(OSError):
                pipe.close()

    def _message(self, name: str, seconds: float) -> dict[str, Any]:
        """Return the next message. Raises `InputError` if none comes in time."""
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        timer = threading.Timer(max(seconds, 0), end)
        timer.daemon = True
        timer.start()
        try:
            message: dict[str, Any] | None = _receive(self._answering)
        finally:
            timer.cancel()
        if message is not None:
            return message
        ended = self._process.wait()
        if is_late.is_set():
            raise _too_much(f"{seconds:.0f} seconds", name)
        if ended in (-6, -9):  # it ran out of memory and aborted, or the system killed it
            raise _OutOfMemory
        raise InputError("its reader crashed", where=name, hint=_HINT)


_idle: list[_Worker] = []
_lock = threading.Lock()


def _environment() -> dict[str, str]:
    """Return the environment without secrets."""
    secrets = set(known_secrets())
    return {key: value for key, value in os.environ.items() if value not in secrets}


def _take(memory: int) -> _Worker:
    """Return an idle process, else a new one."""
    with _lock:
        for worker in [each for each in _idle if each.memory == memory]:
            _idle.remove(worker)
            if worker.is_ready:
                return worker
            worker.end()
    return _Worker(memory)


@atexit.register
def end_all() -> None:
    """Kill the idle processes."""
    with _lock:
        while _idle:
            _idle.pop().end()


def _send(pipe: IO[bytes], message: Mapping[str, Any], data: bytes = b"") -> None:
    """Write a message as a line of JSON, followed by data."""
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """Return the next message, or None if the other end is closed."""
    line = pipe.readline()
    return json.loads(line) if line.endswith(b"\n") else None


_answers: IO[bytes] | None = None  # in the called process


def going_on(seconds: float = 0.0) -> None:
    """Report progress before the next part, such as a page: its time limit restarts, or becomes `seconds`."""
    if _answers is not None:
        _send(_answers, {"going_on": seconds})


def serve(memory: int) -> NoReturn:
    """Answer calls until the pipe closes, with `memory` bytes more than this process now has."""
    global _answers  # noqa: PLW0603
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _answers = answers
    for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY)):  # a library's prints must not mix with answers
        os.dup2(os.open(os.devnull, mode), number)
    with suppress(ImportError, ValueError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])  # data and stack: proc(5)
        limit = pages * os.sysconf("SC_PAGE_SIZE") + memory
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    _send(answers, {})
    while (request := _receive(calls)) is not None:
        data = [] if request["size"] is None else [calls.read(request["size"])]
        for name in [each for each in os.environ if each.startswith(_PREFIX)]:
            del os.environ[name]
        os.environ.update(request["settings"])
        _answer(answers, request, [*data, *request["arguments"]])
    sys.exit()


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent, however the parent ended: a file may take minutes to read.

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
    except Exception as problem:  # a library may raise anything for a damaged file
        lines = str(problem).strip().splitlines()
        message = lines[-1] if "Traceback" in str(problem) else " ".join(lines)
        detail = one_line(redact(f"{type(problem).__name__}: {message}"), 200)
        why = lack_of(problem) or InputError(f"cannot be read ({detail})", hint=_HINT)
        last = {"error": [type(why).__name__, why.what, "", why.hint]}
    _send(answers, last)
