"""The key goes to the server and nowhere else, even when the server sends it back."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest import LogCaptureFixture, MonkeyPatch

from chameleon import State
from chameleon.core.log import EventLog
from chameleon.llm import ResponseStore
from chameleon.table import to_text
from tests.e2e.commands import Command
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel
from tests.e2e.running import outline, tabmwp
from tests.loopback import Answer, Fault, LoopbackServer, Reply, Start

PROBLEM = make_problems(8)[7]
BY_SOLUTION = json.dumps(SOLUTION)
KEY_GOES_HERE = "{authorization}"
ECHOES: dict[str, Callable[[str], Answer]] = {
    "a message": lambda key: Fault(401, {"error": {"message": f"bad header {KEY_GOES_HERE}"}}),
    "a bare key": lambda key: Fault(401, {"error": {"message": f"Incorrect API key provided: {key}."}}),
    "a code": lambda key: Fault(400, {"error": {"message": "no", "code": key}}),
    "plain text": lambda key: Fault(500, f"failed on Authorization: {KEY_GOES_HERE}"),
    "another form": lambda key: Fault(422, {"detail": [{"msg": f"header {key}", "input": key}]}),
    "an unknown model": lambda key: Fault(404, {"error": {"message": f"model {key} does not exist"}}),
    "a rate limit": lambda key: Fault(429, {"error": {"message": f"{key} is too fast"}}),
    "a long prompt": lambda key: Fault(400, {"error": {"message": f"maximum context length of {key}"}}),
    "a refusal": lambda key: Reply(None, message={"refusal": f"I will not serve {key}."}),
    "the reply": lambda key: Reply(f"You sent {key}. The answer is {key}."),
    "a reason to stop": lambda key: Reply("", finish=f"because_{key}"),
}


@pytest.fixture(params=["sk-", ""])
def key(request: pytest.FixtureRequest, monkeypatch: MonkeyPatch) -> str:
    """A random key of a known or of no particular shape, in the environment as users set it."""
    value: str = request.param + secrets.token_hex(20)
    monkeypatch.setenv("OPENAI_API_KEY", value)
    return value


def assert_clean(key: str, *texts: object) -> None:
    for text in texts:
        assert key not in str(text) and key not in repr(text)


def sent(server: LoopbackServer) -> set[str]:
    return {value for headers in server.headers for name, value in headers.items() if name == "authorization"}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_what_echoes_the_key_reaches_nobody(
    loopback: Start, key: str, echo: Callable[[str], Answer], tmp_path: Path, caplog: LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = loopback(RuleModel({"planner": [BY_SOLUTION], "solution_generator": [echo(key)] * 2}))
    store = ResponseStore(tmp_path / "replies.sqlite")
    executor = tabmwp(store=store, retries=1, naps=[])
    with EventLog(tmp_path / "run.jsonl") as log:
        for event in executor.stream(PROBLEM):
            log.append(event)
        state = State.fold(log)
    store.close()
    assert state.ended is not None and sent(server) == {f"Bearer {key}"}
    assert_clean(key, state.ended.error, state, executor.inventory.planner, json.dumps(outline(state)))
    assert_clean(key, caplog.text, *(file.read_bytes() for file in tmp_path.iterdir()))


def test_a_program_cannot_read_the_key(loopback: Start, key: str) -> None:
    programs: list[Answer] = [
        "import os\nans = os.environ.get('OPENAI_API_KEY') or 1 / 0",
        "ans = open('/proc/self/environ').read()",
        "import os\nans = open(f'/proc/{os.getppid()}/environ').read()",
        "import subprocess\nans = subprocess.run(['env'], capture_output=True).stdout.decode() or 1 / 0",
    ]
    loopback(RuleModel({"planner": [json.dumps(PROGRAM)], "program_generator": programs}))
    state = tabmwp().run(PROBLEM)
    assert state.ended is not None and state.ended.reason == "answered"
    repairs = [plan.note for plan in state.plans if plan.kind == "repair"]
    assert len(repairs) == len(programs), "each of them failed"
    assert_clean(key, json.dumps(outline(state)))


@pytest.mark.parametrize("option", ["--json", "--trace"])
def test_the_command_line_does_not_show_the_key(
    loopback: Start, command: Command, key: str, tmp_path: Path, option: str
) -> None:
    table, log = tmp_path / "table.csv", tmp_path / "run.jsonl"
    table.write_text(to_text(PROBLEM["table"], "csv"))
    asked = ("ask", PROBLEM["question"], "--table", str(table), "--store", "off")
    ask = (*asked, "--inventory", "tabmwp", option, "--log", str(log))
    server = loopback(RuleModel({"planner": [ECHOES["a message"](key)]}))
    failed = command(*ask)
    assert failed.code == 1 and "refused the key (401)" in failed.out + failed.err
    log.unlink()
    loopback(RuleModel({"planner": [Reply(json.dumps(PROGRAM))]}))
    good, doctor = command(*ask), command("doctor")
    assert good.code == 0 and sent(server) == {f"Bearer {key}"} and "OPENAI_API_KEY" in doctor.out
    loopback(RuleModel(), models=[f"model-{key}"], only_models=True)
    listed = (command(*asked), command(*asked, "--model", "openai:none"), command("doctor"))
    assert_clean(key, failed, good, doctor, *listed, log.read_text())
