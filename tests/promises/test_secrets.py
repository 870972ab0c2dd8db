"""The key goes to the server and nowhere else, though the server sends it back; what is kept is private."""

import gzip
import json
import logging
import os
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
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel, outline, tabmwp
from tests.loopback import Answer, Fault, LoopbackServer, Reply, Start
from tests.promises.running import ENTRIES, Case, ended, entered, question, reply

PROBLEM = make_problems(8)[7]
ECHOES: dict[str, Callable[[str], Answer]] = {
    "a message": lambda key: Fault(401, {"error": {"message": "bad header {authorization}"}}),
    "a bare key": lambda key: Fault(401, {"error": {"message": f"Incorrect API key provided: {key}."}}),
    "a code": lambda key: Fault(400, {"error": {"message": "no", "code": key}}),
    "plain text": lambda key: Fault(500, "failed on Authorization: {authorization}"),
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


@pytest.mark.parametrize("echo", ["plain text", "the reply"])
@pytest.mark.parametrize("name", ENTRIES)
def test_no_entry_point_tells_the_key(
    loopback: Start, tmp_path: Path, monkeypatch: MonkeyPatch, name: str, echo: str
) -> None:
    key = f"sk-{secrets.token_hex(20)}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    plan = ['["solution_generator", "answer_generator"]'] if echo == "the reply" else []
    server = loopback([*plan, ECHOES[echo](key)])
    with entered(name, tmp_path, CHAMELEON_STORE=str(tmp_path / "replies.sqlite")) as process:
        outcome = ended(process)
    assert sent(server) == {f"Bearer {key}"} and "Traceback" not in outcome.err
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept = [gzip.decompress(data) if path.suffix == ".gz" else data for path, data in files.items()]
    assert_clean(key, outcome, *kept)
    assert name == "serve" or len(files) > 8, "a log, a folder, a store or an index"


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_what_echoes_the_key_reaches_nobody(
    loopback: Start, key: str, echo: Callable[[str], Answer], tmp_path: Path, caplog: LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    plan = {"planner": [json.dumps(SOLUTION)], "solution_generator": [echo(key)] * 2}
    server, store = loopback(RuleModel(plan)), ResponseStore(tmp_path / "replies.sqlite")
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


def test_no_list_of_models_shows_the_key(loopback: Start, command: Command, key: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(to_text(PROBLEM["table"], "csv"))
    asked = ("ask", PROBLEM["question"], "--table", f"{tmp_path}/table.csv", "--store", "off", "--trace")
    loopback(RuleModel({"planner": [ECHOES["a message"](key)]}))
    failed = command(*asked, "--inventory", "tabmwp")
    assert failed.code == 1 and "refused the key (401)" in failed.err
    loopback(RuleModel(), models=[f"model-{key}"], only_models=True)
    listed = (command(*asked), command(*asked, "--model", "openai:none"), command("doctor"))
    assert "OPENAI_API_KEY" in listed[-1].out
    assert_clean(key, failed, *listed)


@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
def test_files_are_private(
    loopback: Start, command: Command, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    loopback(reply)
    case, log, stores = Case(tmp_path / "case", 3), tmp_path / "log.jsonl", tmp_path / "stores"
    monkeypatch.setenv("CHAMELEON_STORE", str(stores / "store.sqlite"))
    before = os.umask(0o022)
    try:
        case.finish(command, store="auto")
        first, *lines = (case.out / "results.jsonl").read_text().splitlines(keepends=True)
        failed = first.replace('"error":null', '"error":{"kind":"ModelError","message":"x"}')
        (case.out / "results.jsonl").write_text("".join([failed, *lines]))
        command(*case.arguments("--retry-failed", store="auto"))  # writes its files anew
        assert command(*question(tmp_path, "--log", str(log))).code == 0
    finally:
        os.umask(before)
    kept = [case.out, *case.out.rglob("*"), log, stores, *stores.iterdir()]
    assert len(kept) >= 7
    assert not {str(path): oct(path.stat().st_mode) for path in kept if path.stat().st_mode & 0o077}
