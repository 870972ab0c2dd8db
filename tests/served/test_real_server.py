"""A question to a real model server, `transformers serve`, over the models of `tiny_model.py`."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.core.log import EventLog
from chameleon.table import read_table
from tests.e2e.commands import ROOT
from tests.local_server import JsonHandler, LocalServer, free_port

NEEDED = ("torch", "transformers", "accelerate", "fastapi", "uvicorn")
if missing := [name for name in NEEDED if find_spec(name) is None]:
    told = f"{', '.join(missing)} not installed (pip install 'transformers[serving]')"
    pytest.skip(told, allow_module_level=True)

QUESTION = "How many points does Kingsmere Town have?"
UP_WITHIN_S, MOST_KILOBYTES = 90, 12_000_000
JSON = {"Content-Type": "application/json"}
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1", "OMP_NUM_THREADS": "1"}


class Relay(LocalServer):
    """Passes on what is asked of a server, and notes the chat requests with their replies."""

    def __init__(self, port: int) -> None:
        super().__init__(_Handler)
        self.upstream = port
        self.replies: list[tuple[dict[str, Any], dict[str, Any]]] = []


class _Handler(JsonHandler):
    owner: Relay

    def do_GET(self) -> None:
        self.send(*asked(self.owner.upstream, "GET", self.path))

    def do_POST(self) -> None:
        request = self.body()
        status, reply = asked(self.owner.upstream, "POST", self.path, json.dumps(request))
        self.owner.replies.append((request, json.loads(reply)))
        self.send(status, reply)


def asked(port: int, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body, JSON)
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    """A relay before the server, which runs while its models are made, and looks for them when asked."""
    cache, output, port = tmp_path / "cache", tmp_path / "server.txt", free_port()
    cache.mkdir()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--device", "cpu", "--default-seed", "1"]
    bounded = ["sh", "-c", f'ulimit -v {MOST_KILOBYTES}; exec "$@"', "sh", *command]
    environment = {**os.environ, **OFFLINE, "HF_HUB_CACHE": str(cache)}
    with output.open("ab") as file:
        started = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file, "env": environment}
        process = subprocess.Popen(bounded, **started)  # type: ignore[call-overload]
    try:
        make = [sys.executable, str(Path(__file__).with_name("tiny_model.py")), str(cache)]
        subprocess.run(make, check=True, timeout=UP_WITHIN_S, env=os.environ | OFFLINE)
        until, is_up = time.monotonic() + UP_WITHIN_S, False
        while not is_up and process.poll() is None and time.monotonic() < until:
            time.sleep(0.2)
            with suppress(OSError, HTTPException):
                is_up = asked(port, "GET", "/health")[0] == 200
        assert is_up, f"the server did not come up:\n{output.read_text(errors='replace')[-3000:]}"
        with Relay(port) as relay:
            yield relay
    finally:
        process.kill()
        process.wait()


def test_a_question_takes_two_calls_of_known_usage(relay: Relay, tmp_path: Path) -> None:
    llm = LLM.connect("openai:tiny/plans", base_url=f"{relay.url}/v1", api_key="k")
    given = {"question": QUESTION, "table": read_table(str(ROOT / "demos/data/league.csv"))}
    with EventLog(tmp_path / "run.jsonl") as events:
        Executor(Inventory.load("tabmwp"), llm).run(given, events)
    with EventLog(tmp_path / "run.jsonl") as events:
        state = State.fold(events)
    assert (state.answer, state.executed_names) == ("42", ("solution_generator", "answer_generator"))
    assert state.usage.calls == len(relay.replies) == 2
    for (request, reply), call in zip(relay.replies, state.calls, strict=True):
        assert [each["content"] for each in request["messages"]] == [text for _, text in call.messages]
        assert reply["choices"][0]["message"]["content"] == call.text
        assert reply["usage"]["prompt_tokens"] == call.usage.input_tokens
        assert reply["usage"]["completion_tokens"] == call.usage.output_tokens
