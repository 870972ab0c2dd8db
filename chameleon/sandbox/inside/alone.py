"""Run one program in a fresh, unsealed process: bounded in time and memory, contained by nothing."""

from __future__ import annotations

import json
import os
import sys
from typing import NoReturn

from . import libraries, program
from .program import BROKEN, EXHAUSTED, LENGTH, NONCE

_ROOM_FOR_LIBRARIES = 1 << 30


def main() -> NoReturn:
    """Run the program on stdin and write its frame; argv: folder of this package, options as JSON."""
    options = json.loads(sys.argv[2])
    answers, asked = os.dup(1), sys.stdin.buffer
    request = json.loads(asked.read(int.from_bytes(asked.read(LENGTH), "big")))
    nonce = asked.read(NONCE)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    code = BROKEN
    try:
        work: libraries.Work = program.run
        if "file" in request:
            work = libraries.work_of(request["file"])
        else:
            present = libraries.installed(options["libraries"])
            missing = [name for name in options["libraries"] if name not in present]
            libraries.announce([], missing)
        if os.name == "posix":
            from . import rlimits

            room = _ROOM_FOR_LIBRARIES + options["memory_bytes"]
            rlimits.bound(room, request["limits"]["cpu_s"], rlimits.address_space())
        data = work(request, sorted({sys.base_prefix, sys.prefix}, key=len, reverse=True)).encode()
        rest = memoryview(nonce + len(data).to_bytes(LENGTH, "big") + data)
        while rest:
            rest = rest[os.write(answers, rest) :]
        code = 0
    except MemoryError:
        code = EXHAUSTED
    finally:
        os._exit(code)
