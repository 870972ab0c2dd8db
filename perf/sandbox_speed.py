"""How fast, how frugal and how punctual the executors for model-written programs are.

    python perf/sandbox_speed.py [--programs 300]

Runs the same programs, written for this file, in the sealed sandbox and in Monty. "std" programs need the
stdlib alone, "sci" ones numpy, pandas or sympy; "mix" is six std to one sci, as recorded programs are. Other
load on the machine shows in the figures; compare them with each other.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil

from chameleon.sandbox import ExecResult, Limits, Sandbox, make_sandbox

STD = [
    "price, count = 12.5, 4\ntotal = price * count\nans = round(total * 1.08, 2)",
    "import math\ndef area(r):\n    return math.pi * r ** 2\nans = area(3) - area(2)",
    "rows = [('a', 3), ('b', 5), ('c', 2)]\nans = max(rows, key=lambda row: row[1])[0]",
    "from datetime import date\nans = (date(2024, 5, 1) - date(2023, 5, 1)).days",
    "import numpy as np\nimport math\nans = sum(n for n in range(100) if n % 3 == 0)",
    "n = {}\nfor word in 'the cat and the dog'.split():\n    n[word] = n.get(word, 0) + 1\nans = n",
]
SCI = [
    "from sympy import Symbol, solve\nx = Symbol('x')\nans = solve(3 * x + 4 - 19, x)[0]",
    "import pandas as pd\nt = pd.DataFrame({'k': list('aab'), 'v': [1, 2, 5]})\nans = t.groupby('k').v.sum()",
    "import numpy as np\nans = float(np.mean(np.array([1, 4, 7])))",
]
MIX = [*STD, SCI[0], *STD, SCI[1], *STD, SCI[2]]
IDLE_SECONDS = 0.04


def run(executor: Sandbox, code: str) -> ExecResult:
    outcome = executor.run(code)
    if not outcome.ok:
        raise SystemExit(f"a program of this file failed: {outcome}")
    return outcome


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def idle(executor: Sandbox, programs: list[str], count: int) -> str:
    """Median and 95th percentile of a program that arrives when nothing else runs."""
    times = []
    for number in range(count):
        time.sleep(IDLE_SECONDS)
        times.append(milliseconds(lambda n=number: run(executor, programs[n % len(programs)])))
    return f"{statistics.median(times):6.1f} /{statistics.quantiles(times, n=20)[-1]:6.1f}"


def throughput(executor: Sandbox, programs: list[str], count: int, threads: int) -> float:
    """Programs per second, back to back, from as many threads as there are workers."""
    work = [programs[number % len(programs)] for number in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        spent = milliseconds(lambda: list(pool.map(lambda code: run(executor, code), work)))
    return count / spent * 1000


def overrun(executor: Sandbox, wall: float) -> float:
    """Seconds past the limit that the most stubborn of a few programs got."""
    stubborn = (
        "while True:\n    pass",
        "ans = 10 ** 10 ** 9",
        "import time\ntime.sleep(60)",
        "import numpy\nwhile True:\n    pass",
    )
    return max(milliseconds(lambda c=code: executor.run(c)) / 1000 - wall for code in stubborn)


def memory() -> float:
    """MiB of this process's children at rest, shared pages counted once among them."""
    time.sleep(0.5)
    children = psutil.Process().children(recursive=True)
    return sum(child.memory_full_info().pss for child in children if child.is_running()) / 2**20


@contextmanager
def started(kind: str, workers: int, limits: Limits = Limits(wall_s=5)) -> Iterator[Sandbox]:  # noqa: B008
    with make_sandbox(kind, limits=limits, workers=workers) as executor:  # type: ignore[arg-type]
        yield executor


def measure(kind: str, count: int) -> None:
    knows_libraries = kind != "monty"
    programs = MIX if knows_libraries else STD
    print(f"\n{kind}")
    begun = time.perf_counter()
    with started(kind, 1) as executor:
        run(executor, "ans = 1")
        print(f"  cold start std           {time.perf_counter() - begun:8.2f} s")
        print(f"  memory std               {memory():8.0f} MiB PSS")
        if knows_libraries:
            print(f"  first sci program        {milliseconds(lambda: run(executor, SCI[0])) / 1000:8.2f} s")
            print(f"  memory std and sci       {memory():8.0f} MiB PSS")
        print(f"  idle std p50 / p95       {idle(executor, STD, count // 3)} ms")
        if knows_libraries:
            print(f"  idle sci p50 / p95       {idle(executor, SCI, count // 3)} ms")
        print(f"  throughput, 1 worker     {throughput(executor, programs, count, 1):8.0f} /s")
    with started(kind, 2) as executor:
        throughput(executor, programs, min(count, 40), 2)
        print(f"  throughput, 2 workers    {throughput(executor, programs, count, 2):8.0f} /s")
    with started(kind, 1, Limits(wall_s=1)) as executor:
        executor.run("import numpy\nans = numpy.pi")
        print(f"  overrun past a 1 s limit {overrun(executor, 1.0):8.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=300, help="programs per figure")
    parser.add_argument("--kinds", nargs="*", default=["sealed", "monty"])
    options = parser.parse_args()
    for kind in options.kinds:
        measure(kind, options.programs)


if __name__ == "__main__":
    main()
