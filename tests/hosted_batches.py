"""The batches of the hosted APIs: what they take and refuse, and what comes of it (see `hosted.py`).

OpenAI: `/v1/files` (purpose "batch"), `/v1/files/ID/content`, `/v1/batches`. A file is looked through when
its batch begins: what is wrong there ends the batch as "failed". Anthropic: `/v1/messages/batches`, with
their results. A batch ends when it was looked at `looks` times; `expires` says which requests are not made
by then.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from typing import Any

Json = dict[str, Any]
Answer = Callable[[str, Mapping[str, str], Json], tuple[int, Json]]
ENDPOINTS = ("/v1/chat/completions", "/v1/responses")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _refusal(message: str, status: int = 400, code: str | None = None) -> tuple[int, Json]:
    return status, {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    }


def _anthropic(message: str, status: int = 400, kind: str = "invalid_request_error") -> tuple[int, Json]:
    return status, {"type": "error", "error": {"type": kind, "message": message}}


@dataclass
class HostedBatch:
    """A batch: `asked` are its requests by custom_id, `told` its lines of results."""

    id: str
    provider: str
    asked: dict[str, Json]
    headers: Mapping[str, str]
    endpoint: str = "/v1/messages"
    metadata: Json = field(default_factory=dict)
    file: str = ""
    errors: list[Json] = field(default_factory=list)
    looks: int = 0
    told: list[Json] | None = None
    expired: int = 0
    failed: int = 0
    made: datetime = field(default_factory=lambda: datetime.now(UTC))


class HostedBatches:
    """What `HostedServer` knows of batches; `most` are the limits of requests and bytes, by provider."""

    def __init__(self, answer: Answer, models: Mapping[str, Sequence[str]]) -> None:
        self._answer, self._models = answer, models
        self.looks = 2
        self.enqueued = 1_000_000  # the most requests of OpenAI's batches that are under way
        self.expires: Callable[[str, Json], bool] = lambda id, asked: False
        self.most = {"openai": (50_000, 200_000_000), "anthropic": (100_000, 256_000_000)}
        self.all: list[HostedBatch] = []
        self.files: dict[str, bytes] = {}
        self._lock = threading.RLock()

    @property
    def requests(self) -> list[Json]:
        """Return the bodies of all requests of all batches, in the order in which they came."""
        return [body for batch in self.all for body in batch.asked.values()]

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Json] | None:
        """Answer a POST; None for another path."""
        with self._lock:
            if path == "/v1/files":
                return self._upload(headers, body)
            if path == "/v1/batches":
                return self._begin(headers, json.loads(body))
            if path == "/v1/messages/batches":
                return self._begin_of_messages(headers, body)
        return None

    def get(self, path: str, headers: Mapping[str, str]) -> tuple[int, Json | bytes] | None:
        """Answer a GET; None for another path."""
        parts = path.strip("/").split("/")
        with self._lock:
            if parts[:2] == ["v1", "files"] and parts[3:] == ["content"]:
                if not headers.get("authorization"):
                    return _refusal("You didn't provide an API key.", 401)
                found = self.files.get(parts[2])
                return _refusal(f"No such File object: {parts[2]}", 404) if found is None else (200, found)
            if parts[:2] == ["v1", "batches"]:
                return self._of_openai(parts[2:], headers)
            if parts[:3] == ["v1", "messages", "batches"]:
                return self._of_anthropic(parts[3:], headers)
        return None

    def _upload(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Json]:
        if not headers.get("authorization"):
            return _refusal("You didn't provide an API key.", 401)
        head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
        parts = {
            str(part.get_param("name", header="content-disposition")): part
            for part in message_from_bytes(head + body).get_payload()  # type: ignore[union-attr]
        }
        if "purpose" not in parts or "file" not in parts:
            return _refusal("Missing required parameter: 'purpose' or 'file'.")
        purpose = parts["purpose"].get_payload(decode=True).decode()  # type: ignore[union-attr]
        if purpose not in ("batch", "fine-tune", "assistants", "vision", "user_data", "evals"):
            return _refusal(f"'{purpose}' is not one of ['fine-tune', 'assistants', 'batch'] - 'purpose'")
        if purpose == "batch" and not str(parts["file"].get_filename()).endswith(".jsonl"):
            return _refusal("Invalid file format for Batch API. Must be .jsonl")
        # The content of the part as it came: a message's reading would change its line ends.
        boundary = headers["content-type"].partition("boundary=")[2].strip('"').encode()
        piece = next(each for each in body.split(b"--" + boundary) if b'name="file"' in each)
        data = piece.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        id = f"file-{len(self.files) + 1}"
        self.files[id] = data
        told = {"id": id, "object": "file", "bytes": len(data), "created_at": 1, "filename": "requests.jsonl"}
        return 200, {**told, "purpose": purpose, "status": "processed"}

    def _begin(self, headers: Mapping[str, str], asked: Json) -> tuple[int, Json]:
        if not headers.get("authorization"):
            return _refusal("You didn't provide an API key.", 401)
        for name in ("input_file_id", "endpoint", "completion_window"):
            if name not in asked:
                return _refusal(f"Missing required parameter: '{name}'.")
        if asked["endpoint"] not in ENDPOINTS:
            return _refusal(f"Invalid value: '{asked['endpoint']}'.")
        if asked["completion_window"] != "24h":
            return _refusal(f"Invalid value: '{asked['completion_window']}'. Value must be '24h'.")
        if asked["input_file_id"] not in self.files:
            return _refusal(f"Invalid file_id: {asked['input_file_id']} not found.")
        if any(len(key) > 64 or len(value) > 512 for key, value in (asked.get("metadata") or {}).items()):
            return _refusal("Invalid 'metadata': string too long.")
        id = f"batch_{len(self.all) + 1}"
        batch = HostedBatch(id, "openai", {}, headers, asked["endpoint"], asked.get("metadata") or {})
        batch.file = asked["input_file_id"]
        self._look_through(batch, self.files[batch.file])
        self.all.append(batch)
        return 200, self._openai(batch)

    def _look_through(self, batch: HostedBatch, data: bytes) -> None:
        """Find what is wrong with a file of OpenAI's: that ends the batch before it begins."""

        def wrong(code: str, message: str, line: int | None = None) -> None:
            batch.errors.append({"code": code, "message": message, "param": None, "line": line})

        lines = data.splitlines()
        most, most_bytes = self.most["openai"]
        if not lines:
            wrong(
                "empty_file", "The input file is empty. Please ensure that the batch contains at least one."
            )
        if len(data) > most_bytes:
            wrong("file_too_large", f"The input file is larger than the {most_bytes} bytes of the batch API.")
        if len(lines) > most:
            wrong("too_many_tasks", f"The batch job contains {len(lines)} requests, of at most {most}.")
        models = set()
        for number, line in enumerate(lines, 1):
            try:
                told = json.loads(line)
                id, body = told["custom_id"], told["body"]
                if told["method"] != "POST" or not isinstance(id, str):
                    raise KeyError("method")
            except (ValueError, KeyError):
                wrong("invalid_json_line", f"This line is not parseable as valid JSON: {number}", number)
                continue
            if id in batch.asked:
                wrong("duplicate_custom_id", f"The custom_id '{id}' for this request is a duplicate.", number)
            if told["url"] != batch.endpoint:
                wrong("mismatched_endpoint", "The URL does not match the batch endpoint.", number)
            models.add(str(body.get("model")))
            batch.asked[id] = body
        for model in models - {*self._models["openai"]}:
            wrong("model_not_found", f"The provided model '{model}' is not supported by the Batch API.")
        ahead = [each for each in self.all if each.told is None and not each.errors]
        if sum(len(each.asked) for each in (batch, *ahead)) > self.enqueued:
            said = "Enqueued token limit reached. Please try again once some batches have been completed."
            wrong("token_limit_exceeded", said)
        if len(models) > 1:
            wrong(
                "mismatched_model", "The model of a request does not match the batch's: one model per file."
            )

    def _begin_of_messages(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Json]:
        if not (headers.get("x-api-key") or headers.get("authorization")):
            return _anthropic("x-api-key header is required", 401, "authentication_error")
        if not headers.get("anthropic-version"):
            return _anthropic("anthropic-version: header is required")
        most, most_bytes = self.most["anthropic"]
        if len(body) > most_bytes:
            return _anthropic("Request exceeds the maximum size", 413, "request_too_large")
        requests = json.loads(body).get("requests", [])
        if not 1 <= len(requests) <= most:
            return _anthropic(f"requests: List should have at least 1 and at most {most} items")
        batch = HostedBatch(f"msgbatch_{len(self.all) + 1}", "anthropic", {}, headers)
        for number, each in enumerate(requests):
            if set(each) != {"custom_id", "params"}:
                return _anthropic(f"requests.{number}: Extra inputs are not permitted")
            if not _ID.fullmatch(id := each["custom_id"]):
                said = "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"
                return _anthropic(f"requests.{number}.custom_id: {said}")
            if id in batch.asked:
                return _anthropic(f"requests: custom_id `{id}` is not unique")
            if each["params"].get("stream"):
                return _anthropic(f"requests.{number}.params.stream: streaming is not supported in batches")
            batch.asked[id] = each["params"]
        self.all.append(batch)
        return 200, self._anthropic(batch)

    def _looked_at(self, batch: HostedBatch) -> None:
        """Count a look; make the requests where it is time."""
        batch.looks += 1
        if batch.told is not None or batch.errors or batch.looks < self.looks:
            return
        batch.told = []
        for id, body in reversed(batch.asked.items()):  # results come in any order
            if self.expires(id, body):
                batch.expired += 1
                batch.told.append(self._line(batch, id, None, {}))
                continue
            status, reply = self._answer(batch.endpoint, batch.headers, body)
            batch.failed += status != 200
            batch.told.append(self._line(batch, id, status, reply))

    def _line(self, batch: HostedBatch, id: str, status: int | None, reply: Json) -> Json:
        if batch.provider == "anthropic":
            result = {"type": "succeeded", "message": reply}
            if status != 200:
                result = {"type": "expired"} if status is None else {"type": "errored", "error": reply}
            return {"custom_id": id, "result": result}
        line: Json = {"id": f"batch_req_{id}", "custom_id": id, "response": None, "error": None}
        if status is None:
            said = "This request could not be executed before the completion window expired."
            return line | {"error": {"code": "batch_expired", "message": said}}
        return line | {"response": {"status_code": status, "request_id": "req_1", "body": reply}}

    def _of_openai(self, rest: list[str], headers: Mapping[str, str]) -> tuple[int, Json]:
        if not headers.get("authorization"):
            return _refusal("You didn't provide an API key.", 401)
        mine = [batch for batch in self.all if batch.provider == "openai"]
        if not rest:
            told = [self._openai(batch) for batch in reversed(mine)]
            return 200, {"object": "list", "data": told, "has_more": False}
        for batch in mine:
            if batch.id == rest[0]:
                self._looked_at(batch)
                return 200, self._openai(batch)
        return _refusal(f"No batch found with id '{rest[0]}'.", 404)

    def _openai(self, batch: HostedBatch) -> Json:
        good = [line for line in batch.told or () if (line["response"] or {}).get("status_code") == 200]
        bad = [line for line in batch.told or () if line not in good]
        files = {}
        for name, lines in {"output": good, "error": bad}.items():
            files[name] = f"file-{batch.id}-{name}" if lines else None
            # Letters as they are: U+2028 ends no line.
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            self.files |= {files[name]: text.encode()} if lines else {}  # type: ignore[dict-item]
        status = "failed" if batch.errors else "in_progress" if batch.told is None else "completed"
        return {
            **{"id": batch.id, "object": "batch", "endpoint": batch.endpoint, "status": status},
            **{"completion_window": "24h", "input_file_id": batch.file, "metadata": batch.metadata},
            "created_at": int(batch.made.timestamp()),
            "status": "expired" if batch.expired and status == "completed" else status,
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            "output_file_id": files["output"],
            "error_file_id": files["error"],
            "request_counts": {"total": len(batch.asked), "completed": len(good), "failed": len(bad)},
        }

    def _of_anthropic(self, rest: list[str], headers: Mapping[str, str]) -> tuple[int, Json | bytes]:
        if not (headers.get("x-api-key") or headers.get("authorization")):
            return _anthropic("x-api-key header is required", 401, "authentication_error")
        mine = [batch for batch in self.all if batch.provider == "anthropic"]
        if not rest:
            for batch in mine:
                self._looked_at(batch)
            told = [self._anthropic(batch) for batch in reversed(mine)]
            return 200, {"data": told, "has_more": False, "first_id": None, "last_id": None}
        for batch in mine:
            if batch.id == rest[0] and rest[1:] == ["results"]:
                if batch.told is None:
                    return _anthropic("Results are not available: the batch has not ended.")
                lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in batch.told)
                return 200, "".join(lines).encode()
            if batch.id == rest[0]:
                self._looked_at(batch)
                return 200, self._anthropic(batch)
        return _anthropic(f"Could not find batch {rest[0]}", 404, "not_found_error")

    def _anthropic(self, batch: HostedBatch) -> Json:
        ended = batch.told is not None
        done = len(batch.told or ())
        counts = {
            "processing": 0 if ended else len(batch.asked),
            "succeeded": done - batch.failed - batch.expired,
            **{"errored": batch.failed, "canceled": 0, "expired": batch.expired},
        }
        host = batch.headers.get("host", "")
        url = f"http://{host}/v1/messages/batches/{batch.id}/results"
        return {
            **{"id": batch.id, "type": "message_batch", "request_counts": counts, "archived_at": None},
            "processing_status": "ended" if ended else "in_progress",
            "created_at": batch.made.isoformat(),
            "expires_at": (batch.made + timedelta(hours=24)).isoformat(),
            "ended_at": batch.made.isoformat() if ended else None,
            "cancel_initiated_at": None,
            "results_url": url if ended else None,
        }
