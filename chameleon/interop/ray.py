"""Run the problems of an evaluation on the machines of a Ray cluster.

    with OnRay(Executor("tables", "openai:gpt-6-luna"), "head:6379", runs=64) as remote:
        states = remote.batch(inputs, 64)

A problem runs as a whole on one worker, which returns its events; only this process writes them. If a worker
is lost, its problems run again on another.
"""

import logging
import math
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from chameleon.core.events import Event, Failure, RunEnded, RunStarted
from chameleon.core.log import EventLog, event_from_json, event_to_json, json_line, read_line
from chameleon.core.module import split_keys
from chameleon.core.state import State
from chameleon.errors import InputError, InventoryError, MachineError, require
from chameleon.evaluation.run_dir import settings_diff
from chameleon.evaluation.run_settings import own_files, resolved_by, versions
from chameleon.inventory import Inventory
from chameleon.inventory.source import Source
from chameleon.llm import LLM, ResponseStore
from chameleon.llm.providers import providers
from chameleon.run.approval import refuse
from chameleon.run.executor import Executor, Input, OnText
from chameleon.run.steps import RunContext
from chameleon.text import one_line, redact
from chameleon.usage import Budget
from chameleon.values import to_json

MAX_ATTEMPTS = 3  # a problem fails if this many workers are lost while it runs
POLL_SECONDS, WARN_SECONDS, CONNECT_SECONDS = 0.1, 60.0, 10.0
SAME_FILES = "All machines need the same versions, and the same files at the same paths."
_log = logging.getLogger("chameleon")
Facts = Mapping[str, Mapping[str, Any]]  # versions, files and resolved settings: the same on all machines


class OnRay(Executor):
    """An executor whose runs happen on a Ray cluster. Use it in `with`.

    Steps that need approval are refused. Raises `InventoryError` or `ModelError` for an executor made in
    Python, because workers rebuild it from the inventory's file and the model's name.

    Args:
        executor: the executor to run there.
        address: the cluster, as for `ray.init`; by default `RAY_ADDRESS`, the cluster running on this
            machine, or a new one started here.
        runs: how many runs happen at once, spread over as many workers as the cluster has CPUs.
    """

    def __init__(self, executor: Executor, address: str | None = None, *, runs: int = 8) -> None:
        self.__dict__ |= vars(executor)
        self.approve = refuse
        self.workers = Workers(Job.of(executor), address, runs)

    @property
    def resolved(self) -> Mapping[str, Any]:
        """Return the settings resolved by the workers, such as their device."""
        return self.workers.facts["resolved"]

    def states(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        stop: threading.Event | None = None,
        on_text: OnText | None = None,
        within: RunContext | None = None,
    ) -> Iterator[tuple[Event, State]]:
        """Yield each event of a run with the state after it, once a worker has finished the run.

        Raises:
            InputError: if `on_text` is given, or `log` is an `EventLog`: a worker can use neither.
        """
        if on_text is not None or isinstance(log, EventLog):
            raise InputError("a run on other machines cannot stream text or write a log")
        lines = [_line(event) for event in log]
        state, started = self.begin(input, log)
        if started is not None:
            lines.append(_line(started))
            yield started, state
        for line in self.workers.run(lines, stop) if state.ended is None else ():
            event = event_from_json(read_line(line))
            state = state.after(event)
            yield event, state

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.close()


@dataclass(frozen=True)
class Job:
    """The data to rebuild the executor on a worker; `variables` are environment variables, with keys."""

    source: Source
    left_out: Sequence[str]
    llm: Mapping[str, Any] | None
    store: tuple[Any, str | None] | None
    budget: Budget
    gpus: int
    variables: Mapping[str, str] = field(repr=False)
    facts: Facts

    @classmethod
    def of(cls, executor: Executor) -> Self:
        """Describe an executor. Raises `InventoryError` and `ModelError` for parts made in Python."""
        inventory, llm = executor.inventory, executor.llm
        if (source := inventory.source) is None:
            hint = "Write it as a YAML file that names modules as package.module:Class."
            what = "an inventory made in Python cannot run on other machines"
            raise InventoryError(what, where=inventory.name, hint=hint)
        folders = tuple(folder.absolute() for folder in source.folders)
        uses = {name for module in inventory.present.values() for name in split_keys(module.uses)}
        models = (asker.model.name.partition(":")[0] for asker in inventory.askers.values())
        keys = {key for name in models if (provider := providers().get(name)) for key in provider.keys}
        prefixes = ("CHAMELEON_", *(f"{key.partition('_')[0]}_" for key in keys))
        return cls(
            source=replace(source, folders=folders, recorded=to_json(executor.settings)),
            left_out=sorted(inventory.left_out),
            llm=None if llm is None else dict(llm.connected_by),
            store=None if llm is None or llm.store is None else (llm.store.mode, llm.store.place),
            budget=executor.budget,
            gpus=int("gpu" in uses),
            variables={key: os.environ[key] for key in os.environ if key.startswith(prefixes) or key in uses},
            facts={"versions": versions(), "files": own_files(inventory)},
        )

    def executor(self) -> Executor:
        """Build the executor. Raises as `Inventory.read` and `LLM.connect` do."""
        inventory = Inventory.read(self.source).without(*self.left_out)
        store = llm = None
        if self.store is not None:
            mode, place = self.store
            store = ResponseStore.default(mode) if place is None else ResponseStore(place, mode)
        if self.llm is not None:
            llm = LLM.connect(**self.llm, store=store)
        return Executor(inventory, llm, budget=self.budget, approve=refuse)


class Worker:
    """Runs problems in a process of the cluster: a Ray actor that handles several calls at once."""

    def __init__(self) -> None:
        self._stops: dict[int, threading.Event] = {}

    def start(self, job: Job) -> Facts:
        """Build the executor; return the facts of this machine. Raises the first obstacle."""
        os.environ.update(job.variables)
        self._executor = executor = job.executor()
        for obstacle in executor.inventory.obstacles():
            raise obstacle.error
        facts = {"versions": versions(), "files": own_files(executor.inventory)}
        return {**facts, "resolved": resolved_by(executor)}

    def run(self, number: int, lines: Sequence[bytes]) -> list[bytes]:
        """Continue the run of a log to its end, or until it is stopped; return its new events."""
        log = [event_from_json(read_line(line)) for line in lines]
        started = next(event for event in log if isinstance(event, RunStarted))
        stop = self._stops.setdefault(number, threading.Event())
        try:
            return [_line(event) for event in self._executor.stream(started.input, log, stop=stop)]
        finally:
            self._stops.pop(number)

    def stop(self, number: int) -> None:
        """Start no further step of a run."""
        self._stops.setdefault(number, threading.Event()).set()


class Workers:
    """The workers of a cluster: one per CPU, replaced when lost, each with room for several runs."""

    def __init__(self, job: Job, address: str | None, runs: int) -> None:
        self._has_connected = connect(address)
        import ray

        self._ray: Any = ray
        self._job, self._runs = job, count()
        resources = self._ray.cluster_resources()
        gpus = job.gpus if resources.get("GPU") else 0
        cpus = min(resources.get("CPU", 1), resources["GPU"] if gpus else math.inf)
        self.count = max(1, min(runs, int(cpus)))
        self.room = math.ceil(runs / self.count)
        # One call more than runs, so that `stop` is not kept waiting.
        self._kind: Any = ray.remote(Worker).options(num_cpus=1, num_gpus=gpus, max_concurrency=self.room + 1)
        self._starts = MAX_ATTEMPTS * self.count  # starts that may fail, less one
        self._actors: set[Any] = set()
        self._facts: list[Facts] = []  # of started workers; all must equal the first
        self._error: MachineError | None = None
        self._warn_at = time.monotonic() + WARN_SECONDS
        # Workers with room for a run, and newly started ones with their facts.
        self._free: SimpleQueue[tuple[Any, Future[Facts] | None]] = SimpleQueue()
        for _ in range(self.count):
            self._add()

    @property
    def facts(self) -> Facts:
        """Return the facts of the first worker once it has started. Raises `MachineError` as `run` does."""
        if not self._facts:
            self._free.put((self._take(None), None))
        return self._facts[0]

    def run(self, lines: Sequence[bytes], stop: threading.Event | None) -> list[bytes]:
        """Continue the log of a problem to its end, or until `stop` is set; return its new events.

        If the worker is lost, the problem runs again, `MAX_ATTEMPTS` times in total; then it fails. Raises
        `MachineError` if a worker cannot run it, or has other versions or files.
        """
        for _ in range(MAX_ATTEMPTS):
            if (actor := self._take(stop)) is None:
                return []
            try:
                return self._run_on(actor, lines, stop)
            except self._ray.exceptions.RayTaskError as error:
                raise _unable(error) from None
            except self._ray.exceptions.RayError:
                self._replace(actor)
            finally:
                self._free.put((actor, None))
        what = f"{MAX_ATTEMPTS} workers were lost while the problem ran"
        return [_line(RunEnded("failed", Failure("ModuleError", what, where="Ray")))]

    def close(self) -> None:
        """End the workers, and leave the cluster."""
        while self._actors:
            self._ray.kill(self._actors.pop())
        if self._has_connected:
            self._ray.shutdown()

    def _run_on(self, actor: Any, lines: Sequence[bytes], stop: threading.Event | None) -> list[bytes]:
        run = next(self._runs)
        events: Future[list[bytes]] = actor.run.remote(run, lines).future()
        while not wait([events], POLL_SECONDS).done:
            if stop is not None and stop.is_set():
                actor.stop.remote(run)
                wait([events])
        return events.result()

    def _take(self, stop: threading.Event | None) -> Any:
        """Wait for a worker with room and return it, or None once `stop` is set."""
        while stop is None or not stop.is_set():
            if self._error is not None:
                raise self._error
            try:
                actor, started = self._free.get(timeout=POLL_SECONDS)
            except Empty:
                if time.monotonic() > self._warn_at:
                    self._warn_at = math.inf
                    _log.warning("waiting for a worker: each needs a free CPU (see `ray status`)")
                continue
            self._warn_at = time.monotonic() + WARN_SECONDS
            if started is not None:
                self._admit(actor, started)
            elif actor in self._actors:
                return actor
        return None

    def _add(self) -> None:
        actor = self._kind.remote()
        self._actors.add(actor)
        started: Future[Facts] = actor.start.remote(self._job).future()
        started.add_done_callback(lambda done: self._free.put((actor, done)))

    def _replace(self, actor: Any) -> None:
        """Start another worker for a lost one."""
        try:
            self._actors.remove(actor)
        except KeyError:  # another of its runs already did
            return
        _log.warning("a worker was lost: its problems run again on another")
        self._add()

    def _admit(self, actor: Any, started: Future[Facts]) -> None:
        """Admit a worker if it has the same facts as this machine and the first worker."""
        try:
            self._facts.append(facts := started.result())
        except self._ray.exceptions.RayError as error:
            self._starts -= 1
            if self._starts and not isinstance(error, self._ray.exceptions.RayTaskError):
                self._replace(actor)  # its machine was lost
            else:
                self._error = _unable(error)
            return
        if differs := settings_diff({**self._facts[0], **self._job.facts}, facts):
            self._error = MachineError(f"a worker's settings differ: {differs}", where="Ray", hint=SAME_FILES)
            return
        for _ in range(self.room):
            self._free.put((actor, None))


def _unable(error: Exception) -> MachineError:
    """Return why a worker cannot run a problem: its own error, or Ray's."""
    failure = Failure.of(getattr(error, "cause", None) or error)
    what = f"a worker cannot run this: {one_line(redact(failure.message), 400)}"
    return MachineError(what, where=failure.where or "Ray", hint=failure.hint or SAME_FILES)


def connect(address: str | None) -> bool:
    """Connect to a cluster unless already connected; return whether this call connected."""
    require("ray", "running on Ray needs", "ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A worker without a GPU keeps the variables of its machine, such as CUDA_VISIBLE_DEVICES.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if "RAY_AUTH_TOKEN" in os.environ or Path("~/.ray/auth_token").expanduser().exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # clusters without a token accept it too
    import ray

    if ray.is_initialized():
        return False
    target = address or os.environ.get("RAY_ADDRESS") or _running_here()
    try:
        _dial(target)
        ray.init(address=target, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as problem:  # Ray has no specific class for it
        what = f"the cluster cannot be reached: {one_line(redact(str(problem)), 300)}"
        hint = "Start it with `ray start`. A token in ~/.ray/auth_token must be the same on all machines."
        raise InputError(what, where=redact(target), hint=hint) from None
    with suppress(ImportError, AttributeError):  # Ray prints long texts about a lost machine to stdout
        from ray._private import worker

        worker.print_to_stdstream = lambda *_, **__: None
    return True


def _running_here() -> str:
    """Return the address of the cluster running on this machine, or "local" to start one."""
    note = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray", "ray_current_cluster")
    with suppress(OSError):
        address = note.read_text("utf-8").strip()
        _dial(address)
        return address or "local"
    return "local"


def _dial(address: str) -> None:
    """Raise OSError if nothing listens at HOST:PORT, because Ray itself would wait for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()


def _line(event: Event) -> bytes:
    return json_line(event_to_json(event))
