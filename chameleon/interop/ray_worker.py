"""What runs on a machine of a cluster: an executor made by a recipe, and its runs, event by event."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence

from chameleon.errors import ChameleonError
from chameleon.executor import Executor
from chameleon.interop.ray_pool import Told
from chameleon.interop.recipe import executor_of, surroundings_of
from chameleon.log import event_from_json, event_to_json, json_line, read_line
from chameleon.state import Event, Failure, RunEnded, RunStarted


class Worker:
    """Holds an executor and its runs under way, with each of which a call of `advance` goes on."""

    def __init__(self) -> None:
        self._runs: dict[str, Iterator[Event]] = {}
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
        """Go on with a run, which `log` begins, to its next event: each is kept before more happens.

        Returns {"event": …}, {"raised": …} for a failure, and "ended" where the run is at its end, or waits
        for approval.
        """
        with self._lock:
            if log is not None:
                self._runs[run] = self._events(log)
            coming = self._runs.get(run, iter(()))
        told: Told = {}
        try:
            event = next(coming, None)
        except (Exception, KeyboardInterrupt) as problem:
            told = {"raised": Failure.of(problem).to_json()}
        else:
            if event is not None:
                told = {"event": json_line(event_to_json(event))}
        if "event" not in told or isinstance(event, RunEnded):
            told["ended"] = True
            self.drop(run)
        return told

    def drop(self, run: str) -> None:
        """Forget a run: no further step of it begins."""
        with self._lock:
            self._runs.pop(run, None)

    def _events(self, log: Sequence[bytes]) -> Iterator[Event]:
        assert self._executor is not None
        before = [event_from_json(read_line(line)) for line in log]
        begun = next(event for event in before if isinstance(event, RunStarted))
        yield from self._executor.stream(begun.input, before)
