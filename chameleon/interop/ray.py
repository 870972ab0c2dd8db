"""Run an inventory on the machines of a Ray cluster.

    from chameleon.interop.ray import OnRay, batch

    states = batch(Executor("tables", "openai:gpt-6-luna"), inputs, address="head:6379")

Here the log is written and money is counted; workers, made by names, send back one event after another. The
run of a worker that is lost goes on from its last event on another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Any, Self

from chameleon.approval import Request, answer_of
from chameleon.errors import ChameleonError, InputError, MachineError
from chameleon.executor import Executor, Input, OnText
from chameleon.interop.ray_pool import Lost, Pool, Slots, Told, connect
from chameleon.interop.ray_worker import Worker
from chameleon.interop.recipe import recipe_of, surroundings_of, variables_for
from chameleon.inventory.obstacles import Obstacle
from chameleon.log import EventLog, event_from_json, event_to_json, json_line, read_line
from chameleon.module import split_keys
from chameleon.state import Event, Failure, RunEnded, State
from chameleon.steps import Terms

_SAME_FILES = "Workers need the same files at the same paths, as on a disk that all share."


class OnRay(Executor):
    """An executor whose steps run on a Ray cluster: all methods are those of `Executor`.

    - `executor`: what is to run. Its inventory is a file's or a shipped one's, its model is named: workers
      make both anew. The variables of its model's provider, those that its modules name in `uses`, and
      Chameleon's own go along; others are what they are on the nodes.
    - `address`: of the cluster, as `ray.init` takes it; by default `RAY_ADDRESS`, the cluster that runs on
      this machine, or one that is begun here.
    - `runs`: how many runs there are at once, spread over as many workers as there are CPUs.

    Close it, or use it in `with`. Raises `MissingPackage`, `InputError` for a cluster that cannot be reached,
    and `InventoryError` or `ModelError` for what is made in Python; a run raises `MachineError` where no
    worker is there that can run it.
    """

    def __init__(self, executor: Executor, address: str | None = None, *, runs: int = 8) -> None:
        self.__dict__ |= vars(executor)
        self.runs = runs
        recipe = recipe_of(executor)
        self._ends_cluster = connect(address)
        uses = {name for each in self.inventory.present.values() for name in split_keys(each.uses)}
        here = surroundings_of(executor)
        gpus = 1 if "gpu" in uses else 0
        self._pool = Pool(Worker, recipe, variables_for(executor), here, runs, gpus=gpus)
        self._names = count()

    @property
    def count(self) -> int:
        """Return how many workers there are to be."""
        return self._pool.count

    @property
    def room(self) -> int:
        """Return how many runs each worker has at once."""
        return self._pool.room

    @property
    def surroundings(self) -> Told:
        """Return what runs depend on where they run: see `surroundings_of`. Waits for a first worker."""
        if not self._pool.accepted and (worker := self._pool.take()) is not None:
            self._pool.give_back(worker)
        return self._pool.accepted

    @property
    def resolved(self) -> Mapping[str, Any]:
        """Return what settings come to on the workers."""
        found: Mapping[str, Any] = self.surroundings["resolved"]
        return found

    def obstacles(self) -> list[Obstacle]:
        """Return what keeps the inventory from working on the workers."""
        return [
            Obstacle(each["module"], Failure(**each["error"]).exception, each["module"], each["stops"])
            for each in self.surroundings["obstacles"]
        ]

    def states(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        stop: threading.Event | None = None,
        on_text: OnText | None = None,
        within: Terms | None = None,
    ) -> Iterator[tuple[Event, State]]:
        """Yield each event of a run with the state that it leads to: see `Executor.states`."""
        if on_text is not None:
            raise InputError("texts are heard where they come, and this run is on other machines")
        keep = log.append if isinstance(log, EventLog) else None
        lines = [_line(event) for event in log]
        state, begun = self.begin(input, log)
        told: Iterator[Event] = iter([begun] if begun else ())
        worker, gone_on_at = None, 0
        while True:
            for event in told:
                state = state if event is begun else state.after(event)
                if keep is not None:
                    keep(event)
                lines.append(_line(event))
                yield event, state
            if state.ended is not None or (stop is not None and stop.is_set()):
                return
            if not state.waiting:
                if worker is not None and not worker.is_lost and gone_on_at == len(lines):
                    raise MachineError("a worker gave no event", where="Ray")
                if (worker := self._pool.take(stop)) is None:
                    return
                gone_on_at = len(lines)
                told = self._on(worker, lines, stop)
            elif (said := answer_of(self.approve, Request(state.waiting, state, self.inventory))) is None:
                return
            else:
                by = getattr(self.approve, "__name__", "")
                told = iter([state.answered("yes" if said else "no", by)])

    def _on(self, worker: Slots, lines: list[bytes], stop: threading.Event | None) -> Iterator[Event]:
        """Yield the events of a run on one worker, until its end, or until that worker is lost."""
        name, is_open = str(next(self._names)), True
        log: tuple[bytes, ...] | None = tuple(lines)
        try:
            with suppress(Lost):
                while is_open and (stop is None or not stop.is_set()):
                    said = self._pool.call(worker, "advance", name, log)
                    log, is_open = None, "ended" not in said
                    for line in said["events"]:
                        event = event_from_json(read_line(line))
                        is_open = is_open and not isinstance(event, RunEnded)
                        yield event
                    if "raised" in said:
                        raise _unable(Failure(**said["raised"]).exception)
        finally:
            if is_open and not worker.is_lost:
                self._pool.forget(worker, name)
            self._pool.give_back(worker)

    def close(self) -> None:
        """End the workers, and leave the cluster."""
        self._pool.close()
        if self._ends_cluster:
            import ray

            ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def batch(
    executor: Executor,
    inputs: Iterable[Input],
    *,
    address: str | None = None,
    workers: int = 8,
    raise_errors: bool = False,
) -> list[State]:
    """Run many inputs on a cluster, `workers` at once: see `Executor.batch` and `OnRay`."""
    with OnRay(executor, address, runs=workers) as remote:
        return remote.batch(inputs, workers, raise_errors=raise_errors)


def _line(event: Event) -> bytes:
    return json_line(event_to_json(event))


def _unable(error: ChameleonError) -> MachineError:
    """Return the error of a worker that cannot go on with a run."""
    return MachineError(f"a worker cannot go on: {error.what}", where=error.where, hint=_SAME_FILES)
