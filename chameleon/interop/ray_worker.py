"""What runs on a machine of a cluster: an executor made by a recipe, and its runs, event by event."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from chameleon.errors import ChameleonError
from chameleon.executor import Executor
from chameleon.interop.ray_pool import Told
from chameleon.interop.recipe import executor_of, surroundings_of
from chameleon.log import event_from_json, event_to_json, json_line, read_line
from chameleon.state import Failure, RunStarted

_AT_ONCE_S = 0.02


class Worker:
    """Holds an executor and its runs under way, with each of which a call of `advance` goes on."""

    def __init__(self) -> None:
        self._runs: dict[str, Iterator[bytes]] = {}
        self._lock = threading.Lock()
        self._executor: Executor | None = None

    def begin(self, recipe: Mapping[str, object], variables: Mapping[str, str]) -> Told:
        """Make the executor; return its surroundings, with what keeps it from running here."""
        os.environ.update(variables)
        try:
            self._executor = executor_of(recipe)
            faults = [
                {"error": Failure.of(each.error).to_json(), "module": each.module, "stops": each.stops}
                for each in self._executor.inventory.obstacles()
            ]
            return {**surroundings_of(self._executor), "obstacles": faults}
        except ChameleonError as problem:
            return {"raised": Failure.of(problem).to_json()}

    def advance(self, run: str, log: Sequence[bytes] | None = None) -> Told:
        """Go on with a run, which `log` begins: to its next event, and to more if these come at once.

        Returns {"events": […]}, with "raised" for a failure, and with "ended" where the run is at its end, or
        waits for approval.
        """
        with self._lock:
            if log is not None:
                self._runs[run] = self._events(log)
            coming = self._runs.get(run, iter(()))
        until = time.monotonic() + _AT_ONCE_S
        events: list[bytes] = []
        told: Told = {"events": events}
        try:
            while not events or time.monotonic() < until:
                events.append(next(coming))
        except StopIteration:
            told["ended"] = True
        except ChameleonError as problem:
            told |= {"ended": True, "raised": Failure.of(problem).to_json()}
        if "ended" in told:
            self.drop(run)
        return told

    def drop(self, run: str) -> None:
        """Forget a run: no further step of it begins."""
        with self._lock:
            self._runs.pop(run, None)

    def _events(self, log: Sequence[bytes]) -> Iterator[bytes]:
        assert self._executor is not None
        before = [event_from_json(read_line(line)) for line in log]
        begun = next(event for event in before if isinstance(event, RunStarted))
        for event in self._executor.stream(begun.input, before):
            yield json_line(event_to_json(event))
