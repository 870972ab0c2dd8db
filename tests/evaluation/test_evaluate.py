"""Evaluations that ask a model: failures, stops, costs, `--without`, and evaluations in parts."""

import gzip
import json
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import ChameleonError, InputError, LogError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.merging import merge
from chameleon.evaluation.problems import PartOfProblems
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir, read_settings
from tests.e2e.commands import Outcome
from tests.e2e.rule_model import PROGRAM
from tests.evaluation.asking import PRICED, Asking
from tests.evaluation.rows import read_events, read_results
from tests.loopback import Fault

Make = Callable[..., Asking]
Patch = pytest.MonkeyPatch
BROKEN = Fault(500)


def counts(outcome: Outcome) -> dict[str, Any]:
    return dict(json.loads(outcome.out))


def test_a_problem_that_fails_is_kept_with_its_steps_without_the_key(
    asking: Make, monkeypatch: Patch
) -> None:
    key = f"sk-{secrets.token_hex(20)}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    echoes = Fault(500, {"error": {"message": f"bad key {key}"}})
    made = asking({"planner": [json.dumps(PROGRAM)], "program_generator": [echoes]})
    outcome = made.run()
    assert {headers["authorization"] for headers in made.server.headers} == {f"Bearer {key}"}
    files = {file.name: file.read_bytes() for file in made.out.rglob("*") if file.is_file()}
    files["events.jsonl.gz"] = gzip.decompress(files["events.jsonl.gz"])
    texts = (*files.values(), outcome.err.encode())
    assert len(files) == 4 and not any(key.encode() in text for text in texts)
    assert outcome.code == 0 and counts(outcome)["n"] == 12 and made.failed == ["0"]
    failed = made.results["0"]
    assert "(500)" in failed["error"]["message"] and failed["error"]["where"] == "module program_generator"
    assert failed["answer"] is None and not failed["declined"] and not failed["correct"]
    events = [line["event"] for line in read_events(made.out) if line["id"] == "0"]
    assert events == ["run_started", "plan", "step", "run_ended"]

    before = len(made.server.requests)
    assert made.run().code == 0
    assert len(made.server.requests) == before, "a failed problem is tried again only when that is asked for"
    assert made.run("--retry-failed", "--limit", "2").code == 1
    assert made.failed, "what is refused forgets nothing"
    again = made.run("--retry-failed")
    assert again.code == 0 and "Retries 1 failed problem." in again.err
    assert not made.failed and len(made.results) == 12
    late = made.model.asked[before:]
    assert late[0] == "program_generator" and "planner" not in late
    calls = made.results["0"]["usage"]["calls"]
    assert calls == 2 + len(late), "the plan was kept, and counts like the call that failed"


def test_a_wrong_key_stops_at_once_and_goes_on_later(asking: Make) -> None:
    made = asking({"solution_generator": [Fault(401)] * 8, "program_generator": [Fault(401)] * 8})
    stopped = made.run("--workers", "4")
    stop, told = stopped.err.splitlines()[-2:]
    assert stopped.code == 1 and stop == "Stopped after 0 of 12: the same command resumes."
    assert "failed for a reason that would fail all others" in told and "refused the key (401)" in told
    assert counts(stopped)["n"] == 0 and counts(stopped)["usage"]["calls"] == len(made.server.requests)
    assert not made.results and made.model.asked.count("planner") <= 8
    made.model._first.clear()
    assert made.run("--workers", "4").code == 0
    assert len(made.results) == 12 and not made.failed
    assert made.model.asked.count("planner") == 12, "no plan was asked for twice"


def test_twenty_failures_in_a_row_stop(asking: Make) -> None:
    made = asking({"planner": [BROKEN] * 500}, count=22)
    stopped = made.run()
    found = counts(stopped)
    assert stopped.code == 1 and (found["n"], found["answered"], found["usage"]["calls"]) == (20, 0, 20)
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == "Stopped after 20 of 22." and stopped.err.count("--retry-failed") == 1
    assert "20 problems in a row failed, the last with: " in told and "command with --retry-failed" in told
    assert len(made.results) == len(made.server.requests) == 20
    made.model._first.clear()
    assert counts(made.run("--retry-failed"))["n"] == 22 and not made.failed


def assert_all_is_counted(outcome: Outcome, made: Asking) -> None:
    """The printed usage is the sum over all requests that the server ever had."""
    usage, tokens = counts(outcome)["usage"], made.model.tokens
    assert usage["calls"] == len(made.server.requests)
    assert (usage["input_tokens"], usage["output_tokens"]) == tokens
    assert usage["cost"] == pytest.approx(sum(tokens) / 1e6)


def test_max_cost_stops_and_goes_on_and_needs_prices(asking: Make) -> None:
    made, several = asking(count=24, inventory=PRICED), ("--workers", "4")
    stopped = made.run("--max-cost", "0.03", *several)
    found, asked = counts(stopped), made.server.requests[:]
    dearest = max(sum(len(m["content"]) for m in each["messages"]) for each in asked) / 4e6 + 1e-4
    # A step may ask several times; each worker ends the one that it is at.
    assert 0.03 <= found["usage"]["cost"] < 0.03 + 3 * 4 * dearest
    assert stopped.code == 1 and found["n"] < 24 and found["n"] == len(made.results)
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == f"Stopped after {found['n']} of 24." and "has reached --max-cost 0.03." in told
    assert_all_is_counted(stopped, made)
    again = made.run("--max-cost", "0.03", *several)
    assert again.code == 1 and counts(again)["n"] == found["n"] and len(made.server.requests) == len(asked)
    assert counts(again)["usage"] == pytest.approx(found["usage"])
    done = made.run("--max-cost", "5", *several)
    assert done.code == 0 and counts(done)["n"] == 24
    assert_all_is_counted(done, made)
    made = asking(count=6)
    made.out = made.out.with_name("unpriced")
    stopped = made.run("--max-cost", "1")
    assert stopped.code == 1 and not stopped.out and "the provider reports no cost" in stopped.err
    assert not made.results, "it is seen after the first step, not after the first problem"
    usage = counts(made.run())["usage"]
    assert usage["cost"] is None and usage["input_tokens"] > 0


def test_a_planner_that_names_modules_all_the_same_runs_without_them(asking: Make) -> None:
    """Its demonstrations name every module, so the model does."""
    gone, made = {"row_lookup", "knowledge_retrieval"}, asking(count=9)
    outcome = made.run("--without", "row_lookup", "--without", "knowledge_retrieval")
    assert outcome.code == 0 and counts(outcome)["n"] == 9
    assert not gone & {step["module"] for step in made.events("step")} and not gone & set(made.model.asked)
    lost = [plan for plan in made.events("plan") if "without" in plan["note"]]
    assert lost and not any(plan["refused"] for plan in lost)
    told = made.run("--without", "row_lookup")
    assert told.code == 1 and "without changed" in told.err
    assert made.run("--without", "knowledge_retrieval,row_lookup").code == 0


def in_parts(made: Asking, of: int) -> list[Path]:
    parts = [made.out.parent / f"part-{number}" for number in range(1, of + 1)]
    for number, part in enumerate(parts, 1):
        outcome = into(made, part, "--part", f"{number}/{of}")
        assert outcome.code == 0, outcome.err
    return parts


def into(made: Asking, folder: Path, *options: str) -> Outcome:
    whole, made.out = made.out, folder
    outcome = made.run(*options)
    made.out = whole
    return outcome


def steady(value: Any) -> Any:
    """Drop what differs from run to run, and bring rows into the order of their ids."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in ("seconds", "started")}
    return sorted(map(steady, value), key=str) if isinstance(value, list) else value


@given(st.lists(st.text(max_size=8), unique=True, max_size=30), st.integers(1, 20))
def test_every_problem_is_in_one_part_and_conversations_stay_together(ids: list[str], of: int) -> None:
    parts = [PartOfProblems(number, of) for number in range(1, of + 1)]
    for id in ids:
        assert sum(part.has(Problem(id, {}, None)) for part in parts) == 1
        talk = [Problem(f"{id}-{turn}", {}, None, sequence=f"s{id}") for turn in range(3)]
        assert sorted([part.has(each) for each in talk] for part in parts)[-1] == [True] * 3
        assert sum(part.has(each) for part in parts for each in talk) == 3


def test_what_is_no_part_is_refused() -> None:
    for text in ("", "3", "0/4", "5/4", "3/0", "-1/4", "1/2/3", "a/b", "1/1000000", "٣/٤"):
        with pytest.raises(InputError, match="not a part"):
            PartOfProblems.read(text)


def test_sixteen_parts_make_the_whole(asking: Make) -> None:
    made = asking(count=24, inventory=PRICED)
    assert made.run("--workers", "3").code == 0
    parts = in_parts(made, 16)
    sizes = [len(read_results(part)) for part in parts]
    assert sum(sizes) == 24 and max(sizes) < 8 and 0 in sizes, "some of the parts are empty"
    out = made.out.parent / "merged"
    merged = made.command("merge", *map(str, reversed(parts)), "--out", str(out))
    assert merged.code == 0 and "Merged 16 parts: 24 results" in merged.err

    assert steady(read_results(out)) == steady(read_results(made.out))
    events = [[(row["id"], row["event"]) for row in read_events(folder)] for folder in (made.out, out)]
    assert sorted(events[0]) == sorted(events[1])
    settings = [read_settings(folder / "settings.json") for folder in (made.out, out)]
    assert steady(settings[0]) == steady(settings[1])
    one, other = (read_run(folder).tally.usage for folder in (made.out, out))
    assert one.calls == other.calls > 24 and one.cost == pytest.approx(other.cost)
    before = len(made.server.requests)
    assert into(made, out).code == 0, "it goes on as one run would, with nothing left to do"
    assert len(made.server.requests) == before and len(read_results(out)) == 24


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"model": "openai:other"}, "model changed"),
    ({"data": {"name": "asking.jsonl", "sha256": "0"}}, "the content of data"),
    ({"part": {"number": 2, "of": 4}}, "part.of changed"),
    ({"versions": {"python": "2.7"}}, "versions.python changed"),
    ({"resolved": {"reader": {"engine": "another"}}}, "reader, which this machine decides"),
    ({"limit": 2}, "limit changed from null to 2"),
]


def test_parts_that_are_others_not_all_there_or_damaged_are_refused(asking: Make) -> None:
    made = asking(count=6)
    parts, out = in_parts(made, 3), made.out.parent / "merged"
    file = parts[1] / "settings.json"
    settings = file.read_text("utf-8")
    for change, told in CHANGES:
        file.write_text(json.dumps({**json.loads(settings), **change}), "utf-8")
        with pytest.raises(LogError, match=told) as caught:
            merge(parts, out)
        assert caught.value.where == str(parts[1]) and not out.exists()
    outcome = made.command("merge", *map(str, parts), "--out", str(out))
    assert outcome.code == 1 and "limit changed" in outcome.err and "Traceback" not in outcome.err
    assert not list(made.out.parent.glob(".merged*")), "nothing is left behind"
    file.write_text(settings, "utf-8")

    assert made.run().code == 0
    copy, twice = shutil.copytree(parts[0], made.out.parent / "copy"), "these are missing or given twice: "
    for given_parts, told in [
        (parts[:2], f"of 3 parts, {twice}3"),
        ([*parts, copy], f"{twice}1"),
        ([*parts, made.out], "it is a complete evaluation, not a part"),
        ([*parts, made.out.parent], "settings.json: cannot be read"),
        ([], f"of 1 parts, {twice}1"),
    ]:
        with pytest.raises(ChameleonError, match=told):
            merge(given_parts, out)
    with pytest.raises(InputError, match="the folder already exists"):
        merge(parts, made.out)
    with RunDir(parts[1], json.loads(settings)), pytest.raises(LogError, match="another run is writing"):
        merge(parts, out)
    assert not out.exists()
    out.mkdir()
    merge(parts, out)
    assert read_run(out).n == 6 and not read_run(out).unfinished
    shutil.rmtree(out)

    events = max((part / "events.jsonl.gz" for part in parts), key=lambda each: each.stat().st_size)
    whole = events.read_bytes()
    events.write_bytes(whole[:20] + b"?" + whole[21:])
    with pytest.raises(LogError, match="the member at byte 0 is damaged"):
        merge(parts, out)
    events.unlink()
    with pytest.raises(InputError, match="the events cannot be read"):
        merge(parts, out)
    assert not events.exists() and not out.exists()
    events.write_bytes(whole[: len(whole) // 2])  # one that is not finished goes on in the whole
    lost = read_results(events.parent)
    (events.parent / "results.jsonl").write_text("", "utf-8")
    merged = made.command("merge", *map(str, parts), "-o", str(out))
    assert merged.code == 0 and " of 6, unfinished: `chameleon eval` without --part" in merged.err
    assert len(read_results(out)) == 6 - len(lost) > 0
    went_on = into(made, out)
    assert went_on.code == 0 and counts(went_on)["n"] == 6 == len(read_results(out))


def test_the_folder_of_a_part_takes_no_other_part_and_the_highest_cost_is_for_all(asking: Make) -> None:
    made = asking(count=24, inventory=PRICED)
    spent = counts(made.run())["usage"]["cost"]
    stopped = into(made, made.out.parent / "half", "--part", "1/2", "--max-cost", str(spent / 4))
    assert stopped.code == 1 and f"--max-cost {spent / 8:g}" in stopped.err
    made.out = made.out.parent / "part"
    assert made.run("--part", "1/3").code == 0
    other = made.run("--part", "2/3")
    assert other.code == 1 and "part.number changed from 1 to 2" in other.err
    assert "part changed" in made.run().err
    arguments = made.arguments("--part", "1/3")
    bare = made.command(*[each for each in arguments if each not in ("--out", str(made.out))])
    assert bare.code == 1 and "--out" in bare.err
    assert "is not a part" in made.run("--part", "4/3").err
