"""Functions to be called in a process of its own: harmless ones, and what hostile files make of readers."""

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from chameleon.errors import Declined
from chameleon.sandbox.bounded import going_on


def echo(*arguments: Any) -> Iterator[Any]:
    yield from (value.decode("latin-1") if isinstance(value, bytes) else value for value in arguments)


def never() -> Iterator[int]:
    yield os.getpid()
    while True:
        pass


def slowly(count: int, seconds: float) -> Iterator[int]:
    for number in range(count):
        time.sleep(seconds)
        yield number


def goes_on() -> Iterator[int]:
    for _ in range(4):
        time.sleep(0.3)
        going_on()
    yield 1


def asks_for(seconds: float) -> Iterator[float]:
    """Say how long the next part may take, and take most of it."""
    going_on(seconds)
    time.sleep(0.8 * seconds)
    yield seconds


def takes(megabytes: int) -> Iterator[int]:
    yield len(bytearray(megabytes << 20))


def prints() -> Iterator[int]:
    print("hello")
    os.write(1, b"hello")
    print("hello", file=sys.stderr)
    yield sys.stdin.read() == ""


def raises(kind: str) -> Iterator[int]:
    yield 1
    if kind == "ours":
        raise Declined("not to be had", where="a.csv", hint="Do this.")
    raise KeyError("odd\n" * 200)


def dies(number: int) -> Iterator[int]:
    if number:
        os.kill(os.getpid(), number)
    ctypes.string_at(0)
    yield 1


def tells() -> Iterator[Any]:
    yield dict(os.environ)
    yield os.getpid()
