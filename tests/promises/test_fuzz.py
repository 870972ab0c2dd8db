"""No mutated input makes a reader hang, or raise what it does not document."""

from __future__ import annotations

import signal
from random import Random

import pytest

from tests.conftest import PROFILE
from tests.promises.fuzz_targets import TARGETS, written

CASES = {"modules": 15, "yaml": 15, "table_files": 40, "table_texts": 60}
OTHERS = 150
TIMES = 20 if PROFILE == "thorough" else 1
MAX_SECONDS = 5


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_a_finding(name: str) -> None:
    """An input is made from the target's name and its number, which a failure shows."""

    def ring(*_: object) -> None:
        pytest.fail(f"it took more than {MAX_SECONDS} s")

    before, target = signal.signal(signal.SIGALRM, ring), TARGETS[name]()
    try:
        for number in range(CASES.get(name, OTHERS) * TIMES):
            data = target.draw(Random(f"{name}:{number}"))
            signal.alarm(MAX_SECONDS)
            try:
                target.read(data)
            except target.errors:
                pass
            except BaseException as error:
                error.add_note(f"{name}:{number}: {written(data)[:2000]!r}")
                raise
            finally:
                signal.alarm(0)
    finally:
        signal.signal(signal.SIGALRM, before)
