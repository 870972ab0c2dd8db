"""Runs `chameleon ARGUMENTS…` in processes forked from one that has loaded everything, and measures them."""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import psutil

from tests.e2e.commands import environment

SECONDS = 20.0
LOADED = """aiohttp lxml.html rich.traceback chameleon.llm.openai_chat chameleon.evaluation.run
    chameleon.cli.app chameleon.cli.asking chameleon.cli.checking chameleon.cli.evaluating
    chameleon.cli.index_command chameleon.cli.measuring chameleon.cli.reporting chameleon.documents
    chameleon.modules.vision chameleon.benchmarks.tabmwp chameleon.modules.offline.table_reader
    chameleon.modules.program.programs"""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
STREAMS = ((os.devnull, os.O_RDONLY), (".out", _NEW), (".err", _NEW))


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (-9: killed), output, seconds, and largest process in bytes."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    peak: int


class Forked:
    """The process that waits, until the end of the block."""

    def __enter__(self) -> Self:
        command, pipe = [sys.executable, "-m", "tests.promises.forked"], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(), text=True)
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, arguments: Sequence[str], folder: Path, changes: Mapping[str, str]) -> Ended:
        """Run a command in `folder`, which also gets its output; it is killed after `SECONDS`."""
        assert self._process.stdin and self._process.stdout
        order = {"arguments": ["chameleon", *arguments], "folder": str(folder), "env": environment(**changes)}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        out, err = ((folder / name).read_bytes() for name in (".out", ".err"))
        return Ended(told["code"], out, err, told["seconds"], told["peak"])


def serve() -> None:
    """Fork for each line of standard input; return in a process that is to run a command."""
    for module in LOADED.split():
        import_module(module)
    gc.freeze()
    orders, answers = os.fdopen(os.dup(0), "r"), os.dup(1)
    for line in orders:
        order = json.loads(line)
        begun = time.monotonic()
        if not (process := os.fork()):
            os.close(answers)
            os.chdir(order["folder"])
            for number, (name, mode) in enumerate(STREAMS):
                opened = os.open(name, mode, 0o600)
                os.dup2(opened, number)
                os.close(opened)
            os.environ.clear()
            os.environ.update(order["env"])
            sys.argv = order["arguments"]
            return
        peak, code = _wait(process, begun + SECONDS)
        told = {"code": code, "seconds": time.monotonic() - begun, "peak": peak}
        os.write(answers, f"{json.dumps(told)}\n".encode())
    os._exit(0)


def _wait(process: int, until: float) -> tuple[int, int]:
    """Return the largest resident set of a process and of those that it waited for, and its exit code."""
    while True:
        found, status, usage = os.wait4(process, os.WNOHANG)
        if found:
            return usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            family = [*psutil.Process(process).children(recursive=True), psutil.Process(process)]
            for each in family:
                each.kill()
            until += SECONDS
        time.sleep(0.005)


if __name__ == "__main__":
    serve()
    from chameleon.cli import main

    main()
