"""A living model, SmolLM2-135M over llama.cpp: the form, the accounting and the endings, never the wisdom.

`.ci/run` gets the model and names its file in SMALL_MODEL; without it these tests skip.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Table, tool
from chameleon.core.events import Plan
from chameleon.planners.react import React
from chameleon.table import read_table

ROOT = Path(__file__).parents[2]
FILE = Path(os.environ.get("SMALL_MODEL", ""))
NAME = f"openai:{FILE.stem}"
TABLE = "City,Country,Visitors\nLisbon,Portugal,4200\nPorto,Portugal,2900\nLyon,France,3100\n"
QUESTION = "Which city had the most visitors?"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FILE.is_file(), reason="SMALL_MODEL names no file")]


@contextmanager
def serving() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address of a server of its own, and its process."""
    command = [sys.executable, ROOT / "scripts" / "serve_gguf.py", FILE, "--context", "2048", "--slots", "1"]
    out, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdout=out, stderr=nowhere, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip(), server
        finally:
            server.kill()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as (url, _):
        yield url


def run(folder: Path, address: str, *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command as a person does, who is never shown a traceback."""
    (folder / "visits.csv").write_text(TABLE)
    environ = {**os.environ, "OPENAI_BASE_URL": address, "CHAMELEON_STORE": str(folder / "store.sqlite")}
    command = [str(Path(sys.executable).with_name("chameleon")), *args]
    done = subprocess.run(
        command, cwd=folder, env=environ, input=text, capture_output=True, text=True, timeout=80, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def ask(folder: Path, address: str, inventory: str, *args: str) -> dict[str, Any]:
    """Return what `ask --json` prints, with its exit code, which tells the same."""
    done = run(folder, address, "ask", QUESTION, "--table", "visits.csv", "-i", inventory, "--json", *args)
    told: dict[str, Any] = json.loads(done.stdout)
    is_answered = told["error"] is None
    assert done.returncode == (0 if is_answered else 3 if told["declined"] else 1), done
    assert is_answered == (told["answer"] is not None)
    return told


def test_a_question_ends_in_an_answer_a_decline_or_its_budget(tmp_path: Path, address: str) -> None:
    (tmp_path / "small.yaml").write_text("name: small\nextends: tables\nbudget: {calls: 4}\n")
    told = ask(tmp_path, address, "small.yaml", "-p", "max_tokens=16")
    assert 1 <= told["usage"]["calls"] <= 4 and told["usage"]["output_tokens"] > 0
    assert told["model"] == NAME and (told["error"] is None or told["error"]["message"])


def test_a_plan_is_held_to_its_schema(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address, "plan", QUESTION, "--table", "visits.csv", "-i", "tables")
    assert done.returncode == 0 and done.stdout.strip().endswith("answer_generator")
    executor = Executor("tables", LLM.connect(NAME, base_url=address, api_key="none"))
    events = executor.stream({"question": QUESTION, "table": read_table(tmp_path / "visits.csv")})
    plan = next(event for event in events if isinstance(event, Plan))
    assert set(json.loads(plan.calls[0].text)["modules"]) <= {*executor.inventory.present}


def test_tools_are_called_as_the_server_has_them_and_the_run_is_bounded(address: str) -> None:
    cities = []

    @tool
    def weather(city: str) -> str:
        """Tells the weather in a city."""
        cities.append(city)
        return "sunny"

    model = LLM.connect(NAME, base_url=address, api_key="none")
    planner = React(native=True, max_turns=3)
    state = Executor([weather], model, planner=planner).run({"question": "What is the weather in Oslo?"})
    assert state.ended is not None and state.ended.reason in ("answered", "declined", "failed")
    assert 1 <= len(state.calls) <= 8 and all(call.usage.input_tokens for call in state.calls)
    called = [record for record in state.executed if record.step.module == "weather" and not record.error]
    assert len(cities) == len(called)


def test_a_reply_is_shown_while_it_comes(tmp_path: Path, address: str) -> None:
    args = ("--table", "visits.csv", "-i", "wikitq_end_to_end", "--stream")
    done = run(tmp_path, address, "ask", QUESTION, *args)
    assert done.returncode == 0 and done.stdout.strip()
    assert done.stdout.split()[0].strip(",|") in done.stderr
    assert ask(tmp_path, address, "wikitq_end_to_end")["usage"]["calls"] == 0  # its reply was kept


def test_a_conversation_answers_each_line(tmp_path: Path, address: str) -> None:
    args = ("chat", "tables_first", "--table", "visits.csv")
    done = run(tmp_path, address, *args, text=f"{QUESTION}\nHow many visitors did Lyon have?\n")
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "Lisbon"
    assert "Plan: tables_offline\n" in done.stderr  # told the first
    assert "Plan: tables\nModel: " in done.stderr


def test_an_evaluation_counts_every_problem_once(tmp_path: Path, address: str) -> None:
    problems = str(ROOT / "demos" / "data" / "problems.jsonl")
    args = ("tabmwp_pot", problems, "--limit", "3", "--out", "out")
    assert run(tmp_path, address, "eval", *args, "-p", "max_tokens=16").returncode in (0, 1)
    results = [*map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())]
    assert len({row["id"] for row in results}) == 3 and all(row["usage"]["calls"] for row in results)


def test_a_context_that_is_too_small_is_told_with_what_to_do(tmp_path: Path, address: str) -> None:
    told = ask(tmp_path, address, "tabmwp_cot")["error"]
    assert told["kind"] == "ContextTooLong" and "2048" in told["message"] and told["hint"]


def test_a_server_that_dies_ends_the_run_and_says_so(tmp_path: Path) -> None:
    with serving() as (url, server):
        model = LLM.connect(NAME, base_url=url, api_key="none", retries=1)
        threading.Timer(0.3, server.kill).start()
        begun = time.monotonic()
        given = {"question": "Write a long story.", "table": Table(["a"], [["b"]])}
        state = Executor("wikitq_end_to_end", model.with_params(max_tokens=2_000)).run(given)
    assert state.ended is not None and state.ended.reason == "failed" and state.ended.error is not None
    assert state.ended.error.kind == "Unreachable" and time.monotonic() - begun < 30
