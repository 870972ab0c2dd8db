"""One sealed executor per test file; the tests that need it skip where it cannot run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chameleon.sandbox import ProgramExecutor, make_executor
from chameleon.sandbox.zygote import why_unusable
from tests.sandbox.conftest import LIMITS


@pytest.fixture(scope="module")
def sealed() -> Iterator[ProgramExecutor]:
    if reason := why_unusable():
        pytest.skip(reason)
    with make_executor("sealed", limits=LIMITS) as executor:
        yield executor
