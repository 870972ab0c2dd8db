"""Folders of an earlier version: plain events, what long prompts share in a file of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import LogError
from chameleon.evaluation.parts import merge
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir, spent_in
from chameleon.state import Event, Plan, RunEnded, RunStarted, StepRecord
from chameleon.usage import Usage
from tests.e2e.commands import Command

SETTINGS: dict[str, Any] = {"benchmark": "tabmwp", "inventory": "mine"}
SHARED = "Add the two numbers.\n" + "".join(f"{n} and {n}: {2 * n}\n" for n in range(25))
# As an evaluation wrote them at the commit 7ba357f6: the third run was interrupted.
EVENTS = r"""
{"id":"0","event":"run_started","format":"chameleon-log-2","inventory":"mine","input":{"question":"1?"},"settings":{}}
{"id":"0","event":"plan","steps":[{"module":"solve"}],"by":"fixed","note":"","kind":"proposed","refused":"","seconds":0.0}
{"id":"0","event":"step","module":"solve","output":"1","input":{},"cache":{},"seconds":0.5,"calls":[{"model":"m","messages":[["user","SHARED0 and 1:"]],"params":{},"text":"1","finish":"","sample":0,"usage":{"calls":1,"input_tokens":9,"output_tokens":1,"cost":0.5,"cached_tokens":0,"reasoning_tokens":0},"seconds":0.0,"attempts":1,"cached":false,"error":""}]}
{"id":"1","event":"run_started","format":"chameleon-log-2","inventory":"mine","input":{"question":"2?"},"settings":{}}
{"id":"0","event":"run_ended","reason":"answered"}
{"id":"1","event":"plan","steps":[{"module":"solve"}],"by":"fixed","note":"","kind":"proposed","refused":"","seconds":0.0}
{"id":"1","event":"step","module":"solve","output":"2","input":{},"cache":{},"seconds":0.5,"calls":[{"model":"m","messages":[["system","Add."],["user",{"prompt":"76218208c5f78884","rest":"1 and 1:"}]],"params":{},"text":"2","finish":"","sample":0,"usage":{"calls":1,"input_tokens":9,"output_tokens":1,"cost":0.5,"cached_tokens":0,"reasoning_tokens":0},"seconds":0.0,"attempts":1,"cached":false,"error":""}]}
{"id":"1","event":"run_ended","reason":"failed","error":{"kind":"ModelError","message":"it is down","hint":"","where":""}}
{"id":"2","event":"run_started","format":"chameleon-log-2","inventory":"mine","input":{"question":"3?"},"settings":{}}
{"id":"2","event":"plan","steps":[{"module":"solve"}],"by":"fixed","note":"","kind":"proposed","refused":"","seconds":0.0}
{"id":"2","event":"step","module":"solve","output":"3","input":{},"cache":{},"seconds":0.5,"calls":[{"model":"m","messages":[["user",{"prompt":"76218208c5f78884","rest":"2 and 1:"}]],"params":{},"text":"3","finish":"","sample":0,"usage":{"calls":1,"input_tokens":9,"output_tokens":1,"cost":0.5,"cached_tokens":0,"reasoning_tokens":0},"seconds":0.0,"attempts":1,"cached":false,"error":""}]}
""".lstrip()  # noqa: E501
RESULTS = r"""
{"id":"0","answer":"1","declined":false,"correct":true,"plan":["solve"],"seconds":0.5,"usage":{"calls":1,"input_tokens":9,"output_tokens":1,"cost":0.5,"cached_tokens":0,"reasoning_tokens":0},"error":null,"gold":"1","columns":[],"events":[717,1]}
{"id":"1","answer":null,"declined":false,"correct":false,"plan":["solve"],"seconds":0.5,"usage":{"calls":1,"input_tokens":9,"output_tokens":1,"cost":0.5,"cached_tokens":0,"reasoning_tokens":0},"error":{"kind":"ModelError","message":"it is down","hint":"","where":""},"gold":"2","columns":[],"events":[1500,2]}
""".lstrip()  # noqa: E501


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder of an evaluation of three problems: one is answered, one failed, one was interrupted."""
    path = tmp_path / "old"
    path.mkdir()
    (path / "settings.json").write_text(json.dumps({**SETTINGS, "problems": 3}))
    (path / "results.jsonl").write_text(RESULTS)
    (path / "events.jsonl").write_text(EVENTS.replace("SHARED", json.dumps(SHARED)[1:-1]) + '{"id":"2","ev')
    prompt = {"digest": "76218208c5f78884", "of": "solve: user", "text": SHARED}
    (path / "prompts.jsonl").write_text(json.dumps(prompt) + "\n")
    return path


def prompts(path: Path) -> dict[str, str]:
    """The last message that each problem with a result asked with."""
    run = read_run(path)
    steps = ((result.id, event) for result, events in run.with_events(run.results) for event in events)
    return {id: event.calls[0].messages[-1][1] for id, event in steps if isinstance(event, StepRecord)}


def kinds(events: tuple[Event, ...]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_it_is_read_and_goes_on(old: Path) -> None:
    before = (old / "events.jsonl").read_bytes()
    assert prompts(old) == {"0": f"{SHARED}0 and 1:", "1": f"{SHARED}1 and 1:"}
    assert spent_in(old).cost == 1.5
    for _ in range(2):  # the first time it was killed at once
        with RunDir(old, SETTINGS) as folder:
            assert folder.done == {"0", "1"} and folder.usage == Usage(1, 9, 1, 0.5)
            events = folder.unfinished("2")
            assert kinds(events) == [RunStarted, Plan, StepRecord]
    with RunDir(old, SETTINGS) as folder:
        folder.append("2", RunEnded("answered"))
        folder.finish(Result("2", "3", False, True, usage=Usage(1, 9, 1, 0.5)))
    assert prompts(old) == {str(number): f"{SHARED}{number} and 1:" for number in range(3)}
    assert spent_in(old).cost == 1.5 and (old / "events.jsonl").read_bytes() == before
    assert (old / "recent.jsonl").read_bytes() == b""


def test_its_failures_are_tried_again(old: Path) -> None:
    with RunDir(old, SETTINGS) as folder:
        assert folder.forget_failures() == 1
        assert kinds(folder.unfinished("1")) == [RunStarted, Plan, StepRecord]
        folder.append("1", RunEnded("answered"))
        folder.finish(Result("1", "2", False, True))
    run = read_run(old)
    assert {result.id: kinds(events)[-1] for result, events in run.with_events(run.results)} == {
        "0": RunEnded,
        "1": RunEnded,
    }
    with RunDir(old, SETTINGS) as folder:
        assert kinds(folder.unfinished("2")) == [RunStarted, Plan, StepRecord]


def test_parts_of_it_are_merged(old: Path, tmp_path: Path) -> None:
    part = {**SETTINGS, "problems": 3, "part": {"number": 1, "of": 1}}
    (old / "settings.json").write_text(json.dumps(part))
    merge([old], tmp_path / "whole")
    shutil.rmtree(old)
    assert read_run(tmp_path / "whole").problems == "2 of 3, unfinished"
    assert prompts(tmp_path / "whole") == {"0": f"{SHARED}0 and 1:", "1": f"{SHARED}1 and 1:"}
    with RunDir(tmp_path / "whole", SETTINGS) as folder:
        assert kinds(folder.unfinished("2")) == [RunStarted, Plan, StepRecord]


def test_commands_read_it(old: Path, command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert command("report", str(old), "--html", str(page)).code == 0
    assert "0 and 1:" in page.read_text() and "does not hold this problem" not in page.read_text()
    assert json.loads(command("stats", str(old), "--json").out)["runs"][0]["n"] == 2


DAMAGE: dict[str, tuple[str, Callable[[str], str], str]] = {
    "prompts that are gone": ("prompts.jsonl", lambda text: "", "problem 2.*prompts.jsonl lacks"),
    "a prompt that is none": ("prompts.jsonl", lambda text: "{}\n", "a line is not a prompt"),
    "a line without an id": ("events.jsonl", lambda text: f"[]\n{text}", "line 1 is not an event"),
    "an event that is none": (
        "events.jsonl",
        lambda text: text.replace('"2","event":"plan"', '"2","event":"flan"'),
        "a line of problem 2 is not an event",
    ),
}


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_its_damage_is_reported(old: Path, name: str, damage: Callable[[str], str], message: str) -> None:
    (old / name).write_text(damage((old / name).read_text()))
    with pytest.raises(LogError, match=message):
        RunDir(old, SETTINGS)
