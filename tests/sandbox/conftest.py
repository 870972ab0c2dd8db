"""One sealed executor per test file; the tests that need it skip where it cannot run."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import localcontext
from pathlib import Path
from typing import Any

import pytest

from chameleon.sandbox import Limits, ProgramExecutor, make_executor
from chameleon.sandbox.zygote import why_unusable
from tests.sandbox.processes import know_strangers

LIMITS = Limits(wall_s=1.5, cpu_s=2, memory_mb=256)


@pytest.fixture(scope="module")
def sealed() -> Iterator[ProgramExecutor]:
    if reason := why_unusable():
        pytest.skip(reason)
    with make_executor("sealed", limits=LIMITS) as executor:
        yield executor


@pytest.fixture(scope="module", autouse=True)
def _know_strangers() -> None:
    know_strangers()


def each_program(*kinds: str) -> pytest.MarkDecorator:
    """Run a test with every program of `programs/<kind>.txt`, where a line of three dashes parts them.

    "@" stands for the canary folder, "@port" for the canary listener's port.
    """
    folder = Path(__file__).with_name("programs")
    cases = [
        pytest.param(code, id=f"{kind}-{number}")
        for kind in kinds
        for number, code in enumerate((folder / f"{kind}.txt").read_text("utf-8").split("\n---\n"), start=1)
    ]
    return pytest.mark.parametrize("code", cases)


def in_plain_python(code: str) -> Any:
    """What a harmless program leaves in `ans` in this process, whose decimal context it may have changed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with localcontext():
        exec(code, namespace)
    return namespace["ans"]
