"""Prompts of a run directory: what they share is written once, and every reader sees them whole."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import LogError
from chameleon.evaluation.benchmark import Judgement, Problem
from chameleon.evaluation.prompt_texts import PROMPTS
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
from chameleon.state import Event, Plan, RunEnded, RunStarted, State, Step, StepRecord
from chameleon.usage import Call
from tests.evaluation.rows import Row, read_lines, write_rows

SETTINGS = {"benchmark": "tabmwp", "inventory": "mine"}
DEMONSTRATIONS = "".join(f"Question: what is {n} and {n}?\nAnswer: {2 * n}\n\n" for n in range(40))
Messages = Sequence[tuple[str, str]]


def run_of(messages: Messages) -> list[Event]:
    """A run of one step, whose module asks with these messages after its planner has."""
    planned = tuple((role, f"Plan.\n{text}") for role, text in messages)
    plan = Plan((Step("solve"),), "one_shot", calls=(Call("m", planned, {}, "[]"),))
    return [
        RunStarted("mine", {"question": "How much?"}),
        plan,
        StepRecord(Step("solve"), "7", calls=(Call("m", tuple(messages), {"temperature": 0}, "7"),)),
        RunEnded("answered"),
    ]


def keep(path: Path, runs: Sequence[Messages], first: int = 0) -> None:
    with RunDir(path, SETTINGS) as folder:
        for number, messages in enumerate(runs, first):
            events = run_of(messages)
            for event in events:
                folder.append(str(number), event)
            problem = Problem(str(number), {}, "7")
            folder.finish(Result.of(problem, State.fold(events), Judgement(True), (), {}))


def read(path: Path) -> list[tuple[Event, ...]]:
    run = read_run(path)
    return [events for _, events in run.with_events(list(run.results))]


def asked(count: int, start: str = DEMONSTRATIONS) -> list[Messages]:
    return [[("user", f"{start}Question: what is {n} and 1?\nAnswer:")] for n in range(count)]


parts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
texts = st.builds(
    lambda cut, lines, rest: f"{DEMONSTRATIONS[:cut]}{chr(10).join(lines)}{rest}",
    st.sampled_from([0, 100, 256, 300, 500, len(DEMONSTRATIONS)]),
    st.lists(parts | st.just("x" * 300), max_size=3),
    parts | st.just("\ud800"),
)
many = st.lists(st.lists(st.tuples(st.sampled_from(["system", "user"]), texts), max_size=3), max_size=6)


@given(many, many)
def test_whatever_is_asked_comes_back(before: list[Messages], after: list[Messages]) -> None:
    """Also in a folder that was opened again."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place)
        keep(path, before)
        keep(path, after, first=len(before))
        assert read(path) == [tuple(run_of(messages)) for messages in (*before, *after)]
        for line in read_lines(path / PROMPTS):
            assert len(line["text"]) >= 256


def test_demonstrations_are_written_once(tmp_path: Path) -> None:
    keep(tmp_path, asked(20))
    keep(tmp_path, asked(20), first=20)
    texts = {line["of"]: line["text"] for line in read_lines(tmp_path / PROMPTS)}
    assert texts == {"plan: user": f"Plan.\n{DEMONSTRATIONS}", "solve: user": DEMONSTRATIONS}
    assert len(read_lines(tmp_path / PROMPTS)) == 2
    lines = read_lines(tmp_path / "events.jsonl")
    prompts = [call["messages"][0][1] for line in lines for call in line.get("calls", ())]
    assert sum(isinstance(prompt, str) for prompt in prompts) == 2, "the first of planner and module"
    named = next(prompt for prompt in prompts if not isinstance(prompt, str))
    assert named["rest"] == "Question: what is 1 and 1?\nAnswer:"


def test_a_text_is_written_again_where_less_of_it_is_shared(tmp_path: Path) -> None:
    half = DEMONSTRATIONS[: len(DEMONSTRATIONS) // 2]
    runs = [*asked(3), *asked(3, half), *asked(3)]
    keep(tmp_path, runs)
    first, second = (line["text"] for line in read_lines(tmp_path / PROMPTS) if line["of"] == "solve: user")
    assert first == DEMONSTRATIONS and first.startswith(second) and half.startswith(second)
    assert read(tmp_path) == [tuple(run_of(messages)) for messages in runs]


def test_folders_of_an_earlier_version_go_on(tmp_path: Path) -> None:
    """Their prompts are whole, in lines that the standard library wrote, and they have no file of prompts."""
    keep(tmp_path / "new", asked(1))
    rows = read_lines(tmp_path / "new" / "events.jsonl")
    assert rows[0]["format"] == "chameleon-log-2" and DEMONSTRATIONS in rows[1]["calls"][0]["messages"][0][1]
    old = tmp_path / "old"
    old.mkdir()
    begun: Row = {**rows[0], "format": "chameleon-log-1"}
    write_rows(old / "events.jsonl", [begun, *rows[1:]])
    write_rows(old / "results.jsonl", read_lines(tmp_path / "new" / "results.jsonl"))
    (old / "settings.json").write_text(json.dumps(SETTINGS))
    assert read(old) == [tuple(run_of(*asked(1)))]
    keep(old, asked(3)[1:], first=1)
    assert read(old) == [tuple(run_of(messages)) for messages in asked(3)]


def interrupted(path: Path) -> None:
    """A folder whose last run has no end: its events are read when it is opened."""
    keep(path, asked(3))
    with RunDir(path, SETTINGS) as folder:
        for event in run_of(asked(4)[3])[:-1]:
            folder.append("3", event)


def test_missing_prompts_are_told(tmp_path: Path) -> None:
    interrupted(tmp_path)
    (tmp_path / PROMPTS).unlink()
    told = r"events\.jsonl: line 14 has a prompt that prompts\.jsonl lacks: it is damaged or gone\. Bring"
    with pytest.raises(LogError, match=told):
        RunDir(tmp_path, SETTINGS)
    with pytest.raises(LogError, match=r"line 6 has a prompt that prompts\.jsonl lacks"):
        read(tmp_path)


@pytest.mark.parametrize("change", [lambda line: line.replace(b"what", b"that", 1), lambda line: b"{}\n"])
def test_damaged_prompts_are_told(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    interrupted(tmp_path)
    file = tmp_path / PROMPTS
    first, *rest = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([change(first), *rest]))
    for opened in (lambda: RunDir(tmp_path, SETTINGS), lambda: read(tmp_path)):
        with pytest.raises(LogError, match=r"prompts\.jsonl: line 1 is no prompt .*the file is damaged"):
            opened()


def test_killed_at_any_byte_it_goes_on(tmp_path: Path) -> None:
    """A kill leaves the beginning of all that was written: prompts, then the events that name them."""
    whole = tmp_path / "whole"
    keep(whole, asked(3))
    events, prompts = ((whole / name).read_bytes() for name in ("events.jsonl", PROMPTS))
    lines = events.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b'{"prompt"' in line)
    for end in {0, 1, 256, 1_000, len(prompts) - 1, len(prompts)}:
        cut = tmp_path / str(end)
        cut.mkdir()
        (cut / "settings.json").write_bytes((whole / "settings.json").read_bytes())
        (cut / PROMPTS).write_bytes(prompts[:end])
        (cut / "events.jsonl").write_bytes(b"".join(lines[:first]) + lines[first][:9])
        (cut / "results.jsonl").write_bytes((whole / "results.jsonl").read_bytes().splitlines(True)[0])
        with RunDir(cut, SETTINGS) as folder:
            before = folder.unfinished("1")
            assert before == tuple(run_of(asked(2)[1])[: len(before)]) and before
            for event in run_of(asked(2)[1])[len(before) :]:
                folder.append("1", event)
            folder.finish(Result("1", "7", False, True))
        assert read(cut) == [tuple(run_of(messages)) for messages in asked(2)]
