"""Fuzz what reads texts and files of strangers, with mutated examples: python -m tests.faults.fuzz [NAME …]

An input is made from its target's name and its number: `--start NUMBER --cases 1` makes it again. A finding
is an error that the target does not document, or more than 5 seconds; its input is saved. One that still
runs after a minute ends the process: it is the file NAME.now in the folder of findings.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, AnyStr

from chameleon.errors import ChameleonError

MOST_SECONDS, MOST_TO_HANG, MOST_MEMORY, LONGEST = 5.0, 60.0, 6 << 30, 100_000
TIMES = (1, 1, 1, 1, 2, 3, 60, 5000)
NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, 10**400, 10**5000, 0.1, -0.0, 1e308, float("nan"), float("inf"))


class TooSlow(BaseException):
    """An input took longer than any may."""


@dataclass(frozen=True)
class Target:
    """What is fuzzed: an input is drawn, then read, which may raise `errors` alone."""

    draw: Callable[[Random], Any]
    read: Callable[[Any], object]
    errors: tuple[type[BaseException], ...] = (ChameleonError,)


@dataclass
class Report:
    """What came of fuzzing one target; of each kind of finding, the number of the first and the traceback."""

    name: str
    tried: int = 0
    slowest: tuple[float, int] = (0.0, 0)
    kinds: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, number: int, error: BaseException) -> bool:
        """Count a finding, and tell whether it is the first of its kind: an error at a place of ours."""
        frames = traceback.extract_tb(error.__traceback__)
        last = next((each for each in reversed(frames) if "/chameleon/" in each.filename), frames[-1])
        place = f"{last.filename.rpartition('/chameleon/')[2]}:{last.lineno}"
        kind = f"{type(error).__name__} at {place}"
        self.kinds[kind] += 1
        self.first.setdefault(kind, (number, "".join(traceback.format_exception(error))))
        return self.kinds[kind] == 1

    def __str__(self) -> str:
        found = [f"\n  {kind}, {count}x, --start {self.first[kind][0]}" for kind, count in self.kinds.items()]
        told = f"{self.name}: {self.tried} inputs, {len(found)} findings, slowest {self.slowest[0]:.2f} s"
        return f"{told} (--start {self.slowest[1]}){''.join(found)}"


def mutated(random: Random, examples: Sequence[AnyStr], tokens: Sequence[AnyStr]) -> AnyStr:
    """Return an example with parts of it left out, repeated or replaced: by a token, or of another one."""
    text = random.choice(examples)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        start, end = sorted(random.randint(0, len(text)) for _ in range(2))
        end = random.choice((start, min(end, start + 8), end))
        other = random.choice(examples)
        begin = random.randint(0, len(other))
        piece = random.choice((random.choice(tokens), text[start:end], other[begin : begin + 40], text[:0]))
        text = (text[:start] + (piece * random.choice(TIMES))[:LONGEST] + text[end:])[:LONGEST]
    return text


def wild(random: Random, texts: Sequence[str], depth: int = 0) -> Any:
    """Return any value that JSON can hold, now and then one that it should not."""
    if random.random() < 0.01:
        levels = random.choice((50, 300, 700))
        return json.loads("[" * levels + "]" * levels)
    kind = random.randrange(4 if depth > 3 else 6)
    if kind == 0:
        return random.choice((None, True, False))
    if kind == 1:
        return random.choice(NUMBERS)
    if kind < 4:
        return random.choice(("", random.choice(texts), mutated(random, texts, TOKENS)))
    items = [wild(random, texts, depth + 1) for _ in range(random.randrange(4))]
    return items if kind == 4 else {random.choice(texts)[:50]: item for item in items}


def bent(random: Random, data: Any, texts: Sequence[str]) -> Any:
    """Return data with some of its parts left out or replaced by others."""
    if random.random() < 0.04:
        return wild(random, texts)
    if isinstance(data, dict):
        kept = ((key, value) for key, value in data.items() if random.random() > 0.03)
        return {key: bent(random, value, texts) for key, value in kept}
    if isinstance(data, list):
        return [bent(random, value, texts) for value in data]
    return data


def written(data: Any, write: Callable[[Any], str] = repr) -> bytes:
    """Return data as bytes, integers of any length among them."""
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return data if isinstance(data, bytes) else write(data).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b"[" * 5000
    finally:
        sys.set_int_max_str_digits(digits)


TOKENS = (
    *("[", "]", "{", "}", "(", ")", '"', "'", "`", "```", "\n", "\n\n", "\r", "\t", " ", ",", ":", "|", "->"),
    *("#", "%", "$", "-", "*", "\\", "/", "<", ">", "&", "=", ".", "1.", "0", "9", "1e999", "NaN", "null"),
    *("\0", "\x1b[31m", "\u202e", "\ud800", "\ufeff", "ß", "İ", "²", "½", "٣", "๓", "𝟘", "Ⅷ", "é", "中"),
    *("The answer is ", "Answer: ", "SELECT ", "f_row(", "row 1", "yes", "no", "and ", "\\boxed{", "&#0;"),
)


@contextmanager
def watched() -> Iterator[None]:
    """Raise `TooSlow` in what takes longer than it may; end the process where that is of no use."""

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    faulthandler.dump_traceback_later(MOST_TO_HANG, exit=True)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def fuzz(name: str, target: Target, folder: Path, numbers: Sequence[int], seconds: float) -> Report:
    """Try the inputs with these numbers, for at most so many seconds; save those that are findings."""
    report, end = Report(name), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() > end:
            break
        given = target.draw(Random(f"{name}:{number}"))
        now = folder / f"{name}.now"
        now.write_bytes(written(given))
        begun = time.perf_counter()
        try:
            with watched():
                target.read(given)
        except target.errors:
            pass
        except (Exception, TooSlow) as error:
            if report.add(number, error):
                (folder / f"{name}.{number}").write_bytes(written(given))
        report.tried += 1
        report.slowest = max(report.slowest, (time.perf_counter() - begun, number))
        now.unlink()
    return report


def main() -> int:
    from tests.faults.fuzz_targets import TARGETS

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TARGETS))
    options.add_argument("--seconds", type=float, default=600.0, help="for each target")
    options.add_argument("--start", type=int, default=0, help="the number of the first input")
    options.add_argument("--cases", type=int, default=10**9)
    options.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "findings")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    findings = 0
    for name in given.names or TARGETS:
        numbers = range(given.start, given.start + given.cases)
        report = fuzz(name, TARGETS[name](), given.out, numbers, given.seconds)
        print(report, flush=True)
        for number, told in report.first.values():
            print(f"--- {given.out / f'{name}.{number}'}\n{told[-2000:]}", flush=True)
        findings += len(report.kinds)
    return min(findings, 1)


if __name__ == "__main__":
    sys.exit(main())
