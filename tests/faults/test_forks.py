"""A process that is forked while its threads run questions answers, as under `gunicorn --preload`."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from chameleon import Executor, Table

GIVEN = {"question": "What is the total Price?", "table": Table(["Item", "Price"], [["a", "1"], ["b", "2"]])}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("is_new", [True, False])
def test_a_child_of_busy_threads_answers(is_new: bool) -> None:
    executor, is_over = Executor("tables_offline"), threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            executor.run(GIVEN)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(15):
        time.sleep(0.013)
        if not (child := os.fork()):
            signal.alarm(10)
            own = Executor("tables_offline") if is_new else executor
            os._exit(0 if own.run(GIVEN).answer == "3" else 3)
        codes.append(os.waitpid(child, 0)[1])
    is_over.set()
    for thread in threads:
        thread.join(10)
    assert codes == [0] * 15
