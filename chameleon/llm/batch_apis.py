"""The batch APIs of OpenAI and Anthropic: send many requests, see how far they are, read the replies."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from chameleon.errors import ModelError
from chameleon.llm.failures import status_of

Json = dict[str, Any]
_OURS = "chameleon"  # in the metadata of a batch
# What a client writes for one request alone; the batch has its own.
_OF_REQUEST = re.compile(
    r"^(content-.*|host|accept.*|connection|user-agent|x-stainless-.*|idempotency-key)$", re.I
)
_OF_EXPIRED = 408
_SLACK_S = 600.0  # by which the clocks of two machines may differ
_STATUS_OF: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is; `failed` says why none of its requests were made."""

    total: int
    done: int
    ended: bool
    failed: str = ""


class BatchApi(ABC):
    """One provider's batches, for requests to `url` with these headers, the key among them."""

    most_requests: int
    most_bytes: int

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url
        self.headers = {name: value for name, value in headers.items() if not _OF_REQUEST.match(name)}
        self.base = url.partition("/v1/")[0]

    @property
    def secrets(self) -> list[str]:
        """Return the keys among the headers."""
        told = (self.header(name).removeprefix("Bearer ") for name in ("authorization", "x-api-key"))
        return [key for key in told if key]

    def header(self, name: str) -> str:
        """Return a header; "" where there is none."""
        return next((value for key, value in self.headers.items() if key.lower() == name), "")

    @abstractmethod
    def line(self, id: str, body: Json) -> bytes:
        """Write a request as it goes into a batch."""

    @abstractmethod
    def send(self, name: str, lines: Sequence[bytes]) -> str:
        """Send a batch, and return its id."""

    @abstractmethod
    def find(self, name: str, count: int, since: datetime, known: Collection[str]) -> tuple[str, bool]:
        """Look for a batch that was sent: return its id, or "" and whether it may show up later."""

    @abstractmethod
    def state(self, id: str) -> BatchState:
        """See how far a batch is."""

    @abstractmethod
    def results(self, id: str) -> Iterator[tuple[str, int, Json]]:
        """Yield the name, status and JSON of each reply, in any order."""


class OpenAIBatches(BatchApi):
    """OpenAI's, and those of servers compatible with it."""

    most_requests, most_bytes = 50_000, 200_000_000

    @cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        base = self.url.removesuffix("/chat/completions").removesuffix("/responses")
        key = self.header("authorization").removeprefix("Bearer ") or "none"
        # A request that is made again could make a second batch.
        return OpenAI(api_key=key, base_url=base, default_headers=self.headers, max_retries=0)

    @property
    def _endpoint(self) -> str:
        return f"/v1{self.url.removeprefix(str(self._client.base_url).rstrip('/'))}"

    def line(self, id: str, body: Json) -> bytes:
        asked = {"custom_id": id, "method": "POST", "url": self._endpoint, "body": body}
        return json.dumps(asked).encode() + b"\n"

    def send(self, name: str, lines: Sequence[bytes]) -> str:
        try:
            file = self._client.files.create(file=(f"{name}.jsonl", b"".join(lines)), purpose="batch")
        except Exception as problem:
            if status_of(problem) in (404, 405, 501):
                host = urlsplit(self.url).netloc.rpartition("@")[2]
                what = f"the server at {host} takes no batches ({status_of(problem)})"
                raise ModelError(what, hint="Ask it without batches.") from problem
            raise
        made = self._client.batches.create(
            input_file_id=file.id,
            endpoint=self._endpoint,
            completion_window="24h",
            metadata={_OURS: name},
        )
        return str(made.id)

    def find(self, name: str, count: int, since: datetime, known: Collection[str]) -> tuple[str, bool]:
        for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_OURS) == name:
                return str(batch.id), False
            if batch.created_at < since.timestamp() - _SLACK_S:
                break
        return "", False

    def state(self, id: str) -> BatchState:
        batch = self._client.batches.retrieve(id)
        counts = batch.request_counts
        done = counts.completed + counts.failed if counts else 0
        told = (batch.errors and batch.errors.data) or ()
        why = "; ".join(f"{each.message} ({each.code})" for each in told[:3]) or "no reason told"
        ended = batch.status in ("completed", "failed", "expired", "cancelled")
        has_none = batch.status == "failed"
        return BatchState(counts.total if counts else 0, done, ended, why if has_none else "")

    def results(self, id: str) -> Iterator[tuple[str, int, Json]]:
        batch = self._client.batches.retrieve(id)
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            with self._client.files.with_streaming_response.content(file) as response:
                yield from map(self._result, json_lines(response.iter_bytes()))

    @staticmethod
    def _result(told: Json) -> tuple[str, int, Json]:
        response, error = told.get("response") or {}, told.get("error")
        if error or not response:
            return told["custom_id"], _OF_EXPIRED, {"error": error or {"message": "there is no reply"}}
        return told["custom_id"], int(response["status_code"]), response["body"]


class AnthropicBatches(BatchApi):
    """Anthropic's. It keeps no name of a batch, so that one is found by the names of its replies."""

    most_requests, most_bytes = 100_000, 256_000_000

    @cached_property
    def _client(self) -> Any:
        from anthropic import Anthropic

        key = self.header("x-api-key") or self.header("authorization").removeprefix("Bearer ")
        return Anthropic(api_key=key, base_url=self.base, default_headers=self.headers, max_retries=0)

    def line(self, id: str, body: Json) -> bytes:
        return json.dumps({"custom_id": id, "params": body}).encode()

    def send(self, name: str, lines: Sequence[bytes]) -> str:
        made = self._client.messages.batches.create(requests=[json.loads(line) for line in lines])
        return str(made.id)

    def find(self, name: str, count: int, since: datetime, known: Collection[str]) -> tuple[str, bool]:
        waits = False
        for batch in self._client.messages.batches.list(limit=100):
            if batch.created_at.timestamp() < since.timestamp() - _SLACK_S:
                break
            counts = batch.request_counts
            total = sum(
                (counts.processing, counts.succeeded, counts.errored, counts.canceled, counts.expired)
            )
            if batch.id in known or total != count:
                continue
            if batch.processing_status != "ended":
                waits = True
            elif next(self.results(batch.id), ("",))[0].startswith(f"{name}-"):
                return str(batch.id), False
        return "", waits

    def state(self, id: str) -> BatchState:
        batch = self._client.messages.batches.retrieve(id)
        counts = batch.request_counts
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        return BatchState(done + counts.processing, done, batch.processing_status == "ended")

    def results(self, id: str) -> Iterator[tuple[str, int, Json]]:
        with self._client.messages.batches.with_streaming_response.results(id) as response:
            for told in json_lines(response.iter_bytes()):
                yield told["custom_id"], *self._result(told["result"])

    @staticmethod
    def _result(told: Json) -> tuple[int, Json]:
        if told["type"] == "succeeded":
            return 200, told["message"]
        if told["type"] == "errored":
            error = told["error"]
            with suppress(KeyError, TypeError):
                return _STATUS_OF.get(error["error"]["type"], 500), error
        said = {"type": "timeout_error", "message": f"the batch ended before this request: {told['type']}"}
        return _OF_EXPIRED, {"type": "error", "error": said}


def json_lines(chunks: Iterable[bytes]) -> Iterator[Json]:
    """Read objects that stand each in a line; in their texts other characters end lines as well."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in whole if line.strip())
    if rest.strip():
        yield json.loads(rest)


def batch_api(url: str, headers: Mapping[str, str]) -> BatchApi:
    """Return the batches of the server that a request was written for."""
    return (AnthropicBatches if urlsplit(url).path.endswith("/messages") else OpenAIBatches)(url, headers)
