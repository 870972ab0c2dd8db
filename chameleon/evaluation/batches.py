"""Send the calls of an evaluation in batches, round by round, and keep what was sent where a run is kept."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self

from chameleon.errors import ChameleonError, InputError, LogError, ModelError
from chameleon.evaluation.evaluate import Stopped
from chameleon.evaluation.run_dir import BATCHES, RunDir
from chameleon.figures import in_digits, in_dollars
from chameleon.inventory import Inventory
from chameleon.llm.batch_apis import BatchApi, BatchState, batch_api
from chameleon.llm.batches import BatchQueue, BatchReply, BatchRequest, batching, require_batches
from chameleon.llm.failures import classify, status_of
from chameleon.log import LineFile, json_line, read_line
from chameleon.state import Event, RunStarted

PAUSES_S = (5.0, 60.0)
"""The seconds between two looks at a batch, at first and at most."""
_LONGER = 1.5
_MOST_LOST = 20  # looks in a row without an answer
_TOO_MUCH = "token_limit_exceeded"  # what OpenAI takes at once is bounded, by account
_log = logging.getLogger("chameleon")


@dataclass
class Batch:
    """Requests that go together: `name` is ours, `id` the provider's once it has them."""

    name: str
    url: str
    sent: datetime
    requests: dict[str, BatchRequest]
    number: int
    api: BatchApi | None = None
    id: str = ""
    ended: bool = False
    replied: set[str] = field(default_factory=set)

    def to_json(self) -> dict[str, Any]:
        """Return what is kept of it before it is sent."""
        named = {id: request.to_json() for id, request in self.requests.items()}
        return {"batch": self.name, "url": self.url, "sent": self.sent.isoformat(), "requests": named}


def check_batches(inventory: Inventory) -> None:
    """Raise `ModelError` where a model of the inventory cannot be asked by batches, or it asks none."""
    if not inventory.needs_model:
        raise ModelError(f"{inventory.name} asks no model, so there is nothing to send in batches")
    for asker in inventory.askers.values():
        require_batches(asker.model.name)


class Batches:
    """The batches of one evaluation, kept in `batches.jsonl` of its directory.

    - `tell` is given a line for people wherever there is news.
    - `pauses` are the seconds between two looks at a batch, at first and at most: by default `PAUSES_S`.

    Whoever opens it again goes on with the batches that were sent: nothing that the provider has is sent
    another time. Raises `LogError` for a file that is damaged, or that another process has open.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        tell: Callable[[str], object] = _log.info,
        pauses: tuple[float, float] | None = None,
    ) -> None:
        self.queue = BatchQueue()
        self._tell, self._pauses = tell, pauses or PAUSES_S
        self._batches: dict[str, Batch] = {}
        self._began: set[str] = set()
        self._most: int | None = None  # requests of a batch, one batch at a time, where all are too many
        self._lock = threading.Lock()
        self._apis: dict[str, BatchApi] = {}
        path = Path(folder) / BATCHES
        self._file = LineFile(path, "list of batches", "Give another folder for the results.")
        for number, (_, line) in enumerate(self._file.whole_lines(), 1):
            if not line.endswith(b"\n"):
                continue
            try:
                self._read(read_line(line))
            except (ValueError, KeyError, TypeError) as problem:
                what = f"line {number} tells of no batch ({problem})"
                raise LogError(what, where=str(path)) from problem

    def close(self) -> None:
        """Let other processes have the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def running(self, id: str, run_dir: RunDir | None) -> Iterator[None]:
        """Answer what a problem's run asks in this context from the batches."""
        if id not in self._began and run_dir is not None and id in run_dir.taken_back:
            self.queue.take_back(id)
        self._began.add(id)
        with batching(self.queue, id):
            yield

    def book(self, id: str, events: Iterable[Event]) -> None:
        """Note the calls that are in a problem's log by now."""
        for event in events:
            if not isinstance(event, RunStarted):
                self.queue.book(id, event.calls)

    def answer(self, spent: float | None, limit: float | None, done: Collection[str] = ()) -> None:
        """Send what waits, and come back once all of it is answered.

        Args:
            spent: the US dollars so far, by the logs of all runs.
            limit: the most that may be spent.
            done: the problems that have a result.

        Raises:
            Stopped: What is to be sent may pass the limit, or the provider takes or answers no batch.
            InputError: There is a limit, and prices are not known.
        """
        asked = self.queue.waiting.values()
        self._apis |= {each.url: batch_api(each.url, each.headers) for each in asked}
        try:
            for batch in self._open:
                if not batch.id and not self._found(batch):  # a process ended as it was about to be sent
                    self._end(batch, "not sent")
            fresh = self._fresh()
            if limit is not None:
                self._check_cost(fresh, spent, limit, done)
            while fresh or self._open:
                for batch, lines in self._parted(fresh):
                    self._send(batch, lines)
                    if self._most is not None:
                        break
                self._wait(self._open)
                fresh = self._fresh()
        except ChameleonError:
            raise
        except Exception as problem:
            raise self._stopped(problem) from problem
        except BaseException:
            if any(each.id and not each.ended for each in self._batches.values()):
                self._tell("The batches go on at the provider; nothing is cancelled.")
            raise

    @property
    def _open(self) -> list[Batch]:
        """Return the batches that have not ended, of addresses that are asked."""
        return [each for each in self._batches.values() if not each.ended and each.url in self._apis]

    def _fresh(self) -> list[BatchRequest]:
        """Return the requests that are in no batch under way."""
        sent = {(each.key, each.place) for batch in self._open for each in batch.requests.values()}
        return [each for each in self.queue.waiting.values() if (each.key, each.place) not in sent]

    def _check_cost(
        self, fresh: Sequence[BatchRequest], spent: float | None, limit: float, done: Collection[str]
    ) -> None:
        sent = [request for batch in self._open for request in batch.requests.values()]
        costs = [request.cost for request in (*fresh, *sent)]
        if spent is None or None in costs:
            raise InputError(
                "what a batch may cost is not known, so the highest cost cannot be kept",
                hint="Give prices in the inventory (llm: {prices: {input: …, output: …}}, US dollars per "
                "million tokens), or leave it out.",
            )
        before = spent + self.queue.unbooked(done) + sum(request.cost or 0.0 for request in sent)
        coming = sum(request.cost or 0.0 for request in fresh)
        if fresh and before + coming > limit:
            raise Stopped(
                f"the next {len(fresh):,} requests may cost up to {in_dollars(coming)} at half price, which "
                f"after {in_dollars(before)} would pass the highest cost {in_digits(limit, 6)}",
                hint="A larger one goes on.",
            )

    def _parted(self, requests: Sequence[BatchRequest]) -> Iterator[tuple[Batch, list[bytes]]]:
        """Yield batches of requests to one address, with one key, of one model, and within the limits."""
        groups: dict[str, list[BatchRequest]] = {}
        for request in requests:
            api = batch_api(request.url, request.headers)
            told = f"{request.url} {sorted(api.headers.items())} {request.body.get('model')}"
            groups.setdefault(told, []).append(request)
        for group in groups.values():
            api = batch_api(group[0].url, group[0].headers)
            batch, lines, size = self._new(api), list[bytes](), 0
            most = min(api.most_requests, self._most or api.most_requests)
            for request in group:
                id = f"{batch.name}-{len(lines)}"
                line = api.line(id, request.body)
                if lines and (len(lines) == most or size + len(line) > api.most_bytes):
                    yield batch, lines
                    batch, lines, size = self._new(api), [], 0
                    id = f"{batch.name}-0"
                    line = api.line(id, request.body)
                batch.requests[id] = request
                lines.append(line)
                size += len(line) + 2
            yield batch, lines

    def _new(self, api: BatchApi) -> Batch:
        return Batch(uuid.uuid4().hex[:16], api.url, datetime.now(UTC), {}, 0, api)

    def _api(self, batch: Batch) -> BatchApi:
        return batch.api or self._apis[batch.url]

    def _send(self, batch: Batch, lines: Sequence[bytes]) -> None:
        """Send a batch; it is written down before, so that it can be looked for if nobody hears its id."""
        batch.number = len(self._batches) + 1
        self._batches[batch.name] = batch
        self._write(batch.to_json())
        api = self._api(batch)
        for lost in range(_MOST_LOST):
            try:
                self._made(batch, api.send(batch.name, lines))
                break
            except Exception as problem:
                if not classify(problem).retryable or lost + 1 == _MOST_LOST:
                    if status_of(problem) in range(400, 500):  # else the provider may have it
                        self._end(batch, "not sent")
                    raise
                self._rest(lost)
                # The provider may have it although it did not say so.
                if self._found(batch):
                    break
        batch.requests = {id: replace(each, headers={}, body={}) for id, each in batch.requests.items()}

    def _found(self, batch: Batch) -> bool:
        known = {each.id for each in self._batches.values() if each.id}
        looks = 0
        api = self._api(batch)
        while True:
            id, may_come = self._asked(partial(api.find, batch.name, len(batch.requests), batch.sent, known))
            if id:
                self._made(batch, id)
            if id or not may_come:
                return bool(id)
            if not looks:
                self._tell(f"Batch {batch.number} may have been sent: waits for one of its size to end.")
            self._rest(looks)
            looks += 1

    def _made(self, batch: Batch, id: str) -> None:
        batch.id = id
        self._write({"batch": batch.name, "id": id})
        requests = f"{len(batch.requests):,} request{'' if len(batch.requests) == 1 else 's'}"
        self._tell(f"Batch {batch.number} ({id}) has {requests}.")

    def _wait(self, batches: Sequence[Batch]) -> None:
        """Look at batches until all have ended, and take in their replies."""
        said: dict[str, int] = {}
        looks = 0
        while waiting := [each for each in batches if not each.ended]:
            for batch in waiting:
                api = self._api(batch)
                state: BatchState = self._asked(partial(api.state, batch.id))
                if said.get(batch.name) != state.done:
                    said[batch.name] = state.done
                    of = len(batch.requests)
                    self._tell(f"Batch {batch.number}: {state.done:,} of {of:,} requests are done.")
                if state.failed:
                    self._end(batch, "failed")
                    if _TOO_MUCH in state.failed and len(batch.requests) > 1:
                        self._most = len(batch.requests) // 2
                        self._tell(f"Batch {batch.number} is too large for now: goes on in smaller ones.")
                        continue
                    raise Stopped(
                        f"the provider refused batch {batch.number} ({batch.id}): {state.failed}",
                        hint="Once that is mended, the same command goes on.",
                    )
                if state.ended:
                    self._asked(partial(self._take, api, batch))
            if any(not each.ended for each in waiting):
                self._rest(looks)
                looks += 1

    def _take(self, api: BatchApi, batch: Batch) -> None:
        """Take in the replies of a batch that has ended; what has none has expired."""
        for id, status, body in api.results(batch.id):
            if id in batch.requests and id not in batch.replied:
                self._reply(batch, id, status, body)
        for id in batch.requests.keys() - batch.replied:
            self._reply(batch, id, 408, {"error": {"message": "the batch ended without a reply to it"}})
        self._end(batch, "done")

    def _reply(self, batch: Batch, id: str, status: int, body: Any) -> None:
        self._write({"batch": batch.name, "reply": id, "status": status, "body": body})
        batch.replied.add(id)
        self.queue.reply(BatchReply(batch.requests[id], status, body))

    def _end(self, batch: Batch, how: str) -> None:
        self._write({"batch": batch.name, "ended": how})
        batch.ended = True

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """Ask the provider, again where it cannot be reached for a while."""
        for lost in range(_MOST_LOST):
            try:
                return ask()
            except Exception as problem:
                failure = classify(problem)
                if isinstance(problem, ChameleonError) or not failure.retryable or lost + 1 == _MOST_LOST:
                    raise
                if not lost:
                    self._tell(f"The provider does not answer ({failure.reason}); trying again.")
                self._rest(lost)
        raise AssertionError

    def _rest(self, looks: int) -> None:
        first, most = self._pauses
        time.sleep(min(first * _LONGER ** min(looks, _MOST_LOST), most))

    def _stopped(self, problem: Exception) -> Stopped:
        secrets = [value for api in self._apis.values() for value in api.secrets]
        error = classify(problem, model="the batch API", secrets=secrets).error
        told = f" ({status_of(problem)})" if status_of(problem) and "(" not in error.what else ""
        hint = error.hint
        if status_of(problem) == 404:
            hint = f"Use the key that has sent it; without {BATCHES} all is sent anew."
        return Stopped(f"no batch was sent or read: {error.what}{told}", hint=hint)

    def _write(self, data: dict[str, Any]) -> None:
        with self._lock:
            self._file.append(json_line(data))

    def _read(self, data: dict[str, Any]) -> None:
        """Take in a line that was written."""
        name = data["batch"]
        if "requests" in data:
            requests = {id: BatchRequest.from_json(each) for id, each in data["requests"].items()}
            number, sent = len(self._batches) + 1, datetime.fromisoformat(data["sent"])
            self._batches[name] = Batch(name, data["url"], sent, requests, number)
            return
        batch = self._batches[name]
        if "id" in data:
            batch.id = data["id"]
        elif "ended" in data:
            batch.ended = True
        else:
            batch.replied.add(data["reply"])
            request = batch.requests[data["reply"]]
            self.queue.reply(BatchReply(request, data["status"], data["body"]))
