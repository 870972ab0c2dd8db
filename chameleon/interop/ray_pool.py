"""The workers of a Ray cluster: taken in where they fit, handed out one run at a time, replaced when lost."""

from __future__ import annotations

import logging
import math
import os
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from chameleon.errors import ChameleonError, InputError, MachineError, require
from chameleon.evaluation.settings import settings_diff
from chameleon.state import Failure
from chameleon.text import one_line, redact

_PATIENCE_S = 60.0  # how long it waits for a worker without a word
_LOOK_S = 0.1
_REACHED_S = 10.0
MOST_LOST = 3
"""How many workers may be lost at one step, or with one file, until that is what fails."""
SAME_FILES = "Workers need the same files at the same paths, as on a disk that all share."
_log = logging.getLogger("chameleon")
Told = dict[str, Any]
"""JSON that a worker tells."""


class Lost(Exception):
    """A worker is gone, with the node that it was on or alone."""


def _running_here() -> str | None:
    """Return the address of the cluster that Ray notes as running on this machine, if it answers."""
    noted = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / "ray" / "ray_current_cluster"
    with suppress(OSError):
        address = noted.read_text("utf-8").strip()
        _look_for(address)
        return address or None
    return None


def _look_for(address: str) -> None:
    """Raise OSError where nothing listens at HOST:PORT: Ray itself would wait for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_S).close()


@dataclass
class Slots:
    """One worker, and how many runs it has room for."""

    actor: Any
    beginning: Any
    room: int
    known: Told = field(default_factory=dict)
    is_lost: bool = False


def connect(address: str | None) -> bool:
    """Connect to the cluster at an address, to that of `RAY_ADDRESS` or of this machine, or begin one here.

    Returns whether it was this call that did; the process may be connected already. Raises `MissingPackage`
    and `InputError` for a cluster that cannot be reached.
    """
    require("ray", "running on Ray", "ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if "RAY_AUTH_TOKEN" in os.environ or Path("~/.ray/auth_token").expanduser().exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # which a cluster without one takes as well
    import ray

    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    found = address or os.environ.get("RAY_ADDRESS") or _running_here()
    try:
        if found is not None:
            _look_for(found)
            ray.init(address=found, **quiet)
        else:
            ray.init(address="local", include_dashboard=False, **quiet)
        with suppress(ImportError, AttributeError):  # Ray writes pages of a lost node; we a line
            from ray._private import worker

            worker.print_to_stdstream = lambda *_, **__: None
    except Exception as problem:  # Ray has no class of its own for it
        told = one_line(redact(str(problem)), 300)
        hint = (
            "Begin one with Ray's own command, and name its head as HOST:PORT; where it asks for a token, "
            "~/.ray/auth_token is to be the same on all machines."
        )
        where = redact(found or "Ray")
        raise InputError(f"the cluster cannot be reached: {told}", where=where, hint=hint) from None
    return True


class OnCluster:
    """Something that has workers on a cluster; close it, or use it in `with`."""

    pool: Pool
    ends_cluster: bool

    @property
    def count(self) -> int:
        """Return how many workers there are to be."""
        return self.pool.count

    def close(self) -> None:
        """End the workers, and leave the cluster."""
        self.pool.close()
        if self.ends_cluster:
            import ray

            ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool:
    """Workers of a kind, made by one recipe, for at most `runs` runs at once; by default one for each CPU.

    A worker whose versions, files or model differ from `here`, or for which settings come to something else
    than for the first one, is refused. `gpus` is what each asks for where the cluster has any.
    """

    def __init__(
        self,
        kind: type[Any],
        recipe: Mapping[str, Any],
        variables: Mapping[str, str],
        here: Mapping[str, Any],
        runs: int | None = None,
        *,
        gpus: float = 0,
    ) -> None:
        import ray

        self._ray: Any = ray
        self._kind = kind
        self._recipe, self._variables, self._here = recipe, variables, here
        there = self.resources()
        self._gpus = gpus if there.get("GPU", 0) >= gpus else 0
        room = min(there.get("CPU", 1), there["GPU"] / self._gpus if self._gpus else math.inf)
        self.count = max(1, int(room if runs is None else min(runs, room)))
        self.room = 1 if runs is None else math.ceil(runs / self.count)
        self._changed = threading.Condition()
        self._idle: deque[Slots] = deque()
        self._workers: list[Slots] = []
        self._since, self._died = time.monotonic(), 0
        self._refusal: ChameleonError | None = None
        self.accepted: Told = {}
        for _ in range(self.count):
            self._make()

    def resources(self) -> Mapping[str, float]:
        """Return what the cluster has in all, by "CPU" and "GPU"."""
        found: Mapping[str, float] = self._ray.cluster_resources()
        return found

    def _make(self) -> None:
        remote = self._ray.remote(self._kind).options(
            num_cpus=1, num_gpus=self._gpus, max_restarts=0, max_concurrency=self.room + 1
        )
        actor: Any = remote.remote()
        self._workers.append(Slots(actor, actor.begin.remote(self._recipe, self._variables), self.room))

    def take(self, stop: threading.Event | None = None) -> Slots | None:
        """Return a worker that has room, once there is one; None where it is stopped before.

        Raises what keeps all workers from running, and `MachineError` where none comes.
        """
        with self._changed:
            while stop is None or not stop.is_set():
                self._look()
                if self._idle:
                    return self._idle.popleft()
                self._require_any()
                self._changed.wait(_LOOK_S)
        return None

    def give_back(self, worker: Slots) -> None:
        """Make room for another run; a worker that was lost is replaced."""
        with self._changed:
            if not worker.is_lost:
                self._idle.append(worker)
            self._changed.notify()

    def lost(self, worker: Slots) -> None:
        """Take a worker out, and ask for another in its place."""
        with self._changed:
            if not worker.is_lost:
                worker.is_lost = True
                self._workers.remove(worker)
                self._idle = deque(each for each in self._idle if each is not worker)
                self._since = time.monotonic()
                _log.warning("a worker was lost: its runs go on elsewhere")
                self._make()

    def call(self, worker: Slots, method: str, *given: Any) -> Told:
        """Call a method of a worker. Raises `Lost` where it is gone."""
        try:
            told: Told = self._ray.get(getattr(worker.actor, method).remote(*given))
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as problem:
            self.lost(worker)
            raise Lost from problem
        return told

    def forget(self, worker: Slots, run: str) -> None:
        """Have a worker begin no further step of a run."""
        worker.actor.drop.remote(run)

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            for worker in self._workers:
                self._ray.kill(worker.actor)
            self._workers.clear()

    def _look(self) -> None:
        """Take in the workers that have begun."""
        beginning = {worker.beginning: worker for worker in self._workers if not worker.known}
        if not beginning:
            return
        ready, _ = self._ray.wait(list(beginning), num_returns=len(beginning), timeout=0)
        for ref in ready:
            self._admit(beginning[ref])

    def _admit(self, worker: Slots) -> None:
        try:
            told: Told = self._ray.get(worker.beginning)
            refusal = self._refused(told)
        except self._ray.exceptions.RayError as problem:
            self._workers.remove(worker)
            self._died += 1
            said = one_line(redact(str(problem)), 400)
            self._refusal = MachineError(f"a worker ended before it had begun: {said}", where="Ray")
            if self._died <= MOST_LOST * self.count:
                self._make()
            return
        if refusal is not None:
            self._workers.remove(worker)
            self._refusal = refusal
            self._ray.kill(worker.actor)
            _log.warning("a worker is refused: %s", refusal)
            return
        worker.known = self.accepted = self.accepted or told
        self._idle.extend([worker] * worker.room)

    def _refused(self, told: Told) -> ChameleonError | None:
        """Return why a worker may not run, None where it may."""
        if "raised" in told:
            failure = Failure(**told["raised"]).exception
            return MachineError(
                f"a worker cannot run this: {failure.what}", where=failure.where, hint=failure.hint
            )
        told = {key: value for key, value in told.items() if key != "obstacles"}
        first = {**self._here, "resolved": self.accepted.get("resolved", told.get("resolved"))}
        if differs := settings_diff(first, told):
            hint = "Install the same versions and files on all nodes."
            return MachineError(f"a worker's settings differ: {differs}", where="Ray", hint=hint)
        return None

    def _require_any(self) -> None:
        """Raise where no worker is left or to come."""
        if any(worker.known for worker in self._workers):
            return
        if not self._workers and self._refusal is not None:
            raise self._refusal
        if time.monotonic() - self._since > _PATIENCE_S:
            self._since = time.monotonic()
            hint = "`ray status` tells what the cluster has room for: each worker asks for one CPU."
            if not self.resources().get("CPU"):
                raise MachineError("the cluster has no CPU", where="Ray", hint=hint)
            _log.warning("no worker has begun: others have all CPUs of the cluster. Waits; %s", hint)
