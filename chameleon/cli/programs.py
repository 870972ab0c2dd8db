"""`chameleon sandbox`: run one program, and show its result and which guarantees are active."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from chameleon.cli.given import read_file
from chameleon.cli.out import echo, echo_json
from chameleon.errors import InputError
from chameleon.figures import in_time
from chameleon.sandbox import Limits, make_sandbox
from chameleon.sandbox.choose import Kind
from chameleon.text import harmless


def run_file(file: Path, *, result: str, timeout: float, kind: Kind, as_json: bool) -> int:
    """Run the program; return 0 if it gave an answer, else 1."""
    limits = Limits(wall_s=timeout, cpu_s=timeout)
    try:
        code = read_file(str(file), limits.source_kb * 1024).decode()
    except UnicodeDecodeError as problem:
        what = f"the program is not UTF-8 text (byte {problem.start})"
        raise InputError(what, where=str(file)) from problem
    with make_sandbox(kind, limits=limits) as sandbox:
        outcome = sandbox.run(code, result=result)
        guarantees = sandbox.guarantees()
    if as_json:
        echo_json(asdict(outcome) | {"guarantees": [asdict(layer) for layer in guarantees.layers]})
        return 0 if outcome.ok else 1
    for line in outcome.stdout.splitlines():
        echo(f"  | {harmless(line)}")
    if outcome.ok:
        took = in_time(outcome.wall_ms / 1000)
        echo(f"{result} = {harmless(repr(outcome.value))}  ({outcome.value_type}, {took})")
    else:
        line = f", line {outcome.line}" if outcome.line else ""
        parts = (outcome.status, f"{outcome.error_type}{line}", outcome.message)
        echo(harmless(": ".join(filter(None, parts))))
    echo(f"Guarantees of {guarantees}")
    return 0 if outcome.ok else 1
